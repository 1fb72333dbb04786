//! One condition of a wait, and its state.

use std::sync::Arc;
use std::time::Duration;

use crate::process::Process;
use bailiwick_contract::{Failure, signal};
use bailiwick_platform::launch::kept::{Frame, State, Status};

use super::clock::LookSpan;
use super::condition::{Condition, ConditionStatus, Evidence, FileState};
use super::token::SavedCondition;
use super::{Marks, PatternMatch, Scan, file};

/// How much of what was printed last is read to find out when that was.
const LAST_BYTES: usize = 256;

/// One condition, and its state.
#[derive(Debug)]
pub struct WatchedCondition {
    /// The condition.
    pub condition: Condition,
    /// Its state.
    pub standing: ConditionStatus,
    scan: Option<Scan>,
    /// Where the line lies that was found.
    found_at: Option<Marks>,
    /// The version of the file when the wait began.
    version: Option<String>,
    /// Up to where it is known when the process printed last.
    known_end: u64,
    due_ms: Option<i64>,
    /// An earlier wait saw it hold, and does not see it twice.
    held_before: bool,
}

impl WatchedCondition {
    pub(super) fn begin(
        condition: Condition,
        saved: &SavedCondition,
        began_ms: i64,
    ) -> Result<Self, Failure> {
        let mut watched = Self {
            standing: ConditionStatus::Waiting,
            scan: None,
            found_at: None,
            version: None,
            known_end: 0,
            due_ms: None,
            held_before: saved.held,
            condition,
        };
        match &watched.condition {
            Condition::Output(_, pattern, from) => {
                let marks = saved.marks.unwrap_or(*from);
                watched.scan = Some(Scan::new(Arc::clone(pattern), marks));
                return Ok(watched);
            }
            Condition::File(path, FileState::Changed) => {
                let version = saved.version.clone();
                watched.version = Some(version.map_or_else(|| file::version(path), Ok)?);
            }
            Condition::Time(after) => watched.due_ms = Some(later(began_ms, *after)),
            Condition::Quiet(_, after) => watched.due_ms = Some(later(began_ms, *after)),
            // Its end, or the answer, is checked again: it stays.
            Condition::Exit(..) | Condition::Approval(..) => return Ok(watched),
            Condition::Port(..) | Condition::Http(..) | Condition::File(..) => {}
        }
        if saved.held {
            watched.standing = ConditionStatus::Held(Evidence::Bare);
        }
        Ok(watched)
    }

    pub(super) fn save(&self) -> SavedCondition {
        let held = self.held_before || matches!(self.standing, ConditionStatus::Held(_));
        let marks = self.found_at.or_else(|| self.scan.as_ref().map(Scan::marks));
        SavedCondition { held, marks, version: self.version.clone() }
    }

    /// Returns whether it may yet come true.
    pub fn is_open(&self) -> bool {
        matches!(self.standing, ConditionStatus::Waiting)
    }

    /// Gives up to where output was checked, where it is about output.
    pub fn looked_at(&self) -> Option<u64> {
        self.scan.as_ref().map(Scan::wants)
    }

    /// Returns how much output it could not look at, since it was not kept any more.
    pub fn skipped_bytes(&self) -> u64 {
        self.scan.as_ref().map_or(0, Scan::skipped_bytes)
    }

    /// Returns the version of the file with which it is compared.
    pub(super) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns from where it wants output.
    pub(super) fn wants(&self) -> Option<u64> {
        if self.is_open() { self.looked_at() } else { None }
    }

    /// Looks at output; there is none before `next` beyond that.
    pub(super) fn show(&mut self, frames: &[Frame], next: u64) {
        self.search(|scan| frames.iter().find_map(|frame| scan.feed(frame)).or_else(|| scan.skip_to(next)));
    }

    /// Looks at the line that is not finished: no more has been printed.
    pub(super) fn settle(&mut self) {
        self.search(Scan::settle);
        if self.held_before {
            self.search(Scan::rest);
            if self.is_open() && self.scan.is_some() {
                // The line that it saw is not kept any more.
                self.standing = ConditionStatus::Held(Evidence::Bare);
            }
        }
    }

    /// Takes note that the process lives and has printed up to `end`.
    pub(super) fn go_on(&mut self, process: &Process, end: u64, span: LookSpan) -> Result<(), Failure> {
        if let Condition::Quiet(_, after) = &self.condition
            && end > self.known_end
        {
            let read = process.read(end.saturating_sub(LAST_BYTES as u64), LAST_BYTES)?;
            if let Some(last) = read.frames.last() {
                self.due_ms = self.due_ms.max(Some(later(span.place(last.at_ms), *after)));
            }
            self.known_end = end;
        }
        Ok(())
    }

    /// Takes note that the process is over.
    pub(super) fn end(&mut self, status: &Status) {
        self.search(Scan::rest);
        if !self.is_open() {
            return;
        }
        self.standing = match &self.condition {
            Condition::Exit(_, None) | Condition::Quiet(..) => ended(status),
            Condition::Exit(_, Some(code)) if status.exit_code == Some(*code) => ended(status),
            Condition::Exit(_, Some(_)) => {
                ConditionStatus::Impossible(format!("the process {}", in_words(status)))
            }
            Condition::Output(..) => {
                ConditionStatus::Impossible(format!("the process {} without printing it", in_words(status)))
            }
            Condition::Port(..) | Condition::Http(..) => {
                ConditionStatus::Impossible(format!("the process {} and listens no more", in_words(status)))
            }
            Condition::File(..) | Condition::Approval(..) | Condition::Time(_) => return,
        };
    }

    /// Returns when to look at it again although nothing happens, in milliseconds since the epoch.
    pub(super) fn due_ms(&self) -> Option<i64> {
        if !self.is_open() {
            return None;
        }
        self.due_ms.or_else(|| self.scan.as_ref().and_then(Scan::rests_at))
    }

    /// Does what is due by now.
    pub(super) fn fall_due(&mut self, now_ms: i64) {
        if self.due_ms().is_none_or(|due_ms| due_ms > now_ms) {
            return;
        }
        if self.scan.is_some() {
            self.search(Scan::rest);
        } else {
            self.standing = ConditionStatus::Held(Evidence::Bare);
        }
    }

    fn search(&mut self, search: impl FnOnce(&mut Scan) -> Option<PatternMatch>) {
        if let (ConditionStatus::Waiting, Some(scan)) = (&self.standing, &mut self.scan)
            && let Some(seen) = search(scan)
        {
            self.found_at = Some(scan.marks_before(&seen));
            self.standing = ConditionStatus::Held(Evidence::Line(seen));
        }
    }
}

fn ended(status: &Status) -> ConditionStatus {
    ConditionStatus::Held(Evidence::Ended(Box::new(status.clone())))
}

/// Returns how a process ended.
fn in_words(status: &Status) -> String {
    match (status.state, status.exit_code, status.signal) {
        (State::Failed, ..) => "could not be started".to_owned(),
        (State::Lost, ..) => "was lost".to_owned(),
        (_, Some(code), _) => format!("has ended with exit code {code}"),
        (_, None, Some(signal)) => format!("was ended by {}", signal::name(signal)),
        (_, None, None) => "has ended".to_owned(),
    }
}

fn later(ms: i64, after: Duration) -> i64 {
    ms.saturating_add(i64::try_from(after.as_millis()).unwrap_or(i64::MAX))
}
