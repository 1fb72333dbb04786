//! A lock that processes of this user share: a file in Bailiwick's own folder.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::create_private_dir;
use super::modes::OpenOptionsExt;

/// A held lock; dropping it lets go. The system lets go when the process ends.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Tries to take the lock `name` in `folder`, which is made if it is missing. Does not wait.
    ///
    /// Gives `None` while someone else holds it, in this process or another.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn try_take(folder: &Path, name: &str) -> io::Result<Option<Self>> {
        let open = || {
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(folder.join(name))
        };
        let file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_private_dir(folder)?;
                open()?
            }
            other => other?,
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
