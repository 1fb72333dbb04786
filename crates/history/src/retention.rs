//! Retention: the only thing that removes rows. Oldest first, in small batches, never a rewrite.
//!
//! Each batch leaves a row behind that holds the number and hash of the last removed row, so that
//! `verify` starts the chain there. Freed pages are used again; the file does not grow beyond its limit.

use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};

use bailiwick_contract::hex;
use bailiwick_platform::fs::RetentionClock;

use super::board::StoreState;
use super::database::{Database, StoreError};
use super::row::Hash;
use super::store::HistorySettings;
use super::writer::insert_rows;

/// How many rows one batch removes.
const BATCH: i64 = 512;
const MS_PER_DAY: i64 = 86_400_000;

/// What a retention row says of the rows that it stands for; stored as its template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Removal {
    /// The number of the last removed row.
    pub through: i64,
    /// Its hash, in hexadecimal.
    pub end_hash: String,
}

/// Removes one batch of rows if there are any to remove, and shows whether there may be more.
///
/// # Errors
/// See [`StoreError`]; nothing is removed then.
pub fn remove_batch(
    database: &Database,
    settings: &HistorySettings,
    board: &StoreState,
) -> Result<bool, StoreError> {
    let connection = &database.connection;
    // A jump of the computer's clock makes no row old, and no row is older than its store.
    let clock = RetentionClock::below(&settings.folder);
    let max_age_ms = i64::from(settings.max_age_days) * MS_PER_DAY;
    let is_young = begun_ms(database)?.is_some_and(|at| clock.steady_ms().saturating_sub(at) < max_age_ms);
    let oldest_ms = if is_young { i64::MIN } else { clock.now_ms() - max_age_ms };
    let too_large = used_bytes(database)? > u64::from(settings.max_megabytes) * 1_048_576;
    let first: Option<(i64, i64)> = connection
        .prepare_cached("SELECT seq, at_ms FROM events ORDER BY seq LIMIT 1")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((first, first_ms)) = first else { return Ok(false) };
    if !too_large && first_ms >= oldest_ms {
        return Ok(false);
    }
    let transaction = database.begin()?;
    // The newest row always stays: it is what the chain continues from.
    let (head, _) = database.head()?;
    let through: i64 = if too_large {
        (first + BATCH - 1).min(head - 1)
    } else {
        let kept: Option<i64> = connection
            .prepare_cached(
                "SELECT seq FROM events WHERE seq BETWEEN ?1 AND ?2 AND at_ms >= ?3 ORDER BY seq LIMIT 1",
            )?
            .query_row([first, first + BATCH - 1, oldest_ms], |row| row.get(0))
            .optional()?;
        kept.map_or(first + BATCH - 1, |kept| kept - 1).min(head - 1)
    };
    // For the size alone a few rows are not worth a batch, however small the limit.
    if through < first || (too_large && through - first + 1 < BATCH) {
        return Ok(false);
    }
    let end_hash: Hash =
        connection.query_row("SELECT hash FROM events WHERE seq = ?1", [through], |row| row.get(0))?;
    connection.execute("UPDATE gate SET through = ?1", [through])?;
    connection.execute("DELETE FROM events WHERE seq <= ?1", [through])?;
    connection.execute("UPDATE gate SET through = 0", [])?;
    let removed = Removal { through, end_hash: hex(&end_hash) };
    let row = board.redactor().retention(board.machine(), through - first + 1, &removed);
    let (seq, hash) = insert_rows(database, std::iter::once(&row))?;
    transaction.commit()?;
    board.set_head(seq, hash);
    // Only where a smaller limit was set are there many free pages; those go back to the disk.
    if too_large {
        connection.execute_batch("PRAGMA incremental_vacuum(64)")?;
    }
    Ok(true)
}

/// Returns when the store was made, by the steady time of the retention clock; `None` for one of an earlier version.
fn begun_ms(database: &Database) -> Result<Option<i64>, StoreError> {
    let mut ask = database.connection.prepare_cached("SELECT value FROM facts WHERE name = 'begun'")?;
    let value: Option<String> = ask.query_row([], |row| row.get(0)).optional()?;
    Ok(value.and_then(|value| value.parse().ok()))
}

/// Returns the bytes of the pages that hold rows.
fn used_bytes(database: &Database) -> Result<u64, StoreError> {
    let ask = |pragma: &str| -> rusqlite::Result<u64> {
        database
            .connection
            .prepare_cached(&format!("PRAGMA {pragma}"))?
            .query_row([], |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
    };
    Ok((ask("page_count")? - ask("freelist_count")?) * ask("page_size")?)
}
