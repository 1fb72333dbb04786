//! `history.last`: the latest operations of a scope, and what to do next.

use super::query::{self, OperationRecord, QueryInput};
use crate::registry::prelude::*;
use bailiwick_contract::{Detail, ErrorCode};
use bailiwick_history::{Entry, Filter, State};

/// How many operations are read for each that is shown: those of the history itself are left out.
const READ_FOR_ONE: usize = 4;

/// The operation.
pub struct Op;

/// Which operations to show.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// How many to show; default 5, at most 500.
    pub limit: Option<usize>,
    /// Only those of the caller who asks; default false: of everybody who uses the scope.
    pub mine: bool,
}

/// The latest operations.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The latest operations, newest first; without those of the history itself.
    pub operations: Vec<OperationRecord>,
    /// The latest one that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<OperationRecord>,
    /// What to do next, in sentences.
    pub next: Vec<String>,
    /// Whether there may be more.
    pub truncated: bool,
    /// Give this as `options.cursor` to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "history.last",
        summary: "Show the latest operations of the scope and what to do next",
        details: "A good first call after a lost connection: it shows what was carried out, and what was cut off.",
        capabilities: &[&[Capability::HistoryRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::In(&[ScopeType::Folder, ScopeType::Computer]),
        options: &[CommonOption::Cursor, CommonOption::Detail],
        audited_fields: &["query", "limit", "mine"],
        example: r#"{"op":"history.last"}"#,
        ..OperationSpec::USUAL
    };
    type Input = QueryInput;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<QueryInput> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &QueryInput, options: &Options) -> Result<Output, Failure> {
        let limit = query::limit(options.limit, 5)?;
        let filter = Filter {
            scope: Some(query::scope_id(permit)?),
            text: input.query.clone(),
            caller: options.mine.then(|| cx.caller.name.clone()),
            cursor: query::cursor(permit)?,
            limit: limit * READ_FOR_ONE,
            ..Filter::default()
        };
        let read = |filter: &Filter| {
            cx.history.query(filter, &cx.cancel).map_err(|error| query::unreadable(cx, &error))
        };
        let page = read(&filter)?;
        let failures = read(&Filter { ok: Some(false), ..filter })?;
        let is_work = |entry: &Entry| !entry.op.starts_with("history.");
        let last_failure = failures.entries.into_iter().find(is_work);
        let mut entries: Vec<Entry> = page.entries.into_iter().filter(is_work).collect();
        let next = advice(&entries, last_failure.as_ref());
        let cut = entries.len() > limit;
        entries.truncate(limit);
        let full = permit.common().detail == Detail::Full;
        let shown = entries.into_iter().map(|entry| OperationRecord::of(entry, full)).collect();
        // Half of the room is enough for the failure and the sentences.
        let (operations, cut_again) = query::fit(shown, permit.limits().max_output_bytes / 2);
        let next_cursor = match operations.last() {
            Some(last) if cut || cut_again => Some(last.operation_id.clone()),
            _ => page.next,
        };
        cx.summarize(query::counted(operations.len(), "operation"));
        Ok(Output {
            operations,
            last_failure: last_failure.map(|entry| OperationRecord::of(entry, full)),
            next,
            truncated: next_cursor.is_some(),
            next_cursor,
        })
    }
}

fn advice(entries: &[Entry], last_failure: Option<&Entry>) -> Vec<String> {
    let mut next = Vec::new();
    for cut_off in entries.iter().filter(|entry| entry.state == State::Unfinished).take(3) {
        next.push(format!(
            "The end of {} ({}) is not recorded: look at {} before you repeat it.",
            cut_off.op,
            cut_off.operation_id,
            cut_off.target.as_deref().unwrap_or("its target"),
        ));
    }
    let newest = entries.iter().find(|entry| entry.state == State::Finished);
    match last_failure {
        // Only a failure that nothing has followed is still to be dealt with.
        Some(failed) if newest.is_some_and(|newest| newest.operation_id == failed.operation_id) => {
            let code = query::code_named(failed.code.as_deref().unwrap_or_default());
            next.push(format!(
                "{} failed: {}",
                failed.op,
                code.map_or("see its error.", |code| remedy(code, failed.stage.as_deref())),
            ));
            next.push("history.failed_replay gives it as an envelope to try again.".to_owned());
        }
        _ if entries.is_empty() => next.push("Nothing was done in this scope yet.".to_owned()),
        _ => next.push("The last operation succeeded: continue.".to_owned()),
    }
    next
}

/// Returns what helps against a failure.
fn remedy(code: ErrorCode, stage: Option<&str>) -> &'static str {
    match code {
        ErrorCode::InvalidRequest => {
            "correct the named field; get_computer_info with include operations lists an operation's fields."
        }
        ErrorCode::UnknownScope => "use a scope that get_computer_info lists.",
        ErrorCode::UnknownOperation => "use an operation that get_computer_info lists.",
        ErrorCode::PermissionDenied if stage == Some("sensitive") => {
            "the target contains secrets and stays closed; do without it, or ask the user."
        }
        ErrorCode::PermissionDenied => {
            "the scope does not allow it; do without it, or ask the user (`bailiwick policy explain` says why)."
        }
        ErrorCode::PathOutOfScope => "use a path inside the scope's folders; get_computer_info lists them.",
        ErrorCode::ApprovalRequired => {
            "ask the user to run `bailiwick approve`, then send the same request again."
        }
        ErrorCode::NotFound => "look at what exists with file.list or file.find.",
        ErrorCode::Occluded => "bring the window to the front, or choose another point.",
        ErrorCode::UserActive => "ask again when the user rests.",
        ErrorCode::Conflict => "read the target again, and send its new version as `ifVersion`.",
        ErrorCode::UnsupportedPlatform => "this computer cannot do it; take another way.",
        ErrorCode::ProviderUnavailable => {
            "something that it needs is missing; try again later, or tell the user."
        }
        ErrorCode::Timeout => "ask for less at a time, or raise `options.timeoutSeconds`.",
        ErrorCode::Cancelled => "it was cancelled; send it again if it is still wanted.",
        ErrorCode::ProcessNotFound => "list the processes that there are.",
        ErrorCode::OsPermissionRequired => "the user has to give the permission in the system's settings.",
        ErrorCode::StaleSnapshot | ErrorCode::ElementNotFound | ErrorCode::AmbiguousTarget => {
            "read the window again with ui.see, and use what it lists."
        }
        ErrorCode::ElementDisabled => "do first what enables the element.",
        ErrorCode::SecureField => "ask the user to type the secret.",
        ErrorCode::UnsupportedAction => "the element cannot do that; take another way.",
        ErrorCode::TargetUnresponsive => "the program hangs: try again later, or ask the user to look at it.",
        ErrorCode::ExecutionFailed => "its error says what went wrong.",
    }
}
