//! What macOS tells about processes: `libproc`, and the table of the kernel.

#![expect(unsafe_code, reason = "calls of macOS have no safe wrapper")]

use std::ffi::c_void;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessFacts {
    /// The process that it belongs to now: the one that started it, or the system's first.
    pub parent: i32,
    /// The number of the user it runs as.
    pub user: u32,
    /// When it was started, in microseconds since 1970.
    pub started_us: u64,
    /// Whether it has ended, and nobody has asked yet how.
    pub has_ended: bool,
}

/// The state of a process that has ended (`SZOMB` of `sys/proc.h`).
const ENDED: u32 = 5;
/// What asks for numbers of processes that are never used again (`PROC_PIDUNIQIDENTIFIERINFO`).
const UNIQUE_NUMBERS: i32 = 17;
/// The most that is read of how a process was started: what a program can be started with at most.
const MAX_START_BYTES: usize = 1 << 20;

/// Returns the numbers of all processes.
pub fn process_ids() -> Vec<i32> {
    // SAFETY: without a buffer the call gives how many there are.
    let count = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    // Some may begin between the calls.
    let mut ids = vec![0_i32; usize::try_from(count).unwrap_or(0) + 64];
    let Ok(bytes) = i32::try_from(ids.len() * size_of::<i32>()) else { return Vec::new() };
    // SAFETY: the call writes at most so many bytes to the list, which lives through it.
    let count = unsafe { libc::proc_listallpids(ids.as_mut_ptr().cast::<c_void>(), bytes) };
    ids.truncate(usize::try_from(count).unwrap_or(0));
    ids
}

/// Asks for one kind of information, which must come in full.
fn ask<T>(pid: i32, kind: i32) -> Option<T> {
    let size = i32::try_from(size_of::<T>()).ok()?;
    let mut told = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: the call writes at most `size` bytes to `told`, which lives through it.
    let length = unsafe { libc::proc_pidinfo(pid, kind, 0, told.as_mut_ptr().cast::<c_void>(), size) };
    // SAFETY: all of it was written. The kinds that are asked for consist of numbers, for which every pattern of
    // bits is valid.
    (length == size).then(|| unsafe { told.assume_init() })
}

/// Tells about a process; none if there is no such, or it may not be known.
pub fn facts(pid: i32) -> Option<ProcessFacts> {
    let told: libc::proc_bsdinfo = ask(pid, libc::PROC_PIDTBSDINFO)?;
    Some(ProcessFacts {
        parent: i32::try_from(told.pbi_ppid).ok()?,
        user: told.pbi_uid,
        started_us: told.pbi_start_tvsec.saturating_mul(1_000_000).saturating_add(told.pbi_start_tvusec),
        has_ended: told.pbi_status == ENDED,
    })
}

/// Returns the process that a process belongs to now. Any may be asked for, others' and the system's too: between a terminal
/// and its shell is `login`, which runs as root.
///
/// # Source
/// XNU, `bsd/kern/proc_info.c`: what is asked of `PROC_PIDT_SHORTBSDINFO` has no check of the user.
pub fn parent(pid: i32) -> Option<i32> {
    let told: libc::proc_bsdshortinfo = ask(pid, libc::PROC_PIDT_SHORTBSDINFO)?;
    i32::try_from(told.pbsi_ppid).ok()
}

/// Returns the number of a process that is never used again, and that of the process that forked it, which stays when
/// that has ended.
///
/// # Source
/// XNU, `bsd/sys/proc_info_private.h`: `proc_uniqidentifierinfo`; `bsd/sys/proc_internal.h`: `p_puniqueid`.
pub fn birth(pid: i32) -> Option<(u64, u64)> {
    #[repr(C)]
    struct Unique {
        program: [u8; 16],
        own: u64,
        parent: u64,
        reserved: [u64; 3],
    }
    let told: Unique = ask(pid, UNIQUE_NUMBERS)?;
    (told.own != 0).then_some((told.own, told.parent))
}

/// Returns how a process was started: program, arguments and environment, each ended by a zero byte. The environment of
/// some of the system's own programs is left out.
///
/// # Source
/// `KERN_PROCARGS2` in XNU, `bsd/kern/kern_sysctl.c`.
pub fn start(pid: i32) -> Option<Vec<u8>> {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid];
    let mut bytes = vec![0_u8; MAX_START_BYTES];
    let mut length = bytes.len();
    // SAFETY: the name has three numbers, as is told; at most `length` bytes are written to `bytes`, and both live
    // through the call.
    let done = unsafe {
        libc::sysctl(
            name.as_mut_ptr(),
            3,
            bytes.as_mut_ptr().cast::<c_void>(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    bytes.truncate(length);
    (done == 0).then_some(bytes)
}

/// Returns the path of a process's program.
pub fn program(pid: i32) -> Option<PathBuf> {
    let mut bytes = vec![0_u8; usize::try_from(libc::PROC_PIDPATHINFO_MAXSIZE).ok()?];
    let size = u32::try_from(bytes.len()).ok()?;
    // SAFETY: the call writes at most `size` bytes to `bytes`, which lives through it.
    let length = unsafe { libc::proc_pidpath(pid, bytes.as_mut_ptr().cast::<c_void>(), size) };
    bytes.truncate(usize::try_from(length).ok().filter(|length| *length > 0)?);
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}
