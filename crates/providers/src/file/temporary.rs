//! Temporary siblings: the names under which new content waits until it is complete.
//!
//! After a crash they are left. What belongs to nobody any more is known by locks, which the system lets go of with the
//! process: a file that is written is locked itself; whatever else has such a name has a lock in Bailiwick's state
//! folder. So nothing is removed for its age alone, and nothing that others have made.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_contract::{ErrorCode, Failure, id, time};
use bailiwick_platform::fs::{
    ABANDONED_AFTER, Dir, FileError, FileId, FileKind, FileLock, RelPath, Root, WritableDir, is_older,
    is_unheld,
};
use bailiwick_platform::names::OsStrExt;

const START: &str = ".bailiwick-";
const END: &str = ".tmp";
/// How long a folder that was swept is left alone, so that many writes to it cost one look.
const SWEPT_FOR: Duration = Duration::from_secs(1);
/// How many names of a folder a sweep looks at. What is left in a folder with more is found by its lock.
const MAX_LOOKED_AT: usize = 4_096;
/// How many locks are checked for that.
const MAX_LOCKS: usize = 4_096;
/// How many folders wait to be looked into.
const MAX_FOLDERS: usize = 65_536;
/// How many folders are remembered as swept.
const MAX_SWEPT: usize = 4_096;

static SWEPT: Mutex<Option<HashMap<FileId, SweptFolder>>> = Mutex::new(None);

/// What is remembered of a folder that was swept.
#[derive(Debug, Clone, Copy)]
struct SweptFolder {
    at: Instant,
    size: FolderSize,
}

/// Whether a sweep sees all names of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FolderSize {
    /// It does.
    Small,
    /// It does not: every temporary name in it needs a lock of its own.
    Large,
}

/// Creates a new temporary name, which nobody can guess.
pub(super) fn temporary_name() -> OsString {
    format!("{START}{}{END}", id::new_id()).into()
}

/// A temporary name that is not that of a file which is being written: locked as long as the value lives.
#[derive(Debug)]
pub(crate) struct TemporaryName {
    pub(crate) name: OsString,
    lock: PathBuf,
    _lock: FileLock,
    /// Whether something still has the name when the value goes.
    is_left: bool,
}

impl TemporaryName {
    /// Creates one. `locks` is the folder of Bailiwick's locks, `folder` that in which the name is used, and `place` what
    /// is being made there.
    #[expect(clippy::disallowed_methods, reason = "the lock is Bailiwick's own, in its state folder")]
    pub(crate) fn new(locks: &Path, folder: FileId, place: &str) -> Result<Self, Failure> {
        let (id, names) = (id::new_id(), names_folder(locks));
        let taken = FileLock::try_take(&names, &id).ok().flatten().and_then(|lock| {
            let path = names.join(&id);
            let name = format!("{START}{id}{END}").into();
            let taken = Self { name, lock: path, _lock: lock, is_left: false };
            // Before anything has the name: a lock that says nothing is not needed by anybody.
            let note = LockNote { folder: Some(folder), place: place.to_owned() };
            std::fs::write(&taken.lock, note.text()).ok().map(|()| taken)
        });
        taken.ok_or_else(|| {
            Failure::new(ErrorCode::ProviderUnavailable, "Bailiwick's lock files cannot be used")
                .hint("Check the permissions of Bailiwick's state folder.")
        })
    }

    /// Removes what has the name. What cannot be removed is left to a sweep, which knows it by its lock.
    pub(crate) fn discard(mut self, dir: &WritableDir) {
        let removed = match dir.stat(&self.name) {
            Ok(stat) if stat.kind == FileKind::Dir => dir.remove_tree(&self.name),
            Ok(_) => dir.remove_file(&self.name),
            Err(error) => Err(error),
        };
        self.is_left = !matches!(removed, Ok(()) | Err(FileError::NotFound));
    }
}

/// What a lock says, for a sweep and for the user.
#[derive(Debug, PartialEq, Eq)]
struct LockNote {
    /// The folder in which the name is used.
    folder: Option<FileId>,
    /// What is being made there.
    place: String,
}

impl LockNote {
    fn text(&self) -> String {
        let id = self.folder.map(|id| format!("{} {}", id.device, id.inode)).unwrap_or_default();
        format!("{id}\n{}", self.place)
    }

    /// Reads a lock; `None` if it says nothing.
    #[expect(clippy::disallowed_methods, reason = "the lock is Bailiwick's own, in its state folder")]
    fn read(lock: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(lock).ok().filter(|text| !text.is_empty())?;
        let parsed = text.split_once('\n').and_then(|(id, place)| {
            let (device, inode) = id.split_once(' ')?;
            let folder = FileId { device: device.parse().ok()?, inode: inode.parse().ok()? };
            Some(Self { folder: Some(folder), place: place.to_owned() })
        });
        // Earlier versions wrote the place alone.
        Some(parsed.unwrap_or(Self { folder: None, place: text }))
    }
}

impl Drop for TemporaryName {
    #[expect(clippy::disallowed_methods, reason = "the file is Bailiwick's own, in its state folder")]
    fn drop(&mut self) {
        if !self.is_left {
            let _ = std::fs::remove_file(&self.lock);
        }
    }
}

/// Returns what was being made when a process was cut off, and is left until something is written beside it.
#[expect(clippy::disallowed_methods, reason = "the locks are Bailiwick's own, in its state folder")]
pub fn places_left(state: &Path) -> Vec<String> {
    let names = names_folder(super::Locks::below(state).folder());
    let entries = std::fs::read_dir(&names).into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|id| id::is_id(id));
    let left = ids.take(MAX_LOCKS).filter_map(|id| {
        // It is written after the lock is taken.
        let note = LockNote::read(&names.join(&id))?;
        FileLock::try_take(&names, &id).ok()??;
        Some(note.place)
    });
    left.collect()
}

/// Returns the half-written files below a folder that nobody writes any more: those that are found in time, by their paths.
pub fn files_left(folder: &Path, until: Instant) -> Vec<String> {
    let Ok(root) = Root::open(folder) else { return Vec::new() };
    let (mut todo, mut left) = (vec![RelPath::root()], Vec::new());
    while let Some(path) = todo.pop() {
        let Ok(dir) = root.open_dir(&path) else { continue };
        let mut names = Vec::new();
        let in_time =
            || if Instant::now() < until { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        // What cannot be read is not looked into.
        let _ = dir.for_each_entry(|name, kind| {
            let kind = kind.or_else(|| Some(dir.stat(name).ok()?.kind));
            if kind == Some(FileKind::Dir) && todo.len() < MAX_FOLDERS {
                todo.push(path.child(name));
            } else if kind == Some(FileKind::File) && is_temporary(name) && names.len() < MAX_LOCKS {
                names.push(name.to_owned());
            }
            in_time()
        });
        names.retain(|name| dir.open_file(name).is_ok_and(|opened| is_unheld(&opened.file)));
        left.extend(
            names.iter().map(|name| String::from_utf8_lossy(path.child(name).as_bytes()).into_owned()),
        );
        if in_time().is_break() || left.len() >= MAX_LOCKS {
            break;
        }
    }
    left
}

fn names_folder(locks: &Path) -> PathBuf {
    locks.join("names")
}

/// Returns whether a name has the form of a temporary. Files of such names are not shown, and no targets.
pub fn is_temporary(name: &OsStr) -> bool {
    id_of(name).is_some()
}

fn id_of(name: &OsStr) -> Option<&str> {
    let middle = name.as_bytes().strip_prefix(START.as_bytes())?.strip_suffix(END.as_bytes())?;
    std::str::from_utf8(middle).ok().filter(|middle| id::is_id(middle))
}

/// Removes what a crash left in a folder. Looks at each folder once in a while. `locks` is the folder of Bailiwick's
/// locks.
pub(crate) fn sweep(dir: &WritableDir, locks: &Path) -> FolderSize {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let last = swept.get_or_insert_default().get(&dir.id()).copied();
    drop(swept);
    if let Some(last) = last.filter(|last| last.at.elapsed() < SWEPT_FOR) {
        return last.size;
    }
    sweep_at_once(dir, locks)
}

/// Removes what a crash left in a folder, also if that was done a moment ago.
pub(crate) fn sweep_at_once(dir: &WritableDir, locks: &Path) -> FolderSize {
    let size = sweep_now(dir, locks);
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let swept = swept.get_or_insert_default();
    if swept.len() >= MAX_SWEPT {
        swept.clear();
    }
    swept.insert(dir.id(), SweptFolder { at: Instant::now(), size });
    size
}

/// Returns the temporary names among the first of a folder, and of a large one those for which there is a lock.
#[expect(clippy::disallowed_methods, reason = "the locks are Bailiwick's own, in its state folder")]
fn names_left(dir: &Dir, names: &Path) -> Result<(Vec<OsString>, FolderSize), FileError> {
    let (mut temporary, mut looked_at) = (Vec::new(), 0);
    dir.for_each_entry(|name, _| {
        looked_at += 1;
        if is_temporary(name) {
            temporary.push(name.to_owned());
        }
        if looked_at < MAX_LOOKED_AT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    if looked_at < MAX_LOOKED_AT {
        return Ok((temporary, FolderSize::Small));
    }
    for lock in std::fs::read_dir(names).into_iter().flatten().flatten().take(MAX_LOCKS) {
        let Some(id) = lock.file_name().to_str().filter(|id| id::is_id(id)).map(str::to_owned) else {
            continue;
        };
        let name = OsString::from(format!("{START}{id}{END}"));
        if !temporary.contains(&name) && dir.stat(&name).is_ok() {
            temporary.push(name);
        }
    }
    Ok((temporary, FolderSize::Large))
}

#[expect(clippy::disallowed_methods, reason = "the locks are Bailiwick's own, in its state folder")]
fn sweep_now(dir: &WritableDir, locks: &Path) -> FolderSize {
    let names = names_folder(locks);
    let Ok((temporary, size)) = names_left(dir, &names) else { return FolderSize::Small };
    for name in temporary {
        let (Some(id), Ok(stat)) = (id_of(&name), dir.stat(&name)) else { continue };
        // Someone else may have removed it; the next sweep finds what stays.
        if std::fs::symlink_metadata(names.join(id)).is_ok() {
            let Ok(Some(_lock)) = FileLock::try_take(&names, id) else { continue };
            let removed = match stat.kind {
                FileKind::Dir => dir.remove_tree(&name),
                _ => dir.remove_file(&name),
            };
            if removed.is_ok() {
                let _ = std::fs::remove_file(names.join(id));
            }
        } else if stat.kind == FileKind::File && is_abandoned(dir, &name) {
            let _ = dir.remove_file(&name);
        }
    }
    remove_unused_locks(dir, &names);
    size
}

/// Removes the locks of killed processes under whose names nothing is, or is any more: those of this folder, and those
/// that say nothing.
#[expect(clippy::disallowed_methods, reason = "the locks are Bailiwick's own, in its state folder")]
fn remove_unused_locks(dir: &Dir, names: &Path) {
    for entry in std::fs::read_dir(names).into_iter().flatten().flatten().take(MAX_LOCKS) {
        let Some(id) = entry.file_name().into_string().ok().filter(|id| id::is_id(id)) else { continue };
        let is_unused = match LockNote::read(&entry.path()) {
            Some(note) => {
                let name = OsString::from(format!("{START}{id}{END}"));
                note.folder == Some(dir.id()) && matches!(dir.stat(&name), Err(FileError::NotFound))
            }
            // It may be about to be locked, and to say something.
            None => entry
                .metadata()
                .and_then(|facts| facts.modified())
                .is_ok_and(|at| is_older(at, ABANDONED_AFTER)),
        };
        if is_unused && let Ok(Some(_lock)) = FileLock::try_take(names, &id) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Returns whether a file that was being written belongs to nobody any more.
fn is_abandoned(dir: &Dir, name: &OsStr) -> bool {
    let Ok(opened) = dir.open_file(name) else { return false };
    let age_ms = i128::from(time::now_ms()) - opened.stat.changed_ns / 1_000_000;
    // Longer than making and locking takes, also if the clock was set back since.
    age_ms.unsigned_abs() > ABANDONED_AFTER.as_millis() && is_unheld(&opened.file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_locked_any_more_goes_and_nothing_else() {
        use std::fs;

        use bailiwick_platform::fs::modes::symlink;
        use bailiwick_platform::fs::{RelPath, Root, hold_file, remove_tree};

        let folder = std::env::temp_dir().join(format!("bailiwick-sweep-{}", id::new_id()));
        let (scope, locks) = (folder.join("scope"), folder.join("locks"));
        fs::create_dir_all(&scope).expect("made");
        let root = Root::open(&scope).expect("it is there");
        let dir = root.open_writable_dir(&RelPath::root()).expect("it is there");
        // As a crash leaves it: the name is known, and its lock is free.
        let left = || {
            let TemporaryName { name, lock, .. } =
                &TemporaryName::new(&locks, dir.id(), "a place").expect("made");
            let name = name.clone();
            fs::hard_link(lock, lock.with_extension("kept")).expect("kept");
            (name, lock.clone())
        };
        let (crashed, crashed_lock) = left();
        fs::rename(crashed_lock.with_extension("kept"), &crashed_lock).expect("renamed");
        fs::create_dir_all(scope.join(&crashed).join("deep/er")).expect("made");
        fs::write(scope.join(&crashed).join("deep/file"), "half").expect("written");
        let alive = TemporaryName::new(&locks, dir.id(), "a place").expect("made");
        fs::create_dir(scope.join(&alive.name)).expect("made");
        let foreign = temporary_name();
        fs::create_dir(scope.join(&foreign)).expect("made");
        let link = temporary_name();
        let has_link = symlink("scope", scope.join(&link)).is_ok();
        // A file that is being written, and one that is new.
        let (held, new) = (temporary_name(), temporary_name());
        let file = fs::File::create(scope.join(&held)).expect("made");
        hold_file(&file);
        fs::write(scope.join(&new), "").expect("written");
        assert_eq!(places_left(&folder), ["a place"], "what is alive is not left");
        sweep_now(&dir, &locks);
        assert_eq!(places_left(&folder), [""; 0]);
        let is_there = |name: &OsStr| fs::symlink_metadata(scope.join(name)).is_ok();
        assert!(!is_there(&crashed) && !crashed_lock.exists());
        assert!(is_there(&alive.name) && is_there(&foreign) && is_there(&held) && is_there(&new));
        assert!(is_there(&link) || !has_link);
        drop((alive, file));
        remove_tree(&folder).expect("it was made above");
    }

    #[test]
    fn a_lock_under_whose_name_nothing_is_goes_with_the_next_sweep_of_its_folder() {
        use std::fs;

        use bailiwick_platform::fs::{RelPath, Root, create_private_dir, remove_tree};

        let folder = std::env::temp_dir().join(format!("bailiwick-sweep-{}", id::new_id()));
        let (scope, locks) = (folder.join("scope"), folder.join("locks"));
        fs::create_dir_all(scope.join("other")).expect("made");
        let root = Root::open(&scope).expect("it is there");
        let dir = root.open_writable_dir(&RelPath::root()).expect("it is there");
        let other = dir.open_dir(OsStr::new("other")).expect("it is there");
        create_private_dir(&names_folder(&locks)).expect("made");
        // As kills leave them: before the name is used, after it was, and before the lock says what it is for.
        let left = |text: &str, age: Duration| {
            let lock = names_folder(&locks).join(id::new_id());
            fs::write(&lock, text).expect("written");
            let file = fs::File::options().write(true).open(&lock).expect("it is there");
            file.set_modified(std::time::SystemTime::now() - age).expect("set");
            lock
        };
        let note = |id| LockNote { folder: Some(id), place: "a place\nof two lines".to_owned() }.text();
        let (here, there) = (left(&note(dir.id()), Duration::ZERO), left(&note(other.id()), Duration::ZERO));
        let (old, new) = (left("", 2 * ABANDONED_AFTER), left("", Duration::ZERO));
        let earlier = left("a place", 2 * ABANDONED_AFTER);
        let alive = TemporaryName::new(&locks, dir.id(), "a place").expect("made");
        assert_eq!(places_left(&folder).len(), 3);
        sweep_now(&dir, &locks);
        assert!(!here.exists() && !old.exists());
        assert!(there.exists() && new.exists() && earlier.exists() && alive.lock.exists());
        sweep_now(&other, &locks);
        assert!(!there.exists());
        drop(alive);
        remove_tree(&folder).expect("it was made above");
    }

    #[test]
    fn what_is_left_in_a_large_folder_is_found_by_its_lock() {
        use bailiwick_platform::fs::{RelPath, Root, remove_tree};
        use std::fs;

        let folder = std::env::temp_dir().join(format!("bailiwick-sweep-{}", id::new_id()));
        let (scope, locks) = (folder.join("scope"), folder.join("locks"));
        fs::create_dir_all(&scope).expect("made");
        let dir =
            Root::open(&scope).and_then(|root| root.open_writable_dir(&RelPath::root())).expect("opened");
        assert_eq!(sweep_now(&dir, &locks), FolderSize::Small);
        for at in 0..MAX_LOOKED_AT {
            fs::write(scope.join(at.to_string()), "").expect("written");
        }
        // Each crashes: its name is known, and its lock is free.
        let left: Vec<_> = (0..20)
            .map(|_| {
                let TemporaryName { name, lock, .. } =
                    &TemporaryName::new(&locks, dir.id(), "a place").expect("made");
                fs::write(scope.join(name), "half").expect("written");
                fs::hard_link(lock, lock.with_extension("kept")).expect("kept");
                (name.clone(), lock.clone())
            })
            .collect();
        for (_, lock) in &left {
            fs::rename(lock.with_extension("kept"), lock).expect("renamed");
        }
        let alive = TemporaryName::new(&locks, dir.id(), "a place").expect("made");
        fs::write(scope.join(&alive.name), "half").expect("written");
        assert_eq!(sweep_now(&dir, &locks), FolderSize::Large);
        assert!(left.iter().all(|(name, lock)| !scope.join(name).exists() && !lock.exists()));
        assert!(scope.join(&alive.name).exists());
        drop(alive);
        remove_tree(&folder).expect("it was made above");
    }

    #[test]
    fn only_our_own_form_is_a_temporary() {
        assert!(is_temporary(&temporary_name()));
        for name in [".bailiwick-x.tmp", ".bailiwick-", "bailiwick.tmp", ".bailiwick-01J.tmp"] {
            assert!(!is_temporary(OsStr::new(name)), "{name}");
        }
    }
}
