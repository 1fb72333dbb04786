//! Requests that operations make, and what a batch has left whose process has gone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Service;
use crate::operations::batch;
use crate::registry::Submit;
use crate::requests;
use bailiwick_contract::{
    Caller, Capability, CapabilityGrant, Envelope, Failure, Outcome, ScopeGrant, Transport, time,
};
use bailiwick_platform::fs::FileStamp;

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

/// Where batches that run are written down, and what was seen there.
pub(super) struct BatchWatch {
    folder: PathBuf,
    seen: Mutex<Option<FileStamp>>,
    /// Held by who takes batches back.
    looking: tokio::sync::Mutex<()>,
}

/// How long after its last change a folder may have changed once more without another stamp, in milliseconds.
const UNSETTLED_MS: i64 = 1_000;

impl BatchWatch {
    /// Watches the batches that are written down below a state folder.
    pub fn below(state: &Path) -> Self {
        Self { folder: batch::folder(state), seen: Mutex::default(), looking: tokio::sync::Mutex::default() }
    }

    /// Returns the stamp of the folder if a batch may be written down there that has to be checked. This costs one
    /// `stat`.
    pub fn unseen(&self) -> Option<FileStamp> {
        let stamp = FileStamp::of(&self.folder)?;
        (*self.seen() != Some(stamp)).then_some(stamp)
    }

    /// Notes that no batch runs which was written down before the folder had this stamp.
    fn settle(&self, stamp: FileStamp) {
        if stamp.modified_ms() + UNSETTLED_MS < time::now_ms() {
            *self.seen() = Some(stamp);
        }
    }

    fn seen(&self) -> MutexGuard<'_, Option<FileStamp>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Takes back what batches have changed whose process has gone before they had ended: at the first request, and at
    /// each one while batches of other processes run, since nothing else shows that one of those was killed.
    pub(super) async fn take_back_batches(self: &Arc<Self>) {
        let _one_at_a_time = self.batches.looking.lock().await;
        let Some(stamp) = self.batches.unseen() else { return };
        let state = self.in_force().facts.dirs.state.clone();
        let found = tokio::task::spawn_blocking(move || batch::find_batches(&state)).await;
        let found = found.unwrap_or_default();
        if found.unfinished.is_empty() && !found.are_some_running {
            self.batches.settle(stamp);
        }
        for unfinished in found.unfinished {
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
            let outcome = Arc::clone(self).submit(&caller, None, request, &CancellationToken::new()).await;
            // Where the disk is full, the next request tries it again.
            if outcome.result.err().is_none_or(|failure| !batch::may_pass(&failure)) {
                unfinished.end();
            }
        }
    }
}
