//! The few system calls that no safe wrapper offers. The only unsafe code of the crate.
//!
//! Each function is whole in itself: it takes and gives owned or borrowed values, and holds what its call
//! requires. The launcher has a single thread; [`fork_into`] relies on that, and says where it does not.

#![expect(unsafe_code, reason = "the system calls of a launcher have no safe wrapper")]

use std::ffi::{CString, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use nix::libc;

/// The stack of a process that [`vfork_and`] starts. Only what is used of it takes memory.
const VFORK_STACK_BYTES: usize = 256 << 10;

/// Which side of a fork this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ForkSide {
    /// The new process.
    Child,
    /// The old process, with the number of the new one.
    Parent(i32),
}

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Forks this process, the child into new namespaces of the given kinds (`CLONE_NEW…`; 0 for none).
///
/// In a process with several threads the child may make system calls only: [`super::levels`] does so.
pub(super) fn fork_into(namespaces: i32) -> io::Result<ForkSide> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without CLONE_VM the child has a copy of all memory, and a null stack means that it continues
    // with this one, as fork does. No memory is shared, so nothing of the parent can be disturbed.
    let pid = checked(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })?;
    Ok(match i32::try_from(pid) {
        Ok(0) => ForkSide::Child,
        Ok(pid) => ForkSide::Parent(pid),
        Err(_) => return Err(io::Error::from_raw_os_error(libc::EOVERFLOW)),
    })
}

/// Forks this process.
pub(super) fn fork() -> io::Result<ForkSide> {
    fork_into(0)
}

/// Starts a process that does `run` and ends, in a copy of this one's memory. Returns its number.
pub(super) fn fork_and(run: &dyn Fn()) -> io::Result<i32> {
    match fork()? {
        ForkSide::Child => {
            run();
            exit_now(127)
        }
        ForkSide::Parent(pid) => Ok(pid),
    }
}

/// Starts a process that does `run` and ends, in this one's memory, of which nothing is copied. Returns its number once it has
/// executed a program or ended; until then this process stands still. What `run` changes in memory stays changed.
pub(super) fn vfork_and(run: &dyn Fn()) -> io::Result<i32> {
    extern "C" fn enter(run: *mut c_void) -> c_int {
        // SAFETY: it is the address of `run` below, which lives at least as long as the process that called waits.
        let run = unsafe { *run.cast::<&dyn Fn()>() };
        // A panic must not unwind out of this function.
        let _ = catch_unwind(AssertUnwindSafe(run));
        exit_now(127)
    }
    let mut stack = Vec::<u128>::with_capacity(VFORK_STACK_BYTES / size_of::<u128>());
    let top = stack.spare_capacity_mut().as_mut_ptr_range().end;
    let argument = (&raw const run).cast_mut().cast::<c_void>();
    // SAFETY: `enter` gets a stack that nothing else uses, aligned to 16 bytes, and ends without returning. The launcher
    // has a single thread, which CLONE_VFORK stops until the new process has left this memory.
    let pid = unsafe {
        libc::clone(enter, top.cast(), libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD, argument)
    };
    if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid) }
}

/// Ends this process at once: no destructor, no handler, nothing written.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` has no requirements, and does not return.
    unsafe { libc::_exit(code) }
}

/// Gives every signal its default disposition, also those that libc keeps to itself.
pub(super) fn reset_signal_handlers() {
    // The kernel's `sigaction`: handler, flags, restorer, mask. All zero is the default, SIG_DFL.
    let default = [0_u64; 4];
    for signal in 1..=64 {
        // SAFETY: the kernel reads one structure of at most four words, which live through the call, and the
        // default disposition runs no code of ours. SIGKILL and SIGSTOP answer with an error, which changes
        // nothing.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                std::ptr::null_mut::<c_void>(),
                size_of::<u64>(),
            )
        };
    }
}

/// What becomes of open descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Descriptors {
    /// They are closed now.
    Close,
    /// They are closed when a program is executed.
    CloseOnExec,
}

/// Closes all descriptors from 3 on, or marks them to be closed.
///
/// With [`Descriptors::Close`] the caller must own no descriptor from 3 on: the launcher calls it first of all.
pub(super) fn close_descriptors(what: Descriptors) -> io::Result<()> {
    let flags: libc::c_uint = match what {
        Descriptors::Close => 0,
        Descriptors::CloseOnExec => libc::CLOSE_RANGE_CLOEXEC,
    };
    // SAFETY: the call takes numbers only.
    checked(unsafe { libc::syscall(libc::SYS_close_range, 3 as libc::c_uint, libc::c_uint::MAX, flags) })?;
    Ok(())
}

/// Sets attributes (`MOUNT_ATTR_…`) on an open mount, and takes it out of all propagation.
pub(super) fn set_mount_attributes(mount: BorrowedFd<'_>, set: u64, recursive: bool) -> io::Result<()> {
    let attributes =
        libc::mount_attr { attr_set: set, attr_clr: 0, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is an empty C string, the structure lives through the call, and its size is given.
    checked(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    })?;
    Ok(())
}

/// Puts a seccomp filter in force for this thread and all that it starts.
pub(super) fn set_seccomp_filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let length = u16::try_from(program.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: the kernel reads `len` instructions from `filter`, which both describe the same slice, and
    // does not write to it.
    checked(unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program)
    })?;
    Ok(())
}

/// Puts a seccomp filter in force for every thread of this process.
pub(super) fn set_seccomp_filter_of_all_threads(program: &[libc::sock_filter]) -> io::Result<()> {
    let length = u16::try_from(program.len()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
    let program = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    // SAFETY: as above; the flag takes the other threads along.
    let result = checked(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_TSYNC,
            &raw const program,
        )
    })?;
    // Otherwise the number of a thread that could not be taken along.
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

/// Returns whether this kernel offers seccomp filters that answer with an error code.
pub(super) fn has_seccomp_filters() -> bool {
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the kernel reads one u32, which lives through the call.
    unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}

/// Returns the version of Landlock's interface; 0 where there is none.
pub(super) fn landlock_version() -> u32 {
    const CREATE_RULESET_VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the kernel reads nothing and gives a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<c_void>(),
            0_usize,
            CREATE_RULESET_VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// Switches the loopback interface of this network namespace on.
pub(super) fn raise_loopback(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: an all-zero `ifreq` is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo\0") {
        *to = from.cast_signed();
    }
    #[expect(clippy::cast_possible_truncation, reason = "the flags of an interface are 16 bits")]
    let flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    request.ifr_ifru.ifru_flags = flags;
    // SAFETY: SIOCSIFFLAGS reads one `ifreq`, which lives through the call.
    checked(libc::c_long::from(unsafe {
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
    }))?;
    Ok(())
}

/// Returns the user whose process is at the other end of a socket with a path.
pub(super) fn peer_user(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let size = libc::socklen_t::try_from(size_of::<libc::ucred>()).unwrap_or(0);
    let mut length = size;
    // SAFETY: the kernel writes at most `length` bytes to `peer`; both live through the call, and every pattern
    // of bits is a valid `ucred`: the process may be one that this namespace has no number for.
    checked(libc::c_long::from(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut peer).cast(),
            &raw mut length,
        )
    }))?;
    if length == size { Ok(peer.uid) } else { Err(io::Error::from(io::ErrorKind::InvalidData)) }
}

/// Gives memory back to the system that was freed, where the allocator can.
pub(super) fn give_back_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `malloc_trim` has no requirements; it is an ordinary function of the allocator.
    unsafe {
        libc::malloc_trim(0)
    };
}

/// Makes the allocator give blocks of a size and more back as soon as they are freed, and use no more than some arenas.
pub(crate) fn bound_allocator(large_bytes: i32, max_arenas: i32) {
    #[cfg(target_env = "gnu")]
    // SAFETY: `mallopt` takes two numbers and changes settings of the allocator under its own lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, large_bytes);
        libc::mallopt(libc::M_ARENA_MAX, max_arenas);
    }
    #[cfg(not(target_env = "gnu"))]
    let _ = (large_bytes, max_arenas);
}

/// Executes an open program, or one by path. Returns only if that fails.
pub(super) fn execute(program: Program<'_>, argv: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |list: &[CString]| -> Vec<*const libc::c_char> {
        list.iter().map(|item| item.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv, environment) = (pointers(argv), pointers(environment));
    let (folder, path, flags) = match program {
        Program::Open(fd) => (fd.as_raw_fd(), c"", libc::AT_EMPTY_PATH),
        Program::Path(path) => (libc::AT_FDCWD, path, 0),
    };
    // SAFETY: both arrays end with a null pointer and point to C strings that live through the call.
    unsafe {
        libc::syscall(libc::SYS_execveat, folder, path.as_ptr(), argv.as_ptr(), environment.as_ptr(), flags)
    };
    io::Error::last_os_error()
}

/// How a program is named to the kernel.
#[derive(Debug, Clone, Copy)]
pub(super) enum Program<'a> {
    /// By descriptor: exactly this file.
    Open(BorrowedFd<'a>),
    /// By path: for scripts, whose interpreter opens them again.
    Path(&'a std::ffi::CStr),
}

/// Creates a system call whose arguments are all zero, and gives the error; 0 if there is none. For tests of the
/// filter, with calls that do nothing then.
#[cfg(test)]
pub(super) fn refusal_without_arguments(number: libc::c_long) -> i32 {
    // SAFETY: the calls that the test names take null pointers and zero lengths, and answer with an error or do
    // nothing.
    match checked(unsafe { libc::syscall(number, 0, 0, 0, 0, 0, 0) }) {
        Ok(_) => 0,
        Err(error) => error.raw_os_error().unwrap_or(0),
    }
}
