//! `codex.read`: what a started Codex does, and at its end what came of it.

use std::sync::Arc;
use std::time::Duration;

use crate::programs::Sandbox;
use crate::programs::{ProcessStatus, of_status, warn_of_what_is_left};
use crate::registry::prelude::*;
use bailiwick_contract::{Detail, ErrorCode, id, signal, time};
use bailiwick_providers::codex::{Record, Step, is_session_id};

use super::difference;
use super::job::CodexSandbox;
use super::outcome::Outcome;
use super::report::{CodexProcess, CodexReport};

/// What the fields around the steps take of the result's size.
const FIELD_BYTES: usize = 800;
/// How long is waited for what an ended run changed.
const NOTED: Duration = Duration::from_secs(10);

/// The operation.
pub struct Op;

/// What to give.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Give the steps; default true.
    pub steps: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { steps: true }
    }
}

/// How the run stands.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// How its process stands.
    #[serde(flatten)]
    pub process: ProcessStatus,
    /// The session; `null` until Codex tells it.
    pub session_id: Option<String>,
    /// When it was started.
    pub started_at: String,
    /// What Codex did since the cursor, oldest first.
    pub steps: Vec<Step>,
    /// Where the next read continues: what was given is not given again.
    pub next_cursor: String,
    /// `true` if there are more steps already.
    pub truncated: bool,
    /// How many bytes of what it told at the beginning are not kept any more.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped_bytes: u64,
    /// When it is over: what codex.run would have given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Outcome>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "codex.read",
        summary: "Read what a started Codex does, and at its end what came of it",
        details: "The target is the `processId` or the `sessionId` of codex.start. With the `nextCursor` of an earlier \
                  read it gives the steps since. It does not wait: process.wait does.",
        capabilities: &[&[Capability::CodexRun]],
        effect: Effect::ReadOnly,
        target: TargetRule::Id("the processId or the sessionId"),
        scope: ScopeNeed::FOLDER,
        platforms: &["linux"],
        options: &[CommonOption::Cursor, CommonOption::Detail],
        threads: Threads::Async,
        audited_fields: &["steps", "cursor", "detail", "maxOutputBytes"],
        example: r#"{"op":"codex.read","target":"01JD0000000000000000000000"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let from = cursor(permit)?;
        let started = Arc::new(target(cx, permit)?);
        let reading = Arc::clone(&started);
        let told = tokio::task::spawn_blocking(move || reading.told()).await.map_err(|error| {
            Failure::new(ErrorCode::ExecutionFailed, format!("what Codex told could not be read: {error}"))
        })??;
        let mut room = permit.limits().max_output_bytes.saturating_sub(FIELD_BYTES);
        let is_over = told.status.state.is_final();
        // A result is worth more than steps: it gets its part first.
        let steps_room = if is_over { room / 3 } else { room };
        let (steps, next, truncated) = match options.steps {
            true => steps_from(&told, from, steps_room),
            false => (Vec::new(), told.lines, false),
        };
        room = room.saturating_sub(steps.iter().map(step_bytes).sum());
        warn_of_what_is_left(cx, &started.process);
        let mut output = Output {
            process: of_status(&started.process, told.status.clone()),
            session_id: started.record.session_id.clone().or_else(|| told.events.session_id.clone()),
            started_at: time::rfc3339(started.process.facts.started_at_ms),
            steps,
            next_cursor: next.to_string(),
            truncated,
            skipped_bytes: told.skipped_bytes,
            result: None,
        };
        if is_over {
            difference::noted(&started.process.facts.id, NOTED).await;
            output.result = Some(result(cx, &started, told, permit.common().detail, room));
        }
        cx.summarize(format!("{}: {}", output.process.process_id, output.process.status));
        Ok(output)
    }
}

/// Returns the line from which on steps are wanted.
fn cursor(permit: &Permit) -> Result<u64, Failure> {
    let Some(cursor) = permit.common().cursor.as_deref() else { return Ok(0) };
    cursor.parse().map_err(|_| {
        Failure::invalid("options.cursor", "`options.cursor` is no cursor of codex.read")
            .hint("Send the `nextCursor` of an earlier codex.read of this run, or leave it out.")
    })
}

/// Finds the run that is meant, in the permit's scope and nowhere else.
fn target(cx: &Context, permit: &Permit) -> Result<CodexProcess, Failure> {
    let scope = permit.needed_scope()?;
    let asked = permit.id().ok_or_else(|| Failure::invalid("target", "no run is named"))?;
    if id::is_id(asked) || !is_session_id(asked) {
        return CodexProcess::of_process(cx, scope.id(), asked);
    }
    let found = CodexProcess::all(cx, scope.id())
        .into_iter()
        .find(|started| started.session_id().is_some_and(|session| session.eq_ignore_ascii_case(asked)));
    found.ok_or_else(|| {
        Failure::new(
            ErrorCode::ProcessNotFound,
            format!("no run of session `{asked}` was started in this scope"),
        )
        .hint("codex.run has given its result itself; `options.resume` continues with a session.")
        .hint("codex.list gives the runs; what has ended is kept for 24 hours.")
    })
}

/// Returns the steps from a line on that have room, and where the next read continues.
fn steps_from(told: &CodexReport, from: u64, mut room: usize) -> (Vec<Step>, u64, bool) {
    let mut given = Vec::new();
    for (line, step) in told.steps.iter().filter(|(line, _)| *line >= from) {
        let bytes = step_bytes(step);
        if bytes > room && !given.is_empty() {
            return (given, *line, true);
        }
        room = room.saturating_sub(bytes);
        given.push(step.clone());
    }
    (given, told.lines.max(from), false)
}

fn step_bytes(step: &Step) -> usize {
    serde_json::to_string(step).map_or(0, |text| text.len() + 1)
}

/// Creates the result of a run that is over.
fn result(cx: &Context, started: &CodexProcess, told: CodexReport, detail: Detail, room: usize) -> Outcome {
    let CodexReport { status, events, stderr, .. } = told;
    let process = &started.process;
    // Read again: what changed was noted at the end.
    let record = Record::read(process.folder()).unwrap_or_else(|| started.record.clone());
    let codex_sandbox = CodexSandbox { mode: record.mode, network: record.network };
    let mut outcome = Outcome::begun(Sandbox::of(status.held, false), codex_sandbox, record.version);
    outcome.exit_code = status.exit_code;
    outcome.signal = status.signal.map(signal::name);
    outcome.timed_out = status.timed_out;
    outcome.stderr = stderr;
    let ended_at_ms = status.ended_at_ms.unwrap_or(status.started_at_ms);
    outcome.duration_ms = u64::try_from(ended_at_ms - status.started_at_ms).unwrap_or(0);
    outcome.diff_summary = record.difference;
    if outcome.diff_summary.is_none() {
        cx.warn(
            "what changed on disk is not known: the service was restarted while Codex worked; `fileChanges` has what \
             Codex says it changed",
        );
    }
    outcome.told(events, detail);
    outcome.fit(room);
    outcome
}
