//! Previews of commands that wait for approval: each runs beside, once its ticket is open, and ends with the ticket.
//!
//! What a preview is permitted to do is judged as if the user had approved it; it is done so that nothing of it stays.
//! Nothing of it goes to the client. Where the scope says so, what it has changed is kept with the ticket, to be taken over.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::shares::Shares;
use crate::registry::{Context, PreviewResult, Registry, Request, ServiceFacts};
use bailiwick_config::PreviewMode;
use bailiwick_contract::{Caller, Cancel, Failure, Progress};
use bailiwick_history::{EventDraft, HistoryHandle, Phase};
use bailiwick_policy::{Approval, Case, Permit, decide, scope_of};
use bailiwick_providers::approval::{ApprovalTerm, Approvals, EffectPreview, PreviewCommit, Ticket};
use bailiwick_providers::file::sha256_hex;

/// The name of a preview in the history; no operation has it.
const PREVIEW: &str = "preview";
/// How often it is checked that the ticket still waits.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How long a preview runs at most: nobody has approved yet that it takes anything of the computer.
const MAX_RUNTIME: Duration = Duration::from_secs(60);
/// What one preview takes of what all can take: two run at the same time, of one caller one.
const SHARE: usize = 2;
/// What all previews can take.
pub(super) const ALL_SHARES: usize = 4;

/// Returns the approval that a preview is judged by: as if the user had given it.
pub(super) fn assumed_approval(key: &str) -> Approval {
    Approval { key: key.to_owned(), is_of_client: false, changes: None }
}

/// Judges a request as if all its questions were answered.
pub(super) fn permit_for_preview(
    case: &Case<'_>,
    mut approved: Vec<Approval>,
    most: usize,
) -> Option<Permit> {
    while approved.len() < most {
        match decide(&Case { approvals: &approved, ..*case }) {
            Ok(permit) => return Some(permit),
            Err(denial) => approved.push(assumed_approval(&denial.question?.key)),
        }
    }
    None
}

/// Returns whether an approval of a request waits for its preview, whose changes it takes over.
pub(super) fn awaits_preview(case: &Case<'_>, registry: &Registry) -> bool {
    let is_dry_run = || case.envelope.options.get("dryRun") == Some(&Value::Bool(true));
    scope_of(case).is_some_and(|scope| scope.preview() == PreviewMode::Commit)
        && registry.entry(&case.envelope.op).is_some_and(|it| it.preview.is_some())
        && !is_dry_run()
}

/// Notes that a ticket that awaits a preview gets none.
pub(super) fn write_no_preview(state: &Path, ticket: &Ticket) {
    if ticket.awaits_preview {
        let shown = EffectPreview::unavailable("the request is not permitted even if it is approved");
        // Without it, no single request is approved.
        let _ = Approvals::below(state).write_preview(&ticket.id, &shown.with_commit(true));
    }
}

/// Everything that a preview needs.
pub(super) struct PreviewRequest {
    pub ticket: Ticket,
    pub permit: Permit,
    /// Bounds how many run.
    pub shares: Arc<Shares>,
    pub facts: ServiceFacts,
    pub history: HistoryHandle,
    pub caller: Arc<Caller>,
    pub request: Request,
}

impl PreviewRequest {
    /// Begins it, if the scope wants it and the operation can be previewed. It ends on its own.
    pub fn start(self) {
        let is_wanted = self.permit.scope().is_some_and(|scope| scope.preview() != PreviewMode::Off);
        let can = self.facts.registry.entry(self.permit.spec().name).is_some_and(|it| it.preview.is_some());
        if is_wanted && can && !self.permit.common().dry_run {
            tokio::spawn(self.run());
        }
    }

    async fn run(self) {
        let id = self.ticket.id.clone();
        let store = Approvals::below(&self.facts.dirs.state);
        let is_commit = self.permit.scope().is_some_and(|scope| scope.preview() == PreviewMode::Commit);
        let begun = {
            let (store, id) = (store.clone(), id.clone());
            tokio::task::spawn_blocking(move || store.begin_preview(&id, is_commit)).await
        };
        let Ok(Ok(running)) = begun else { return };
        let shown = self.shown(store.clone()).await;
        // Nothing is written for a ticket that was answered, which nobody looks at any more.
        if let Some(shown) = shown.map(|shown| shown.with_commit(is_commit)) {
            let _ = tokio::task::spawn_blocking(move || store.write_preview(&id, &shown)).await;
        }
        drop(running);
    }

    /// Runs it in its turn. Returns `None` if the ticket was answered before.
    async fn shown(self, store: Approvals) -> Option<EffectPreview> {
        let answered = answered(store.clone(), self.ticket.clone());
        tokio::pin!(answered);
        let _share = tokio::select! {
            share = self.shares.take(self.caller.identity(), SHARE) => share,
            () = &mut answered => return None,
        };
        // Both rows before it runs: a client that may read the history learns nothing of how it ended, nor when.
        let (event, history) = (event(&self.ticket, &self.caller), self.history.clone());
        let written = tokio::task::spawn_blocking(move || {
            history.append(event.clone())?;
            history.append(EventDraft { phase: Phase::Finished, ..event })
        });
        if !matches!(written.await, Ok(Ok(_))) {
            return Some(EffectPreview::unavailable("the history cannot be written"));
        }
        let ticket = self.ticket.clone();
        let Self { permit, facts, history, caller, request, .. } = self;
        let cancel = Cancel::after(permit.limits().timeout.min(MAX_RUNTIME));
        let cx =
            Context::new(request, caller, cancel.clone(), Progress::default(), facts, Vec::new(), history);
        let shown = tokio::select! {
            shown = run(&cx, &permit) => Some(shown),
            () = &mut answered => None,
        };
        // What was started is killed as the future is dropped.
        cancel.cancel();
        match shown? {
            Ok(result) => tokio::task::spawn_blocking(move || kept(&store, &ticket, result)).await.ok(),
            Err(failure) => {
                let why = cx.history.redacted_words(&[&failure.message]).concat();
                Some(EffectPreview::unavailable(why))
            }
        }
    }
}

/// Keeps what has changed, where an approval takes it over. Returns what the user sees.
fn kept(store: &Approvals, ticket: &Ticket, result: PreviewResult) -> EffectPreview {
    let Some(changes) = result.changes else { return result.shown };
    let is_once = ticket.plain_approval().0 == ApprovalTerm::Once;
    let kept = match changes {
        _ if !is_once => Err("an approval of a first use is for more than this request".to_owned()),
        Err(why) => Err(why),
        Ok(bytes) => match store.write_changes(ticket, &bytes) {
            Ok(()) => Ok(sha256_hex(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::QuotaExceeded => {
                Err("the changes of other requests that wait leave no room for them".to_owned())
            }
            Err(error) => Err(format!("they cannot be kept: {error}")),
        },
    };
    let commit = match kept {
        Ok(sha256) => PreviewCommit::Ready { sha256 },
        Err(why) => PreviewCommit::Unavailable { why },
    };
    EffectPreview { commit: Some(commit), ..result.shown }
}

async fn run(cx: &Context, permit: &Permit) -> Result<PreviewResult, Failure> {
    let entry = cx.service.registry.entry(permit.spec().name);
    let preview = entry.and_then(|entry| entry.preview).expect("it was looked for before");
    let shown = preview(cx, permit).await;
    match permit.take_question() {
        Some(question) if shown.is_err() => {
            permit.approve(assumed_approval(&question.key));
            preview(cx, permit).await
        }
        _ => shown,
    }
}

/// Waits until a ticket does not wait any more.
async fn answered(store: Approvals, ticket: Ticket) {
    let ticket = Arc::new(ticket);
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let (store, ticket) = (store.clone(), Arc::clone(&ticket));
        if !tokio::task::spawn_blocking(move || store.is_open(&ticket)).await.unwrap_or(false) {
            return;
        }
    }
}

/// Creates the row of a preview.
fn event(ticket: &Ticket, caller: &Caller) -> EventDraft {
    let what = ticket.commands.first().map_or_else(String::new, |what| format!(" {what}"));
    EventDraft {
        scope: Some(ticket.scope.clone()),
        target: Some(ticket.id.clone()),
        summary: format!("preview of {}{what}", ticket.op),
        template: json!({"op": PREVIEW, "asked": ticket.operation_id}),
        has_effect: true,
        ..EventDraft::new(caller, PREVIEW)
    }
}
