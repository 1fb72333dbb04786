//! Taking one of Bailiwick's own files for oneself, by giving it another name.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Renames a file within its folder so that of several callers, in this process and in others, one alone succeeds.
///
/// # Errors
/// Those of the file system; `NotFound` for all but the first.
pub fn claim_file(from: &Path, to: &Path) -> io::Result<()> {
    let _turn = rename_lock(from)?;
    fs::rename(from, to)
}

/// Marks a file as in use for as long as it is open, whatever its process does.
#[cfg(unix)]
pub fn hold_file(file: &fs::File) {
    // A file system without locks: then it counts as in use while it is new.
    let _ = file.try_lock();
}

/// Marks nothing: a lock would keep others from reading what the file becomes.
#[cfg(windows)]
pub const fn hold_file(_: &fs::File) {}

/// How old a file is, at least, that was marked by [`hold_file`] and belongs to nobody any more: it is made first and
/// marked then.
#[cfg(unix)]
pub const ABANDONED_AFTER: Duration = Duration::from_secs(5);
/// How old a file is, at least, that belongs to nobody any more, where files are not marked.
#[cfg(windows)]
pub const ABANDONED_AFTER: Duration = Duration::from_secs(3_600);

/// Returns whether a time is that long ago, or ahead: the clock may have been put back since.
pub fn is_older(at: SystemTime, than: Duration) -> bool {
    let now = SystemTime::now();
    now.duration_since(at).or_else(|_| at.duration_since(now)).is_ok_and(|age| age > than)
}

/// Returns whether nobody has marked a file by [`hold_file`] and has it open.
pub fn is_unheld(file: &fs::File) -> bool {
    file.try_lock().is_ok()
}

/// What is held while a file is renamed: nothing, as renaming is one step, by names.
#[cfg(unix)]
struct RenameLock;

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "it is the same call on every system")]
const fn rename_lock(_: &Path) -> io::Result<RenameLock> {
    Ok(RenameLock)
}

/// Here a file is opened first, and then renamed by its handle: who has opened it renames it after another has. So
/// callers take turns, by a lock beside it.
#[cfg(windows)]
fn rename_lock(file: &Path) -> io::Result<fs::File> {
    let lock = file.with_file_name(".turn");
    let lock = fs::OpenOptions::new().write(true).create(true).truncate(false).open(lock)?;
    lock.lock()?;
    Ok(lock)
}
