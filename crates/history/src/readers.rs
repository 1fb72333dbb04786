//! The reading connections of one handle: kept for the next question, stopped when it is cancelled.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::database::{FILE_NAME, StoreError, open_reader};
use super::query::with_cancel;
use bailiwick_contract::Cancel;
use bailiwick_platform::fs::FileId;

/// How many connections are kept.
const KEPT: usize = 2;

/// Idle reading connections, each with the file that it reads.
#[derive(Debug)]
pub struct Readers {
    folder: PathBuf,
    idle: Mutex<Vec<(FileId, Connection)>>,
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
        let Some(file) = FileId::of(&self.folder.join(FILE_NAME)) else { return Ok(None) };
        let kept = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            // A store that was set aside is not read any more.
            idle.retain(|(of, _)| *of == file);
            idle.pop()
        };
        let mut connection = match kept {
            Some((_, connection)) => connection,
            None => open_reader(&self.folder)?,
        };
        let result = with_cancel(&mut connection, cancel, work)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < KEPT {
            idle.push((file, connection));
        }
        Ok(Some(result))
    }
}
