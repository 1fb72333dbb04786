//! What the displays of a service leave that was killed, and removing it.
//!
//! The number of a display is locked as long as its service lives. What a folder of Bailiwick's names, under a number that
//! nobody has locked, is of a service that has ended.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{FileLock, remove_tree};
use bailiwick_platform::screen::remove_server_leftovers;

use super::desktop::private_folder;
use super::folder::server_lock_of;

/// The folder of the locks of numbers, beside those of displays.
const LOCKS: &str = "locks";
/// The copy of the server's own lock, in the folder that names a display for its owner.
pub(super) const SERVER_LOCK: &str = "server";

/// Takes the number of a display. Nothing, while a service has it.
///
/// # Errors
/// Those of the file system.
pub(super) fn take_number(dirs: &Dirs, number: u16) -> std::io::Result<Option<FileLock>> {
    FileLock::try_take(&private_folder(dirs).join(LOCKS), &format!("X{number}"))
}

/// Removes what the private displays of services that were killed have left. What still ends is left for the next time.
#[expect(clippy::disallowed_methods, reason = "the folders are Bailiwick's own")]
pub fn remove_leftovers(dirs: &Dirs) {
    let folder = private_folder(dirs);
    let names = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path()).collect()
    };
    let owners = names(&folder).into_iter().filter(|it| it.file_name() != Some(LOCKS.as_ref()));
    for owner in owners {
        let numbers: Vec<u16> = names(&owner).iter().filter_map(|it| number_of(it.file_name()?)).collect();
        let is_over = |number: &u16| {
            let mark = owner.join(format!("X{number}"));
            // What cannot be locked is somebody's.
            let Ok(Some(_lock)) = take_number(dirs, *number) else { return false };
            let is_gone = server_lock_of(&mark).is_none_or(|lock| remove_server_leftovers(*number, &lock));
            if is_gone {
                // What is left names no display that answers.
                let _ = remove_tree(&folder.join(format!("X{number}")));
            }
            is_gone
        };
        // The folders of those who have no display at this time are theirs.
        let left: Vec<bool> = numbers.iter().map(is_over).collect();
        if !left.is_empty() && left.iter().all(|is_over| *is_over) {
            let _ = remove_tree(&owner);
        }
    }
}

fn number_of(name: &OsStr) -> Option<u16> {
    name.to_str()?.strip_prefix('X')?.parse().ok()
}
