//! One request, from envelope to outcome.

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::registry::{Request, Submit};
use bailiwick_contract::{Caller, Envelope, ErrorCode, Failure, Outcome, Progress, Threads};
use bailiwick_history::Phase;
use bailiwick_policy::{Case, decide, scope_of};
use bailiwick_providers::approval::Approvals;

use super::Service;
use super::approvals::ApprovalRequest;
use super::boot::MAX_HELD;
use super::dispatch::{self, PermittedRequest};
use super::previews::{
    PreviewRequest, assumed_approval, awaits_preview, permit_for_preview, write_no_preview,
};
use super::record::{Record, RequestEnd};
use super::secrets::RequestSecrets;
use super::shares::Shares;

/// How many approvals one request can need: its own, and those of what it uses the first time.
const MAX_APPROVALS: usize = 16;
/// How often it is checked whether the token of a request that runs is still valid.
const TOKEN_INTERVAL: Duration = Duration::from_millis(200);

/// Where a request comes from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A client.
    Client,
    /// An operation; with the id of the batch that it is a step of.
    Step(Option<String>),
    /// The service, which takes back what a batch has changed.
    Rollback,
}

impl Service {
    /// Judges a request, runs it, records it, answers it. The only way in for every transport.
    ///
    /// `envelope` is a failure where the transport could not read one; that is recorded and answered
    /// too. `gone` is cancelled when the client cancels or goes away. If the answer is not awaited to
    /// the end, that counts as gone: the operation is told to stop, and its row is written all the same.
    pub async fn handle(
        self: &Arc<Self>,
        caller: &Caller,
        envelope: Result<Envelope, Failure>,
        gone: &CancellationToken,
    ) -> Outcome {
        self.handle_told(Arc::new(caller.clone()), envelope, gone, &Progress::default()).await
    }

    /// As [`Service::handle_told`], for a request that an operation or the service makes.
    pub(super) async fn handle_part(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        origin: Origin,
        request: Envelope,
        gone: &CancellationToken,
    ) -> Outcome {
        self.handle_from(caller, origin, Ok(request), gone, &Progress::default()).await
    }

    /// As [`Service::handle`], and the operation writes on `progress` how far it is.
    pub async fn handle_told(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        envelope: Result<Envelope, Failure>,
        gone: &CancellationToken,
        progress: &Progress,
    ) -> Outcome {
        self.handle_from(caller, Origin::Client, envelope, gone, progress).await
    }

    async fn handle_from(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        origin: Origin,
        envelope: Result<Envelope, Failure>,
        gone: &CancellationToken,
        progress: &Progress,
    ) -> Outcome {
        let gone = gone.child_token();
        let _gone_on_drop = gone.clone().drop_guard();
        let began = Instant::now();
        let ended = RequestEnd::default();
        let record = Record::begin(began, &caller, self.history().clone(), ended.clone());
        let (unfinished, end) = (record.unfinished(), ended.clone());
        let (service, progress) = (Arc::clone(self), progress.clone());
        let mut request = Box::pin(async move {
            let mut answer =
                pin!(service.answer(Arc::clone(&caller), origin, envelope, record, gone.clone(), progress));
            let mut token_ends = pin!(service.token_ends(&caller));
            let answered = poll_fn(|task| match answer.as_mut().poll(task) {
                Poll::Ready(outcome) => Poll::Ready(Ok(outcome)),
                // There is nothing left to end.
                Poll::Pending if ended.lacks_only_its_row() => Poll::Pending,
                Poll::Pending => token_ends.as_mut().poll(task).map(Err),
            });
            match answered.await {
                Ok(outcome) => outcome,
                Err(failure) => {
                    ended.because(failure);
                    gone.cancel();
                    answer.await
                }
            }
        });
        // What is done without waiting is done here, and nothing can become of the transport meanwhile. The row is written
        // with those of others, whatever becomes of it.
        let tried = poll_fn(|task| match catch_unwind(AssertUnwindSafe(|| request.as_mut().poll(task))) {
            Ok(Poll::Pending) if end.lacks_only_its_row() => Poll::Pending,
            tried => Poll::Ready(tried),
        });
        match tried.await {
            Ok(Poll::Ready(outcome)) => return outcome,
            Ok(Poll::Pending) => {}
            Err(_) => return unfinished.abandon(dispatch::panicked()),
        }
        // A task of its own: it continues to its last row whatever becomes of the transport.
        tokio::spawn(request).await.unwrap_or_else(|_| unfinished.abandon(dispatch::panicked()))
    }

    /// Records that somebody was not let in. Returns what their answer should say of that.
    pub async fn refuse_login(&self, caller: &Caller, source: &str, failure: Failure) -> Vec<String> {
        let mut record = Record::begin(Instant::now(), caller, self.history().clone(), RequestEnd::default());
        record.login(source);
        record.refuse(failure).await.warnings
    }

    /// Records that a client has logged in. `source` is the address.
    pub async fn record_login(&self, caller: &Caller, source: &str) {
        let mut record = Record::begin(Instant::now(), caller, self.history().clone(), RequestEnd::default());
        record.login(source);
        record.succeed().await;
    }

    /// Waits until the token of a caller opens nothing any more.
    async fn token_ends(&self, caller: &Caller) -> Failure {
        let Some(lease) = self.keys.lease(caller) else { return pending().await };
        loop {
            tokio::time::sleep(TOKEN_INTERVAL).await;
            if self.keys.look().is_none() {
                let keys = Arc::clone(&self.keys);
                // If that fails, the question itself reads them.
                let _ = tokio::task::spawn_blocking(move || keys.refresh()).await;
            }
            if let Err(failure) = self.keys.check(&lease) {
                return failure;
            }
        }
    }

    async fn answer(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        origin: Origin,
        envelope: Result<Envelope, Failure>,
        mut record: Record,
        gone: CancellationToken,
        progress: Progress,
    ) -> Outcome {
        let mut envelope = match envelope {
            Ok(envelope) => envelope,
            Err(mut failure) => {
                if let Some(asked) = failure.take_asked() {
                    record.asked(&asked);
                }
                return record.refuse(failure).await;
            }
        };
        record.asked(&envelope);
        if origin == Origin::Rollback {
            record.note_rollback();
        }

        if origin == Origin::Client && self.batches.unseen().is_some() {
            // In a task of its own, which ends whatever becomes of this request.
            let recovery = tokio::spawn(Arc::clone(self).take_back_batches());
            tokio::select! {
                _ = recovery => {}
                () = gone.cancelled() => return record.refuse(dispatch::cancelled()).await,
            }
        }
        if let Some(failure) = self.refresh_now().await {
            return record.refuse(failure).await;
        }
        let state = self.in_force();
        let untrusted = self.untrusted_reads(&state.scopes, &caller, &envelope).await;
        let case = Case {
            caller: &caller,
            envelope: &envelope,
            scopes: &state.scopes,
            catalogue: &state.facts.registry,
            approvals: &[],
            untrusted: &untrusted,
            secret_handles: &[],
            is_rollback: origin == Origin::Rollback,
        };
        let mut resolved = Ok(None);
        if state.scopes.hide_secrets()
            && let Some(scope) = scope_of(&case)
            && let Some(secrets) = RequestSecrets::of(&scope, &caller, &envelope, &self.history)
        {
            if let Some(entry) = state.facts.registry.entry(&envelope.op) {
                resolved = secrets.check(entry, &envelope).and_then(|()| secrets.resolve(entry, &envelope));
            }
            let progress_secrets = secrets.clone();
            progress.filter(move |words| progress_secrets.text(&words));
            record.hide(secrets);
        }
        let (resolved, unresolved) = match resolved {
            Ok(resolved) => (resolved, None),
            Err(failure) => (None, Some(failure)),
        };
        // Judged is what would be done; recorded and shown for approval is what was sent.
        let case = match &resolved {
            Some(request) => Case { envelope: &request.envelope, secret_handles: &request.given, ..case },
            None => case,
        };
        let approvals = |audited: &[&str]| {
            let store = Approvals::below(&state.facts.dirs.state)
                .with_notifications(state.facts.config.notifications);
            let (caller, id) = ((*caller).clone(), record.operation_id().to_owned());
            let awaits_preview = awaits_preview(&case, &state.facts.registry);
            ApprovalRequest::new(store, self.history.clone(), caller, id, &envelope, audited)
                .awaiting_preview(awaits_preview)
        };
        let mut approval_request = None;
        let mut decided = decide(&case);
        // Rights come first: who is refused anyway does not hear which handles there are.
        if let Some(failure) = unresolved
            && decided.as_ref().err().is_none_or(|denial| denial.question.is_some())
        {
            return record.refuse(failure).await;
        }
        let (mut given, mut opened) = (Vec::new(), None);
        while given.len() < MAX_APPROVALS
            && let Err(denial) = &mut decided
            && let Some(question) = denial.question.take()
        {
            let request = approval_request.get_or_insert_with(|| approvals(denial.audited_fields));
            match request.settle(*question).await {
                Ok(approval) => {
                    given.push(approval);
                    decided = decide(&Case { approvals: &given, ..case });
                }
                Err(unapproved) => {
                    denial.failure = unapproved.failure;
                    opened = unapproved.opened;
                }
            }
        }
        let submit: Arc<dyn Submit> = Arc::<Self>::clone(self);
        let is_rollback = origin == Origin::Rollback;
        let batch = match origin {
            Origin::Step(batch) => batch,
            Origin::Client | Origin::Rollback => None,
        };
        let id = record.operation_id().to_owned();
        let mut request = Request { id, batch, is_rollback, submit, row: Default::default() };
        let permit = match decided {
            Ok(permit) => permit,
            Err(denial) => {
                record.denied(&denial, &envelope);
                let outcome = record.refuse(denial.failure).await;
                if let Some(ticket) = opened {
                    given.push(assumed_approval(&ticket.question));
                    let (ticket, history) = (ticket.ticket, self.history.clone());
                    if let Some(permit) = permit_for_preview(&case, given, MAX_APPROVALS) {
                        let (shares, facts) = (Arc::clone(&self.previews), state.facts.clone());
                        PreviewRequest { ticket, permit, shares, facts, history, caller, request }.start();
                    } else {
                        write_no_preview(&state.facts.dirs.state, &ticket);
                    }
                }
                return outcome;
            }
        };
        if approval_request.is_none() && permit.may_ask_later() {
            approval_request = Some(approvals(permit.spec().audited_fields));
        }
        record.permitted(&permit, &envelope);
        let note = match self.note_read(&state.scopes, &caller, &permit, &envelope, &record).await {
            Ok(note) => note,
            Err(failure) => return record.refuse(failure).await,
        };
        // The payload lives on in the permit, in its parsed form.
        envelope.input.clear();
        drop(resolved);

        let turn = match permit.spec().threads {
            Threads::Async | Threads::Blocking => tokio::select! {
                turn = self.turns.take(caller.identity(), 1) => turn,
                () = gone.cancelled() => return record.refuse(dispatch::cancelled()).await,
            },
            // It may hold for an hour: behind 64 of them nothing else would have its turn.
            Threads::Held => match self.held.try_take(caller.identity(), 1) {
                Some(place) => place,
                None => return record.refuse(too_many_held()).await,
            },
        };
        if permit.has_effect() {
            let written = match record.write(Phase::Received).await {
                Ok(row) if dispatch::waits_for_row(&state, &permit) => {
                    *request.row.get_mut() = Some(row);
                    Ok(())
                }
                Ok(mut row) => row.wait().await,
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                return record.refuse(Request::unrecorded(&error)).await;
            }
        }
        let previews = Arc::clone(&self.previews);
        let permitted = PermittedRequest {
            permit,
            caller,
            request,
            record,
            note,
            turn,
            approvals: approval_request,
            previews,
        };
        dispatch::run(&state, permitted, &gone, progress).await
    }
}

/// Creates the failure for one wait too many.
fn too_many_held() -> Failure {
    Failure::new(
        ErrorCode::ProviderUnavailable,
        format!(
            "as many operations as may wait at the same time do: {MAX_HELD} in all, {} of one caller",
            Shares::largest(MAX_HELD)
        ),
    )
    .detail("rule", "too-many-held")
    .hint("End one of them, or ask for several conditions in one wait, then send it again.")
}
