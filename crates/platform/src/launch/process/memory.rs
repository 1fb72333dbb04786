//! The memory that a job takes, measured while it runs, and ending it where that is more than it may.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::prepare::PreparedJob;
use super::system::{JobGroup, JobMemory, Reach};
use crate::launch::MemoryExcess;

/// When a job is measured first. What ends before is never measured.
const FIRST_LOOK: Duration = Duration::from_millis(50);
/// The shortest and the longest time between two measurements.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));
/// The most that a job is expected to take in a millisecond.
const BYTES_PER_MILLISECOND: u64 = 4 << 20;
/// How many times as long as it took to measure nothing is measured after.
const SHARE: u32 = 20;

/// Measures a job from time to time, more often the closer it is to its limit.
#[derive(Debug, Default)]
pub(super) struct MemoryWatch {
    limit: Option<u64>,
    memory: JobMemory,
    due: Option<Instant>,
    excess: Option<MemoryExcess>,
    /// Where the kernel bounds it, too.
    group: Option<Rc<JobGroup>>,
}

impl MemoryWatch {
    /// Begins to watch a job that runs now.
    pub(super) fn of(job: &PreparedJob) -> Self {
        Self { group: job.group.clone(), ..Self::start(job.limits.job_memory_bytes) }
    }

    fn start(limit: Option<u64>) -> Self {
        let is_measured = limit.is_some() && JobMemory::IS_MEASURED;
        let due = is_measured.then(|| Instant::now() + FIRST_LOOK);
        Self { limit, memory: JobMemory::start(), due, excess: None, group: None }
    }

    /// Returns in how long it wants to measure.
    pub(super) fn due_in(&self) -> Option<Duration> {
        self.due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Returns what the job took, once it was found to take more than it may.
    pub(super) fn excess(&self) -> Option<MemoryExcess> {
        self.excess.or_else(|| self.group.as_ref()?.excess())
    }

    /// Measures, if that is due. Returns whether the job has to end.
    pub(super) fn look(&mut self, reach: &Reach) -> bool {
        let now = Instant::now();
        let (Some(limit), Some(_)) = (self.limit, self.due.filter(|due| *due <= now)) else { return false };
        let taken = self.memory.measure(reach, limit);
        if taken > limit {
            (self.excess, self.due) = (Some(MemoryExcess { limit, taken }), None);
            return true;
        }
        self.due = Some(Instant::now() + pause(limit - taken, now.elapsed()));
        false
    }
}

/// Returns how long it takes at least until the limit can be reached, within what a measurement may cost.
fn pause(left: u64, took: Duration) -> Duration {
    Duration::from_millis(left / BYTES_PER_MILLISECOND).clamp(PAUSES.0, PAUSES.1).max(took * SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closer_to_the_limit_the_sooner_it_is_measured_again_and_never_for_long() {
        let at_once = Duration::ZERO;
        assert_eq!(pause(0, at_once), PAUSES.0);
        assert_eq!(pause(400 << 20, at_once), Duration::from_millis(100));
        assert_eq!(pause(u64::MAX, at_once), PAUSES.1);
        assert_eq!(pause(0, Duration::from_millis(30)), Duration::from_millis(600));
    }

    #[test]
    fn without_a_limit_nothing_is_measured() {
        assert_eq!(MemoryWatch::start(None).due_in(), None);
    }
}
