//! Terminals: the program's end is opened by its name.

use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Opens a terminal. Returns the keeper's end and the program's.
pub(in super::super) fn open_terminal() -> Result<(OwnedFd, OwnedFd), Errno> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    fcntl_setfd(&master, FdFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok((master, rustix::fs::open(name, flags, Mode::empty())?))
}
