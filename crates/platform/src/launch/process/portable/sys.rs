//! The few system calls of a launcher that no safe wrapper offers, as POSIX has them.
//!
//! Each function is whole in itself: it takes and gives owned or borrowed values, and holds what its call requires.
//! The launcher and its supervisors have a single thread; [`fork`] and [`listen`] rely on that.

#![expect(unsafe_code, reason = "the system calls of a launcher have no safe wrapper")]

use std::convert::Infallible;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::FdFlags;

/// Which side of a fork this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum ForkSide {
    /// The new process.
    Child,
    /// The old process, with the number of the new one.
    Parent(i32),
}

/// Forks this process. In the child every signal has its default disposition, and waits until it is allowed in.
pub(in super::super) fn fork() -> io::Result<ForkSide> {
    // A signal to the child must not be told to the parent, whose pipe it has.
    let before = SigSet::all().thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_SETMASK)?;
    // SAFETY: the process has a single thread, so that the child may do all that the parent could.
    let forked = match unsafe { libc::fork() } {
        0 => {
            TOLD.store(-1, Ordering::Relaxed);
            reset_signal_handlers();
            return Ok(ForkSide::Child);
        }
        pid if pid > 0 => Ok(ForkSide::Parent(pid)),
        _ => Err(io::Error::last_os_error()),
    };
    before.thread_set_mask()?;
    forked
}

/// Starts a process that does `run` and ends. Returns its number.
pub(in super::super) fn fork_and(run: &dyn Fn()) -> io::Result<i32> {
    match fork()? {
        ForkSide::Child => {
            run();
            exit_now(127)
        }
        ForkSide::Parent(pid) => Ok(pid),
    }
}

/// Is for systems on which a process can do without a copy of this one's memory.
pub(in super::super) fn vfork_and(run: &dyn Fn()) -> io::Result<i32> {
    fork_and(run)
}

/// Ends this process at once: no destructor, no handler, nothing written.
pub(in super::super) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` has no requirements, and does not return.
    unsafe { libc::_exit(code) }
}

/// Gives every signal its default disposition.
pub(in super::super) fn reset_signal_handlers() {
    let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    for signal in Signal::iterator().filter(|signal| !matches!(signal, Signal::SIGKILL | Signal::SIGSTOP)) {
        // SAFETY: the default disposition runs no code of ours.
        let _ = unsafe { sigaction(signal, &default) };
    }
}

/// The descriptor to which signals are told; -1 for none.
static TOLD: AtomicI32 = AtomicI32::new(-1);

extern "C" fn tell(signal: libc::c_int) {
    let before = Errno::last_raw();
    let byte = signal.to_le_bytes();
    // SAFETY: `write` may be called in a handler; it reads one byte, which lives through the call. A number that is
    // no descriptor answers with an error. Where the pipe is full, enough was told.
    unsafe { libc::write(TOLD.load(Ordering::Relaxed), byte.as_ptr().cast(), 1) };
    Errno::set_raw(before);
}

/// Tells of signals from now on by their numbers, a byte each, to the writing end of a pipe that does not wait. It
/// must stay open. Writing to what nobody reads is an error and no signal from now on.
pub(in super::super) fn listen(signals: &[Signal], writer: &OwnedFd) -> io::Result<()> {
    TOLD.store(writer.as_raw_fd(), Ordering::Relaxed);
    let told = SigAction::new(SigHandler::Handler(tell), SaFlags::SA_RESTART, SigSet::all());
    for signal in signals {
        // SAFETY: the handler makes one call that is allowed in it, and touches nothing but an atomic number.
        unsafe { sigaction(*signal, &told) }?;
    }
    let ignored = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    // SAFETY: no code of ours runs.
    unsafe { sigaction(Signal::SIGPIPE, &ignored) }?;
    Ok(())
}

/// What becomes of open descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Descriptors {
    /// They are closed now.
    Close,
    /// They are closed when a program is executed.
    CloseOnExec,
}

/// Closes all descriptors from 3 on, or marks them to be closed.
///
/// With [`Descriptors::Close`] the caller must own no descriptor from 3 on: the launcher calls it first of all.
pub(in super::super) fn close_descriptors(what: Descriptors) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open("/dev/fd", flags, Mode::empty())?;
    let entries = Dir::read_from(&folder)?;
    let numbers: Vec<RawFd> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok())
        .filter(|number| *number > 2)
        .collect();
    drop(folder);
    for number in numbers {
        match what {
            // SAFETY: the caller owns none of them. Those of the listing itself are closed already, which is told by
            // an error.
            Descriptors::Close => unsafe {
                libc::close(number);
            },
            // SAFETY: the call changes a flag, or answers with an error.
            Descriptors::CloseOnExec => unsafe {
                libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
            },
        }
    }
    Ok(())
}

/// Takes over a descriptor that this process was started with, which programs that it executes do not get.
pub(in super::super) fn take_over(number: RawFd) -> Option<OwnedFd> {
    if number < 3 {
        return None;
    }
    // SAFETY: a number that is no descriptor answers with an error.
    if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
        return None;
    }
    // SAFETY: it is open, and nothing in a process that has just begun owns a descriptor from 3 on.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    rustix::io::fcntl_setfd(&descriptor, FdFlags::CLOEXEC).ok()?;
    Some(descriptor)
}

/// Executes a program by its path. Returns only if that fails.
pub(in super::super) fn execute(program: &CStr, argv: &[CString], environment: &[CString]) -> io::Error {
    let failed: Result<Infallible, Errno> = nix::unistd::execve(program, argv, environment);
    match failed {
        Ok(never) => match never {},
        Err(error) => error.into(),
    }
}

/// Returns the user whose process is at the other end of a socket with a path.
#[cfg(target_os = "linux")]
pub(in super::super) fn peer_user(socket: BorrowedFd<'_>) -> io::Result<u32> {
    Ok(rustix::net::sockopt::socket_peercred(socket)?.uid.as_raw())
}

/// Returns the user whose process is at the other end of a socket with a path.
#[cfg(not(target_os = "linux"))]
pub(in super::super) fn peer_user(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let (mut user, mut group) = (0, 0);
    // SAFETY: the call writes two numbers, which live through it.
    match unsafe { libc::getpeereid(socket.as_raw_fd(), &raw mut user, &raw mut group) } {
        0 => Ok(user),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Does nothing: the system takes back what is not used when it is short of memory.
pub(in super::super) const fn give_back_memory() {}

/// Returns whether a sandbox holds this process.
///
/// # Source
/// `libsystem_sandbox`, part of every program's system library: without an operation `sandbox_check` shows whether
/// the process is in a sandbox at all.
#[cfg(target_os = "macos")]
pub(super) fn is_in_sandbox() -> bool {
    unsafe extern "C" {
        fn sandbox_check(
            process: libc::pid_t,
            operation: *const libc::c_char,
            kind: libc::c_int,
            ...
        ) -> libc::c_int;
    }
    // SAFETY: the operation may be null, and nothing follows the kind 0, which stands for no filter.
    unsafe { sandbox_check(libc::getpid(), std::ptr::null(), 0) == 1 }
}

/// Tells that no sandbox holds this process: there is none of this kind.
#[cfg(not(target_os = "macos"))]
pub(super) const fn is_in_sandbox() -> bool {
    false
}
