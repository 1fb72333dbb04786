//! Forking supervisors, and what their orphans come to.

use std::io;
use std::process::ExitCode;

use super::namespaces;
use crate::launch::sys;
use bailiwick_contract::command::{Containment, Network};

/// Makes what a killed supervisor leaves behind come to this process.
pub(in super::super) fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Forks the supervisor of a job, into the namespaces of its level.
pub(in super::super) fn fork_supervisor(level: Containment, network: Network) -> io::Result<sys::Forked> {
    sys::fork_into(namespaces::flags(level, network))
}

/// Is for systems on which a program is shut in by another one.
pub(in super::super) const fn go_within_if_asked() -> Option<ExitCode> {
    None
}

/// Gives the number of this process outside of its namespace, as long as the old `/proc` is there.
pub(in super::super) fn own_number() -> u32 {
    let link = rustix::fs::readlink("/proc/self", Vec::new()).ok();
    link.and_then(|link| link.to_str().ok()?.parse().ok()).unwrap_or(0)
}
