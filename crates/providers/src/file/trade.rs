//! Putting a finished file in the place of another, and looking afterwards at what it has replaced: what another program
//! wrote there after the last look before is given back.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::thread;
use std::time::{Duration, Instant};

use bailiwick_contract::{Cancel, ErrorCode, id};
use bailiwick_platform::fs::{
    Attributes, Dir, FileError, FileKind, Stat, WritableDir, hold_file, is_open_for_writing,
};

use super::change::holds;
use super::version::{content_version, hash_file};

/// How long programs that have an old file open for writing are waited for.
pub(super) const PATIENCE: Duration = Duration::from_millis(250);
/// How long to wait between two looks at that.
const PAUSE: Duration = Duration::from_millis(1);

/// What a name is expected to stand for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExpectedFile<'a> {
    /// Its facts.
    pub stat: &'a Stat,
    /// Its version.
    pub version: &'a str,
    /// Its content, where that is in memory.
    pub content: Option<&'a [u8]>,
}

/// What came of a trade.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trade {
    /// The new file has the name, and what it has replaced is as it was expected to be. The temporary name is free.
    Done {
        /// Whether another program has the old file open for writing.
        has_writer: bool,
    },
    /// Another program has changed the file, which has its name again.
    Changed {
        /// The name beside it of a file that another program has written, too. It is the temporary one where no other
        /// could be made.
        kept: Option<OsString>,
    },
}

/// How long a look at what was replaced may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience<'a> {
    /// How long programs that have the file open for writing are waited for.
    pub writers: Duration,
    /// When to stop comparing contents.
    pub cancel: &'a Cancel,
}

/// Puts the file of a temporary name in the place of `old`, which has the name, and syncs the folder. `own` is what keeps
/// the temporary name from a sweep until then. Returns `None` where the system has no single step for it; nothing is
/// changed then.
///
/// # Errors
/// [`FileError::NotFound`] if nothing has the name, and the usual ones.
pub(super) fn trade(
    dir: &WritableDir,
    (temporary, new): (&OsStr, ExpectedFile<'_>),
    (name, old): (&OsStr, ExpectedFile<'_>),
    own: Option<File>,
    patience: Patience<'_>,
) -> Result<Option<Trade>, FileError> {
    if !dir.exchange_at_once(name, dir, temporary)? {
        return Ok(None);
    }
    drop(own);
    // Who has just found the old file by its name has opened it before this is over.
    let synced = dir.sync();
    let look = old.look(dir, temporary, patience);
    if !look.is_same {
        return Ok(Some(Trade::Changed { kept: give_back(dir, (temporary, new), name, patience)? }));
    }
    // What is not known to be on the disk is not done.
    if let Err(error) = synced {
        return match give_back(dir, (temporary, new), name, patience)? {
            None => Err(error),
            kept => Ok(Some(Trade::Changed { kept })),
        };
    }
    // What stays is removed by a sweep.
    let _ = dir.remove_file(temporary);
    Ok(Some(Trade::Done { has_writer: look.has_writer }))
}

/// Renames a changed file back. Returns the name of what was written into ours meanwhile.
fn give_back(
    dir: &WritableDir,
    (temporary, new): (&OsStr, ExpectedFile<'_>),
    name: &OsStr,
    patience: Patience<'_>,
) -> Result<Option<OsString>, FileError> {
    match dir.exchange_at_once(name, dir, temporary) {
        Ok(true) if new.look(dir, temporary, patience).is_same => return dir.sync().map(|()| None),
        // It was removed.
        Err(FileError::NotFound) if dir.rename_to_free(temporary, dir, name).is_ok() => {
            return dir.sync().map(|()| None);
        }
        // Both have something of others.
        Ok(_) | Err(_) => {}
    }
    Ok(Some(keep_both(dir, temporary, name)))
}

/// Renames a file of others that cannot have its name back to a free name beside it. Returns that name, or the temporary
/// one where it has to stay there.
pub(crate) fn keep_both(dir: &WritableDir, temporary: &OsStr, name: &OsStr) -> OsString {
    let short = OsString::from(format!("meanwhile-{}", id::new_id()));
    let mut long = name.to_owned();
    long.push(".");
    long.push(&short);
    for kept in [long, short] {
        if dir.rename_to_free(temporary, dir, &kept).is_ok() {
            // What is not synced yet has one of its names after a crash.
            let _ = dir.sync();
            return kept;
        }
    }
    temporary.to_owned()
}

/// Takes `old` from its name, to a temporary name where it can be removed.
///
/// # Errors
/// The usual ones.
pub(super) fn take(
    dir: &WritableDir,
    (name, old): (&OsStr, ExpectedFile<'_>),
    temporary: &OsStr,
    patience: Patience<'_>,
) -> Result<Trade, FileError> {
    dir.rename_to_free(name, dir, temporary)?;
    let look = old.look(dir, temporary, patience);
    if look.is_same {
        return Ok(Trade::Done { has_writer: look.has_writer });
    }
    let kept = match dir.rename_to_free(temporary, dir, name) {
        Ok(()) => None,
        Err(_) => Some(keep_both(dir, temporary, name)),
    };
    Ok(Trade::Changed { kept })
}

/// How what is there compares with what was expected.
struct Comparison {
    is_same: bool,
    has_writer: bool,
    /// Keeps it from a sweep until it is decided what becomes of it.
    _held: Option<File>,
}

impl ExpectedFile<'_> {
    fn look(&self, dir: &Dir, name: &OsStr, patience: Patience<'_>) -> Comparison {
        let of_facts = |is_same| Comparison { is_same, has_writer: false, _held: None };
        if self.stat.kind != FileKind::File {
            return of_facts(dir.stat(name).is_ok_and(|stat| self.has_facts(&stat)));
        }
        let mut opened = match dir.open_file(name) {
            Ok(opened) if opened.stat.id == self.stat.id => opened,
            // This user may replace it, but not read it.
            Err(FileError::Denied) => {
                return of_facts(dir.stat(name).is_ok_and(|stat| self.has_facts(&stat)));
            }
            Ok(_) | Err(_) => return of_facts(false),
        };
        hold_file(&opened.file);
        let has_writer = is_still_written(&opened.file, patience.writers);
        let Ok(stat) = opened.file.facts() else { return of_facts(false) };
        let is_same = match self.content {
            Some(content) => holds(&opened.file, &stat, content),
            None if self.version.starts_with("s-") => {
                stat.size == self.stat.size
                    && match hash_file(&mut opened.file, patience.cancel) {
                        Ok(sha256) => content_version(&sha256) == self.version,
                        // It has to be decided without the content.
                        Err(failure) => {
                            [ErrorCode::Timeout, ErrorCode::Cancelled].contains(&failure.code)
                                && self.has_facts(&stat)
                        }
                    }
            }
            None => self.has_facts(&stat),
        };
        Comparison { is_same, has_writer, _held: Some(opened.file) }
    }

    /// Whether facts are the expected ones, but for the time at which something got another name.
    fn has_facts(&self, stat: &Stat) -> bool {
        let of = |stat: &Stat| (stat.kind, stat.id, stat.size, stat.modified_ns);
        of(stat) == of(self.stat)
    }
}

/// Waits until nobody has a file open for writing. Returns whether somebody still has.
fn is_still_written(file: &File, patience: Duration) -> bool {
    let end = Instant::now() + patience;
    while is_open_for_writing(file) == Some(true) {
        if Instant::now() >= end {
            return true;
        }
        thread::sleep(PAUSE);
    }
    false
}

#[cfg(test)]
#[path = "trade_tests.rs"]
mod tests;
