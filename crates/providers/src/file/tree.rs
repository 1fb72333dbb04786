//! Looking through a whole folder before anything is done with it: every entry is judged first.
//!
//! Iterative and by handle: no link is followed, and each folder is known by its identity afterwards.

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::{Dir, DoorError, FileId, FileKind, RelPath, Stat};
use bailiwick_policy::{PermittedPath, door_failure};

/// How many entries one operation takes on.
const MAX_ENTRIES: u64 = 1_000_000;
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

    fn total(&self) -> u64 {
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
    /// lies around the place where it is to go; `cancelled`, `timeout`.
    pub fn of(
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
            let dir = folder.open()?;
            for entry in dir.entries().map_err(|error| door_failure(&error, &folder.path))? {
                let child = folder.path.child(&entry.name)?;
                let child_to = folder.to.as_ref().map(|to| to.child(&entry.name)).transpose()?;
                check_length(&child, child_to.as_ref())?;
                let stat = match dir.stat(&entry.name) {
                    Ok(stat) => stat,
                    // Gone since it was listed.
                    Err(DoorError::NotFound) => continue,
                    Err(error) => return Err(door_failure(&error, &child)),
                };
                survey.counts.add(&stat);
                if survey.counts.total() > MAX_ENTRIES {
                    return Err(Failure::invalid(
                        "target",
                        format!("`{}` has more than {MAX_ENTRIES} entries", path.shown()),
                    )
                    .hint("Take its folders one by one."));
                }
                if stat.kind == FileKind::Dir {
                    let below = folder.below.child(&entry.name);
                    todo.push(Folder { path: child, to: child_to, below, stat });
                }
            }
            survey.folders.push(folder);
        }
        Ok(survey)
    }
}

/// Makes the failure of a walk under which a folder was exchanged.
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
