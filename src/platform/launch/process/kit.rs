//! What the launcher prepares once, for all jobs.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};

/// What every job of this launcher uses.
#[derive(Debug)]
pub(super) struct Kit {
    /// `/dev/null`, for reading and writing.
    pub(super) null: OwnedFd,
}

impl Kit {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { null: rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())? })
    }
}
