//! The sandbox of a worker on Linux: limits, its parent's death, and a filter that refuses every file and socket.

use std::io;

use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};

use super::filter::{exists, worker_filter};
use crate::launch::sys;
use crate::launch::worker::WorkerLimits;

/// Sets the limits of this process, and has it end with the thread that started it.
pub(in crate::launch) fn limit(limits: &WorkerLimits) -> io::Result<()> {
    // There are none, unless another process of this user gave it some; old kernels cannot close them at once.
    let _ = sys::close_descriptors(sys::Descriptors::Close);
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let both = |value: u64| Rlimit { current: Some(value), maximum: Some(value) };
    for (resource, value) in [
        (Resource::As, limits.address_space_bytes),
        (Resource::Data, limits.memory_bytes),
        (Resource::Cpu, limits.cpu_seconds),
        // The three standard streams.
        (Resource::Nofile, 3),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
    ] {
        let most = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
        setrlimit(resource, both(value.min(most)))?;
    }
    Ok(())
}

/// Takes all other system calls from every thread of this process, where the system can do that.
pub(in crate::launch) fn enter_sandbox() -> io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    if !exists() || !sys::has_seccomp_filters() {
        return Ok(());
    }
    let filter = worker_filter().ok_or(io::ErrorKind::InvalidData)?;
    sys::set_seccomp_filter_of_all_threads(&filter)
}
