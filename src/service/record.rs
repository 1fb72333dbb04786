//! The audit of one request: what is known so far, and writing its rows.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::contract::{Caller, Envelope, Failure, Image, Outcome};
use crate::history::{EventDraft, HistoryError, HistoryHandle, Phase};
use crate::policy::Permit;

/// The notes of an operation: warnings, images, summary.
type Notes = (Vec<String>, Vec<Image>, Option<String>);

/// One request's record. It ends by one of the methods that give an [`Outcome`].
#[must_use = "a request ends in one finished row"]
pub(super) struct Record {
    event: EventDraft,
    began: Instant,
    history: HistoryHandle,
}

/// What is needed to answer for an operation that does not end in time; its row comes later.
pub(super) struct Unfinished {
    operation_id: String,
    scope: Option<String>,
    op: String,
    started_at_ms: i64,
    began: Instant,
}

impl Record {
    pub fn begin(
        operation_id: String,
        at_ms: i64,
        began: Instant,
        caller: &Caller,
        history: HistoryHandle,
    ) -> Self {
        let event = EventDraft {
            operation_id,
            phase: Phase::Received,
            at_ms,
            caller: caller.name.clone(),
            client: caller.client.clone(),
            session: caller.session.clone(),
            transport: caller.transport,
            scope: None,
            op: String::new(),
            target: None,
            capability: None,
            stage: None,
            rule: None,
            code: None,
            duration_us: 0,
            bytes: 0,
            summary: String::new(),
            error: None,
            template: Value::Null,
            has_effect: false,
        };
        Self { event, began, history }
    }

    pub fn operation_id(&self) -> &str {
        &self.event.operation_id
    }

    pub fn history(&self) -> &HistoryHandle {
        &self.history
    }

    /// Notes what was asked.
    pub fn asked(&mut self, envelope: &Envelope) {
        self.event.scope.clone_from(&envelope.scope);
        self.event.op.clone_from(&envelope.op);
        self.event.target.clone_from(&envelope.target);
    }

    /// Notes what the policy found out, and the parts of the envelope that may be kept.
    pub fn judged(
        &mut self,
        scope: Option<&str>,
        permit: Option<&Permit>,
        audited_fields: &[&str],
        envelope: &Envelope,
    ) {
        if let Some(scope) = scope {
            self.event.scope = Some(scope.to_owned());
        }
        if let Some(permit) = permit {
            self.event.capability = permit.capability();
            self.event.has_effect = !permit.spec().effect.is_read_only();
        }
        self.event.template = template(envelope, self.event.scope.as_deref(), audited_fields);
    }

    /// Notes a permit.
    pub fn permitted(&mut self, permit: &Permit, envelope: &Envelope) {
        let scope = permit.scope().map(|scope| scope.id().to_owned());
        self.judged(scope.as_deref(), Some(permit), permit.spec().audited_fields, envelope);
    }

    /// Writes a row as things stand, and waits until it is on disk.
    pub async fn write(&self, phase: Phase) -> Result<(), HistoryError> {
        self.history.append_async(EventDraft { phase, ..self.event.clone() }).await
    }

    /// Ends a request that did not run.
    pub async fn refuse(self, failure: Failure) -> Outcome {
        self.finish_async(Err(failure), Notes::default()).await
    }

    /// Ends a request on a thread that may block.
    pub fn finish(mut self, result: Result<(Value, u64), Failure>, notes: Notes) -> Outcome {
        let mut outcome = self.close(result, notes);
        note(&mut outcome, self.history.append(self.event));
        outcome
    }

    /// Ends a request on an asynchronous thread.
    pub async fn finish_async(mut self, result: Result<(Value, u64), Failure>, notes: Notes) -> Outcome {
        let mut outcome = self.close(result, notes);
        note(&mut outcome, self.history.append_async(self.event).await);
        outcome
    }

    fn close(&mut self, result: Result<(Value, u64), Failure>, notes: Notes) -> Outcome {
        let (warnings, images, summary) = notes;
        let event = &mut self.event;
        event.phase = Phase::Finished;
        event.duration_us = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        event.summary = summary.unwrap_or_default();
        match &result {
            Ok((_, bytes)) => event.bytes = *bytes,
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
            result: result.map(|(data, _)| data),
            warnings,
            images,
        }
    }

    /// Gives what is needed to answer without the record.
    pub fn shared(&self) -> Unfinished {
        Unfinished {
            operation_id: self.event.operation_id.clone(),
            scope: self.event.scope.clone(),
            op: self.event.op.clone(),
            started_at_ms: self.event.at_ms,
            began: self.began,
        }
    }
}

impl Unfinished {
    /// Answers for an operation whose end is not waited for.
    pub fn abandon(self, failure: Failure) -> Outcome {
        Outcome {
            operation_id: self.operation_id,
            scope: self.scope,
            op: self.op,
            started_at_ms: self.started_at_ms,
            duration_us: u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX),
            result: Err(failure),
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

/// Keeps of an envelope what the history may hold: names, and the fields that the operation lists.
fn template(envelope: &Envelope, scope: Option<&str>, audited_fields: &[&str]) -> Value {
    let keep = |fields: &Map<String, Value>| -> Map<String, Value> {
        fields
            .iter()
            .filter(|(name, _)| audited_fields.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    let left_out: Vec<&String> =
        envelope.input.keys().filter(|name| !audited_fields.contains(&name.as_str())).collect();
    let mut template = json!({"scope": scope, "op": envelope.op});
    if let Some(target) = &envelope.target {
        template["target"] = json!(target);
    }
    let (input, options) = (keep(&envelope.input), keep(&envelope.options));
    if !input.is_empty() {
        template["input"] = Value::Object(input);
    }
    if !options.is_empty() {
        template["options"] = Value::Object(options);
    }
    if !left_out.is_empty() {
        template["leftOut"] = json!(left_out);
    }
    template
}
