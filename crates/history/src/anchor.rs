//! The anchor: the head of the chain, kept beside the store, so that a cut tail is found.
//!
//! It is written after the log was written back and synced, so it never names a row that a power loss
//! could take. It only ever moves forward.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use bailiwick_contract::{hex, id, time};
use bailiwick_platform::fs::replace_private_file;

use super::aside;
use super::database::{Database, StoreError};

pub const FILE_NAME: &str = "history.anchor";

/// The content of the file, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Anchor {
    /// The id of the store that it belongs to.
    pub store: String,
    /// The number of the row.
    pub seq: i64,
    /// Its hash, in hexadecimal.
    pub hash: String,
    /// When it was written, RFC 3339.
    pub at: String,
}

/// Reads the anchor of a folder; `None` where there is none that can be read.
///
/// # Errors
/// Those of the file system, except that the file does not exist.
pub fn read(folder: &Path) -> io::Result<Option<Anchor>> {
    match fs::read(folder.join(FILE_NAME)) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io::Error::new(error.kind(), format!("{FILE_NAME}: {error}"))),
    }
}

/// Compares a store that was just opened with the anchor, and says what the anchor knows better.
///
/// A contradicted anchor is renamed, so that the next one does not hide it.
///
/// # Errors
/// See [`StoreError`].
pub fn contradiction(database: &Database, folder: &Path) -> Result<Option<String>, StoreError> {
    let Some(anchor) = read(folder)? else { return Ok(None) };
    let said = if anchor.store != database.store_id()? {
        format!("the history that held rows up to {} is gone", anchor.seq)
    } else if database.head()?.0 < anchor.seq {
        format!("rows up to {} were in the history and are gone", anchor.seq)
    } else {
        match database.hash_of(anchor.seq)? {
            Some(hash) if hex(&hash) != anchor.hash => {
                format!("row {} of the history was another one", anchor.seq)
            }
            // What retention has removed cannot be compared.
            Some(_) | None => return Ok(None),
        }
    };
    aside::set_anchor_aside(folder, &id::new_id())?;
    Ok(Some(said))
}

/// How the log is written back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checkpoint {
    /// As far as nobody has to wait.
    Passive,
    /// Whole, and the log emptied: when the store is closed.
    Truncate,
}

/// Writes the log back into the store, syncs both, and moves the anchor to the head. Returns whether that was all of it.
///
/// # Errors
/// See [`StoreError`].
pub fn checkpoint(database: &Database, folder: &Path, how: Checkpoint) -> Result<bool, StoreError> {
    let (seq, hash) = database.head()?;
    let pragma = match how {
        Checkpoint::Passive => "PRAGMA wal_checkpoint(PASSIVE)",
        Checkpoint::Truncate => "PRAGMA wal_checkpoint(TRUNCATE)",
    };
    let numbers = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let (busy, pages, written): (i64, i64, i64) = database.connection.query_row(pragma, [], numbers)?;
    // A reader can hold back the rest; it comes with the next one.
    if busy != 0 || written < pages {
        return Ok(false);
    }
    let store = database.store_id()?;
    if let Some(old) = read(folder)?
        && old.store == store
        && old.seq >= seq
    {
        return Ok(true);
    }
    let anchor = Anchor { store, seq, hash: hex(&hash), at: time::rfc3339(time::now_ms()) };
    let content = serde_json::to_vec(&anchor).expect("an anchor has a JSON form");
    replace_private_file(&folder.join(FILE_NAME), &content)?;
    Ok(true)
}
