//! Forking supervisors.

use std::io;

use super::sys;
use bailiwick_contract::command::{Containment, Network};

/// Does nothing: orphans go to the first process of the system, and are found by other means.
pub(in super::super) const fn adopt_orphans() {}

/// Forks the supervisor of a job.
pub(in super::super) fn fork_supervisor(_: Containment, _: Network) -> io::Result<sys::Forked> {
    sys::fork()
}

/// Gives the number of this process.
pub(in super::super) fn own_number() -> u32 {
    std::process::id()
}
