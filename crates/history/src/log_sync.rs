//! Syncing the log for those whose rows must survive a loss of power: one sync serves all rows that were written before it.

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::store::HistoryError;

/// Counts the groups of rows that were written to the log, and those that are on the disk.
#[derive(Debug, Default)]
pub struct LogSync {
    written: AtomicU64,
    state: Mutex<SyncState>,
}

#[derive(Debug, Default)]
struct SyncState {
    log: Option<File>,
    /// The last group that is on the disk.
    synced: u64,
    /// The last group of which the disk has said that it is not.
    failed: u64,
}

impl LogSync {
    /// Notes that a group was written, and returns its number.
    pub fn note_written(&self) -> u64 {
        self.written.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Syncs what was written to the log so far, and takes another one from then on.
    pub fn exchange(&self, log: Option<File>) {
        let mut state = self.state();
        // `wait` reports it to those who wait.
        let _ = self.sync(&mut state);
        state.log = log;
    }

    /// Waits until a group is on the disk. Who comes first syncs for all.
    ///
    /// # Errors
    /// When the disk says that it is not there.
    pub fn wait(&self, group: u64) -> Result<(), HistoryError> {
        let mut state = self.state();
        if state.synced < group && state.failed < group {
            self.sync(&mut state).map_err(|error| HistoryError(error.to_string()))?;
        }
        // After an error the system forgets what it could not write: a later sync says nothing about it.
        if state.failed >= group { Err(HistoryError("the disk reports an error".to_owned())) } else { Ok(()) }
    }

    fn sync(&self, state: &mut SyncState) -> std::io::Result<()> {
        let written = self.written.load(Ordering::SeqCst);
        if state.synced.max(state.failed) >= written {
            return Ok(());
        }
        let synced = match &state.log {
            Some(log) => log.sync_data(),
            None => Err(std::io::Error::other("the history's log cannot be opened")),
        };
        match synced {
            Ok(()) => {
                state.synced = written;
                Ok(())
            }
            Err(error) => {
                state.failed = written;
                Err(error)
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, SyncState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_disk_could_not_write_is_never_said_to_be_on_it() {
        // What takes no sync is found here alone.
        if !bailiwick_platform::fs::modes::HAS_BITS {
            return;
        }
        let sync = LogSync::default();
        // Nothing can be synced to it.
        sync.exchange(Some(File::open("/dev/null").expect("it is there")));
        let (first, second) = (sync.note_written(), sync.note_written());
        sync.wait(first).expect_err("the disk says no");
        sync.wait(second).expect_err("the same sync was for both");
        let path = std::env::temp_dir().join(format!("bailiwick-log-{}", bailiwick_contract::id::new_id()));
        sync.exchange(Some(File::create(&path).expect("it is free")));
        sync.wait(second).expect_err("another log says nothing about it");
        let third = sync.note_written();
        sync.wait(third).expect("it is there");
        sync.wait(third).expect("it still is");
        std::fs::remove_file(path).expect("it is there");
    }
}
