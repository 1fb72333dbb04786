//! Which clients have read what anybody may have written, and forgetting it.
//!
//! No transport leads here: a client cannot forget what it has read.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use bailiwick_contract::time::rfc3339;
use bailiwick_contract::{Caller, ErrorCode, Failure, Transport};
use bailiwick_history::{EventDraft, Phase};
use bailiwick_policy::UntrustedRead;
use bailiwick_providers::untrusted_reads::{CallerReads, UntrustedReads};

use crate::installation::home::Home;
use crate::installation::text::{one_line, with_nearest};

/// A read of untrusted content.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadOutput {
    /// The scope; null where the record is damaged.
    pub scope: Option<String>,
    /// The id of the request in the history.
    pub operation_id: String,
    /// The operation.
    pub op: String,
    /// Its command or target.
    pub target: Option<String>,
    /// When it came (RFC 3339); null where the record is damaged.
    pub at: Option<String>,
}

/// A caller, and what it has read in the last day.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallerReadsOutput {
    /// The caller: a token's name, or `local`.
    pub caller: String,
    /// The first read in each scope.
    pub reads: Vec<ReadOutput>,
}

/// `policy untrusted`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyUntrustedOutput {
    /// Always true.
    pub ok: bool,
    /// Who was forgotten.
    pub forgotten: Vec<String>,
    /// Who has read untrusted content in the last day.
    pub callers: Vec<CallerReadsOutput>,
}

/// Lists the reads, or forgets those of a caller.
///
/// # Errors
/// `not_found` where the caller has none; those of the state folder and of the history, then nothing is forgotten.
pub fn untrusted(home: &Home, forget: Option<&str>) -> Result<PolicyUntrustedOutput, Failure> {
    let store = UntrustedReads::below(&home.dirs.state);
    let broken = |error: std::io::Error| {
        Failure::new(ErrorCode::ProviderUnavailable, format!("the records of untrusted reads cannot be used: {error}"))
            .hint("Check the owner of the folder `untrusted` in the state folder; `bailiwick doctor` shows where that is.")
    };
    let mut all = store.all().map_err(broken)?;
    let mut forgotten = Vec::new();
    if let Some(name) = forget {
        let (named, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.caller == name);
        if named.is_empty() {
            let failure =
                Failure::new(ErrorCode::NotFound, format!("`{}` has read nothing untrusted", one_line(name)));
            let names: Vec<&str> = others.iter().map(|it| it.caller.as_str()).collect();
            return Err(with_nearest(
                failure,
                name,
                names.iter().copied(),
                "`bailiwick policy untrusted` lists who has.",
            ));
        }
        for reads in &named {
            record(home, reads)?;
            store.forget(reads).map_err(broken)?;
            forgotten.push(reads.caller.clone());
        }
        all = others;
    }
    Ok(PolicyUntrustedOutput {
        ok: true,
        callers: all
            .iter()
            .map(|it| CallerReadsOutput {
                caller: it.caller.clone(),
                reads: it.reads.iter().map(output_of).collect(),
            })
            .collect(),
        forgotten,
    })
}

fn output_of(read: &UntrustedRead) -> ReadOutput {
    ReadOutput {
        scope: read.scope.clone(),
        operation_id: read.operation_id.clone(),
        op: read.op.clone(),
        target: read.target.clone(),
        at: read.scope.is_some().then(|| rfc3339(read.at_ms)),
    }
}

/// What the history calls it when the user has forgotten what a caller had read.
const FORGETTING: &str = "untrusted";

/// Writes to the history that the user has forgotten what a caller had read.
fn record(home: &Home, reads: &CallerReads) -> Result<(), Failure> {
    let (config, by) = (home.config()?, Caller::local(Transport::Cli));
    let history = home.history(&config);
    let event = EventDraft {
        phase: Phase::Finished,
        summary: format!("forgotten: the untrusted reads of {}", reads.caller),
        template: json!({"op": FORGETTING, "forgotten": reads.caller}),
        has_effect: true,
        ..EventDraft::new(&by, FORGETTING)
    };
    history.append(event).map_err(|error| {
        Failure::new(ErrorCode::ProviderUnavailable, format!("nothing was forgotten: {error}"))
            .hint("`bailiwick doctor` says what is wrong with the history.")
    })
}
