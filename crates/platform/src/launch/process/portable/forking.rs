//! Forking supervisors.

use std::io;

use super::sys;
use bailiwick_contract::command::{Containment, Network};

/// Does nothing: orphans go to the first process of the system, and are found by other means.
pub(in super::super) const fn adopt_orphans() {}

/// The loopback interface that several jobs have: on these systems all have the computer's.
#[derive(Debug)]
pub(in super::super) struct SharedNetwork;

impl SharedNetwork {
    /// Creates one.
    #[expect(clippy::unnecessary_wraps, reason = "Linux makes a namespace")]
    pub(in super::super) const fn new() -> io::Result<Self> {
        Ok(Self)
    }
}

/// Forks the supervisor of a job.
pub(in super::super) fn fork_supervisor(
    _: Containment,
    _: Network,
    _: Option<&SharedNetwork>,
) -> io::Result<sys::ForkSide> {
    sys::fork()
}

/// Returns the number of this process.
pub(in super::super) fn own_number() -> u32 {
    std::process::id()
}
