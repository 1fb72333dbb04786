//! The audit of one request: what is known so far, and writing its rows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use serde_json::{Map, Value, json};

use bailiwick_contract::{
    Caller, ContentOrigin, Envelope, ErrorCode, Failure, Image, Json, Outcome, in_scope,
};
use bailiwick_history::{EventDraft, HistoryError, HistoryHandle, Phase, RowSync};
use bailiwick_policy::{Denial, Permit, UntrustedRead};

use super::secrets::RequestSecrets;

/// What the history calls a refused login; no operation has this name.
const LOGIN: &str = "login";
/// How much of the name of a scope, operation or field a row keeps.
const MAX_NAME_CHARS: usize = 120;
/// How much of a target a row keeps: the longest path.
const MAX_TARGET_CHARS: usize = 4_096;
/// How many fields a template lists as left out.
const MAX_LEFT_OUT: usize = 32;
/// How many bytes of fields a template keeps.
const MAX_TEMPLATE_BYTES: usize = 8_192;

/// The notes of an operation: warnings, images, summary.
pub(super) type Notes = (Vec<String>, Vec<Image>, Option<String>);

/// How a request ends. All clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct RequestEnd(Arc<RequestEndState>);

#[derive(Debug, Default)]
struct RequestEndState {
    /// Why it was ended although its client did not cancel it, once it was.
    reason: OnceLock<Failure>,
    lacks_only_its_row: AtomicBool,
}

impl RequestEnd {
    /// Notes the reason; the first counts.
    pub fn because(&self, failure: Failure) {
        // Another reason came first.
        let _ = self.0.reason.set(failure);
    }

    /// Returns whether all is done but writing the row, which is written even if nobody waits for that.
    pub fn lacks_only_its_row(&self) -> bool {
        self.0.lacks_only_its_row.load(Ordering::Relaxed)
    }

    /// Puts the reason in the place of a cancellation, and of what a client may not see any more.
    fn judge(&self, result: Result<Json, Failure>, has_effect: bool) -> Result<Json, Failure> {
        let Some(reason) = self.0.reason.get() else { return result };
        match result {
            Ok(_) if !has_effect => Err(reason.clone()),
            Err(failure) if failure.code == ErrorCode::Cancelled => Err(reason.clone()),
            // What was done is reported as done.
            other => other,
        }
    }
}

/// One request's record. It ends by one of the methods that give an [`Outcome`].
#[must_use = "a request ends in one finished row"]
pub(super) struct Record {
    event: EventDraft,
    began: Instant,
    history: HistoryHandle,
    ended: RequestEnd,
    /// The scope of its permit, for the commands of hints.
    scope: Option<String>,
    origin: Option<ContentOrigin>,
    /// The secrets that its answer does not show.
    secrets: Option<RequestSecrets>,
    /// Whether it takes back a batch.
    is_rollback: bool,
    is_dry_run: bool,
}

/// What is needed to answer for an operation that does not end in time; its row comes later.
pub(super) struct UnfinishedRequest {
    operation_id: String,
    scope: Option<String>,
    op: String,
    started_at_ms: i64,
    began: Instant,
    ended: RequestEnd,
}

impl Record {
    pub fn begin(began: Instant, caller: &Caller, history: HistoryHandle, ended: RequestEnd) -> Self {
        Self {
            event: EventDraft::new(caller, ""),
            began,
            history,
            ended,
            scope: None,
            origin: None,
            secrets: None,
            is_rollback: false,
            is_dry_run: false,
        }
    }

    pub fn operation_id(&self) -> &str {
        &self.event.operation_id
    }

    pub fn history(&self) -> &HistoryHandle {
        &self.history
    }

    /// Notes that somebody was refused before anything could be asked, and where they are.
    pub fn login(&mut self, source: &str) {
        LOGIN.clone_into(&mut self.event.op);
        self.event.target = Some(clip(source, MAX_NAME_CHARS));
    }

    /// Notes that it takes back a batch, which asks no questions.
    pub fn note_rollback(&mut self) {
        self.is_rollback = true;
    }

    /// Notes the secrets that the answer does not show.
    pub fn hide(&mut self, secrets: RequestSecrets) {
        self.secrets = Some(secrets);
    }

    /// Notes what was asked.
    pub fn asked(&mut self, envelope: &Envelope) {
        self.event.scope = envelope.scope.as_deref().map(|scope| clip(scope, MAX_NAME_CHARS));
        self.event.op = clip(&envelope.op, MAX_NAME_CHARS);
        self.event.target = envelope.target.as_deref().map(|target| clip(target, MAX_TARGET_CHARS));
    }

    /// Notes a refusal of the policy, and the parts of the envelope that may be kept.
    pub fn denied(&mut self, denial: &Denial, envelope: &Envelope) {
        if denial.scope.is_some() {
            self.event.scope.clone_from(&denial.scope);
        }
        self.event.template = self.template(envelope, denial.audited_fields);
    }

    /// Notes a permit, and the parts of the envelope that may be kept.
    pub fn permitted(&mut self, permit: &Permit, envelope: &Envelope) {
        if let Some(scope) = permit.scope() {
            self.event.scope = Some(scope.id().to_owned());
            self.scope = Some(scope.id().to_owned());
        }
        self.origin = permit.origin();
        self.event.capability = permit.capability();
        self.event.has_effect = permit.has_effect();
        self.is_dry_run = permit.common().dry_run;
        self.event.template = self.template(envelope, permit.spec().audited_fields);
        if permit.was_asked() {
            self.event.template["approved"] = json!(true);
        }
    }

    /// Notes that the answer shows files that anybody may have written.
    pub fn shows_untrusted_files(&mut self) {
        self.origin = Some(ContentOrigin::UntrustedFile);
    }

    /// Returns the request as a read of untrusted content.
    pub fn untrusted_read(&self, command: Option<String>) -> UntrustedRead {
        UntrustedRead {
            scope: Some(self.event.scope.clone().unwrap_or_default()),
            operation_id: self.event.operation_id.clone(),
            op: self.event.op.clone(),
            target: command.or_else(|| self.event.target.clone()),
            at_ms: self.event.at_ms,
        }
    }

    /// Keeps of an envelope what the history may hold: names, and the fields that the operation lists.
    ///
    /// `leftOut` names the others; a template with it cannot be replayed as it is.
    fn template(&self, envelope: &Envelope, audited_fields: &[&str]) -> Value {
        let mut left_out: Vec<String> = Vec::new();
        let mut room = MAX_TEMPLATE_BYTES;
        let mut keep = |fields: &Map<String, Value>| -> Map<String, Value> {
            let mut kept = Map::new();
            for (name, value) in fields {
                let bytes = size_at_most(value, room);
                if audited_fields.contains(&name.as_str()) && bytes <= room {
                    room -= bytes;
                    kept.insert(name.clone(), value.clone());
                } else if left_out.len() < MAX_LEFT_OUT {
                    left_out.push(clip(name, MAX_NAME_CHARS));
                }
            }
            kept
        };
        let (input, options) = (keep(&envelope.input), keep(&envelope.options));
        let mut template = json!({"scope": self.event.scope, "op": self.event.op});
        if let Some(target) = &self.event.target {
            template["target"] = json!(target);
        }
        if !input.is_empty() {
            template["input"] = Value::Object(input);
        }
        if !options.is_empty() {
            template["options"] = Value::Object(options);
        }
        if self.is_rollback {
            template["rollback"] = json!(true);
        }
        if !left_out.is_empty() {
            template["leftOut"] = json!(left_out);
        }
        template
    }

    /// Writes a row as things stand. Returns what waits until it is on the disk.
    pub async fn write(&self, phase: Phase) -> Result<RowSync, HistoryError> {
        self.history.append_unsynced(EventDraft { phase, ..self.event.clone() }).await
    }

    /// Ends a request that did not run.
    pub async fn refuse(self, failure: Failure) -> Outcome {
        self.finish_async(Err(failure), Notes::default()).await
    }

    /// Ends what was done and has no answer.
    pub async fn succeed(self) {
        let nothing = Json::of(&json!({})).expect("an empty object has a JSON form");
        self.finish_async(Ok(nothing), Notes::default()).await;
    }

    /// Ends a request on a thread that may block.
    pub fn finish(mut self, result: Result<Json, Failure>, notes: Notes) -> Outcome {
        let mut outcome = self.close(result, notes);
        note(&mut outcome, self.history.append(self.event));
        outcome
    }

    /// Ends a request after which nothing is left to do.
    pub async fn finish_last(self, result: Result<Json, Failure>, notes: Notes) -> Outcome {
        self.ended.0.lacks_only_its_row.store(true, Ordering::Relaxed);
        self.finish_async(result, notes).await
    }

    /// Ends a request on an asynchronous thread.
    pub async fn finish_async(mut self, result: Result<Json, Failure>, notes: Notes) -> Outcome {
        let mut outcome = self.close(result, notes);
        note(&mut outcome, self.history.append_async(self.event).await);
        outcome
    }

    fn close(&mut self, result: Result<Json, Failure>, notes: Notes) -> Outcome {
        let mut result = self.ended.judge(result, self.event.has_effect);
        let (mut warnings, images, summary) = notes;
        if let Some(secrets) = &self.secrets {
            secrets.hide(&mut result, &mut warnings);
        }
        if let Some(scope) = &self.scope {
            let hints = result.as_mut().err().map(|failure| failure.hints.iter_mut());
            for text in warnings.iter_mut().chain(hints.into_iter().flatten()) {
                *text = in_scope(text, scope);
            }
        }
        // Of a failure nothing but the failure goes to the client, and later that it has no row.
        let (warnings, images) = if result.is_ok() { (warnings, images) } else { Default::default() };
        let event = &mut self.event;
        event.phase = Phase::Finished;
        event.duration_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        event.summary = match summary {
            Some(summary) if self.is_dry_run => format!("dry run: {summary}"),
            None if self.is_dry_run => "dry run".to_owned(),
            summary => summary.unwrap_or_default(),
        };
        match &result {
            Ok(data) => event.bytes = data.text().len() as u64,
            Err(failure) => {
                event.code = Some(failure.code);
                event.stage = failure.stage().map(str::to_owned);
                event.rule = failure.rule().map(str::to_owned);
                event.error = Some(failure.message.clone());
            }
        }
        Outcome {
            operation_id: event.operation_id.clone(),
            scope: event.scope.clone(),
            op: event.op.clone(),
            started_at_ms: event.at_ms,
            duration_us: event.duration_us,
            origin: self.origin.filter(|_| result.is_ok()),
            result,
            warnings,
            images,
        }
    }

    /// Returns what is needed to answer without the record.
    pub fn unfinished(&self) -> UnfinishedRequest {
        UnfinishedRequest {
            operation_id: self.event.operation_id.clone(),
            scope: self.event.scope.clone(),
            op: self.event.op.clone(),
            started_at_ms: self.event.at_ms,
            began: self.began,
            ended: self.ended.clone(),
        }
    }
}

impl UnfinishedRequest {
    /// Answers for an operation whose end is not waited for.
    pub fn abandon(self, failure: Failure) -> Outcome {
        Outcome {
            operation_id: self.operation_id,
            scope: self.scope,
            op: self.op,
            started_at_ms: self.started_at_ms,
            duration_us: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            origin: None,
            result: self.ended.judge(Err(failure), true),
            warnings: Vec::new(),
            images: Vec::new(),
        }
    }
}

/// Warns the client where the row of an answered request could not be written.
fn note(outcome: &mut Outcome, written: Result<(), HistoryError>) {
    if let Err(error) = written {
        outcome.warnings.push(format!("this operation is not in the history: {error}"));
    }
}

/// Shortens a client's text for a row.
fn clip(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Counts roughly the bytes of a value, up to a little more than `limit`.
fn size_at_most(value: &Value, limit: usize) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => {
            let mut sum = 2;
            for item in items {
                if sum > limit {
                    break;
                }
                sum += 1 + size_at_most(item, limit);
            }
            sum
        }
        Value::Object(fields) => {
            let mut sum = 2;
            for (name, item) in fields {
                if sum > limit {
                    break;
                }
                sum += name.len() + 4 + size_at_most(item, limit);
            }
            sum
        }
    }
}
