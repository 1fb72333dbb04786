//! Running a permitted operation: its thread, its deadline, cancellation, panics, its size.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::changes::warn_of_changes;
use crate::registry::{Context, Entry, OperationFuture, Request, RunForm};
use bailiwick_contract::{
    Caller, Cancel, Effect, ErrorCode, Failure, Json, Outcome, Progress, ScopeNeed, Threads,
};
use bailiwick_policy::Permit;

use super::approvals::{ApprovalRequest, OpenTicket};
use super::boot::ServiceState;
use super::near;
use super::previews::{PreviewRequest, assumed_approval};
use super::record::{Notes, Record, UnfinishedRequest};
use super::shares::{Share, Shares};
use super::untrusted::{ReadNote, may_show_untrusted, shows_untrusted};

/// How long an operation that was told to stop may take to stop on its own.
const GRACE: Duration = Duration::from_millis(500);
/// How long an operation that ends on its own when its time is over may take for that: to end the programs
/// that it runs, or to tell what it has seen.
const ENDING: Duration = Duration::from_secs(5);

/// A request that the policy permits, and that has its turn.
pub(super) struct PermittedRequest {
    pub permit: Permit,
    pub caller: Arc<Caller>,
    pub request: Request,
    pub record: Record,
    /// Records the read where the answer shows untrusted files.
    pub note: Option<ReadNote>,
    pub turn: Share,
    /// Asks for what comes to need approval later.
    pub approvals: Option<ApprovalRequest>,
    /// Bounds how many previews run.
    pub previews: Arc<Shares>,
}

/// Runs the operation and records how it ended.
pub(super) async fn run(
    state: &ServiceState,
    permitted: PermittedRequest,
    gone: &CancellationToken,
    progress: Progress,
) -> Outcome {
    let PermittedRequest { permit, caller, request, mut record, note, turn, approvals, previews } = permitted;
    let most = permit.scope().map(|scope| (scope.max_runtime(), Arc::from(scope.id())));
    let cancel = Cancel::after(permit.limits().timeout).within(most);
    let scopes = match permit.spec().scope {
        ScopeNeed::Optional => state.scopes.open_to(&caller).map(Arc::clone).collect(),
        ScopeNeed::In(_) => Vec::new(),
    };
    let (facts, history) =
        (state.facts.clone().within(permit.scope().map(|scope| &**scope), &caller), record.history().clone());
    let cx = Context::new(request, caller, cancel.clone(), progress, facts, scopes, history);
    if !may_show_untrusted(&permit)
        && let Some(done) = attempted(&cx, &permit)
    {
        let result = bounded(Ok(done), &permit);
        let notes = notes(&cx, &permit, &result);
        return record.finish_last(result, notes).await;
    }
    let entry = entry_of(&cx, &permit);
    match entry.run {
        RunForm::Async(start) => {
            let ends_itself =
                permit.spec().effect == Effect::RunsCode || permit.spec().threads == Threads::Held;
            let opened = OnceLock::new();
            let result = {
                let work = started(start, &cx, &permit, approvals.as_ref(), &opened);
                let mut work = std::pin::pin!(caught(work));
                let failure = tokio::select! {
                    biased;
                    result = &mut work => Ok(result),
                    failure = stopped(&cancel, gone) => Err(failure),
                };
                match failure {
                    Ok(result) => result,
                    // What runs programs ends them itself when its time is over, and shows what they said;
                    // what holds shows what it has seen.
                    Err(failure) if ends_itself && !gone.is_cancelled() => {
                        tokio::select! {
                            result = &mut work => result,
                            () = gone.cancelled() => Err(cancelled()),
                            () = tokio::time::sleep(ENDING) => Err(failure),
                        }
                    }
                    Err(failure) => Err(failure),
                }
            };
            drop(turn);
            let result = bounded(result, &permit);
            let result = match shows_untrusted(&permit, &result) {
                false => result,
                true => {
                    record.shows_untrusted_files();
                    let noted =
                        tokio::task::spawn_blocking(move || note.map_or(Ok(()), |it| it.record())).await;
                    noted.unwrap_or_else(|_| Err(panicked())).and(result)
                }
            };
            let notes = notes(&cx, &permit, &result);
            let Some(ticket) = opened.into_inner() else {
                return record.finish_last(result, notes).await;
            };
            let outcome = record.finish_async(result, notes).await;
            permit.approve(assumed_approval(&ticket.question));
            let Context { request, caller, service: facts, history, .. } = cx;
            let ticket = ticket.ticket;
            PreviewRequest { ticket, permit, shares: previews, facts, history, caller, request }.start();
            outcome
        }
        RunForm::Blocking(run) => {
            let has_effect = permit.has_effect();
            let unfinished = record.unfinished();
            let record = Arc::new(Mutex::new(Some(record)));
            let shared = Arc::clone(&record);
            // The record travels with the work: anyone who stops waiting, the row of an effect is written. So does the
            // turn: work that hangs keeps it.
            let mut work = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                let result = catch_unwind(AssertUnwindSafe(|| run(&cx, &permit)));
                let result = result.unwrap_or_else(|_| Err(panicked()));
                let result = result.map_err(|failure| near::with_names(&permit, failure));
                let result = bounded(result, &permit);
                let is_untrusted = shows_untrusted(&permit, &result);
                let noted = note.filter(|_| is_untrusted).map_or(Ok(()), |it| it.record());
                let result = noted.and(result);
                let mut record = take(&shared)?;
                if is_untrusted {
                    record.shows_untrusted_files();
                }
                let notes = notes(&cx, &permit, &result);
                Some(record.finish(result, notes))
            });
            let failure = tokio::select! {
                done = &mut work => return match done {
                    Ok(Some(outcome)) => outcome,
                    Ok(None) | Err(_) => end(take(&record), unfinished, panicked()).await,
                },
                failure = stopped(&cancel, gone) => failure,
            };
            match tokio::time::timeout(GRACE, &mut work).await {
                Ok(Ok(Some(outcome))) => outcome,
                // It continues until it looks at the flag. What it still does is for its own row to tell; where
                // it does nothing but read, the row is written before the answer, as for every other.
                Ok(Ok(None) | Err(_)) | Err(_) if has_effect => unfinished.abandon(failure),
                Ok(Ok(None) | Err(_)) => end(take(&record), unfinished, failure).await,
                Err(_) => match take(&record) {
                    Some(record) => record.refuse(failure).await,
                    // It has ended this very moment.
                    None => match work.await {
                        Ok(Some(outcome)) => outcome,
                        Ok(None) | Err(_) => unfinished.abandon(failure),
                    },
                },
            }
        }
    }
}

/// Returns what is said beside a result.
fn notes(cx: &Context, permit: &Permit, result: &Result<Json, Failure>) -> Notes {
    // Of a failure nothing but the failure goes to the client, who hears of the rest with the next result.
    if result.is_ok() {
        warn_of_changes(cx, permit);
    }
    cx.take_notes()
}

fn take(record: &Mutex<Option<Record>>) -> Option<Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Answers for an operation that is not waited for any more, by its record if that is still open.
async fn end(record: Option<Record>, unfinished: UnfinishedRequest, failure: Failure) -> Outcome {
    match record {
        Some(record) => record.refuse(failure).await,
        None => unfinished.abandon(failure),
    }
}

/// Waits for a reason to stop. The flag is raised only for those who left: an operation that stops by
/// itself at its deadline has to tell that reason.
async fn stopped(cancel: &Cancel, gone: &CancellationToken) -> Failure {
    tokio::select! {
        () = gone.cancelled() => {
            cancel.cancel();
            cancelled()
        }
        () = tokio::time::sleep_until(cancel.deadline().into()) => cancel.timed_out(),
    }
}

/// Turns a panic of the operation into a failure: one request's bug is not another's.
async fn caught(operation: impl Future<Output = Result<Json, Failure>>) -> Result<Json, Failure> {
    let mut operation = std::pin::pin!(operation);
    std::future::poll_fn(|task| {
        catch_unwind(AssertUnwindSafe(|| operation.as_mut().poll(task)))
            .unwrap_or_else(|_| Poll::Ready(Err(panicked())))
    })
    .await
}

/// Starts an operation, and again once what it found out has been approved.
async fn started(
    start: for<'a> fn(&'a Context, &'a Permit) -> OperationFuture<'a>,
    cx: &Context,
    permit: &Permit,
    approvals: Option<&ApprovalRequest>,
    opened: &OnceLock<Box<OpenTicket>>,
) -> Result<Json, Failure> {
    let result = start(cx, permit).await;
    let Err(failure) = result else { return result };
    let question = permit.take_question().filter(|_| failure.code == ErrorCode::ApprovalRequired);
    let (Some(question), Some(approvals)) = (question, approvals) else { return Err(failure) };
    // Nothing was done yet: commands are judged before they start.
    match approvals.settle(*question).await {
        Ok(approval) => {
            permit.approve(approval);
            start(cx, permit).await
        }
        Err(unapproved) => {
            if let Some(key) = permit.approved() {
                approvals.give_back(key).await;
            }
            if let Some(ticket) = unapproved.opened {
                let _ = opened.set(ticket);
            }
            Err(unapproved.failure)
        }
    }
}

/// Returns whether an operation itself waits for the row of its effect.
pub(super) fn waits_for_row(state: &ServiceState, permit: &Permit) -> bool {
    let entry = state.facts.registry.entry(permit.spec().name);
    entry.is_some_and(|entry| entry.waits_for_row)
}

/// Does an operation here if nothing has to be waited for.
fn attempted(cx: &Context, permit: &Permit) -> Option<Json> {
    let entry = entry_of(cx, permit);
    // What panics is tried again on a thread, where it is reported.
    catch_unwind(AssertUnwindSafe(|| entry.attempt(cx, permit))).unwrap_or(None)
}

fn entry_of<'a>(cx: &'a Context, permit: &Permit) -> &'a Entry {
    let entry = cx.service.registry.entry(permit.spec().name);
    entry.expect("the policy permits only operations of this registry")
}

/// Creates the failure for a client that cancelled or went away.
pub(super) fn cancelled() -> Failure {
    Failure::new(ErrorCode::Cancelled, "the request was cancelled")
}

/// Creates the failure for a bug of ours.
pub(super) fn panicked() -> Failure {
    Failure::new(
        ErrorCode::ExecutionFailed,
        "the operation failed in a way that it should not (a bug in Bailiwick)",
    )
    .hint("For the user: `bailiwick log` shows the request; please report it.")
}

/// The last line of defence for the size of an answer: operations bound their results themselves.
fn bounded(result: Result<Json, Failure>, permit: &Permit) -> Result<Json, Failure> {
    let data = result?;
    let (bytes, limit) = (data.text().len(), permit.limits().max_output_bytes);
    // Room for the names of fields around what the operation has bounded.
    if bytes > limit.saturating_mul(2).saturating_add(16_384) {
        return Err(Failure::new(
            ErrorCode::ExecutionFailed,
            format!("the result has {bytes} bytes, more than the limit of {limit}"),
        )
        .hint("Ask for less at a time, or raise `options.maxOutputBytes` within the scope's limit."));
    }
    Ok(data)
}
