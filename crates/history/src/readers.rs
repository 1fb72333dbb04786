//! The reading connections of one handle: kept for the next question, stopped when it is cancelled.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::database::{StoreError, StoreFiles, open_reader};
use super::query::with_cancel;
use bailiwick_contract::Cancel;

/// How many connections are kept.
const KEPT: usize = 2;

/// Idle reading connections, each with the files that it reads.
#[derive(Debug)]
pub struct Readers {
    folder: PathBuf,
    idle: Mutex<Vec<(StoreFiles, Connection)>>,
}

impl Readers {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, idle: Mutex::default() }
    }

    /// Lets `work` read; gives `None` where there is no store yet.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn read<T>(
        &self,
        cancel: &Cancel,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        let Some(files) = StoreFiles::of(&self.folder) else { return Ok(None) };
        let kept = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            // A store that was set aside is not read any more, nor a log that was removed.
            idle.retain(|(of, _)| *of == files);
            idle.pop()
        };
        let mut connection = match kept {
            Some((_, connection)) => connection,
            None => open_reader(&self.folder)?,
        };
        let result = with_cancel(&mut connection, cancel, work)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push((files, connection));
        }
        Ok(Some(result))
    }
}
