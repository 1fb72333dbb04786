//! Removing what is kept of processes that are over: what is old, and what is too much.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::contract::time;

use super::{Process, Processes, folders};

/// How long a process that is over can be read.
const MAX_AGE: Duration = Duration::from_hours(24);
/// How much all processes may take on disk; the oldest that are over go first.
const MAX_BYTES: u64 = 512 << 20;
/// How often is looked.
const EVERY: Duration = Duration::from_secs(20);

/// What is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub max_age: Duration,
    pub max_bytes: u64,
}

impl Processes {
    /// Removes what need not be kept any more, unless that was done just now.
    pub fn prune(&self) {
        let mut pruned = self.pruned.lock().unwrap_or_else(PoisonError::into_inner);
        if pruned.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        *pruned = Some(Instant::now());
        drop(pruned);
        self.prune_to(Bounds { max_age: MAX_AGE, max_bytes: MAX_BYTES });
    }

    pub(super) fn prune_to(&self, bounds: Bounds) {
        folders::remove_abandoned(&self.folder);
        for (id, _) in self.damaged() {
            if folders::age(&self.folder.join(&id)) > bounds.max_age {
                self.remove(&id);
            }
        }
        // Newest first, so that the oldest are over the bound.
        let mut bytes = 0_u64;
        for process in self.all() {
            let Some(age) = age(&process) else {
                bytes = bytes.saturating_add(process.disk_bytes());
                continue;
            };
            if age > bounds.max_age || bytes.saturating_add(process.disk_bytes()) > bounds.max_bytes {
                self.remove(&process.facts.id);
            } else {
                bytes += process.disk_bytes();
            }
        }
    }
}

/// Tells how long a process has been over; none for one that lives.
fn age(process: &Arc<Process>) -> Option<Duration> {
    let status = match process.status() {
        Ok(status) if !status.state.is_final() => return None,
        Ok(status) => status,
        Err(failure) if failure.rule() == Some("damaged-process") => {
            return Some(folders::age(process.folder()));
        }
        Err(_) => return None,
    };
    match status.ended_at_ms {
        Some(at) => Some(Duration::from_millis(u64::try_from(time::now_ms() - at).unwrap_or(0))),
        // Its keeper was killed: nobody wrote down when.
        None => Some(folders::age(process.folder())),
    }
}
