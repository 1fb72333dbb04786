//! The steps of `try` and `doctor --prove`: each is done for real, judged, shown, and kept for `--json`.
//!
//! A step that was not done is never told as one that went well: it is `skipped`, with its reason.

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use bailiwick_contract::{ErrorCode, Failure};

use super::child::McpChild;
use super::limit::Limit;

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// It was done, and what was seen is as it must be.
    Ok,
    /// It was not done; `saw` says why.
    Skipped,
    /// It was done, and what was seen is not as it must be.
    Failed,
}

/// One step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What it belongs to, such as `Reading`; empty where there are no groups.
    pub group: &'static str,
    /// What was done.
    pub step: String,
    /// How it went.
    pub state: StepState,
    /// What was seen.
    pub saw: String,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
}

/// How many steps went how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepCounts {
    /// Done, and as it must be.
    pub ok: usize,
    /// Not done.
    pub skipped: usize,
    /// Done, and not as it must be.
    pub failed: usize,
}

/// Why a step does not give what it was to make.
#[derive(Debug)]
pub enum StepError {
    /// It is not as it must be.
    Wrong(Failure),
    /// It cannot be done here, and why.
    Skipped(String),
}

impl From<Failure> for StepError {
    fn from(failure: Failure) -> Self {
        Self::Wrong(failure)
    }
}

/// Shows a step as soon as it was done, with the one before it.
pub type ShowStep = Box<dyn FnMut(&Step, Option<&Step>)>;

/// What was done so far.
pub struct Steps {
    show: ShowStep,
    limit: Limit,
    group: &'static str,
    told: Vec<Step>,
}

/// What was expected of an envelope.
#[derive(Debug, Clone, Copy)]
pub enum Expect {
    /// It succeeds.
    Success,
    /// It is refused with this code.
    Refusal(ErrorCode),
}

impl Steps {
    /// Begins. Once the limit is over, nothing is done any more.
    pub fn new(show: ShowStep, limit: Limit) -> Self {
        Self { show, limit, group: "", told: Vec::new() }
    }

    /// Returns the bound of all waits.
    pub fn limit(&self) -> &Limit {
        &self.limit
    }

    /// Begins a group.
    pub fn group(&mut self, name: &'static str) {
        self.group = name;
    }

    /// Does a step: `work` gives what was seen, or why that is not what must be.
    pub fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<(T, String), Failure>) -> Option<T> {
        self.step_or_skip(name, || work().map_err(StepError::Wrong))
    }

    /// Does a step that may turn out to be impossible here.
    pub fn step_or_skip<T>(
        &mut self,
        name: &str,
        work: impl FnOnce() -> Result<(T, String), StepError>,
    ) -> Option<T> {
        if self.limit.is_over() {
            self.tell(name, StepState::Skipped, "no time was left for it".to_owned(), Duration::ZERO);
            return None;
        }
        let began = Instant::now();
        let (state, saw, made) = match work() {
            Ok((made, saw)) => (StepState::Ok, saw, Some(made)),
            Err(StepError::Wrong(failure)) => (StepState::Failed, failure.message, None),
            Err(StepError::Skipped(why)) => (StepState::Skipped, why, None),
        };
        self.tell(name, state, saw, began.elapsed());
        made
    }

    /// Notes what is not done, and why.
    pub fn skip(&mut self, name: &str, why: impl Into<String>) {
        self.tell(name, StepState::Skipped, why.into(), Duration::ZERO);
    }

    fn tell(&mut self, name: &str, state: StepState, saw: String, took: Duration) {
        if self.limit.is_ended() {
            // The user has ended it: what was cut off says nothing about this computer.
            return;
        }
        let step = Step {
            group: self.group,
            step: name.to_owned(),
            state,
            saw,
            duration_ms: took.as_secs_f64() * 1_000.0,
        };
        (self.show)(&step, self.told.last());
        self.told.push(step);
    }

    /// Sends an envelope as a tool call, and holds the answer to what is expected of it.
    pub fn envelope(
        &mut self,
        name: &str,
        child: &mut McpChild,
        envelope: Value,
        expect: Expect,
        tell: impl FnOnce(&Value) -> Result<String, Failure>,
    ) -> Option<Value> {
        self.step(name, || {
            let mut outcome = child.call("computer_operation", envelope)?;
            let saw = match expect {
                Expect::Success if outcome["ok"] == true => {
                    let data = outcome["data"].take();
                    let saw = tell(&data)?;
                    return Ok((data, saw));
                }
                Expect::Refusal(code) if outcome["error"]["code"] == code.as_str() => {
                    let message = outcome["error"]["message"].as_str().unwrap_or_default();
                    let stage = outcome["error"]["details"]["stage"].as_str();
                    let stage = stage.map(|stage| format!(", stage {stage}")).unwrap_or_default();
                    format!("refused ({code}{stage}): {message}")
                }
                Expect::Success => {
                    return Err(wrong(format!("it failed: {}", outcome["error"]["message"])));
                }
                Expect::Refusal(code) => {
                    let got = outcome["error"]["code"].as_str().unwrap_or("success");
                    return Err(wrong(format!("{code} was expected, but the answer was {got}")));
                }
            };
            Ok((outcome, saw))
        })
    }

    /// Counts the steps by how they went.
    pub fn counts(&self) -> StepCounts {
        let count = |state| self.told.iter().filter(|step| step.state == state).count();
        StepCounts {
            ok: count(StepState::Ok),
            skipped: count(StepState::Skipped),
            failed: count(StepState::Failed),
        }
    }

    /// Returns whether no step so far went wrong.
    pub fn all_well(&self) -> bool {
        self.counts().failed == 0
    }

    /// Ends. Returns all steps.
    pub fn finish(self) -> Vec<Step> {
        self.told
    }
}

/// Creates the failure of a step whose result is not what it must be.
pub fn wrong(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::ExecutionFailed, message)
}
