//! Temporary siblings: the names under which new content waits until it is complete.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_contract::{id, time};
use bailiwick_platform::fs::{Dir, FileId, FileKind};
use bailiwick_platform::names::OsStrExt;

const START: &str = ".bailiwick-";
const END: &str = ".tmp";
/// A temporary that was not touched for this long belongs to nobody any more.
const STALE_MS: i64 = 3_600_000;
/// How long a folder that was swept is left alone, so that many writes to it cost one look.
const SWEPT_FOR: Duration = Duration::from_secs(1);
/// How many folders are remembered as swept.
const MAX_SWEPT: usize = 4_096;

static SWEPT: Mutex<Option<HashMap<FileId, Instant>>> = Mutex::new(None);

/// Makes a new temporary name, which nobody can guess.
pub(super) fn temporary_name() -> OsString {
    format!("{START}{}{END}", id::new_id()).into()
}

/// Tells whether a name has the form of a temporary. Such names are not shown and not taken as targets.
pub fn is_temporary(name: &OsStr) -> bool {
    let middle =
        name.as_bytes().strip_prefix(START.as_bytes()).and_then(|rest| rest.strip_suffix(END.as_bytes()));
    middle.is_some_and(|middle| std::str::from_utf8(middle).is_ok_and(id::is_id))
}

/// Removes temporary files that a crash left in a folder. Looks at each folder once in a while.
pub(super) fn sweep(dir: &Dir) {
    {
        let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let swept = swept.get_or_insert_default();
        if swept.get(&dir.id()).is_some_and(|last| last.elapsed() < SWEPT_FOR) {
            return;
        }
        if swept.len() >= MAX_SWEPT {
            swept.clear();
        }
        swept.insert(dir.id(), Instant::now());
    }
    let mut temporary = Vec::new();
    let read = dir.for_each_entry(|name, _| {
        if is_temporary(name) {
            temporary.push(name.to_owned());
        }
    });
    if read.is_err() {
        return;
    }
    for name in temporary {
        let stale = dir.stat(&name).is_ok_and(|stat| {
            stat.kind == FileKind::File && time::now_ms().saturating_sub(stat.modified_ms()) > STALE_MS
        });
        if stale {
            // Someone else may have removed it; the next sweep finds what stays.
            let _ = dir.remove_file(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_form_is_a_temporary() {
        assert!(is_temporary(&temporary_name()));
        for name in [".bailiwick-x.tmp", ".bailiwick-", "bailiwick.tmp", ".bailiwick-01J.tmp"] {
            assert!(!is_temporary(OsStr::new(name)), "{name}");
        }
    }
}
