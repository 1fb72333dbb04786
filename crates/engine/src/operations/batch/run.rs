//! `batch.run`: several requests in order, taken back if one of them fails.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::steps::{PlannedStep, Step};
use crate::changes::{Journal, NOTHING_KEPT, is_half_done, may_pass};
use crate::registry::prelude::*;
use crate::registry::{Providers, Submit};
use bailiwick_contract::{Caller, Envelope, ErrorCode, Outcome};
use bailiwick_platform::launch::levels;

/// How many steps a batch may have, and how many checks.
const MAX_STEPS: usize = 32;

/// The operation.
pub struct Op;

/// What to do, and what has to hold then.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// The requests, in order; up to 32.
    pub steps: Vec<Step>,
    /// Requests that check the result, such as a command that runs tests; up to 32.
    pub verify: Vec<Step>,
}

/// What becomes of the changes if a step or a check fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OnFail {
    /// They are taken back.
    #[default]
    Rollback,
    /// They stay.
    Keep,
}

/// How to go about it.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// What becomes of the changes if a step or a check fails: `rollback` (default) or `keep`.
    pub on_fail: OnFail,
}

/// What was done.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The answers of the steps, in order.
    pub steps: Vec<StepAnswer>,
    /// The answers of the checks.
    pub verify: Vec<StepAnswer>,
}

/// The answer of one step.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepAnswer {
    /// The operation.
    pub op: String,
    /// The id of its request in the history.
    pub operation_id: String,
    /// Its data, as far as there is room; see `truncated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// `true` if the data was left out, since the answer would be too long.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "batch.run",
        summary: "Run several requests in order, and take all back if one fails",
        details: "Each step is judged and recorded as a request of its own. If a step or a check of `verify` fails, \
                  those after it are not run, and what file operations changed is taken back (`onFail` `rollback`), also if the client or the \
                  service goes away in the middle, and what commands changed where the scope's `undo` is `commands`. \
                  The answer names steps that are not taken back whole in `details.notUndone`. history.undo with the `operationId` of the answer takes a \
                  finished batch back.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Destroys,
        target: TargetRule::None,
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::TimeoutSeconds],
        timeout_seconds: 600,
        threads: Threads::Held,
        audited_fields: &["onFail"],
        example: r#"{"op":"batch.run","input":{"steps":[{"op":"file.move","target":"a.txt","input":{"to":"b.txt"}}],"verify":[{"op":"file.read","target":"b.txt","expect":{"content":{"contains":"hello"}}}]}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    // Each step is judged as a request of its own.
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let batch = Batch::read(cx, permit, input, options.on_fail)?;
        let gone = CancellationToken::new();
        // A client that goes away ends the step that runs, and what was done is taken back.
        let ends = gone.clone().drop_guard();
        let mut work = tokio::spawn(batch.run(gone.clone()));
        let ended = tokio::select! {
            ended = &mut work => ended,
            () = tokio::time::sleep_until(cx.cancel.deadline().into()) => {
                gone.cancel();
                work.await
            }
        };
        drop(ends.disarm());
        let done = ended.unwrap_or_else(|_| {
            Err(Failure::new(ErrorCode::ExecutionFailed, "the batch failed (a bug in Bailiwick)"))
        })?;
        cx.summarize(format!("{} steps, {} checks", done.steps.len(), done.verify.len()));
        Ok(done)
    }
}

/// A batch that was read.
struct Batch {
    id: String,
    scope: String,
    caller: Arc<Caller>,
    submit: Arc<dyn Submit>,
    providers: Arc<Providers>,
    steps: Vec<PlannedStep>,
    verify: Vec<PlannedStep>,
    /// Whether what was done before a failure stays.
    keeps: bool,
    /// Says that it is not finished, where there may be something to take back.
    journal: Option<Journal>,
    /// How many bytes of answers are shown.
    room: usize,
}

impl Batch {
    fn read(cx: &Context, permit: &Permit, input: &Input, on_fail: OnFail) -> Result<Self, Failure> {
        let scope = permit.needed_scope()?;
        if input.steps.is_empty() {
            return Err(Failure::invalid("input.steps", "`steps` is empty")
                .hint("`steps` takes requests: [{\"op\": \"file.write\", \"target\": …, \"input\": …}]."));
        }
        let submit = Arc::clone(&cx.request.submit);
        let read = |list: &[Step], name: &str, before: usize| {
            if list.len() > MAX_STEPS {
                let problem = format!("`{name}` has {} requests; at most {MAX_STEPS} fit", list.len());
                return Err(Failure::invalid(&format!("input.{name}"), problem));
            }
            let steps = list.iter().enumerate();
            steps
                .map(|(at, step)| {
                    PlannedStep::read(step, format!("{name}[{at}]"), scope.id(), before + at, &*submit)
                })
                .collect::<Result<Vec<_>, _>>()
        };
        let steps = read(&input.steps, "steps", 0)?;
        let verify = read(&input.verify, "verify", steps.len())?;
        let (id, scope_id) = (cx.request.id.clone(), scope.id().to_owned());
        let providers = Arc::clone(&cx.service.providers);
        let only_reads = steps.iter().chain(&verify).all(|step| {
            providers.registry.entry(&step.op).is_some_and(|entry| entry.spec.effect.is_read_only())
        });
        let keeps = on_fail == OnFail::Keep;
        let journal = match on_fail {
            // Of reads there is nothing to take back.
            _ if only_reads => None,
            OnFail::Keep => None,
            OnFail::Rollback => {
                // A step may ask for them. Finding them out forks, and a fork keeps the journal's lock while it lives: before it.
                levels();
                let begun = Journal::begin(&cx.service.dirs.state, &id, &scope_id, &cx.caller);
                Some(begun.map_err(|error| {
                    Failure::new(
                        ErrorCode::ProviderUnavailable,
                        format!("the batch cannot be written down: {error}"),
                    )
                    .hint("Nothing was run. Use `options.onFail` `keep` to do without.")
                })?)
            }
        };
        let room = permit.limits().max_output_bytes;
        let caller = Arc::clone(&cx.caller);
        Ok(Self { id, scope: scope_id, caller, submit, providers, steps, verify, keeps, journal, room })
    }

    async fn run(mut self, gone: CancellationToken) -> Result<Output, Failure> {
        let mut done = Progress::default();
        let count = self.steps.len();
        let planned: Vec<PlannedStep> =
            std::mem::take(&mut self.steps).into_iter().chain(std::mem::take(&mut self.verify)).collect();
        for step in &planned {
            if let Err(failure) = self.take_step(step, &mut done, &gone).await {
                return Err(self.fail(failure, step, done).await);
            }
        }
        if let Some(journal) = self.journal {
            journal.end();
        }
        let mut steps = done.shown(self.room);
        let verify = steps.split_off(count);
        Ok(Output { steps, verify })
    }

    async fn take_step(
        &self,
        step: &PlannedStep,
        done: &mut Progress,
        gone: &CancellationToken,
    ) -> Result<(), Failure> {
        if gone.is_cancelled() {
            return Err(Failure::new(ErrorCode::Cancelled, "the request was cancelled"));
        }
        let request = step.request(&done.data, &*self.submit)?;
        let without_undo = request.options.get("withoutUndo") == Some(&Value::Bool(true));
        let outcome = Arc::clone(&self.submit).submit(&self.caller, Some(&self.id), request, gone).await;
        let effect =
            self.providers.registry.entry(&step.op).map_or(Effect::RunsCode, |entry| entry.spec.effect);
        let Outcome { operation_id, result, .. } = outcome;
        let is_done = result.is_ok();
        let may_have_run = result.as_ref().err().is_none_or(|failure| failure.stage().is_none());
        done.runs.push(Run {
            op: step.op.clone(),
            place: step.place.clone(),
            operation_id,
            is_done,
            may_have_run,
            without_undo,
            effect,
            is_covered: false,
        });
        let data: Value = serde_json::from_str(result?.text()).unwrap_or_default();
        if let Some(run) = done.runs.last_mut() {
            run.is_covered = data.get("changes").is_some_and(|changes| changes.get("notCovered").is_none());
        }
        let problem = step.problem(&data);
        done.data.push(data);
        match problem {
            None => Ok(()),
            Some(problem) => Err(Failure::new(ErrorCode::ExecutionFailed, problem)),
        }
    }

    /// Takes back what was done, if that is wanted, and says what failed.
    async fn fail(self, failure: Failure, step: &PlannedStep, done: Progress) -> Failure {
        let keep = self.keeps;
        let undone = match self.journal {
            None => Ok(TakenBack::default()),
            Some(_) => self.take_back().await,
        };
        // A later request tries again where that may help.
        let is_tried_again = undone.as_ref().is_err_and(|failure| may_pass(&self.id, failure));
        if let Some(journal) = self.journal.filter(|_| !is_tried_again) {
            journal.end();
        }
        let not_undone: Vec<Value> = match &undone {
            _ if keep => Vec::new(),
            Ok(undone) => done.runs.iter().filter(|run| run.stays(&undone.ids)).map(Run::named).collect(),
            Err(_) => done.runs.iter().filter(|run| run.may_have_changed()).map(Run::named).collect(),
        };
        let has_rest = !not_undone.is_empty();
        let what = match &undone {
            _ if keep => "what was done before stays",
            Ok(_) if has_rest => {
                "what the steps in `details.notUndone` changed stays, and all else is as it was before"
            }
            Ok(undone) if !undone.warnings.is_empty() => "it was taken back, but for what the hints name",
            Ok(undone) if undone.ids.is_empty() => "no file was changed",
            Ok(_) => "the files are as they were before",
            Err(undo) if is_half_done(undo) => "a part was taken back, and the rest stays",
            Err(_) => "nothing could be taken back, so what the steps changed stays",
        };
        let mut failed = Failure::new(
            failure.code,
            format!("`{}` ({}) failed: {}; {what}", step.place, step.op, failure.message),
        )
        .detail("step", step.place.as_str())
        .detail("error", failure.to_json())
        .detail("rolledBack", !keep && undone.is_ok() && !has_rest)
        .detail("steps", serde_json::to_value(done.shown(self.room / 2)).unwrap_or_default());
        if has_rest {
            failed = failed.detail("notUndone", not_undone);
        }
        if has_rest && undone.is_ok() {
            failed = failed.hint(
                "What the steps in `details.notUndone` changed stays, or a part of it: Git, and what undo does not cover of commands.",
            );
        }
        if let Ok(undone) = &undone {
            failed = undone.warnings.iter().fold(failed, |failed, warning| failed.hint(warning.as_str()));
        }
        if let Err(undo) = undone {
            let then = match is_tried_again {
                true => "Bailiwick tries again at later requests.".to_owned(),
                false => format!("Try history.undo with `operation` {}.", self.id),
            };
            failed = failed
                .detail("rollbackError", undo.to_json())
                .hint(format!("Taking back failed: {}. {then}", undo.message));
        }
        for hint in failure.hints {
            failed = failed.hint(hint);
        }
        failed
    }

    /// Takes back what file operations of the steps changed.
    async fn take_back(&self) -> Result<TakenBack, Failure> {
        let outcome = Arc::clone(&self.submit).take_back(&self.caller, &self.scope, &self.id).await;
        match outcome.result {
            Ok(data) => {
                let data: Value = serde_json::from_str(data.text()).unwrap_or_default();
                let ids = data["changes"].as_array().into_iter().flatten();
                let ids = ids.filter_map(|it| it["operationId"].as_str().map(str::to_owned)).collect();
                Ok(TakenBack { ids, warnings: outcome.warnings })
            }
            // What is damaged or gone is another failure.
            Err(failure) if failure.rule() == Some(NOTHING_KEPT) => Ok(TakenBack::default()),
            Err(failure) => Err(failure),
        }
    }
}

/// What was taken back of a batch.
#[derive(Default)]
struct TakenBack {
    /// The ids of the requests whose changes were.
    ids: BTreeSet<String>,
    /// What is not as it was, nevertheless.
    warnings: Vec<String>,
}

/// Creates the request that takes the changes of a batch back.
pub fn undo_request(scope: &str, batch: &str) -> Envelope {
    let mut input = Map::new();
    input.insert("operation".to_owned(), json!(batch));
    Envelope { scope: Some(scope.to_owned()), op: "history.undo".to_owned(), input, ..Envelope::default() }
}

/// What was done so far.
#[derive(Default)]
struct Progress {
    runs: Vec<Run>,
    data: Vec<Value>,
}

/// One request that was sent.
struct Run {
    op: String,
    place: String,
    operation_id: String,
    is_done: bool,
    /// Whether it may have begun: the policy refuses before anything is done.
    may_have_run: bool,
    without_undo: bool,
    effect: Effect,
    /// Whether all that a command changed in the folders of its scope is kept.
    is_covered: bool,
}

impl Run {
    /// Returns whether it may have changed something that was not taken back.
    fn stays(&self, undone: &BTreeSet<String>) -> bool {
        let effect = self.effect;
        let is_kept = self.op.starts_with("file.") && !self.without_undo;
        match effect {
            Effect::ReadOnly | Effect::Captures => false,
            Effect::RunsCode => {
                self.may_have_run && !(self.is_covered && undone.contains(&self.operation_id))
            }
            Effect::ControlsDesktop => self.may_have_run,
            Effect::Writes | Effect::Destroys => {
                self.is_done && !is_kept && !undone.contains(&self.operation_id)
            }
        }
    }

    /// Returns whether it may have changed something.
    fn may_have_changed(&self) -> bool {
        match self.effect {
            Effect::ReadOnly | Effect::Captures => false,
            Effect::RunsCode | Effect::ControlsDesktop => self.may_have_run,
            Effect::Writes | Effect::Destroys => self.is_done,
        }
    }

    fn named(&self) -> Value {
        json!({"step": self.place, "op": self.op})
    }
}

impl Progress {
    /// Shows the answers, as far as there is room.
    fn shown(&self, mut room: usize) -> Vec<StepAnswer> {
        let runs = self.runs.iter().enumerate();
        runs.map(|(at, run)| {
            let data = self.data.get(at).filter(|data| {
                let size = data.to_string().len();
                let fits = size <= room;
                room -= if fits { size } else { 0 };
                fits
            });
            let truncated = data.is_none() && self.data.len() > at;
            StepAnswer {
                op: run.op.clone(),
                operation_id: run.operation_id.clone(),
                data: data.cloned(),
                truncated,
            }
        })
        .collect()
    }
}
