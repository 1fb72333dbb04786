//! Taking one of Bailiwick's own files for oneself, by giving it another name.

use std::fs;
use std::io;
use std::path::Path;

/// Renames a file within its folder so that of several callers, in this process and in others, one alone succeeds.
///
/// # Errors
/// Those of the file system; `NotFound` for all but the first.
pub fn claim_file(from: &Path, to: &Path) -> io::Result<()> {
    let _turn = turn(from)?;
    fs::rename(from, to)
}

/// What is held while a file is renamed: nothing, as renaming is one step, by names.
#[cfg(unix)]
struct Turn;

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "it is the same call on every system")]
const fn turn(_: &Path) -> io::Result<Turn> {
    Ok(Turn)
}

/// Here a file is opened first, and then renamed by its handle: who has opened it renames it after another has. So
/// callers take turns, by a lock beside it.
#[cfg(windows)]
fn turn(file: &Path) -> io::Result<fs::File> {
    let lock = file.with_file_name(".turn");
    let lock = fs::OpenOptions::new().write(true).create(true).truncate(false).open(lock)?;
    lock.lock()?;
    Ok(lock)
}
