//! A lock that processes of this user share: a file in Bailiwick's own folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::{create_private_dir, new_private_file};

/// How often the file of a lock is opened or made.
const ROUNDS: usize = 1000;

/// A held lock; dropping it lets go. The system lets go when the process ends.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing is not enough: a program that is being started has a copy until it runs, and with it the lock.
        let _ = self.file.unlock();
    }
}

impl FileLock {
    /// Tries to take the lock `name` in `folder`, which is made if it is missing. Does not wait.
    ///
    /// Returns `None` while someone else holds it, in this process or another.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn try_take(folder: &Path, name: &str) -> io::Result<Option<Self>> {
        let file = lock_file(folder, name)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Takes the lock `name` in `folder`, which is made if it is missing. Waits while someone else holds it.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn take(folder: &Path, name: &str) -> io::Result<Self> {
        let file = lock_file(folder, name)?;
        file.lock()?;
        Ok(Self { file })
    }
}

/// Opens the file of a lock, which others may make or remove in the same moment.
fn lock_file(folder: &Path, name: &str) -> io::Result<File> {
    let path = folder.join(name);
    let mut last = io::ErrorKind::NotFound.into();
    // Each further round needs another one that made or removed the file; a link that leads nowhere ends here, too.
    for _ in 0..ROUNDS {
        last = match OpenOptions::new().write(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_private_dir(folder)?;
                match new_private_file(&path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => error,
                    other => return other,
                }
            }
            other => return other,
        };
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_was_dropped_is_free_although_a_copy_of_its_file_is_open() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-lock-{}", bailiwick_contract::id::new_id()));
        let take = || FileLock::try_take(&folder, "lock").expect("the folder can be written");
        let held = take().expect("it is free");
        assert!(take().is_none());
        let copy = held.file.try_clone().expect("it is open");
        drop(held);
        assert!(take().is_some());
        drop(copy);
        super::super::remove_tree(&folder).expect("it was made above");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the lock is of this test")]
    fn a_lock_is_taken_although_its_file_is_made_and_removed_all_the_time() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-lock-{}", bailiwick_contract::id::new_id()));
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..2_000 {
                        let taken = FileLock::try_take(&folder, "lock").expect("the folder can be written");
                        if taken.is_some() {
                            let _ = std::fs::remove_file(folder.join("lock"));
                        }
                    }
                });
            }
        });
        super::super::remove_tree(&folder).expect("it was made above");
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_that_is_a_link_to_nowhere_is_an_error() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-lock-{}", bailiwick_contract::id::new_id()));
        create_private_dir(&folder).expect("it can be made");
        std::os::unix::fs::symlink(folder.join("nowhere/file"), folder.join("lock")).expect("a link");
        FileLock::try_take(&folder, "lock").expect_err("it leads nowhere");
        super::super::remove_tree(&folder).expect("it was made above");
    }
}
