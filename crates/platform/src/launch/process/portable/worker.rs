//! The limits of a worker where only POSIX is known.

use std::io;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::launch::worker::WorkerLimits;

/// Sets the limits of this process that the system has.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail here")]
pub(in crate::launch) fn limit(limits: &WorkerLimits) -> io::Result<()> {
    for (resource, value) in [
        (Resource::Data, limits.memory_bytes),
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
    ] {
        // Not every system has each of them; its parent kills it at its deadline anyway.
        let _ = setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) });
    }
    Ok(())
}

/// Does nothing: there is no filter of system calls.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail here")]
pub(in crate::launch) const fn enter_sandbox() -> io::Result<()> {
    Ok(())
}
