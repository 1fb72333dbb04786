//! Locks on names, so that two writers of one file come one after the other, in this process or another.
//!
//! They are striped: a name is hashed onto one of a few files in Bailiwick's state folder. Only
//! operations with an effect take them; readers see whole files anyway.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::FileLock;

use super::FileLocation;

/// How many locks there are.
const STRIPES: u8 = 64;
/// How long a waiting writer sleeps between two tries.
const PAUSE: Duration = Duration::from_millis(1);

/// The locks of one installation.
#[derive(Debug, Clone)]
pub struct Locks {
    folder: PathBuf,
}

/// Held locks; dropping them lets go.
#[derive(Debug)]
pub struct LockGuards {
    folder: PathBuf,
    _locks: Vec<FileLock>,
}

impl LockGuards {
    /// Returns the folder of the locks.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Locks {
    /// Finds the locks in Bailiwick's state folder.
    pub fn below(state: &Path) -> Self {
        Self { folder: state.join("locks") }
    }

    /// Returns the folder of the locks.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits for the locks of some places and takes them, always in the same order.
    ///
    /// # Errors
    /// `cancelled` or `timeout` while waiting; `provider_unavailable` if there can be no locks.
    pub fn take(&self, places: &[&FileLocation], cancel: &Cancel) -> Result<LockGuards, Failure> {
        let mut stripes: Vec<u8> = places.iter().map(|place| stripe(place)).collect();
        stripes.sort_unstable();
        stripes.dedup();
        self.take_stripes(&stripes, cancel)
    }

    /// Waits until nobody changes anything, and keeps it so: for what changes a whole tree.
    ///
    /// # Errors
    /// As [`Locks::take`].
    pub fn take_all(&self, cancel: &Cancel) -> Result<LockGuards, Failure> {
        self.take_stripes(&(0..STRIPES).collect::<Vec<_>>(), cancel)
    }

    fn take_stripes(&self, stripes: &[u8], cancel: &Cancel) -> Result<LockGuards, Failure> {
        let mut locks = Vec::with_capacity(stripes.len());
        for stripe in stripes {
            let name = format!("{stripe:02}");
            loop {
                match FileLock::try_take(&self.folder, &name) {
                    Ok(Some(lock)) => break locks.push(lock),
                    Ok(None) => {
                        cancel.check()?;
                        std::thread::sleep(PAUSE);
                    }
                    Err(error) => {
                        return Err(Failure::new(
                            ErrorCode::ProviderUnavailable,
                            format!("Bailiwick's lock files cannot be used: {error}"),
                        )
                        .hint("For the user: `bailiwick doctor` checks the permissions of Bailiwick's state folder."));
                    }
                }
            }
        }
        Ok(LockGuards { folder: self.folder.clone(), _locks: locks })
    }
}

/// Chooses a stripe. Case makes no difference, for file systems to which it makes none.
fn stripe(place: &FileLocation) -> u8 {
    let id = place.dir.id();
    let mut hash = Sha256::new();
    hash.update(id.device.to_le_bytes());
    hash.update(id.inode.to_le_bytes());
    hash.update(place.name.to_string_lossy().to_lowercase().as_bytes());
    hash.finalize()[0] % STRIPES
}
