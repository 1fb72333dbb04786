//! The folder of a private display, and the number that the display has as long as the folder is there.

use std::io;
use std::path::{Path, PathBuf};

use tokio::runtime::Handle;
use tokio::task::spawn_blocking;

use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{FileLock, create_private_dir, remove_tree, replace_private_file};
use bailiwick_platform::screen::{remove_server_leftovers, server_lock};

use super::desktop::private_folder;
use super::leftovers::{SERVER_LOCK, take_number};

/// The folder of a display, and its number. Both are free again once it is removed.
#[derive(Debug)]
pub(super) struct DisplayFolder {
    number: u16,
    path: PathBuf,
    /// `None` once it is removed.
    files: Option<DisplayFiles>,
}

/// What there is of a display on the disk.
#[derive(Debug)]
struct DisplayFiles {
    number: u16,
    path: PathBuf,
    /// The folders that name the display: for everybody, and for its owner.
    marks: [PathBuf; 2],
    _lock: FileLock,
}

impl DisplayFolder {
    /// Creates the folder of a display of an owner, whose folder is `owner`. Nothing, while a service has the number.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(dirs: &Dirs, owner: &Path, number: u16) -> io::Result<Option<Self>> {
        let Some(lock) = take_number(dirs, number)? else { return Ok(None) };
        let path = owner.join(format!("d{number}"));
        let marks = [&private_folder(dirs), owner].map(|it| it.join(format!("X{number}")));
        let files = DisplayFiles { number, path: path.clone(), marks, _lock: lock };
        let created = Self { number, path, files: Some(files) };
        let files = created.files.iter();
        files
            .flat_map(|it| [&it.path, &it.marks[0], &it.marks[1]])
            .try_for_each(|path| create_private_dir(path))?;
        Ok(Some(created))
    }

    /// Returns the number of the display.
    pub const fn number(&self) -> u16 {
        self.number
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes which server is the display's, so that what a killed one leaves is known for its own.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn note_server(&self) -> io::Result<()> {
        let lock = server_lock(self.number).unwrap_or_default();
        let mark = self.files.as_ref().map(|files| &files.marks[1]);
        mark.map_or(Ok(()), |mark| replace_private_file(&mark.join(SERVER_LOCK), &lock))
    }

    /// Removes it, on a thread that may block.
    pub async fn remove(mut self) {
        if let Some(files) = self.files.take() {
            let _ = spawn_blocking(move || files.remove()).await;
        }
    }
}

impl Drop for DisplayFolder {
    fn drop(&mut self) {
        let Some(files) = self.files.take() else { return };
        // Its request was cancelled: nobody waits for it.
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || files.remove())),
            Err(_) => files.remove(),
        }
    }
}

impl DisplayFiles {
    fn remove(self) {
        if let Some(lock) = server_lock_of(&self.marks[1]) {
            remove_server_leftovers(self.number, &lock);
        }
        for path in [&self.path, &self.marks[0], &self.marks[1]] {
            // What is left names no display that answers.
            let _ = remove_tree(path);
        }
    }
}

/// Reads which server is that of a display, by the folder that names the display for its owner.
#[expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own")]
pub(super) fn server_lock_of(mark: &Path) -> Option<Vec<u8>> {
    std::fs::read(mark.join(SERVER_LOCK)).ok().filter(|lock| !lock.is_empty())
}
