//! Requests that operations make, and what a batch has left whose process has gone.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Service;
use super::handle::Origin;
use crate::changes::{self, FoundBatches};
use crate::operations::batch;
use crate::programs::keep_cut_off;
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
        let (caller, origin) = (Arc::new(caller.clone()), Origin::Step(batch.map(str::to_owned)));
        Box::pin(async move { self.handle_part(caller, origin, request, gone).await })
    }

    fn take_back<'a>(
        self: Arc<Self>,
        caller: &'a Caller,
        scope: &'a str,
        batch: &'a str,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        let (caller, request) = (Arc::new(caller.clone()), batch::undo_request(scope, batch));
        let gone = CancellationToken::new();
        Box::pin(async move { self.handle_part(caller, Origin::Rollback, request, &gone).await })
    }
}

/// Where batches that run are written down, and what was seen there.
pub(super) struct BatchWatch {
    folder: PathBuf,
    notes: Mutex<WatchNotes>,
    /// Held by the task that takes batches back.
    recovery: tokio::sync::Mutex<()>,
}

/// What was seen in the folder.
#[derive(Default)]
struct WatchNotes {
    /// The stamp that it had when no batch was written down there but those that run here, and how many of this process
    /// had left their journals.
    settled: Option<(FileStamp, u64)>,
    /// The stamp that it had at the last look, and when that was.
    looked: Option<(FileStamp, Instant)>,
    /// The batches that could not be taken back for now, and when that was tried.
    tried: HashMap<String, Instant>,
}

/// How long after its last change a folder may have changed once more without another stamp, in milliseconds.
const UNSETTLED_MS: u64 = 1_000;
/// How long after a look at a folder with the same stamp the next one is.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// How long after a try that failed for now a batch is taken back again.
const TRY_AGAIN: Duration = Duration::from_secs(10);

impl BatchWatch {
    /// Watches the batches that are written down below a state folder.
    pub fn below(state: &Path) -> Self {
        let folder = changes::folder(state);
        Self { folder, notes: Mutex::default(), recovery: tokio::sync::Mutex::default() }
    }

    /// Returns the stamp of the folder if a batch may be written down there that has to be checked. This costs one
    /// `stat`.
    pub fn unseen(&self) -> Option<FileStamp> {
        let stamp = FileStamp::of(&self.folder)?;
        self.notes().is_to_look(stamp, Instant::now()).then_some(stamp)
    }

    fn notes(&self) -> MutexGuard<'_, WatchNotes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WatchNotes {
    fn is_to_look(&self, stamp: FileStamp, now: Instant) -> bool {
        let has_looked = self.looked.is_some_and(|(before, at)| before == stamp && now < at + LOOK_AGAIN);
        self.settled != Some((stamp, changes::left_journals())) && !has_looked
    }

    /// Notes what was found there when the folder had this stamp.
    fn note(&mut self, (stamp, left): (FileStamp, u64), found: &FoundBatches) {
        if is_settled(stamp.modified_ms(), time::now_ms())
            && found.unfinished.is_empty()
            && !found.are_some_running
        {
            self.settled = Some((stamp, left));
        }
        self.tried.retain(|id, _| found.unfinished.iter().any(|it| it.id == *id));
    }

    fn is_to_try(&self, batch: &str, now: Instant) -> bool {
        self.tried.get(batch).is_none_or(|at| now >= *at + TRY_AGAIN)
    }
}

/// Returns whether a folder that is changed now gets another stamp. The clock may have been put back since the last change.
fn is_settled(modified_ms: i64, now_ms: i64) -> bool {
    modified_ms.abs_diff(now_ms) > UNSETTLED_MS
}

impl Service {
    /// Takes back what batches have changed whose process has gone before they had ended: at the first request, and
    /// again while batches run, since nothing else shows that one of another process was killed.
    pub(super) async fn take_back_batches(self: Arc<Self>) {
        let _one_at_a_time = self.batches.recovery.lock().await;
        let Some(stamp) = self.batches.unseen() else { return };
        let left = changes::left_journals();
        let in_force = self.in_force();
        let found = tokio::task::spawn_blocking(move || {
            let state = &in_force.facts.dirs.state;
            // First: a batch takes back what its command has changed.
            let are_commands_running = keep_cut_off(state, &in_force.scopes);
            let mut found = changes::find_batches(state);
            found.are_some_running |= are_commands_running;
            found
        });
        let found = found.await.unwrap_or_default();
        self.batches.notes().note((stamp, left), &found);
        for unfinished in found.unfinished {
            if !self.batches.notes().is_to_try(&unfinished.id, Instant::now()) {
                continue;
            }
            // As its caller, who is asked for nothing more than what undoing needs. If the token is gone, it is refused.
            let caller = Caller {
                name: unfinished.caller.clone(),
                token: unfinished.token.clone(),
                scopes: ScopeGrant::Only(BTreeSet::from([unfinished.scope.clone()])),
                capabilities: CapabilityGrant::Only(BTreeSet::from([Capability::FsWrite])),
                ..Caller::local(Transport::Cli)
            };
            // Its row in the history says what became of it.
            let outcome = Arc::clone(&self).take_back(&caller, &unfinished.scope, &unfinished.id).await;
            // Where the disk refuses something, or time was short, a later request tries it again.
            if outcome.result.err().is_some_and(|failure| changes::may_pass(&unfinished.id, &failure)) {
                self.batches.notes().tried.insert(unfinished.id, Instant::now());
            } else {
                unfinished.end();
            }
        }
        // Only now: requests that come meanwhile wait for it.
        self.batches.notes().looked = Some((stamp, Instant::now()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_which_batches_run_is_looked_at_four_times_a_second() {
        let stamp = |path: &str| FileStamp::of(Path::new(path)).expect("it is there");
        let (one, other) = (stamp(env!("CARGO_MANIFEST_DIR")), stamp("/"));
        let (mut notes, now) = (WatchNotes::default(), Instant::now());
        assert!(notes.is_to_look(one, now), "at first");
        let running = FoundBatches { are_some_running: true, ..FoundBatches::default() };
        notes.note((one, changes::left_journals()), &running);
        assert!(notes.is_to_look(one, now), "as long as what was found is taken back");
        notes.looked = Some((one, now));
        assert!(!notes.is_to_look(one, now + LOOK_AGAIN / 2));
        assert!(notes.is_to_look(other, now + LOOK_AGAIN / 2), "it was changed");
        assert!(notes.is_to_look(one, now + LOOK_AGAIN));
        notes.note((one, changes::left_journals()), &FoundBatches::default());
        assert!(!notes.is_to_look(one, now + LOOK_AGAIN), "nothing runs there");
    }

    #[test]
    fn a_batch_that_cannot_be_taken_back_for_now_is_tried_again_after_10_seconds() {
        let (mut notes, now) = (WatchNotes::default(), Instant::now());
        assert!(notes.is_to_try("one", now));
        notes.tried.insert("one".to_owned(), now);
        assert!(!notes.is_to_try("one", now + TRY_AGAIN / 2) && notes.is_to_try("two", now));
        assert!(notes.is_to_try("one", now + TRY_AGAIN));
    }

    #[test]
    fn a_folder_that_was_changed_just_now_may_change_again_unseen() {
        let now_ms = time::now_ms();
        assert!(!is_settled(now_ms, now_ms) && !is_settled(now_ms + 500, now_ms));
        assert!(is_settled(now_ms - 2_000, now_ms));
        assert!(is_settled(now_ms + 3_600_000, now_ms), "the clock was put back");
    }
}
