//! A settings file on the disk: read whole, and replaced whole with the mode that it had.
//!
//! A link in its place is the user's choice and stays: what it leads to is replaced. A file that another user owns,
//! or that nobody may write, stays as it is.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::modes::{DirBuilderExt, MetadataExt, open_without_waiting};
use bailiwick_platform::fs::{Ownership, Stat, replace_file};

/// The largest settings file that is read.
const MAX_BYTES: u64 = 64 << 20;
/// How many links in a row are followed to a file that does not exist yet.
const MAX_LINKS: usize = 8;

/// A settings file as it was when it was read.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    /// The file as it is named.
    pub path: PathBuf,
    /// Its bytes; `None` where there is none.
    pub content: Option<Vec<u8>>,
    target: PathBuf,
    facts: Option<Facts>,
}

#[derive(Debug, Clone, Copy)]
struct Facts {
    mode: u32,
    is_mine: bool,
    names: u64,
}

impl SettingsFile {
    /// Reads a file; none is no error.
    ///
    /// # Errors
    /// `provider_unavailable` where it cannot be read; `conflict` where it is no file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let target = target(path).map_err(|error| unreadable(path, &error))?;
        let absent = Self { path: path.to_owned(), content: None, target: target.clone(), facts: None };
        let file = match open_without_waiting(&target) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => return Ok(absent),
            Err(error) => return Err(unreadable(path, &error)),
        };
        let facts = file.metadata().map_err(|error| unreadable(path, &error))?;
        if !facts.is_file() {
            return Err(Failure::new(ErrorCode::Conflict, format!("{} is no file", path.display()))
                .hint("Move it away, or name another file with --settings."));
        }
        let mut content = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut content).map_err(|error| unreadable(path, &error))?;
        if content.len() as u64 > MAX_BYTES {
            return Err(Failure::new(ErrorCode::Conflict, format!("{} is too large", path.display()))
                .hint("`bailiwick client print` shows what to paste into it."));
        }
        let stat = Stat::of(&target).ok_or_else(|| unreadable(path, &io::ErrorKind::NotFound.into()))?;
        let is_mine = Ownership::of_known(&target, &stat).is_mine();
        let facts = Facts { mode: facts.mode() & 0o7777, is_mine, names: stat.links };
        Ok(Self { content: Some(content), facts: Some(facts), ..absent })
    }

    /// Returns the text; none for a file that does not exist.
    ///
    /// # Errors
    /// `conflict` where it is not UTF-8.
    pub fn text(&self) -> Result<&str, Failure> {
        std::str::from_utf8(self.content.as_deref().unwrap_or_default()).map_err(|error| {
            Failure::new(
                ErrorCode::Conflict,
                format!("{} is not UTF-8 text (byte {})", self.path.display(), error.valid_up_to()),
            )
            .hint("Store it as UTF-8, then run this again. Nothing was changed.")
        })
    }

    /// Returns what would keep the file from being written.
    ///
    /// # Errors
    /// `permission_denied`.
    pub fn check_writable(&self) -> Result<(), Failure> {
        let shown = self.path.display();
        match self.facts {
            Some(facts) if !facts.is_mine => {
                Err(Failure::denied("other-owner", format!("{shown} belongs to another user"))
                    .hint("Run this as the user whose client it is."))
            }
            Some(facts) if facts.mode & 0o200 == 0 => {
                Err(Failure::denied("read-only", format!("{shown} is read-only, and stays as it is"))
                    .hint(format!("Make it writable (`chmod u+w {shown}`), then run this again."))
                    .hint(
                        "If another program makes this file, add there what `bailiwick client print` prints.",
                    ))
            }
            _ => Ok(()),
        }
    }

    /// Replaces the file by new bytes, or removes it; gives the folders that had to be made, outermost first.
    ///
    /// # Errors
    /// `conflict` if it has changed since it was read; `provider_unavailable` if it cannot be written. The file is then
    /// as it was.
    pub fn write(&self, content: Option<&[u8]>, new_file_mode: u32) -> Result<Vec<PathBuf>, Failure> {
        self.check_writable()?;
        if Self::read(&self.path)?.content != self.content {
            return Err(Failure::new(
                ErrorCode::Conflict,
                format!("{} was changed by someone else just now", self.path.display()),
            )
            .hint("Close the client, then run this again."));
        }
        let failed = |error: io::Error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("{} cannot be written: {error}", self.path.display()),
            )
            .hint("Check the folder's owner, permissions and free space. The file is as it was.")
        };
        let Some(content) = content else {
            return fs::remove_file(&self.target).map(|()| Vec::new()).map_err(failed);
        };
        let folder = self.target.parent().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let made = make_folders(folder).map_err(failed)?;
        let mode = self.facts.map_or(new_file_mode, |facts| facts.mode);
        let written = if self.facts.is_some_and(|facts| facts.names > 1) {
            // A new file would part it from its other names.
            OpenOptions::new()
                .write(true)
                .truncate(true)
                .open(&self.target)
                .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        } else {
            replace_file(&self.target, content, mode)
        };
        written.map_err(failed)?;
        Ok(made)
    }
}

/// Removes folders that were made for a file, innermost first, as far as they are empty.
pub fn remove_empty_folders(made: &[PathBuf]) {
    for folder in made.iter().rev() {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// Finds the file that a name leads to, also where that file does not exist yet.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    for _ in 0..MAX_LINKS {
        match at.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
        let Ok(leads_to) = fs::read_link(&at) else { return Ok(at) };
        at = at.parent().unwrap_or(Path::new("/")).join(leads_to);
    }
    Err(io::Error::other("too many links"))
}

fn make_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<&Path> = folder.ancestors().take_while(|it| !it.exists()).collect();
    missing.reverse();
    for folder in &missing {
        DirBuilder::new().mode(0o755).create(folder)?;
    }
    Ok(missing.into_iter().map(Path::to_owned).collect())
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("{} cannot be read: {error}", path.display()))
        .hint("Check its owner and permissions.")
}
