//! Names that the file system takes for others: macOS's finds `readme` under `README`, and `é` however it is put
//! together.
//!
//! What was judged is a name, so what is used must be spelt so on the disk, to the byte. A folder's list gives the names
//! as they are spelt.

#[cfg(target_os = "macos")]
pub(super) use checked::{check_entry, check_opened, check_target};
#[cfg(not(target_os = "macos"))]
pub(super) use unchecked::{check_entry, check_opened, check_target};

/// Takes every name as it is: these systems tell all of them apart.
#[cfg(not(target_os = "macos"))]
mod unchecked {
    use std::os::fd::BorrowedFd;

    use rustix::io::Errno;

    pub(in super::super) const fn check_opened(
        _: BorrowedFd<'_>,
        _: &[u8],
        _: BorrowedFd<'_>,
    ) -> Result<(), Errno> {
        Ok(())
    }

    pub(in super::super) const fn check_entry(_: BorrowedFd<'_>, _: &[u8]) -> Result<(), Errno> {
        Ok(())
    }

    pub(in super::super) const fn check_target(
        _: (BorrowedFd<'_>, &[u8]),
        _: (BorrowedFd<'_>, &[u8]),
    ) -> Result<(), Errno> {
        Ok(())
    }
}

#[cfg(target_os = "macos")]
mod checked {
    use std::ffi::OsStr;
    use std::os::fd::{AsFd, BorrowedFd};

    use rustix::fs::{AtFlags, Dir, Mode, OFlags, getpath, openat, statat};
    use rustix::io::Errno;

    use crate::names::OsStrExt;

    /// `O_EVTONLY`: opens without reading, and without waiting.
    const ONLY_LOOK: OFlags = OFlags::from_bits_retain(0x8000);

    /// Refuses what was opened by a name that it is not spelt by.
    pub(in super::super) fn check_opened(
        at: BorrowedFd<'_>,
        name: &[u8],
        opened: BorrowedFd<'_>,
    ) -> Result<(), Errno> {
        let spelt = getpath(opened)
            .is_ok_and(|path| path.to_bytes().rsplit(|byte| *byte == b'/').next() == Some(name));
        // A file with several names may tell another one: the folder has the last word.
        if spelt || is_listed(at, name)? { Ok(()) } else { Err(Errno::NOENT) }
    }

    /// Refuses an entry that is not spelt by this name.
    pub(in super::super) fn check_entry(at: BorrowedFd<'_>, name: &[u8]) -> Result<(), Errno> {
        let flags = ONLY_LOOK | OFlags::SYMLINK | OFlags::CLOEXEC;
        match openat(at, OsStr::from_bytes(name), flags, Mode::empty()) {
            Ok(opened) => check_opened(at, name, opened.as_fd()),
            Err(Errno::NOENT) => Err(Errno::NOENT),
            Err(_) if is_listed(at, name)? => Ok(()),
            Err(_) => Err(Errno::NOENT),
        }
    }

    /// Refuses to rename over something that is spelt otherwise, but for the entry itself.
    pub(in super::super) fn check_target(
        from: (BorrowedFd<'_>, &[u8]),
        to: (BorrowedFd<'_>, &[u8]),
    ) -> Result<(), Errno> {
        let look = |(at, name)| statat(at, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW);
        let Ok(there) = look(to) else { return Ok(()) };
        let own = look(from)?;
        if (own.st_dev, own.st_ino) == (there.st_dev, there.st_ino) || check_entry(to.0, to.1).is_ok() {
            return Ok(());
        }
        Err(Errno::EXIST)
    }

    fn is_listed(at: BorrowedFd<'_>, name: &[u8]) -> Result<bool, Errno> {
        for entry in Dir::read_from(at)? {
            if entry?.file_name().to_bytes() == name {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
