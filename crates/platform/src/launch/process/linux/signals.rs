//! Signals as events of a descriptor.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// The signals that this process listens to.
pub(in super::super) struct Signals(SignalFd);

impl Signals {
    /// Listens to the ends of children.
    pub(in super::super) fn of_children() -> io::Result<Self> {
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        mask.thread_set_mask()?;
        Ok(Self(SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?))
    }

    /// Listens to the ends of children and to being asked to end, and is deaf to all else.
    pub(in super::super) fn of_keeper() -> io::Result<Self> {
        // What an end of the user's session or a broken pipe would do to it is not for the keeper.
        let mut blocked = SigSet::all();
        blocked.remove(Signal::SIGSEGV);
        blocked.remove(Signal::SIGBUS);
        blocked.remove(Signal::SIGABRT);
        blocked.thread_set_mask()?;
        let listened: SigSet = [Signal::SIGCHLD, Signal::SIGTERM].into_iter().collect();
        Ok(Self(SignalFd::with_flags(&listened, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?))
    }

    /// Listens again in a process that was forked: the descriptor shows each process of its own signals.
    #[expect(clippy::unnecessary_wraps, reason = "other systems need more for it")]
    pub(in super::super) const fn renew(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Returns what can be read when there is a signal.
    pub(in super::super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Takes note of all signals that came. Returns whether one of them asks to end.
    pub(in super::super) fn take(&self) -> bool {
        let mut is_asked_to_end = false;
        while let Ok(Some(signal)) = self.0.read_signal() {
            is_asked_to_end |= signal.ssi_signo == rustix::process::Signal::TERM.as_raw().cast_unsigned();
        }
        is_asked_to_end
    }
}
