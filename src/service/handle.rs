//! One request, from envelope to outcome.

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use crate::contract::{Caller, Envelope, ErrorCode, Failure, Outcome};
use crate::history::Phase;
use crate::policy::{Case, decide};

use super::Service;
use super::dispatch;
use super::record::Record;

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
        let gone = gone.child_token();
        let _gone_on_drop = gone.clone().drop_guard();
        let began = Instant::now();
        let record = Record::begin(began, caller, self.history().clone());
        let unfinished = record.unfinished();
        let (service, caller) = (Arc::clone(self), caller.clone());
        // A task of its own: it goes on to its last row whatever becomes of the transport.
        let request = tokio::spawn(async move { service.answer(caller, envelope, record, gone).await });
        request.await.unwrap_or_else(|_| unfinished.abandon(dispatch::panicked()))
    }

    async fn answer(
        &self,
        caller: Caller,
        envelope: Result<Envelope, Failure>,
        mut record: Record,
        gone: CancellationToken,
    ) -> Outcome {
        let mut envelope = match envelope {
            Ok(envelope) => envelope,
            Err(failure) => return record.refuse(failure).await,
        };
        record.asked(&envelope);

        if let Some(failure) = self.refresh() {
            return record.refuse(failure).await;
        }
        let facts = self.in_force();
        let case = Case {
            caller: &caller,
            envelope: &envelope,
            scopes: &facts.scopes,
            catalogue: facts.registry.as_ref(),
        };
        let permit = match decide(&case) {
            Ok(permit) => permit,
            Err(mut denial) => {
                record.denied(&denial, &envelope);
                if denial.failure.code == ErrorCode::ApprovalRequired {
                    denial.failure = denial.failure.detail("approvalId", record.operation_id());
                }
                return record.refuse(denial.failure).await;
            }
        };
        record.permitted(&permit, &envelope);
        // The payload lives on in the permit, in its parsed form.
        envelope.input.clear();

        let turn = tokio::select! {
            turn = self.turns.acquire() => turn.expect("the semaphore is never closed"),
            () = gone.cancelled() => return record.refuse(dispatch::cancelled()).await,
        };
        if !permit.spec().effect.is_read_only()
            && let Err(error) = record.write(Phase::Received).await
        {
            let failure = Failure::new(ErrorCode::ProviderUnavailable, format!("nothing was done: {error}"))
                .at_stage("history")
                .detail("rule", "no-audit-no-effect")
                .hint("For the person: `bailiwick status` says what is wrong with the history.");
            return record.refuse(failure).await;
        }
        let outcome = dispatch::run(&facts, permit, caller, record, &gone).await;
        drop(turn);
        outcome
    }
}
