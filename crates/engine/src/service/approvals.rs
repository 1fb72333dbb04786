//! Requests that need approval: what was granted is taken, and what nobody has answered gets a ticket.
//!
//! Nothing here grants anything on its own: `bailiwick approve` writes what the user decides. A client's own answer counts
//! only where the config of its scope says so, which is judged when it is used.

use serde_json::{Map, Value, json};

use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{Caller, Envelope, ErrorCode, FOR_USER, Failure, StageName};
use bailiwick_history::{EventDraft, HistoryHandle, Phase};
use bailiwick_platform::machine::BootMoment;
use bailiwick_platform::quoting::quote_command;
use bailiwick_policy::{Approval, ApprovedChanges, Question};
use bailiwick_providers::approval::{ApprovalError, ApprovalTerm, Approvals, Decision, Progress, Ticket};

use super::{Service, dispatch};

/// The name of a decision in the history; no operation has it.
const APPROVAL: &str = "approval";
/// How much of a field is shown for approval, in characters.
const MAX_FIELD_CHARS: usize = 200;
/// How many fields are shown.
const MAX_FIELDS: usize = 16;

/// One request, as far as its approval goes.
#[derive(Clone)]
pub(super) struct ApprovalRequest {
    store: Approvals,
    history: HistoryHandle,
    caller: Caller,
    operation_id: String,
    fields: Vec<String>,
    awaits_preview: bool,
}

/// A request that the user has not approved.
pub(super) struct UnapprovedRequest {
    /// What is answered.
    pub failure: Failure,
    /// The ticket that was opened for it.
    pub opened: Option<Box<OpenTicket>>,
}

/// A ticket that was opened, and the key of its question. The ticket has a digest of that, which is keyed: requests have
/// secrets, and nothing on the disk says whether a guess is right.
pub(super) struct OpenTicket {
    pub ticket: Ticket,
    pub question: String,
}

impl From<Failure> for UnapprovedRequest {
    fn from(failure: Failure) -> Self {
        Self { failure, opened: None }
    }
}

impl ApprovalRequest {
    /// Takes note of a request. Of its fields only what the history may keep is shown, of others the size.
    pub fn new(
        store: Approvals,
        history: HistoryHandle,
        caller: Caller,
        operation_id: String,
        envelope: &Envelope,
        audited: &[&str],
    ) -> Self {
        let mut fields = shown_fields(&history, &envelope.input, audited);
        fields.extend(shown_fields(&history, &envelope.options, audited));
        fields.truncate(MAX_FIELDS);
        Self { store, history, caller, operation_id, fields, awaits_preview: false }
    }

    /// Sets whether an approval waits for the preview, whose changes it takes over.
    pub fn awaiting_preview(self, awaits_preview: bool) -> Self {
        Self { awaits_preview, ..self }
    }

    /// Takes the approval that was given for a question.
    ///
    /// # Errors
    /// `approval_required` with the id of a ticket, `permission_denied` where the user has refused.
    pub async fn settle(&self, question: Question) -> Result<Approval, UnapprovedRequest> {
        let request = self.clone();
        // It reads and writes files.
        let settled = tokio::task::spawn_blocking(move || request.settle_now(&question)).await;
        settled.unwrap_or_else(|_| Err(dispatch::panicked().into()))
    }

    /// Gives back what was taken, for a request that did nothing.
    pub async fn give_back(&self, key: &str) {
        let (store, key) = (self.store.clone(), self.history.keyed_digest(key));
        // What cannot be given back is asked for again.
        let _ = tokio::task::spawn_blocking(move || store.give_back(&key)).await;
    }

    fn settle_now(&self, question: &Question) -> Result<Approval, UnapprovedRequest> {
        let (caller, key) = (&self.caller, self.history.keyed_digest(&question.key));
        let taken = self.store.take(&key, caller.identity(), caller.client_session());
        let taken = taken.map_err(|error| unusable(&error.into()))?;
        // What the config does not let a client approve any more is asked about again.
        if let Some(decision) = taken.filter(|it| !it.is_of_client || question.client_may_answer) {
            let Decision { ticket, is_of_client, changes_sha256, .. } = decision;
            let changes = changes_sha256.map(|sha256| ApprovedChanges { ticket: ticket.id, sha256 });
            return Ok(Approval { key: question.key.clone(), is_of_client, changes });
        }
        if self.store.refusal(&key).is_some() {
            return Err(Failure::denied("refused-by-user", "the user has refused this very request")
                .at_stage(StageName::Approval)
                .hint("Do without it, or tell the user in words why it is needed.")
                .into());
        }
        let new = self.ticket(question, key);
        match self.store.open(&new) {
            Ok(ticket) => {
                let failure = unanswered(question, &ticket);
                let is_new = ticket.id == new.id;
                Err(UnapprovedRequest {
                    failure,
                    opened: is_new.then(|| Box::new(OpenTicket { ticket, question: question.key.clone() })),
                })
            }
            Err(error @ (ApprovalError::TooMany | ApprovalError::TooLarge)) => Err(question
                .failure()
                .at_stage(StageName::Approval)
                .detail("problem", error.to_string())
                .hint(format!("{FOR_USER}{error}; `bailiwick approve` answers what waits."))
                .into()),
            Err(error) => Err(unusable(&error).into()),
        }
    }

    fn ticket(&self, question: &Question, key: String) -> Ticket {
        let change = question.change.clone();
        Ticket {
            scope: question.scope.clone(),
            op: question.op.to_owned(),
            effect: effect_name(question),
            target: question.target.as_deref().map(|target| redacted(&self.history, target)),
            commands: question.commands.iter().map(|(joiner, words)| self.line(joiner, words)).collect(),
            containment: question.containment.clone(),
            fields: self.fields.clone(),
            capabilities: question.capabilities.clone(),
            why: question.why.iter().map(|why| redacted(&self.history, why)).collect(),
            is_first_use: question.is_first_use,
            has_rule: change.is_some(),
            rules_to_remove: change.iter().flat_map(|it| it.removed.clone()).collect(),
            rules_to_add: change.iter().flat_map(|it| it.added.clone()).collect(),
            files_to_open: change.into_iter().flat_map(|it| it.files).collect(),
            client_may_answer: question.client_may_answer,
            awaits_preview: self.awaits_preview && !question.is_first_use,
            ..Ticket::new(&self.caller, self.operation_id.clone(), key)
        }
    }

    fn line(&self, joiner: &str, words: &[String]) -> String {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let clean = self.history.redacted_words(&words);
        // A text for bash is one word, which is shown as it is.
        let line = match clean.as_slice() {
            [text] if text.contains(char::is_whitespace) => text.clone(),
            words => quote_command(words.iter().map(String::as_str)),
        };
        if joiner.is_empty() { line } else { format!("{joiner} {line}") }
    }
}

impl Service {
    /// Counts what was answered in a client that has asked its user: for a ticket of the caller's own, in a scope that lets
    /// such answers count. No request leads here, only the answer to a question of the service.
    ///
    /// # Errors
    /// `not_found` for every other ticket, `conflict` if it does not wait any more; nothing is approved then.
    pub async fn answer_in_client(
        &self,
        caller: &Caller,
        ticket: &str,
        accepted: bool,
    ) -> Result<(), Failure> {
        let (store, history) = (Approvals::below(&self.in_force().facts.dirs.state), self.history().clone());
        let (caller, id) = (caller.clone(), ticket.to_owned());
        let done = tokio::task::spawn_blocking(move || {
            let found = store.find(&id).map_err(|error| unusable(&error.into()))?;
            let own = found.filter(|(ticket, progress)| {
                ticket.caller_id == caller.identity()
                    && ticket.client_may_answer
                    && *progress == Progress::Open
            });
            let (ticket, _) = own.ok_or_else(|| {
                Failure::new(ErrorCode::NotFound, "no request of this caller waits for such an answer")
            })?;
            let now = now_ms();
            let (approved, life_ms, words) = match accepted {
                true => {
                    let (term, life_ms) = ticket.plain_approval();
                    let words = match term {
                        ApprovalTerm::Once => "approved once in the client",
                        ApprovalTerm::Session { .. } | ApprovalTerm::Time => {
                            "approved for the session in the client"
                        }
                    };
                    (Some(term), life_ms, words)
                }
                false => (None, Decision::REFUSAL_MS, "refused in the client"),
            };
            let event = decision_event(&ticket, words, &caller);
            let decision = Decision {
                ticket,
                approved,
                is_of_client: true,
                changes_sha256: None,
                at_ms: now,
                expires_at_ms: now + life_ms,
                decided: BootMoment::now(),
            };
            let write = |phase, failure: Option<&Failure>| {
                let event = EventDraft {
                    phase,
                    code: failure.map(|failure| failure.code),
                    error: failure.map(|failure| failure.message.clone()),
                    ..event.clone()
                };
                history.append(event).map_err(|error| {
                    Failure::new(ErrorCode::ProviderUnavailable, format!("nothing was decided: {error}"))
                })
            };
            write(Phase::Received, None)?;
            let done = store
                .decide(&decision)
                .map_err(|error| Failure::new(ErrorCode::Conflict, format!("nothing was decided: {error}")));
            write(Phase::Finished, done.as_ref().err())?;
            done
        });
        done.await.unwrap_or_else(|_| Err(dispatch::panicked()))
    }
}

/// Creates the row of a decision: who decided what about whose request.
pub fn decision_event(ticket: &Ticket, words: &str, by: &Caller) -> EventDraft {
    let what = ticket.commands.first().or(ticket.target.as_ref());
    let what = what.map_or_else(String::new, |what| format!(" {what}"));
    EventDraft {
        scope: Some(ticket.scope.clone()),
        target: Some(ticket.id.clone()),
        capability: ticket.capabilities.first().copied(),
        summary: format!("{words}: {}{what} for {}", ticket.op, ticket.caller),
        template: json!({"op": APPROVAL, "asked": ticket.operation_id, "by": ticket.caller}),
        has_effect: true,
        ..EventDraft::new(by, APPROVAL)
    }
}

/// Creates the failure of a request whose ticket waits: what was asked, and how it is answered.
fn unanswered(question: &Question, ticket: &Ticket) -> Failure {
    let command = format!("bailiwick approve {}", ticket.id);
    let mut failure = question.failure().at_stage(StageName::Approval);
    failure.hints.insert(0, format!("{FOR_USER}`{command}` shows it and answers it."));
    failure
        .hint(
            "Send the same request again once it is approved; process.wait with `until` `approval` says when. A \
             changed request needs an approval of its own.",
        )
        .detail("approvalId", ticket.id.as_str())
        .detail(
            "approval",
            json!({
                "command": command,
                "target": ticket.target,
                "commands": ticket.commands,
                "containment": ticket.containment,
                "capabilities": ticket.capabilities,
                "clientMayAnswer": ticket.client_may_answer,
                "expiresAt": rfc3339(ticket.expires_at_ms),
            }),
        )
}

fn unusable(error: &ApprovalError) -> Failure {
    Failure::new(
        ErrorCode::ProviderUnavailable,
        format!("nothing was done: approvals cannot be used: {error}"),
    )
    .at_stage(StageName::Approval)
    .hint(format!("{FOR_USER}check the owner and the free space of the state folder."))
}

fn effect_name(question: &Question) -> String {
    let effect = serde_json::to_value(question.effect).expect("an effect has a JSON form");
    effect.as_str().unwrap_or_default().to_owned()
}

/// Shows fields that are not shown as a command: those that the history may keep, of others how long they are.
fn shown_fields(history: &HistoryHandle, fields: &Map<String, Value>, audited: &[&str]) -> Vec<String> {
    let shown = fields.iter().filter(|(name, _)| *name != "command").map(|(name, value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if audited.contains(&name.as_str()) {
            format!("{name}: {}", clip(&redacted(history, &text)))
        } else {
            format!("{name}: {} bytes", text.len())
        }
    });
    shown.collect()
}

fn redacted(history: &HistoryHandle, text: &str) -> String {
    history.redacted_words(&[text]).concat()
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(MAX_FIELD_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
