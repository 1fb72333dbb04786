//! What the launcher prepares once, for all jobs.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use super::cgroup::JobGroup;
use super::processes;
use bailiwick_contract::command::Containment;

/// How long the number of the user's processes holds.
const MAX_AGE_OF_TASKS: Duration = Duration::from_secs(5);

/// What every job of this launcher uses.
#[derive(Debug)]
pub(in super::super) struct JobContext {
    /// `/dev/null`, for reading and writing.
    pub(in super::super) null: OwnedFd,
    /// This program, which a sandbox starts first.
    pub(super) own_program: PathBuf,
    /// Whether this is root, whom a number of processes does not bind.
    pub(super) is_root: bool,
    /// How many processes the user runs, counted not long ago.
    tasks: Option<(Instant, u64)>,
}

impl JobContext {
    pub(in super::super) fn new() -> io::Result<Self> {
        Ok(Self {
            null: rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?,
            own_program: std::env::current_exe()?,
            is_root: rustix::process::geteuid().is_root(),
            tasks: None,
        })
    }

    /// Looks again at what can change, where that was long ago.
    pub(in super::super) fn refresh(&mut self, _: Containment) {
        if !self.is_root && self.tasks.is_none_or(|(counted, _)| counted.elapsed() > MAX_AGE_OF_TASKS) {
            self.tasks = Some((Instant::now(), processes::of_user().len() as u64));
        }
    }

    /// Creates none: only Linux has control groups.
    #[expect(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "other systems have them")]
    pub(in super::super) const fn create_group(&mut self) -> Option<Rc<JobGroup>> {
        None
    }

    /// Has none to take.
    #[expect(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "other systems have them")]
    pub(in super::super) fn set_group(&mut self, _: Option<Rc<JobGroup>>) {}

    /// Has none to end.
    #[expect(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "other systems have them")]
    pub(in super::super) fn end_group(&mut self, _: Rc<JobGroup>) {}

    /// Has nothing to let go of.
    #[expect(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "other systems have more in it")]
    pub(in super::super) const fn let_go(&mut self) {}

    /// Returns how many processes this user runs, roughly.
    pub(super) fn tasks_of_user(&self) -> u64 {
        self.tasks.map_or(0, |(_, tasks)| tasks)
    }
}
