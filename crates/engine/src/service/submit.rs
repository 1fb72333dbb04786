//! Requests that operations make, and what a batch has left whose process has gone.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Service;
use crate::operations::batch;
use crate::registry::Submit;
use crate::requests;
use bailiwick_contract::{
    Caller, Capability, CapabilityGrant, Envelope, Failure, Outcome, ScopeGrant, Transport,
};

impl Submit for Service {
    fn read(&self, request: Value) -> Result<Envelope, Failure> {
        requests::read(request)
    }

    fn submit<'a>(
        self: Arc<Self>,
        caller: &'a Caller,
        batch: Option<&'a str>,
        request: Envelope,
        gone: &'a CancellationToken,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        let (caller, batch) = (Arc::new(caller.clone()), batch.map(str::to_owned));
        Box::pin(async move { self.handle_step(caller, batch, request, gone).await })
    }
}

impl Service {
    /// Takes back, once, what batches have changed whose process has gone before they had ended.
    pub(super) async fn take_back_batches(self: &Arc<Self>) {
        if self.is_recovered.swap(true, Ordering::AcqRel) {
            return;
        }
        let state = self.in_force().facts.dirs.state.clone();
        let found = tokio::task::spawn_blocking(move || batch::unfinished(&state)).await.unwrap_or_default();
        for unfinished in found {
            // As its caller, who is asked for nothing more than what undoing needs. If the token is gone, it is refused.
            let caller = Caller {
                name: unfinished.caller.clone(),
                token: unfinished.token.clone(),
                scopes: ScopeGrant::Only(BTreeSet::from([unfinished.scope.clone()])),
                capabilities: CapabilityGrant::Only(BTreeSet::from([Capability::FsWrite])),
                ..Caller::local(Transport::Cli)
            };
            let request = batch::undo_request(&unfinished.scope, &unfinished.id);
            // Its row in the history says what became of it.
            let _ = Arc::clone(self).submit(&caller, None, request, &CancellationToken::new()).await;
            unfinished.end();
        }
    }
}
