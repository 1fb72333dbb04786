//! Why a recorded request was allowed or refused, and what would change it.
//!
//! What was decided is in the history; why, and what changes it, is found out by judging it again by the rules of now.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::command::is_program_name;
use bailiwick_contract::time::rfc3339;
use bailiwick_contract::{Failure, StageName};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_engine::requests::{StoredJudge, StoredRequestError, StoredVerdict, recorded, was_approved};
use bailiwick_history::{Entry, Filter};
use bailiwick_platform::quoting::quote;
use bailiwick_policy::Verdict;
use bailiwick_policy::command::Decision;

use super::find::find_entry;
use super::replay::{DecisionOutput, Rights, about, note_reads};
use crate::installation::home::Home;

/// `policy why`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyWhyOutput {
    /// Always true.
    pub ok: bool,
    /// The id of the request.
    pub operation_id: String,
    /// When it came (RFC 3339).
    pub at: String,
    /// The scope.
    pub scope: String,
    /// The operation.
    pub op: String,
    /// Its command or target.
    pub about: String,
    /// What was decided when it came.
    pub decided: DecisionOutput,
    /// Whether it was permitted because you had approved it.
    pub approved: bool,
    /// Why, in words.
    pub why: Vec<String>,
    /// What the rules of now decide; null where that cannot be found out.
    pub now: Option<DecisionOutput>,
    /// Why the rules of now cannot judge it.
    pub not_judged: Option<&'static str>,
    /// The commands that change what is decided from now on.
    pub change: Vec<String>,
}

/// Explains a recorded request. Returns its row too.
///
/// # Errors
/// `not_found` for an id that the history does not know; when config, tokens or history cannot be read.
pub fn why(home: &Home, id: &str) -> Result<(PolicyWhyOutput, Entry), Failure> {
    let row = find_entry(home, None, id)?;
    let decided = recorded(&row).ok_or_else(|| {
        Failure::invalid("id", format!("`{}` is no request to an operation", row.operation_id))
            .hint("`bailiwick log` shows the requests.")
    })?;
    let (scopes, registry, rights) = (home.scopes()?, Registry::new(FAMILIES), Rights::of(home)?);
    let caller = |name: &str, transport| rights.caller(name, transport);
    let mut judge = StoredJudge::new(&scopes, &registry, &caller);
    let moment = Some(row.at_ms);
    let before =
        Filter { caller: Some(row.caller.clone()), since_ms: moment, until_ms: moment, ..Filter::default() };
    note_reads(home, &scopes, &mut judge, &before)?;
    let now = judge.judge(&row);
    let approved = was_approved(&row);
    let why = match decided.decision {
        _ if approved => vec!["you approved this request".to_owned()],
        Decision::Allow => allowing(&judge, &row, &now),
        Decision::Ask | Decision::Deny => row.error.iter().cloned().collect(),
    };
    let output = PolicyWhyOutput {
        ok: true,
        operation_id: row.operation_id.clone(),
        at: rfc3339(row.at_ms),
        scope: row.scope.clone(),
        op: row.op.clone(),
        about: about(&row),
        decided: DecisionOutput::of(&decided),
        approved,
        why,
        now: now.as_ref().ok().map(DecisionOutput::of),
        not_judged: now.as_ref().err().map(|why| why.why()),
        change: changes(&row, &decided, now.as_ref().ok()),
    };
    Ok((output, row))
}

/// Returns what the stages say that allow it, where the rules of now still do.
fn allowing(
    judge: &StoredJudge<'_>,
    row: &Entry,
    now: &Result<StoredVerdict, StoredRequestError>,
) -> Vec<String> {
    if now.as_ref().is_ok_and(|now| now.decision != Decision::Allow) {
        return row
            .capability
            .iter()
            .map(|it| format!("`{it}` was granted; the rules have changed"))
            .collect();
    }
    let notes = judge.explain(row).into_iter().filter_map(|it| match it.verdict {
        Verdict::Passed(note)
            if [StageName::Capability, StageName::Command, StageName::Path].contains(&it.stage)
                && note != "no command is named" =>
        {
            Some(note)
        }
        Verdict::Passed(_) | Verdict::Refused(_) | Verdict::NotAsked => None,
    });
    notes.collect()
}

/// Returns the commands that change the verdict.
fn changes(row: &Entry, decided: &StoredVerdict, now: Option<&StoredVerdict>) -> Vec<String> {
    match now {
        Some(StoredVerdict { question: Some(question), .. }) => question.allowed_by().unwrap_or_default(),
        Some(StoredVerdict { failure: Some(failure), .. }) => commands_of(failure),
        Some(_) if decided.decision != Decision::Allow && !was_approved(row) => Vec::new(),
        Some(_) | None if decided.decision == Decision::Allow || was_approved(row) => closing(row),
        Some(_) | None => Vec::new(),
    }
}

/// Returns the commands of Bailiwick's that hints name for the user.
fn commands_of(failure: &Failure) -> Vec<String> {
    let hints = failure.hints.iter().flat_map(|hint| hint.split('`').skip(1).step_by(2));
    let commands =
        hints.filter(|code| code.starts_with("bailiwick scope ") || code.starts_with("bailiwick token "));
    commands.map(str::to_owned).collect()
}

/// Returns the command that refuses such requests from now on.
fn closing(row: &Entry) -> Vec<String> {
    let program = about(row).split_whitespace().next().map(str::to_owned).unwrap_or_default();
    let is_command = row.op == "command.run" || row.op == "process.start";
    match &row.capability {
        _ if row.scope.is_empty() => Vec::new(),
        Some(_) if is_command && is_program_name(&program) => {
            vec![format!("bailiwick scope deny {} --command {}", row.scope, quote(&format!("{program} *")))]
        }
        Some(capability) => vec![format!("bailiwick scope deny {} {capability}", row.scope)],
        None => Vec::new(),
    }
}
