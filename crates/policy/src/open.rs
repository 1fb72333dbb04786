//! Using a permitted path: opening what it leads to, judged again wherever a link leads.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick_contract::{ErrorCode, Failure, StageName};
use bailiwick_platform::fs::{Dir, DirEntry, FileError, FileId, FileKind, Root, Stat, WritableDir};
use bailiwick_platform::names::OsStrExt;

use super::{PermittedPath, WritablePath};

/// How often links that change under way are resolved again.
const RETRIES: usize = 4;

/// A regular file that was opened for reading.
#[derive(Debug)]
pub struct OpenedFile {
    /// The open file.
    pub file: File,
    /// Its facts when it was opened.
    pub stat: Stat,
    /// Where it really is, after links.
    pub path: PermittedPath,
}

impl PermittedPath {
    fn root(&self) -> Result<&Root, Failure> {
        self.located().root.folder()
    }

    /// Returns the path on this computer, for a program that starts in a folder that was opened.
    ///
    /// # Errors
    /// `provider_unavailable` if the scope's folder is no longer where the config says.
    pub fn on_disk(&self) -> Result<PathBuf, Failure> {
        let Some(root) = self.root()?.current_path() else {
            return Err(Failure::new(
                ErrorCode::ProviderUnavailable,
                "the scope's folder was moved or replaced since the service opened it",
            )
            .hint("For the user: put the folder back, then restart the service."));
        };
        let rel = OsStr::from_bytes(self.rel().as_bytes());
        Ok(if rel.is_empty() { root } else { root.join(rel) })
    }

    /// Opens the regular file that the path leads to. Links inside the scope are followed and judged.
    ///
    /// # Errors
    /// `not_found`, `path_out_of_scope`, `permission_denied` (also for a link to a closed file),
    /// `invalid_request` for what is not a regular file.
    pub fn open_file(&self) -> Result<OpenedFile, Failure> {
        let (opened, path) = self.through_links(|root, path| root.open_file(path.rel()))?;
        path.judge_folders_above()?;
        path.judge_names_of(&opened.stat)?;
        Ok(OpenedFile { file: opened.file, stat: opened.stat, path })
    }

    /// Reads the regular file that has this very name, with its facts, if nothing has to be waited for and nothing
    /// speaks against it. `None` says nothing about it: then [`PermittedPath::open_file`] finds out.
    pub fn read_cached(&self, most: u64) -> Option<(Stat, Vec<u8>)> {
        let (stat, bytes) = self.folders_are_judged()?.read_cached(self.rel(), most)?;
        self.judge_names_of(&stat).is_ok().then_some((stat, bytes))
    }

    /// Reads the facts of a regular file or folder, if nothing has to be waited for. `None` says nothing about it: then
    /// [`PermittedPath::stat`] finds out.
    pub fn stat_cached(&self) -> Option<Stat> {
        let root = self.folders_are_judged()?;
        // The folder that holds the name is judged each time.
        let parent = root.stat_cached(&self.rel().parent().unwrap_or_default())?;
        self.judge_folder(parent.id).ok()?;
        root.stat_cached(self.rel())
    }

    /// Returns the entries of a folder that was read before and has not changed since, if nothing has to be waited for.
    pub fn listing_cached(&self) -> Option<Arc<[DirEntry]>> {
        let folder = self.stat_cached()?;
        self.judge_folder(folder.id).ok()?;
        self.root().ok()?.listing(&folder)
    }

    /// Remembers the entries of a folder. `before` are its facts from before they were read.
    pub fn keep_listing(&self, before: &Stat, entries: Vec<DirEntry>) {
        if let Ok(root) = self.root() {
            root.keep_listing(before, entries);
        }
    }

    /// Returns the root if the folders between it and the path were judged a moment ago.
    fn folders_are_judged(&self) -> Option<&Root> {
        let root = self.root().ok()?;
        let are_judged = match self.rel().parent() {
            Some(parent) => parent.is_root() || self.rules().has_judged(root.id(), &parent),
            None => true,
        };
        are_judged.then_some(root)
    }

    /// Refuses a file with several names where the scope says so.
    ///
    /// # Errors
    /// `permission_denied`.
    pub fn judge_names_of(&self, stat: &Stat) -> Result<(), Failure> {
        if stat.links < 2 || stat.kind != FileKind::File || !self.rules().refuses_hard_links() {
            return Ok(());
        }
        Err(Failure::denied("hard-links", format!("`{}` has several names (hard links)", self.shown()))
            .at_stage(StageName::Path)
            .hint(self.rules().hard_links_hint()))
    }

    /// Opens the folder that the path leads to. Links inside the scope are followed and judged.
    ///
    /// # Errors
    /// As [`PermittedPath::open_file`]; `invalid_request` for what is not a folder.
    pub fn open_dir(&self) -> Result<(Dir, Self), Failure> {
        let (dir, path) = self.through_links(|root, path| root.open_dir(path.rel()))?;
        path.judge_folder(dir.id())?;
        path.judge_folders_above()?;
        Ok((dir, path))
    }

    /// Opens the folder that has this very name: a link is refused, not followed. For walks, which have judged the
    /// folders above.
    ///
    /// # Errors
    /// As [`PermittedPath::open_dir`]; `conflict` if the name, or one above it, has become a link.
    pub fn open_dir_itself(&self) -> Result<Dir, Failure> {
        let dir = self.root()?.open_dir(self.rel()).map_err(|error| file_failure(&error, self))?;
        self.judge_folder(dir.id())?;
        Ok(dir)
    }

    fn judge_folder(&self, id: FileId) -> Result<(), Failure> {
        if self.rules().is_own_folder(id) {
            return Err(Failure::denied("own-folders", format!("`{}` is Bailiwick's own", self.shown()))
                .at_stage(StageName::Path));
        }
        Ok(())
    }

    /// Judges the folders between the root and the path: one of Bailiwick's own may have come into the scope after
    /// its root was opened, by a mount or because it was moved.
    fn judge_folders_above(&self) -> Result<(), Failure> {
        let root = self.root()?;
        let Some(parent) = self.rel().parent() else { return Ok(()) };
        let mut folder = Some(parent.clone());
        while let Some(rel) = folder.filter(|rel| !rel.is_root() && !self.rules().has_judged(root.id(), rel))
        {
            let stat = root.stat(&rel).map_err(|error| file_failure(&error, self))?;
            self.judge_folder(stat.id)?;
            folder = rel.parent();
        }
        self.rules().add_judged(root.id(), &parent);
        Ok(())
    }

    /// Returns the facts of the name itself: the last name is not followed if it is a link.
    ///
    /// # Errors
    /// As [`PermittedPath::open_file`].
    pub fn stat(&self) -> Result<Stat, Failure> {
        if self.rel().is_root() {
            return self.root()?.stat(self.rel()).map_err(|error| file_failure(&error, self));
        }
        let (dir, name, path) = self.open_parent()?;
        dir.stat(&name).map_err(|error| file_failure(&error, &path))
    }

    /// Opens the folder that holds the path, and gives the last name.
    ///
    /// Links on the way to the folder are followed and judged; the last name is not followed.
    ///
    /// # Errors
    /// As [`PermittedPath::open_file`]; `invalid_request` for the root itself.
    pub fn open_parent(&self) -> Result<(Dir, OsString, Self), Failure> {
        let (Some(folder), Some(name)) = (self.parent(), self.rel().file_name()) else {
            return Err(no_target());
        };
        let (dir, folder) = folder.open_dir()?;
        let path = folder.child(name)?;
        Ok((dir, name.to_owned(), path))
    }

    /// Reads where the path leads if its last name is a link, as a path inside the scope.
    ///
    /// # Errors
    /// `path_out_of_scope` if it leads out; `permission_denied` if it leads to a closed file.
    pub fn follow(&self) -> Result<Self, Failure> {
        let rel = self.root()?.resolve_links(self.rel()).map_err(|error| file_failure(&error, self))?;
        self.moved_to(rel)
    }

    /// Opens without links first; if a link is in the way, reads it, judges where it leads, and opens that.
    fn through_links<T>(
        &self,
        open: impl Fn(&Root, &Self) -> Result<T, FileError>,
    ) -> Result<(T, Self), Failure> {
        let root = self.root()?;
        let mut path = self.clone();
        for _ in 0..=RETRIES {
            match open(root, &path) {
                Ok(opened) => return Ok((opened, path)),
                Err(FileError::Symlink) => path = path.follow()?,
                Err(error) => return Err(file_failure(&error, self)),
            }
        }
        Err(file_failure(&FileError::Symlink, self))
    }
}

impl WritablePath {
    /// Opens the folder that the path leads to, as [`PermittedPath::open_dir`], to change what is in it.
    ///
    /// # Errors
    /// As [`PermittedPath::open_dir`].
    pub fn open_dir(&self) -> Result<(WritableDir, Self), Failure> {
        let (dir, path) = self.through_links(|root, path| root.open_writable_dir(path.rel()))?;
        path.judge_folder(dir.id())?;
        path.judge_folders_above()?;
        Ok((dir, self.moved_to(path.rel().clone())?))
    }

    /// Opens the folder that has this very name, as [`PermittedPath::open_dir_itself`], to change what is in it.
    ///
    /// # Errors
    /// As [`PermittedPath::open_dir_itself`].
    pub fn open_dir_itself(&self) -> Result<WritableDir, Failure> {
        let dir = self.root()?.open_writable_dir(self.rel()).map_err(|error| file_failure(&error, self))?;
        self.judge_folder(dir.id())?;
        Ok(dir)
    }

    /// Opens the folder, and makes it and those above it where they are missing.
    ///
    /// Links on the way are followed and judged; a link that leads nowhere is not filled in.
    /// Returns also the number of folders that were made; if it fails, they are removed again.
    ///
    /// # Errors
    /// As [`PermittedPath::open_dir`].
    pub fn open_or_make_dir(&self) -> Result<(WritableDir, Self, usize), Failure> {
        let (mut dir, mut path) = self.root_folder().open_dir()?;
        let mut made: Vec<(WritableDir, &OsStr)> = Vec::new();
        for name in self.rel().components() {
            let name = OsStr::from_bytes(name);
            let opened = path.child(name).and_then(|next| next.open_or_make_in(&dir, name));
            let (next, next_path, is_new) = opened.inspect_err(|_| {
                // Someone else may use them by now; then they stay.
                let _ = made.iter().rev().try_for_each(|(above, name)| above.remove_dir(name));
            })?;
            let above = std::mem::replace(&mut dir, next);
            path = next_path;
            if is_new {
                made.push((above, name));
            }
        }
        Ok((dir, path, made.len()))
    }

    /// Opens the folder that has the `name` in an open one. Returns also whether it was made for that.
    fn open_or_make_in(
        &self,
        above: &WritableDir,
        name: &OsStr,
    ) -> Result<(WritableDir, Self, bool), Failure> {
        match self.open_dir() {
            Err(failure) if failure.code == ErrorCode::NotFound => {}
            other => return other.map(|(dir, path)| (dir, path, false)),
        }
        let failed = |error: FileError| file_failure(&error, self);
        let is_new = match above.make_dir(name) {
            Ok(()) => true,
            // Someone else made it, or a link that leads nowhere has the name.
            Err(FileError::Exists) => false,
            Err(error) => return Err(failed(error)),
        };
        let synced = if is_new { above.sync().map_err(failed) } else { Ok(()) };
        let opened = synced.and_then(|()| self.open_dir());
        if is_new && opened.is_err() {
            let _ = above.remove_dir(name);
        }
        opened.map(|(dir, path)| (dir, path, is_new))
    }

    /// Opens the folder that holds the path, and returns the last name, as [`PermittedPath::open_parent`]. For creating,
    /// replacing, removing.
    ///
    /// # Errors
    /// As [`PermittedPath::open_parent`].
    pub fn open_parent(&self) -> Result<(WritableDir, OsString, Self), Failure> {
        let (Some(folder), Some(name)) = (self.parent(), self.rel().file_name()) else {
            return Err(no_target());
        };
        let (dir, folder) = folder.open_dir()?;
        let path = folder.child(name)?;
        Ok((dir, name.to_owned(), path))
    }

    /// Reads where the path leads, as [`PermittedPath::follow`].
    ///
    /// # Errors
    /// As [`PermittedPath::follow`].
    pub fn follow(&self) -> Result<Self, Failure> {
        self.moved_to(PermittedPath::follow(self)?.rel().clone())
    }
}

fn no_target() -> Failure {
    Failure::invalid("target", "the scope's own folder cannot be the target of this operation")
}

/// Returns what a file's error means for a request on `path`.
pub fn file_failure(error: &FileError, path: &PermittedPath) -> Failure {
    let shown = path.shown();
    let failure = |code, text: String| Failure::new(code, text);
    match error {
        FileError::NotFound if path.located().root.folder().is_ok_and(Root::is_removed) => {
            failure(ErrorCode::ProviderUnavailable, "the scope's folder was removed or replaced".to_owned())
                .hint("For the user: put the folder back, then restart the service.")
        }
        FileError::NotFound => failure(ErrorCode::NotFound, format!("`{shown}` does not exist")),
        FileError::Symlink => failure(ErrorCode::Conflict, format!("the links in `{shown}` change too fast"))
            .hint("Try again when nothing else changes the folder."),
        FileError::Outside => failure(ErrorCode::PathOutOfScope, format!("`{shown}` leads out of the scope"))
            .detail("rule", "links")
            .at_stage(StageName::Path)
            .hint("Links may lead only to places inside the scope, by relative paths."),
        FileError::LinkLoop => failure(ErrorCode::InvalidRequest, format!("`{shown}` is a circle of links")),
        FileError::NotADirectory => failure(
            ErrorCode::InvalidRequest,
            format!("`{shown}` is not a folder, or leads through something that is none"),
        ),
        FileError::IsADirectory => {
            failure(ErrorCode::InvalidRequest, format!("`{shown}` is a folder, not a file"))
                .hint("Use file.list or file.tree to see what is in it.")
        }
        FileError::NotRegular(kind) => {
            failure(ErrorCode::InvalidRequest, format!("`{shown}` is {} and is not opened", kind.describe()))
                .detail("kind", kind.describe())
        }
        FileError::Exists => failure(ErrorCode::Conflict, format!("`{shown}` exists already")),
        FileError::NotEmpty => failure(ErrorCode::Conflict, format!("the folder `{shown}` is not empty"))
            .hint("Set `options.recursive` to true to remove it with everything in it."),
        FileError::Denied => failure(
            ErrorCode::OsPermissionRequired,
            format!("the operating system denies access to `{shown}`"),
        )
        .hint("For the user: check the file's owner and permissions."),
        FileError::SystemFiles => failure(
            ErrorCode::PathOutOfScope,
            format!("`{shown}` belongs to a system file system, which is not served"),
        )
        .detail("rule", "system-files")
        .at_stage(StageName::Path),
        FileError::CrossDevice => {
            failure(ErrorCode::ExecutionFailed, format!("`{shown}` is on another file system"))
                .hint("Use file.copy, then file.delete.")
        }
        FileError::NoSpace => failure(ErrorCode::ExecutionFailed, format!("no space is left for `{shown}`"))
            .detail("disk", "full"),
        FileError::ReadOnly => {
            failure(ErrorCode::ExecutionFailed, format!("`{shown}` is on a read-only file system"))
                .detail("disk", "readOnly")
        }
        FileError::Path(problem) => failure(ErrorCode::InvalidRequest, format!("`{shown}`: {problem}")),
        FileError::Io(error) => failure(ErrorCode::ExecutionFailed, format!("`{shown}`: {error}")),
    }
}
