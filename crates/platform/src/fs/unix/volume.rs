//! What a folder's disk allows: how much room it has, and whether it can be written and executed from.

use std::io;
use std::path::Path;

use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};

#[cfg(target_os = "linux")]
const NO_EXEC: StatVfsMountFlags = StatVfsMountFlags::NOEXEC;
/// Not told: contained in no answer.
#[cfg(not(target_os = "linux"))]
const NO_EXEC: StatVfsMountFlags = StatVfsMountFlags::from_bits_retain(1 << 63);

/// The disk that a path is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Volume {
    /// How much this user can still write.
    pub free_bytes: u64,
    /// Whether nothing can be written.
    pub read_only: bool,
    /// Whether programs cannot be executed from it, where the system tells it.
    pub no_exec: bool,
}

impl Volume {
    /// Looks at the disk of a path.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of(path: &Path) -> io::Result<Self> {
        let facts = statvfs(path)?;
        Ok(Self {
            free_bytes: facts.f_bavail.saturating_mul(facts.f_frsize),
            read_only: facts.f_flag.contains(StatVfsMountFlags::RDONLY),
            no_exec: facts.f_flag.contains(NO_EXEC),
        })
    }

    /// Returns whether this user may write to a file or folder.
    pub fn may_write(path: &Path) -> bool {
        access(path, Access::WRITE_OK).is_ok()
    }
}
