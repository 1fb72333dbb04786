//! Signals as events of a descriptor: a pipe that their handler writes to.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::signal::{SigSet, Signal};
use rustix::fs::OFlags;

use super::sys;

/// The signals that this process listens to.
pub(in super::super) struct Signals {
    reader: OwnedFd,
    /// What the handler writes to, open as long as it may.
    _writer: OwnedFd,
}

impl Signals {
    /// Listens to the ends of children.
    pub(in super::super) fn of_children() -> io::Result<Self> {
        let signals = Self::of(&[Signal::SIGCHLD])?;
        SigSet::empty().thread_set_mask()?;
        Ok(signals)
    }

    /// Listens to the ends of children and to being asked to end, and is deaf to all else.
    pub(in super::super) fn of_keeper() -> io::Result<Self> {
        let signals = Self::of(&[Signal::SIGCHLD, Signal::SIGTERM])?;
        let mut blocked = SigSet::all();
        for heard in [
            Signal::SIGCHLD,
            Signal::SIGTERM,
            Signal::SIGSEGV,
            Signal::SIGBUS,
            Signal::SIGABRT,
            Signal::SIGILL,
        ] {
            blocked.remove(heard);
        }
        blocked.thread_set_mask()?;
        Ok(signals)
    }

    fn of(listened: &[Signal]) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let (reader, writer): (OwnedFd, OwnedFd) = (reader.into(), writer.into());
        for end in [&reader, &writer] {
            let flags = rustix::fs::fcntl_getfl(end)?;
            rustix::fs::fcntl_setfl(end, flags | OFlags::NONBLOCK)?;
        }
        sys::listen(listened, &writer)?;
        Ok(Self { reader, _writer: writer })
    }

    /// Listens again in a process that was forked: the pipe of its parent is not for it.
    pub(in super::super) fn renew(&mut self) -> io::Result<()> {
        *self = Self::of_children()?;
        Ok(())
    }

    /// Returns what can be read when there is a signal.
    pub(in super::super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// Takes note of all signals that came. Returns whether one of them asks to end.
    pub(in super::super) fn take(&self) -> bool {
        let mut is_asked_to_end = false;
        let mut told = [0; 64];
        while let Ok(length) = rustix::io::retry_on_intr(|| rustix::io::read(&self.reader, &mut told))
            && length > 0
        {
            is_asked_to_end |= told[..length].iter().any(|byte| i32::from(*byte) == Signal::SIGTERM as i32);
        }
        is_asked_to_end
    }
}
