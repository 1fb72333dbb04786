//! Mode, owner, time and extended attributes of files and folders that are open.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{
    Gid, Mode, Timespec, Timestamps, UTIME_OMIT, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr,
    fsetxattr, fstat, futimens,
};
use rustix::io::Errno;

use super::{Dir, FileError, Stat, WritableDir};

/// How much room a list or a value gets at first.
const FIRST_BYTES: usize = 1_024;
/// The most that it gets: more than any system allows.
const MAX_BYTES: usize = 64 << 20;

/// Extended attributes: names and values.
pub type AttributeList = Vec<(Vec<u8>, Vec<u8>)>;

/// Something open whose facts can be read.
pub trait Attributes {
    /// Returns the handle to act on.
    fn handle(&self) -> BorrowedFd<'_>;

    /// Returns its facts.
    ///
    /// # Errors
    /// The usual ones.
    fn facts(&self) -> Result<Stat, FileError> {
        Ok(Stat::from_system(&fstat(self.handle())?))
    }

    /// Returns the extended attributes that are carried over: names and values. A list of rights is one of them.
    ///
    /// Attributes that give rights to programs (`security.*`, `trusted.*`) are left out: they belong to the content.
    ///
    /// # Errors
    /// The usual ones. A file system without attributes has none.
    fn attributes(&self) -> Result<AttributeList, FileError> {
        let Some(names) = read_growing(|buffer| flistxattr(self.handle(), buffer))? else {
            return Ok(Vec::new());
        };
        let mut attributes = Vec::new();
        for name in names.split(|byte| *byte == 0).filter(|name| carried_over(name)) {
            // One that was removed meanwhile is none.
            if let Some(value) = read_growing(|buffer| fgetxattr(self.handle(), name, buffer))? {
                attributes.push((name.to_vec(), value));
            }
        }
        Ok(attributes)
    }
}

/// Something open whose facts can be changed: a folder only where its entries can be, too.
pub trait ChangeAttributes: Attributes {
    /// Sets the permission bits. Bits beyond 0777 (setuid, setgid, sticky) are never set.
    ///
    /// # Errors
    /// The usual ones.
    fn set_mode(&self, mode: u32) -> Result<(), FileError> {
        Ok(fchmod(self.handle(), Mode::from_bits_truncate((mode & 0o777) as rustix::fs::RawMode))?)
    }

    /// Gives it to another user.
    ///
    /// # Errors
    /// [`FileError::Denied`] where this user may not.
    fn set_user(&self, user: u32) -> Result<(), FileError> {
        Ok(fchown(self.handle(), Some(Uid::from_raw(user)), None)?)
    }

    /// Gives it to another group.
    ///
    /// # Errors
    /// [`FileError::Denied`] where this user may not.
    fn set_group(&self, group: u32) -> Result<(), FileError> {
        Ok(fchown(self.handle(), None, Some(Gid::from_raw(group)))?)
    }

    /// Sets the time of the last change to that of `stat`.
    ///
    /// # Errors
    /// The usual ones.
    fn set_modified_as(&self, stat: &Stat) -> Result<(), FileError> {
        self.set_modified_ns(stat.modified_ns)
    }

    /// Sets the time of the last change, in nanoseconds since the epoch.
    ///
    /// # Errors
    /// The usual ones.
    fn set_modified_ns(&self, modified_ns: i128) -> Result<(), FileError> {
        let seconds = i64::try_from(modified_ns.div_euclid(1_000_000_000)).unwrap_or(0);
        let rest = modified_ns.rem_euclid(1_000_000_000);
        let times = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
            last_modification: Timespec { tv_sec: seconds, tv_nsec: rest.try_into().unwrap_or(0) },
        };
        Ok(futimens(self.handle(), &times)?)
    }

    /// Sets extended attributes, and shows whether all could be set.
    fn set_attributes(&self, attributes: &[(Vec<u8>, Vec<u8>)]) -> bool {
        attributes.iter().filter(|(name, _)| carried_over(name)).fold(true, |all, (name, value)| {
            all & fsetxattr(self.handle(), &name[..], value, XattrFlags::empty()).is_ok()
        })
    }

    /// Carries the extended attributes of `from` over, and shows whether all of them came.
    ///
    /// # Errors
    /// The usual ones.
    fn copy_attributes(&self, from: &impl Attributes) -> Result<bool, FileError> {
        Ok(self.set_attributes(&from.attributes()?))
    }
}

/// Reads what has no known size into a buffer that grows until it is large enough; `None` where there is none.
fn read_growing(read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> Result<Option<Vec<u8>>, FileError> {
    let mut bytes = vec![0; FIRST_BYTES];
    loop {
        match read(&mut bytes) {
            Ok(length) => {
                bytes.truncate(length);
                return Ok(Some(bytes));
            }
            Err(Errno::RANGE) if bytes.len() < MAX_BYTES => bytes = vec![0; bytes.len() * 4],
            Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(None),
            Err(errno) if is_missing(errno) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        }
    }
}

#[cfg(target_os = "linux")]
fn is_missing(errno: Errno) -> bool {
    errno == Errno::NODATA
}

#[cfg(not(target_os = "linux"))]
fn is_missing(errno: Errno) -> bool {
    // ENOATTR, which rustix has no name for here.
    errno.raw_os_error() == 93
}

impl Attributes for File {
    fn handle(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}

impl ChangeAttributes for File {}

impl ChangeAttributes for WritableDir {}

impl Attributes for WritableDir {
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
        return name.starts_with(b"user.")
            || name == b"system.posix_acl_access"
            || name == b"system.posix_acl_default";
    }
    name != b"com.apple.quarantine"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_attributes_is_carried_over() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-xattr-{}", bailiwick_contract::id::new_id()));
        std::fs::create_dir(&folder).expect("a temporary folder");
        let make = |name| File::create(folder.join(name)).expect("made");
        let (from, to) = (make("from"), make("to"));
        // Names that are more than 4,096 bytes together, where the file system has room for them.
        let all: Vec<_> = (0..40)
            .map(|at| (format!("user.{at:0>200}").into_bytes(), vec![at; usize::from(at)]))
            .filter(|one| from.set_attributes(std::slice::from_ref(one)))
            .collect();
        let mut read = from.attributes().expect("it can be read");
        read.sort();
        assert_eq!(read, all);
        assert!(to.copy_attributes(&from).expect("it can be read"));
        let mut copied = to.attributes().expect("it can be read");
        copied.sort();
        assert_eq!(copied, all);
        std::fs::remove_dir_all(&folder).expect("it was made above");
    }
}
