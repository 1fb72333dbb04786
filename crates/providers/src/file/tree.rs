//! Looking through a whole folder before anything is done with it: every entry is judged first.
//!
//! Iterative and by handle: no link is followed, and each folder is known by its identity afterwards.

use std::ffi::OsStr;

use sha2::{Digest, Sha256};

use bailiwick_contract::{Cancel, ErrorCode, Failure, hex};
use bailiwick_platform::fs::{Dir, FileError, FileId, FileKind, RelPath, Stat};
use bailiwick_policy::{PermittedPath, file_failure};

use super::is_temporary;

/// How many entries one operation takes on.
const MAX_ENTRIES: u64 = 1_000_000;
/// How many entries of a folder are read at a time.
pub(super) const AT_ONCE: usize = 100_000;
/// The longest path that can be opened, in bytes.
const MAX_PATH_BYTES: usize = 4_096;

/// One folder of a tree.
#[derive(Debug)]
pub struct Folder {
    /// Its judged path.
    pub path: PermittedPath,
    /// Where it goes, judged too, if the tree is copied or moved.
    pub to: Option<PermittedPath>,
    /// Its path below the tree's own folder.
    pub below: RelPath,
    /// Its facts when it was judged.
    pub stat: Stat,
}

/// A tree that was looked through.
#[derive(Debug, Default)]
pub struct Survey {
    /// Every folder, those above before those below.
    pub folders: Vec<Folder>,
    /// What is in them.
    pub counts: Counts,
    /// Which entries there are, and what they are.
    pub fingerprint: Fingerprint,
    /// Whether a part of it is on another file system.
    pub is_mixed: bool,
}

/// Stands for the names, kinds, sizes, times and targets of entries, in whatever order they come.
///
/// It stays as it is when the entries are renamed or copied with their facts, which numbers of files and the time of
/// the last change of facts do not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// Adds an entry of an open folder. `below` is its path below what is checked.
    ///
    /// # Errors
    /// Those of reading a link.
    pub fn add(&mut self, dir: &Dir, name: &OsStr, below: &RelPath, stat: &Stat) -> Result<(), FileError> {
        let target = match stat.kind {
            FileKind::Symlink => dir.read_link(name)?,
            _ => Default::default(),
        };
        // A sum is the same in any order, and counts an entry that is there twice.
        self.0 = self.0.wrapping_add(number(below, stat, target.as_ref()));
        Ok(())
    }

    /// Puts another time in the place of that of a file.
    pub fn set_time(&mut self, below: &RelPath, stat: &Stat, modified_ns: i64) {
        let then = Stat { modified_ns: modified_ns.into(), ..*stat };
        self.0 = self.0.wrapping_sub(number(below, stat, &[])).wrapping_add(number(below, &then, &[]));
    }

    /// Returns the version token: `t-` and 24 digits.
    pub fn version(self) -> String {
        let mut digits = hex(&self.0.to_le_bytes());
        digits.truncate(24);
        format!("t-{digits}")
    }
}

/// Returns the line of one entry.
fn number(below: &RelPath, stat: &Stat, target: &[u8]) -> u128 {
    let mut hash = Sha256::new();
    hash.update(below.as_bytes());
    hash.update([0]);
    hash.update(stat.kind.describe());
    match stat.kind {
        FileKind::File => {
            hash.update(stat.size.to_le_bytes());
            hash.update(stat.modified_ns.to_le_bytes());
            hash.update((stat.mode & 0o777).to_le_bytes());
        }
        FileKind::Dir => hash.update((stat.mode & 0o777).to_le_bytes()),
        FileKind::Symlink => hash.update(target),
        FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {}
    }
    let digest = hash.finalize();
    digest.first_chunk().map_or(0, |bytes| u128::from_le_bytes(*bytes))
}

/// How much there is, or was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Regular files.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Symbolic links.
    pub links: u64,
    /// Pipes, sockets, devices.
    pub others: u64,
    /// Bytes in the regular files.
    pub bytes: u64,
}

impl Counts {
    /// Counts one entry.
    pub fn add(&mut self, stat: &Stat) {
        match stat.kind {
            FileKind::File => {
                self.files += 1;
                self.bytes += stat.size;
            }
            FileKind::Dir => self.folders += 1,
            FileKind::Symlink => self.links += 1,
            FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => self.others += 1,
        }
    }

    /// Counts all entries.
    pub fn total(&self) -> u64 {
        self.files + self.folders + self.links + self.others
    }
}

impl Folder {
    /// Opens the folder again; it must still be the one that was judged.
    ///
    /// # Errors
    /// `conflict` if another one has its place, and those of the path door.
    pub fn open(&self) -> Result<Dir, Failure> {
        let dir = self.path.open_dir_itself()?;
        if dir.id() != self.stat.id {
            return Err(changed(&self.path));
        }
        Ok(dir)
    }
}

impl Survey {
    /// Looks through the folder `path`, and judges every entry there and, with `to`, where it would go.
    ///
    /// # Errors
    /// `permission_denied` for the first closed entry; `invalid_request` if the tree is too large or
    /// is around the place where it is to go; `cancelled`, `timeout`.
    pub fn of(
        path: &PermittedPath,
        stat: Stat,
        to: Option<&PermittedPath>,
        keep_out: Option<FileId>,
        cancel: &Cancel,
    ) -> Result<Self, Failure> {
        Self::walk(Folder::open, path, stat, to, keep_out, cancel)
    }

    /// Looks through a folder that is kept whole, and judges every entry as if it were at `path`.
    ///
    /// # Errors
    /// As [`Survey::of`].
    pub fn of_kept(
        dir: &Dir,
        name: &OsStr,
        path: &PermittedPath,
        stat: Stat,
        cancel: &Cancel,
    ) -> Result<Self, Failure> {
        let open = |folder: &Folder| {
            let opened = dir.open_dir(name).and_then(|top| top.open_dir_beneath(&folder.below));
            opened.map_err(|error| file_failure(&error, &folder.path))
        };
        Self::walk(open, path, stat, None, None, cancel)
    }

    fn walk(
        open: impl Fn(&Folder) -> Result<Dir, Failure>,
        path: &PermittedPath,
        stat: Stat,
        to: Option<&PermittedPath>,
        keep_out: Option<FileId>,
        cancel: &Cancel,
    ) -> Result<Self, Failure> {
        let mut survey = Self::default();
        survey.counts.add(&stat);
        let mut todo = vec![Folder { path: path.clone(), to: to.cloned(), below: RelPath::root(), stat }];
        while let Some(folder) = todo.pop() {
            cancel.check()?;
            if keep_out == Some(folder.stat.id) {
                return Err(Failure::invalid(
                    "input.to",
                    format!("`{}` cannot go into itself", path.shown()),
                )
                .hint("Choose a place outside the folder."));
            }
            let dir = open(&folder)?;
            for entry in dir.entries_in_order(AT_ONCE) {
                let entry = entry.map_err(|error| file_failure(&error, &folder.path))?;
                let child = folder.path.child(&entry.name)?;
                let child_to = folder.to.as_ref().map(|to| to.child(&entry.name)).transpose()?;
                check_length(&child, child_to.as_ref())?;
                let stat = match dir.stat(&entry.name) {
                    Ok(stat) => stat,
                    // Gone since it was listed.
                    Err(FileError::NotFound) => continue,
                    Err(error) => return Err(file_failure(&error, &child)),
                };
                survey.counts.add(&stat);
                survey.is_mixed |= stat.id.device != folder.stat.id.device;
                let below = folder.below.child(&entry.name);
                // What a killed write has left is nobody's.
                let is_left = stat.kind == FileKind::File && is_temporary(&entry.name);
                if !is_left {
                    match survey.fingerprint.add(&dir, &entry.name, &below, &stat) {
                        Ok(()) | Err(FileError::NotFound) => {}
                        Err(error) => return Err(file_failure(&error, &child)),
                    }
                }
                if survey.counts.total() > MAX_ENTRIES {
                    return Err(Failure::invalid(
                        "target",
                        format!("`{}` has more than {MAX_ENTRIES} entries", path.shown()),
                    )
                    .hint("Take its folders one by one."));
                }
                if stat.kind == FileKind::Dir {
                    todo.push(Folder { path: child, to: child_to, below, stat });
                }
            }
            survey.folders.push(folder);
        }
        Ok(survey)
    }
}

/// Creates the failure of a walk under which a folder was exchanged.
pub(super) fn changed(path: &PermittedPath) -> Failure {
    Failure::new(ErrorCode::Conflict, format!("`{}` was replaced meanwhile", path.shown()))
        .hint("Try again when nothing else changes the folder.")
}

fn check_length(path: &PermittedPath, to: Option<&PermittedPath>) -> Result<(), Failure> {
    let longest = to.map_or(0, |to| to.rel().as_bytes().len()).max(path.rel().as_bytes().len());
    if longest <= MAX_PATH_BYTES {
        return Ok(());
    }
    Err(Failure::invalid("target", "the tree is too deep: a path in it has more than 4096 bytes")
        .hint("Begin with a folder further down."))
}
