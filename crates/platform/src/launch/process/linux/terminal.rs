//! Terminals: the program's end is opened through the other one, whatever the tree of folders shows.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};

/// Opens a terminal. Returns the keeper's end and the program's.
pub(in super::super) fn open_terminal() -> Result<(OwnedFd, OwnedFd), Errno> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    unlockpt(&master)?;
    let program = ioctl_tiocgptpeer(&master, flags)?;
    Ok((master, program))
}
