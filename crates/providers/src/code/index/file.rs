//! The files of indexes, in Bailiwick's state folder.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use bailiwick_contract::time;
use bailiwick_platform::fs::{
    FileId, RetentionClock, Secrecy, create_private_dir, read_own_file, replace_private_file,
};

use super::disk::{self, MAX_FILE_BYTES};
use super::table::Table;

/// How long the index of a root is kept that nobody asks about.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3_600);
/// How old a file must be that was never put in its place, to be one that a crash has left.
const LEFT_AFTER: Duration = Duration::from_secs(3_600);

/// Reads an index, and the rules by which its files were chosen; `None` if there is none that can be used.
pub(super) fn read(path: &Path, root: FileId) -> Option<(Table, [u8; 32])> {
    let (content, _) = read_own_file(path, Secrecy::Secret, MAX_FILE_BYTES).ok()?;
    let read = disk::decode(&content, root)?;
    // Its age starts over.
    if let Ok(file) = fs::OpenOptions::new().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
    Some(read)
}

/// Writes an index as a whole, and removes what is old.
///
/// # Errors
/// Those of the file system; an earlier index is then untouched.
pub(super) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    create_private_dir(folder)?;
    replace_private_file(path, content)?;
    prune(folder, RetentionClock::below(folder.parent().unwrap_or(folder)).now_ms());
    Ok(())
}

fn prune(folder: &Path, now_ms: i64) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|facts| facts.modified());
        let age_ms = modified.map_or(0, |modified| now_ms.saturating_sub(time::to_ms(modified)));
        let age = Duration::from_millis(u64::try_from(age_ms).unwrap_or(0));
        let is_left = entry.file_name().to_string_lossy().starts_with('.');
        if age > if is_left { LEFT_AFTER } else { MAX_AGE } {
            // What cannot be removed stays until the next time.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_platform::fs::Protection;

    use super::*;

    #[test]
    fn indexes_are_private_and_old_ones_go() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-index-{}", bailiwick_contract::id::new_id()));
        let state = folder.join("state/code");
        write(&state.join("first"), b"one").expect("written");
        assert!(Protection::is_private(&state, true) && Protection::is_private(&state.join("first"), false));
        fs::write(state.join(".second.01J"), b"cut off").expect("written");
        let prune_after = |time: Duration| {
            prune(&state, time::to_ms(SystemTime::now() + time + Duration::from_secs(9)));
        };
        prune_after(LEFT_AFTER);
        let names = || fs::read_dir(&state).expect("a folder").count();
        assert_eq!(names(), 1);
        prune_after(MAX_AGE);
        assert_eq!(names(), 0);
        bailiwick_platform::fs::remove_tree(&folder).expect("it was made above");
    }
}
