//! A place: an open folder and a name in it, which is what every change acts on.

use std::ffi::{OsStr, OsString};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::{Dir, FileError, FileKind, Stat, WritableDir};
use bailiwick_policy::{PermittedPath, WritablePath, file_failure};

use super::{is_temporary, remove_empty_folders};

/// How often a link that changes under way is followed again.
const RETRIES: usize = 4;

/// Where something is, or is to be.
#[derive(Debug)]
pub struct FileLocation {
    /// The open folder.
    pub dir: WritableDir,
    /// The name in it.
    pub name: OsString,
    /// The judged path of the name, links on the way resolved.
    pub path: WritablePath,
    /// How many folders were made on the way.
    pub made_folders: usize,
}

impl FileLocation {
    /// Returns the facts of what has the name; `None` if nothing has.
    ///
    /// # Errors
    /// `os_permission_required`, `execution_failed`.
    pub fn stat(&self) -> Result<Option<Stat>, Failure> {
        match self.dir.stat(&self.name) {
            Ok(stat) => Ok(Some(stat)),
            Err(FileError::NotFound) => Ok(None),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Returns the facts of what must have the name.
    ///
    /// # Errors
    /// `not_found`, and as [`FileLocation::stat`].
    pub fn must_stat(&self) -> Result<Stat, Failure> {
        self.dir.stat(&self.name).map_err(|error| self.failure(&error))
    }

    /// Returns what a file's error means for this place.
    pub fn failure(&self, error: &FileError) -> Failure {
        file_failure(error, &self.path)
    }

    /// Opens the folder of a path; the last name is not followed.
    ///
    /// # Errors
    /// Those of the path door; `invalid_request` for the root and for temporary names.
    pub fn of(path: &WritablePath) -> Result<Self, Failure> {
        let (dir, name, path) = path.open_parent()?;
        refuse_temporary(&dir, &name, &path)?;
        Ok(Self { dir, name, path, made_folders: 0 })
    }
}

/// Where something is that is copied: as a [`FileLocation`], but nothing can be changed there.
#[derive(Debug)]
pub struct CopySource {
    pub(super) dir: Dir,
    pub(super) name: OsString,
    /// The judged path of the name, links on the way resolved.
    pub path: PermittedPath,
}

impl CopySource {
    /// Opens the folder of a path; the last name is not followed.
    ///
    /// # Errors
    /// As [`FileLocation::of`].
    pub fn of(path: &PermittedPath) -> Result<Self, Failure> {
        let (dir, name, path) = path.open_parent()?;
        refuse_temporary(&dir, &name, &path)?;
        Ok(Self { dir, name, path })
    }

    pub(super) fn stat(&self) -> Result<Stat, Failure> {
        self.dir.stat(&self.name).map_err(|error| file_failure(&error, &self.path))
    }
}

fn refuse_temporary(dir: &Dir, name: &OsStr, path: &PermittedPath) -> Result<(), Failure> {
    let is_entry = || dir.stat(name).is_ok_and(|stat| stat.kind != FileKind::File);
    if !is_temporary(name) || is_entry() {
        return Ok(());
    }
    Err(Failure::invalid("target", format!("`{}` has the form of Bailiwick's temporary names", path.shown()))
        .hint("Choose another name."))
}

/// Returns how many folders above a path are missing.
pub fn missing_folders(path: &PermittedPath) -> usize {
    let above = std::iter::successors(path.parent(), PermittedPath::parent);
    above
        .take_while(|folder| folder.open_dir().is_err_and(|failure| failure.code == ErrorCode::NotFound))
        .count()
}

/// Returns what follows a folder in a path that is that folder or below it, both as results name them: nothing, or `/` and
/// the rest.
pub fn rest_of<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder).filter(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Finds the place that a write to `path` means: where links lead, judged on the way.
///
/// With `create_parents`, folders that are missing are made; if it fails, they are removed again.
///
/// # Errors
/// Those of the path door.
pub fn find_place(path: &WritablePath, create_parents: bool) -> Result<FileLocation, Failure> {
    let mut path = path.clone();
    for _ in 0..=RETRIES {
        let (place, made_folders) = match FileLocation::of(&path) {
            Err(failure) if failure.code == ErrorCode::NotFound && create_parents => {
                let made = path.parent().map(|folder| folder.open_or_make_dir()).transpose()?;
                (FileLocation::of(&path), made.map_or(0, |(_, _, made)| made))
            }
            Err(failure) if failure.code == ErrorCode::NotFound => {
                return Err(failure.hint("Set `options.createParents` to true to make missing folders."));
            }
            other => (other, 0),
        };
        let place = place.and_then(|place| Ok((place.stat()?, FileLocation { made_folders, ..place })));
        match place.inspect_err(|_| remove_empty_folders(path.parent(), made_folders))? {
            (Some(stat), place) if stat.kind == FileKind::Symlink => path = place.path.follow()?,
            (_, place) => return Ok(place),
        }
    }
    Err(file_failure(&FileError::Symlink, &path))
}
