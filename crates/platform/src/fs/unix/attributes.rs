//! Mode, owner, time and extended attributes of files and folders that are open.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{
    Gid, Mode, Timespec, Timestamps, UTIME_OMIT, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr,
    fsetxattr, fstat, futimens,
};

use super::{Dir, DoorError, Stat};

/// The longest list of names, and the longest value, that is carried over.
const MAX_ATTRIBUTE_BYTES: usize = 65_536;

/// Something open whose facts can be changed.
pub trait Attributes {
    /// Gives the handle to act on.
    fn handle(&self) -> BorrowedFd<'_>;

    /// Sets the permission bits. Bits beyond 0777 (setuid, setgid, sticky) are never set.
    ///
    /// # Errors
    /// The usual ones.
    fn set_mode(&self, mode: u32) -> Result<(), DoorError> {
        Ok(fchmod(self.handle(), Mode::from_bits_truncate((mode & 0o777) as rustix::fs::RawMode))?)
    }

    /// Gives its facts.
    ///
    /// # Errors
    /// The usual ones.
    fn facts(&self) -> Result<Stat, DoorError> {
        Ok(Stat::from_system(&fstat(self.handle())?))
    }

    /// Gives it to another user.
    ///
    /// # Errors
    /// [`DoorError::Denied`] where this user may not.
    fn set_user(&self, user: u32) -> Result<(), DoorError> {
        Ok(fchown(self.handle(), Some(Uid::from_raw(user)), None)?)
    }

    /// Gives it to another group.
    ///
    /// # Errors
    /// [`DoorError::Denied`] where this user may not.
    fn set_group(&self, group: u32) -> Result<(), DoorError> {
        Ok(fchown(self.handle(), None, Some(Gid::from_raw(group)))?)
    }

    /// Sets the time of the last change to that of `stat`.
    ///
    /// # Errors
    /// The usual ones.
    fn set_modified_as(&self, stat: &Stat) -> Result<(), DoorError> {
        let seconds = i64::try_from(stat.modified_ns.div_euclid(1_000_000_000)).unwrap_or(0);
        let rest = stat.modified_ns.rem_euclid(1_000_000_000);
        let times = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
            last_modification: Timespec { tv_sec: seconds, tv_nsec: rest.try_into().unwrap_or(0) },
        };
        Ok(futimens(self.handle(), &times)?)
    }

    /// Carries the extended attributes of `from` over, as far as both file systems allow it.
    ///
    /// Attributes that give rights (`security.*`, `trusted.*`) stay behind: they belong to the old content.
    ///
    /// # Errors
    /// None on this system.
    fn copy_attributes(&self, from: &File) -> Result<(), DoorError> {
        let mut names = [0_u8; 4_096];
        let Ok(length) = flistxattr(from, &mut names) else { return Ok(()) };
        for name in names[..length].split(|byte| *byte == 0).filter(|name| carried_over(name)) {
            let mut value = vec![0_u8; MAX_ATTRIBUTE_BYTES];
            if let Ok(length) = fgetxattr(from, name, &mut value[..]) {
                // A file system without attributes refuses; the content matters more.
                let _ = fsetxattr(self.handle(), name, &value[..length], XattrFlags::empty());
            }
        }
        Ok(())
    }
}

impl Attributes for File {
    fn handle(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}

impl Attributes for Dir {
    fn handle(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}

fn carried_over(name: &[u8]) -> bool {
    if name.is_empty() {
        return false;
    }
    if cfg!(target_os = "linux") {
        return name.starts_with(b"user.") || name == b"system.posix_acl_access";
    }
    name != b"com.apple.quarantine"
}
