//! How the conditions of one wait stand, and looking at everything that can be read without waiting.

use std::sync::Arc;
use std::time::Duration;

use crate::process::Process;
use bailiwick_contract::{Cancel, Failure};
use bailiwick_platform::launch::kept::Status;

use super::clock::{LookSpan, WaitClock};
use super::condition::{Condition, ConditionMode, ConditionStatus, Evidence, Outcome};
use super::token::SavedCondition;
use super::watched::WatchedCondition;

/// How much output is read at a time.
const READ_BYTES: usize = 64 << 10;

/// The conditions of one wait.
#[derive(Debug)]
pub struct Round {
    wanted: ConditionMode,
    began_ms: i64,
    clock: WaitClock,
    watched: Vec<WatchedCondition>,
}

impl Round {
    /// Begins to wait, or continues where an earlier wait stopped: with when that began, and what it saved.
    ///
    /// Reads the disk.
    ///
    /// # Errors
    /// Where a file may not be checked.
    pub fn begin(
        wanted: ConditionMode,
        conditions: Vec<Condition>,
        began_ms: i64,
        saved: &[SavedCondition],
    ) -> Result<Self, Failure> {
        let none = SavedCondition::default();
        let saved = saved.iter().chain(std::iter::repeat(&none));
        let begin = |(condition, saved)| WatchedCondition::begin(condition, saved, began_ms);
        let watched = conditions.into_iter().zip(saved).map(begin).collect::<Result<_, _>>()?;
        Ok(Self { wanted, began_ms, clock: WaitClock::start(), watched })
    }

    /// Returns the conditions, in their order.
    pub fn watched(&self) -> &[WatchedCondition] {
        &self.watched
    }

    /// Returns when the first wait began, and what a later one needs to continue.
    pub fn save(&self) -> (i64, Vec<SavedCondition>) {
        (self.began_ms, self.watched.iter().map(WatchedCondition::save).collect())
    }

    /// Returns how the wait ends, if it does.
    pub fn outcome(&self) -> Option<Outcome> {
        let (held, all) = (self.held(), self.watched.len());
        let impossible =
            self.watched.iter().filter(|it| matches!(it.standing, ConditionStatus::Impossible(_))).count();
        match self.wanted {
            ConditionMode::Any if held > 0 => Some(Outcome::Held),
            ConditionMode::Any if impossible == all => Some(Outcome::Impossible),
            ConditionMode::All if impossible > 0 => Some(Outcome::Impossible),
            ConditionMode::All if held == all => Some(Outcome::Held),
            ConditionMode::Any | ConditionMode::All => None,
        }
    }

    /// Returns how many conditions hold.
    pub fn held(&self) -> usize {
        self.watched.iter().filter(|watched| matches!(watched.standing, ConditionStatus::Held(_))).count()
    }

    /// Returns in how long to look again although nothing happens.
    pub fn due_in(&self) -> Option<Duration> {
        let due_ms = self.watched.iter().filter_map(WatchedCondition::due_ms).min()?;
        let left_ms = due_ms.saturating_sub(self.clock.now_ms());
        Some(Duration::from_millis(u64::try_from(left_ms).unwrap_or_default()))
    }

    /// Notes what was found out about a condition elsewhere.
    pub fn hold(&mut self, at: usize, evidence: Evidence) {
        if let Some(watched) = self.watched.get_mut(at).filter(|watched| watched.is_open()) {
            watched.standing = ConditionStatus::Held(evidence);
        }
    }

    /// Looks at the processes and the clock. Reads the disk. Stops early when the flag is raised.
    ///
    /// # Errors
    /// Where the files of a process are damaged.
    pub fn look(&mut self, cancel: &Cancel) -> Result<(), Failure> {
        let span = self.clock.look();
        for process in self.processes() {
            if cancel.is_raised() {
                return Ok(());
            }
            self.look_at(&process, span, cancel)?;
        }
        let now_ms = self.clock.now_ms();
        for watched in &mut self.watched {
            watched.fall_due(now_ms);
        }
        Ok(())
    }

    /// Returns the processes that something is still waited of, each once.
    pub fn processes(&self) -> Vec<Arc<Process>> {
        let mut processes: Vec<Arc<Process>> = Vec::new();
        for process in self.watched.iter().filter(|it| it.is_open()).filter_map(|it| it.condition.process()) {
            if !processes.iter().any(|known| known.facts.id == process.facts.id) {
                processes.push(Arc::clone(process));
            }
        }
        processes
    }

    /// Returns whether something is waited for that shows in what a process prints.
    pub fn wants_output_of(&self, process: &Process) -> bool {
        let about_output = |it: &&WatchedCondition| matches!(&it.condition, Condition::Output(of, ..) | Condition::Quiet(of, _) if of.facts.id == process.facts.id);
        self.watched.iter().filter(|it| it.is_open()).any(|it| about_output(&it))
    }

    fn look_at(&mut self, process: &Process, span: LookSpan, cancel: &Cancel) -> Result<(), Failure> {
        // First its state: what it printed before its end is in the ring by then.
        let status = process.status()?;
        let is_of_it = |it: &&mut WatchedCondition| {
            it.is_open() && it.condition.process().is_some_and(|of| of.facts.id == process.facts.id)
        };
        let mut of_it: Vec<&mut WatchedCondition> = self.watched.iter_mut().filter(is_of_it).collect();
        if !read_output(process, &status, &mut of_it, span, cancel)? {
            return Ok(());
        }
        for watched in of_it {
            if status.state.is_final() {
                watched.end(&status);
            } else {
                watched.go_on(process, status.end, span)?;
            }
        }
        Ok(())
    }
}

/// Shows what a process has printed to the conditions that look for something in it. Returns whether all of it
/// was checked.
fn read_output(
    process: &Process,
    status: &Status,
    of_it: &mut [&mut WatchedCondition],
    span: LookSpan,
    cancel: &Cancel,
) -> Result<bool, Failure> {
    while let Some(from) =
        of_it.iter().filter_map(|watched| watched.wants()).min().filter(|it| *it < status.end)
    {
        if cancel.is_raised() {
            return Ok(false);
        }
        let mut read = process.read(from, READ_BYTES)?;
        read.frames.iter_mut().for_each(|frame| frame.at_ms = span.place(frame.at_ms));
        for watched in of_it.iter_mut() {
            watched.show(&read.frames, read.next);
        }
        if read.next <= from {
            break;
        }
    }
    for watched in of_it {
        watched.settle();
    }
    Ok(true)
}
