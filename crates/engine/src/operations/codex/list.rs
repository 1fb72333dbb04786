//! `codex.list`: the runs that were started in a scope, and the sessions that can be gone on with.

use crate::programs::{ProcessStatus, of_status};
use crate::registry::prelude::*;
use bailiwick_contract::{ErrorCode, time};
use bailiwick_providers::codex::{Mode, sessions};

use super::report::CodexProcess;

/// What the fields around the lists take of the result's size.
const FIELD_BYTES: usize = 200;

/// The operation.
pub struct Op;

/// The runs and the sessions.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The runs that codex.start began, newest first; those that have ended for 24 hours.
    pub runs: Vec<Run>,
    /// The sessions that `options.resume` can continue with, newest first.
    pub sessions: Vec<SessionRow>,
    /// `true` if not all are listed, for the size of the result.
    pub truncated: bool,
}

/// One run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// How its process stands.
    #[serde(flatten)]
    pub process: ProcessStatus,
    /// The session, once Codex has told it.
    pub session_id: Option<String>,
    /// The beginning of its prompt, without secrets; left out where it is sensitive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_preview: Option<String>,
    /// Who started it.
    pub caller: String,
    /// When it was started.
    pub started_at: String,
    /// Its working folder.
    pub folder: String,
    /// What its commands may do.
    pub mode: Mode,
}

/// One session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRow {
    /// Its id.
    pub session_id: String,
    /// When something was last added to it.
    pub changed_at: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "codex.list",
        summary: "List the runs of Codex in a scope, and the sessions that can be gone on with",
        details: "Of the scope alone: sessions of other scopes, and those of the user's own Codex, are not seen.",
        capabilities: &[&[Capability::CodexRun]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::FOLDER,
        platforms: &["linux"],
        example: r#"{"op":"codex.list"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = NoFields;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, _: &NoFields) -> Result<Output, Failure> {
        let scope = permit.needed_scope()?;
        let mut room = permit.limits().max_output_bytes.saturating_sub(FIELD_BYTES);
        let mut has_room = |row: Result<String, serde_json::Error>| {
            let bytes = row.map_or(usize::MAX, |text| text.len() + 1);
            let fits = bytes <= room;
            room = room.saturating_sub(bytes);
            fits
        };
        let (mut runs, mut rows, mut truncated) = (Vec::new(), Vec::new(), false);
        for started in CodexProcess::all(cx, scope.id()) {
            cx.cancel.check()?;
            let run = run_of(&started)?;
            if !has_room(serde_json::to_string(&run)) {
                truncated = true;
                break;
            }
            runs.push(run);
        }
        for session in sessions(&cx.service.dirs, scope.id()) {
            let row = SessionRow { session_id: session.id, changed_at: time::rfc3339(session.changed_at_ms) };
            if !has_room(serde_json::to_string(&row)) {
                truncated = true;
                break;
            }
            rows.push(row);
        }
        cx.summarize(format!("{} runs, {} sessions", runs.len(), rows.len()));
        Ok(Output { runs, sessions: rows, truncated })
    }
}

fn run_of(started: &CodexProcess) -> Result<Run, Failure> {
    let process = &started.process;
    let shown = match process.status() {
        Ok(status) => of_status(process, status),
        Err(failure) if failure.code == ErrorCode::Cancelled => return Err(failure),
        Err(failure) => ProcessStatus {
            process_id: process.facts.id.clone(),
            status: "damaged".to_owned(),
            exit_code: None,
            signal: None,
            timed_out: false,
            ended_at: None,
            problem: Some(failure.message),
        },
    };
    Ok(Run {
        process: shown,
        session_id: started.session_id(),
        prompt_preview: started.record.prompt_preview.clone(),
        caller: process.facts.caller.clone(),
        started_at: time::rfc3339(process.facts.started_at_ms),
        folder: process.facts.folder.clone(),
        mode: started.record.mode,
    })
}
