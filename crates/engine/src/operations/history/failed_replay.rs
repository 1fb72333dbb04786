//! `history.failed_replay`: what failed, as envelopes to try again.

use serde_json::{Value, json};

use super::query;
use crate::registry::prelude::*;
use bailiwick_contract::time::rfc3339;
use bailiwick_history::{Entry, Filter};

/// The operation.
pub struct Op;

/// Which failures to show.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// How many to show; default 20, at most 500.
    pub limit: Option<usize>,
    /// Only this operation, such as `file.write`, or a family, such as `file.`.
    pub op: Option<String>,
    /// Only those that began at this time or later: RFC 3339 in UTC, or a date.
    pub since: Option<String>,
}

/// The failures.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The failed operations, newest first.
    pub failed: Vec<Template>,
    /// Whether there may be more.
    pub truncated: bool,
    /// Give this as `options.cursor` to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A failed operation as an envelope to try again.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Template {
    /// The id of the operation that failed.
    pub operation_id: String,
    /// When it began, RFC 3339 in UTC.
    pub at: String,
    /// The error code.
    pub code: String,
    /// The error's message, redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the same request can succeed later without a change.
    pub retryable: bool,
    /// Whether the envelope can be sent as it is.
    pub replayable: bool,
    /// Why it cannot be sent as it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// The envelope, without the fields that the history does not keep.
    pub envelope: Value,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "history.failed_replay",
        summary: "Show failed operations as envelopes to try again",
        details: "Payloads and secrets are not kept: an envelope that lacks them says so in `reasons` and has to \
                  be completed. Nothing is run.",
        capabilities: &[&[Capability::HistoryRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::None,
        scope: ScopeNeed::In(&[ScopeType::Folder, ScopeType::Computer]),
        options: &[CommonOption::Cursor],
        audited_fields: &["query", "limit", "op", "since"],
        example: r#"{"op":"history.failed_replay","options":{"limit":5}}"#,
        ..OperationSpec::USUAL
    };
    type Input = query::QueryInput;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<query::QueryInput> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(
        cx: &Context,
        permit: &Permit,
        input: &query::QueryInput,
        options: &Options,
    ) -> Result<Output, Failure> {
        let filter = Filter {
            scope: Some(query::scope_id(permit)?),
            op: options.op.clone(),
            text: input.query.clone(),
            ok: Some(false),
            since_ms: query::moment("options.since", options.since.as_deref())?,
            cursor: query::cursor(permit)?,
            limit: query::limit(options.limit, 20)?,
            ..Filter::default()
        };
        let page = cx.history.query(&filter, &cx.cancel).map_err(|error| query::unreadable(cx, &error))?;
        let templates = page.entries.into_iter().map(|entry| template(cx, entry)).collect();
        let (failed, cut) = query::fit(templates, permit.limits().max_output_bytes);
        let next_cursor = match failed.last() {
            Some(last) if cut => Some(last.operation_id.clone()),
            _ => page.next,
        };
        cx.summarize(query::counted(failed.len(), "failed operation"));
        Ok(Output { failed, truncated: next_cursor.is_some(), next_cursor })
    }
}

fn template(cx: &Context, entry: Entry) -> Template {
    let mut envelope = json!({"scope": entry.scope, "op": entry.op});
    if let Some(target) = &entry.target {
        envelope["target"] = json!(target);
    }
    let mut left_out = Vec::new();
    if let Some(Value::Object(kept)) = query::kept(&entry) {
        for (name, value) in kept {
            if name == "leftOut" {
                left_out = value.as_array().cloned().unwrap_or_default();
            } else {
                envelope[name] = value;
            }
        }
    }
    let mut reasons = Vec::new();
    if !left_out.is_empty() {
        let names: Vec<&str> = left_out.iter().filter_map(Value::as_str).collect();
        reasons.push(format!("These fields are not kept and have to be added: {}.", names.join(", ")));
    }
    if envelope.to_string().contains("[redacted:") {
        reasons.push("A secret was taken out of it.".to_owned());
    }
    if entry.target.as_deref().is_some_and(|target| target.ends_with('…')) {
        reasons.push("Its target was too long to be kept whole.".to_owned());
    }
    match cx.service.registry.entry(&entry.op) {
        None => reasons.push("There is no operation of that name.".to_owned()),
        Some(known) if known.spec.effect == Effect::Captures => {
            reasons.push("A capture is never sent again as it is.".to_owned());
        }
        Some(known) if known.spec.effect == Effect::ControlsDesktop => {
            reasons.push("The desktop has changed since: read it again first.".to_owned());
        }
        Some(_) => {}
    }
    let code = entry.code.unwrap_or_default();
    Template {
        operation_id: entry.operation_id,
        at: rfc3339(entry.at_ms),
        retryable: query::code_named(&code).is_some_and(|code| code.facts().retryable),
        code,
        error: entry.error,
        replayable: reasons.is_empty(),
        reasons,
        envelope,
    }
}
