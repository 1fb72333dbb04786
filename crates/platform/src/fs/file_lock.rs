//! A lock that processes of this user share: a file in Bailiwick's own folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::{create_private_dir, create_private_file};

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

fn lock_file(folder: &Path, name: &str) -> io::Result<File> {
    let path = folder.join(name);
    let open = || OpenOptions::new().write(true).open(&path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_private_dir(folder)?;
            create_private_file(&path)?;
            open()
        }
        other => other,
    }
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
}
