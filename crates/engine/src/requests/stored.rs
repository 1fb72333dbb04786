//! Requests of the history, judged again: by the function that judges live ones, as far as the history holds what that
//! function looks at.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use bailiwick_contract::{Caller, Envelope, ErrorCode, Failure, StageName, Transport};
use bailiwick_history::{Entry as Row, State};
use bailiwick_policy::command::Decision;
use bailiwick_policy::{Case, Question, Scopes, StageVerdict, UntrustedRead, decide, explain};

use super::stored_reads::StoredReads;
use crate::registry::{Entry, JudgedKind, Registry};

/// What the redaction puts in place of secrets.
const MARK: &str = "[redacted:";

/// What was decided about a request.
#[derive(Debug, Clone)]
pub struct StoredVerdict {
    /// Whether it is permitted, needs approval, or is refused.
    pub decision: Decision,
    /// The stage that asks or refuses.
    pub stage: Option<String>,
    /// The rule that asks or refuses.
    pub rule: Option<String>,
    /// Why it is not permitted, where it was judged again.
    pub failure: Option<Failure>,
    /// What the user would be asked.
    pub question: Option<Box<Question>>,
}

/// Why a stored request cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoredRequestError {
    /// What it was judged by is not kept.
    FieldsNotKept,
    /// What it was judged by is kept without a secret, or only its beginning.
    Redacted,
    /// What it starts depends on files.
    CommandOfFiles,
    /// It was permitted, and then refused for what was found on the disk.
    RefusedByFiles,
    /// The rights of its caller are not known.
    CallerGone,
    /// This version has no such operation.
    OperationGone,
    /// The folder cannot be opened now, or the computer lacks what it needs.
    NotThere,
}

impl StoredRequestError {
    /// Returns the reason, as a part of a sentence about several requests.
    pub const fn why(self) -> &'static str {
        match self {
            Self::FieldsNotKept => "the history does not hold the fields that decide, such as edits",
            Self::Redacted => "a secret or a long text was left out of what decides",
            Self::CommandOfFiles => "the command that they start is found in files of the project",
            Self::RefusedByFiles => "they were refused for what was found on the disk when they ran",
            Self::CallerGone => "the token that they came with does not exist any more",
            Self::OperationGone => "this version does not have the operation",
            Self::NotThere => "the scope's folder cannot be opened now",
        }
    }
}

/// Returns how a request was judged when it came; `None` for rows that are no request to an operation.
pub fn recorded(row: &Row) -> Option<StoredVerdict> {
    if row.state == State::Notice || !row.op.contains('.') {
        return None;
    }
    let stage = row.stage.as_deref().filter(|stage| *stage != StageName::History.as_str());
    let is_asked = row.code.as_deref() == Some(ErrorCode::ApprovalRequired.as_str());
    let decision = match stage {
        Some(_) if is_asked => Decision::Ask,
        Some(_) => Decision::Deny,
        None if was_approved(row) => Decision::Ask,
        None => Decision::Allow,
    };
    let stage = stage.map(str::to_owned);
    let rule = row.rule.clone().filter(|_| stage.is_some());
    Some(StoredVerdict { decision, stage, rule, failure: None, question: None })
}

/// Returns whether a request was permitted because the user had approved it.
pub fn was_approved(row: &Row) -> bool {
    row.template.as_deref().is_some_and(|text| template(text)["approved"] == true)
}

fn left_out(kept: &Value) -> BTreeSet<&str> {
    kept["leftOut"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn template(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// Judges stored requests by the scopes of a config.
pub struct StoredJudge<'a> {
    scopes: &'a Scopes,
    registry: &'a Registry,
    caller: &'a dyn Fn(&str, Transport) -> Option<Caller>,
    callers: RefCell<HashMap<(String, String), Option<Caller>>>,
    reads: StoredReads,
}

impl<'a> StoredJudge<'a> {
    /// Creates the judge. `caller` finds the rights that a caller of this name has now.
    pub fn new(
        scopes: &'a Scopes,
        registry: &'a Registry,
        caller: &'a dyn Fn(&str, Transport) -> Option<Caller>,
    ) -> Self {
        Self { scopes, registry, caller, callers: RefCell::default(), reads: StoredReads::default() }
    }

    /// Takes note of what a request showed to its caller, for those that came later. Before any is judged, all of a day before it
    /// have to be noted, newest first.
    pub fn note_read(&mut self, row: &Row) {
        if let Some(caller) = self.caller_of(row) {
            self.reads.add(row, &caller, self.scopes, self.registry);
        }
    }

    /// Judges a request.
    ///
    /// # Errors
    /// Why it cannot be judged.
    pub fn judge(&self, row: &Row) -> Result<StoredVerdict, StoredRequestError> {
        let caller = self.caller_of(row).ok_or(StoredRequestError::CallerGone)?;
        let kept = template(row.template.as_deref().unwrap_or_default());
        let left_out = left_out(&kept);
        let entry = self.registry.entry(&row.op);
        let envelope = self.envelope_of(row, &kept);
        let untrusted = self.untrusted(row, &caller);
        let decided = decide(&self.case(&caller, &envelope, &untrusted, &kept));
        let was = recorded(row);
        let Some(entry) = entry else {
            let was_unknown = row.code.as_deref() == Some(ErrorCode::UnknownOperation.as_str());
            return decided
                .err()
                .filter(|_| was_unknown)
                .map(|it| refused(it.failure, None))
                .ok_or(StoredRequestError::OperationGone);
        };
        let stage = decided.as_ref().err().and_then(|denial| denial.failure.stage()).unwrap_or_default();
        // These come before anything looks at fields.
        if ["scope", "operation", "capability", "scope_type"].contains(&stage) {
            return decided.map(|_| allowed()).or_else(|denial| Ok(refused(denial.failure, denial.question)));
        }
        let was_refused_for_form = row.stage.as_deref() == Some(StageName::Input.as_str());
        if was_refused_for_form {
            // Whatever the rules are, it is no request of its operation.
            return was.ok_or(StoredRequestError::FieldsNotKept);
        }
        if stage == StageName::Input.as_str() || lacks_what_decides(entry, &left_out) {
            return Err(StoredRequestError::FieldsNotKept);
        }
        if is_redacted(entry, row, &kept) {
            return Err(StoredRequestError::Redacted);
        }
        match decided {
            Err(denial) if is_verdict(denial.failure.code) => Ok(refused(denial.failure, denial.question)),
            Err(_) => Err(StoredRequestError::NotThere),
            // It had its permit, and was refused later.
            Ok(_) if row.stage.is_some() && row.capability.is_some() => {
                Err(StoredRequestError::RefusedByFiles)
            }
            Ok(permit) if permit.may_ask_later() => Err(StoredRequestError::CommandOfFiles),
            Ok(_) => Ok(allowed()),
        }
    }

    /// Shows what each stage says about a request, as far as it is kept.
    pub fn explain(&self, row: &Row) -> Vec<StageVerdict> {
        let Some(caller) = self.caller_of(row) else { return Vec::new() };
        let kept = template(row.template.as_deref().unwrap_or_default());
        let untrusted = self.untrusted(row, &caller);
        explain(&self.case(&caller, &self.envelope_of(row, &kept), &untrusted, &kept))
    }

    fn untrusted(&self, row: &Row, caller: &Caller) -> Vec<UntrustedRead> {
        let named = Some(row.scope.as_str()).filter(|scope| !scope.is_empty());
        match self.scopes.asks_after_untrusted(caller, named) {
            true => self.reads.before(row, caller),
            false => Vec::new(),
        }
    }

    fn case<'b>(
        &'b self,
        caller: &'b Caller,
        envelope: &'b Envelope,
        untrusted: &'b [UntrustedRead],
        kept: &Value,
    ) -> Case<'b> {
        Case {
            caller,
            envelope,
            scopes: self.scopes,
            catalogue: self.registry,
            approvals: &[],
            untrusted,
            secret_handles: &[],
            is_rollback: kept["rollback"] == true,
        }
    }

    fn envelope_of(&self, row: &Row, kept: &Value) -> Envelope {
        let part = |name: &str| kept[name].as_object().cloned().unwrap_or_default();
        let mut envelope = Envelope {
            scope: Some(row.scope.clone()).filter(|scope| !scope.is_empty()),
            op: row.op.clone(),
            target: row.target.clone(),
            input: part("input"),
            options: part("options"),
        };
        if let Some(entry) = self.registry.entry(&row.op) {
            add_stand_ins(entry, &mut envelope, &left_out(kept));
        }
        envelope
    }

    fn caller_of(&self, row: &Row) -> Option<Caller> {
        let key = (row.caller.clone(), row.transport.clone());
        if let Some(known) = self.callers.borrow().get(&key) {
            return known.clone();
        }
        let transports =
            [Transport::Stdio, Transport::Http, Transport::JsonApi, Transport::Socket, Transport::Cli];
        let transport = transports.into_iter().find(|it| it.as_str() == row.transport)?;
        let found = (self.caller)(&row.caller, transport);
        self.callers.borrow_mut().insert(key, found.clone());
        found
    }
}

fn allowed() -> StoredVerdict {
    StoredVerdict { decision: Decision::Allow, stage: None, rule: None, failure: None, question: None }
}

fn refused(failure: Failure, question: Option<Box<Question>>) -> StoredVerdict {
    let decision = match failure.code {
        ErrorCode::ApprovalRequired => Decision::Ask,
        _ => Decision::Deny,
    };
    let (stage, rule) = (failure.stage().map(str::to_owned), failure.rule().map(str::to_owned));
    StoredVerdict { decision, stage, rule, failure: Some(failure), question }
}

/// Returns whether a code says what the rules want, and not what is missing at this moment.
fn is_verdict(code: ErrorCode) -> bool {
    !matches!(code, ErrorCode::ProviderUnavailable | ErrorCode::OsPermissionRequired | ErrorCode::NotFound)
}

/// Returns whether a field was not kept that the policy looks at.
fn lacks_what_decides(entry: &Entry, left_out: &BTreeSet<&str>) -> bool {
    let input = &entry.field_names().0.accepted;
    left_out.iter().any(|name| {
        // One that is kept as a rule was too large; `input` and `options` stand for all fields.
        let is_kept = entry.spec.audited_fields.contains(name) || ["input", "options"].contains(name);
        is_kept || (entry.judged == JudgedKind::Paths && input.iter().any(|it| it == name))
    })
}

/// Returns whether something that the policy looks at is not whole.
fn is_redacted(entry: &Entry, row: &Row, kept: &Value) -> bool {
    let is_target = row.target.as_deref().is_some_and(is_cut);
    is_target
        || match entry.judged {
            JudgedKind::Nothing => false,
            JudgedKind::Command => any_text(&kept["input"]["command"], &is_cut),
            JudgedKind::Paths => any_text(&kept["input"], &is_cut),
        }
}

fn is_cut(text: &str) -> bool {
    text.contains(MARK) || text.ends_with('…')
}

fn any_text(value: &Value, holds: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => holds(text),
        Value::Array(items) => items.iter().any(|it| any_text(it, holds)),
        Value::Object(fields) => fields.values().any(|it| any_text(it, holds)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Puts something in the place of fields that were not kept and must be given: the policy does not look at them.
fn add_stand_ins(entry: &Entry, envelope: &mut Envelope, left_out: &BTreeSet<&str>) {
    let (input, options) = entry.field_names();
    for (fields, names) in [(&mut envelope.input, input), (&mut envelope.options, options)] {
        for name in names.required.iter().filter(|name| left_out.contains(name.as_str())) {
            add_stand_in(fields, name, &names.schema["properties"][name]);
        }
    }
    // One of several, of which none alone is required.
    if !left_out.is_empty() && entry.parses(envelope).is_err() {
        for name in input.accepted.iter().filter(|name| left_out.contains(name.as_str())) {
            add_stand_in(&mut envelope.input, name, &input.schema["properties"][name]);
            if entry.parses(envelope).is_ok() {
                return;
            }
            if !input.required.contains(name) {
                envelope.input.remove(name);
            }
        }
    }
}

fn add_stand_in(fields: &mut Map<String, Value>, name: &str, schema: &Value) {
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    let value = match kind {
        Some("array") => Value::Array(Vec::new()),
        Some("object") => Value::Object(Map::new()),
        Some("integer" | "number") => Value::from(1),
        Some("boolean") => Value::Bool(false),
        Some(_) | None => Value::from("x"),
    };
    fields.insert(name.to_owned(), value);
}
