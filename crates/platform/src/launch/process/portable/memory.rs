//! The memory of a job, which is not measured here: results name it as open.

use super::descendants::Reach;

/// Is for systems that tell what processes share.
#[derive(Debug, Default)]
pub(in super::super) struct JobMemory;

impl JobMemory {
    /// Whether this system can tell.
    pub(in super::super) const IS_MEASURED: bool = false;

    /// Begins with a job that has taken nothing so far.
    pub(in super::super) const fn start() -> Self {
        Self
    }

    /// Returns nothing: it is never asked.
    #[expect(clippy::unused_self, reason = "other systems need it")]
    pub(in super::super) const fn measure(&self, _: &Reach, _: u64) -> u64 {
        0
    }
}
