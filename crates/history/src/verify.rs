//! Checking the chain: finds a row that was edited, removed, moved, and a tail that was cut.
//!
//! Anyone who can write the state folder can build another chain, with an anchor to it. What this finds is
//! every change by someone who did not: damage, a stray tool, an edit of the file alone. The head that
//! `bailiwick status` tells, kept elsewhere, finds the rest.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use schemars::JsonSchema;
use serde::Serialize;

use super::anchor::{self, Anchor};
use super::database::{FILE_NAME, StoreError, open_reader, store_id};
use super::retention::Removal;
use super::row::{GENESIS, Hash, Kind, NUMBERS, TEXTS, chain};
use super::store::HistoryReadError;
use bailiwick_contract::hex;

/// What a check of the whole history found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifyReport {
    /// Whether every row is as it was written.
    pub ok: bool,
    /// How many rows were checked.
    pub rows: u64,
    /// The number of the first row that is kept.
    pub first_seq: i64,
    /// The number of the newest row.
    pub last_seq: i64,
    /// The hash of the newest row, in hexadecimal: keep it elsewhere to find a cut tail later.
    pub head_hash: String,
    /// The rows up to this number were removed by retention; 0 if none were.
    pub removed_through: i64,
    /// The newest row that the anchor vouches for.
    pub anchor_seq: Option<i64>,
    /// The first thing that is wrong.
    pub problem: Option<Problem>,
    /// What the history says of itself: damaged stores that were set aside, and the like.
    pub notices: Vec<String>,
}

/// The first row that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Its number.
    pub seq: i64,
    /// What is wrong.
    pub what: String,
}

/// Checks the history of a folder from its first row to its last.
///
/// # Errors
/// When the store cannot be opened at all.
pub fn verify(folder: &Path) -> Result<VerifyReport, HistoryReadError> {
    let said = |error: &dyn std::fmt::Display| HistoryReadError(error.to_string());
    // Before the rows: those that come meanwhile are newer than the anchor.
    let anchor = anchor::read(folder).map_err(|error| said(&error))?;
    if !folder.join(FILE_NAME).exists() {
        let problem = anchor.map(|anchor| gone(&anchor));
        return Ok(VerifyReport { ok: problem.is_none(), problem, ..VerifyReport::default() });
    }
    let connection = open_reader(folder).map_err(|error| said(&error))?;
    let mut report =
        VerifyReport { anchor_seq: anchor.as_ref().map(|anchor| anchor.seq), ..VerifyReport::default() };
    report.problem = match walk(&connection, anchor.as_ref(), &mut report) {
        Ok(problem) => problem,
        Err(StoreError::Damaged) => {
            Some(Problem { seq: report.last_seq + 1, what: "the file is damaged here".to_owned() })
        }
        Err(error) => return Err(said(&error)),
    };
    report.ok = report.problem.is_none();
    Ok(report)
}

fn gone(anchor: &Anchor) -> Problem {
    Problem { seq: anchor.seq, what: format!("the store that held rows up to {} is gone", anchor.seq) }
}

fn walk(
    connection: &Connection,
    anchor: Option<&Anchor>,
    report: &mut VerifyReport,
) -> Result<Option<Problem>, StoreError> {
    // One transaction: rows that are written meanwhile are not seen.
    let _snapshot = connection.unchecked_transaction()?;
    let store: Option<String> = store_id(connection).optional()?;
    if let Some(anchor) = anchor
        && store.as_deref() != Some(anchor.store.as_str())
    {
        return Ok(Some(gone(anchor)));
    }
    let (mut before, mut expected) = (GENESIS, 1);
    if let Some((removed, end)) = last_removal(connection)? {
        (before, expected) = (end, removed.through + 1);
        report.removed_through = removed.through;
    }
    report.first_seq = expected;
    report.last_seq = expected - 1;
    report.head_hash = hex(&before);
    let mut rows = connection.prepare("SELECT * FROM events NOT INDEXED ORDER BY seq")?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get("seq")?;
        let problem = |what: &str| Ok(Some(Problem { seq: expected, what: what.to_owned() }));
        if seq != expected {
            return problem("the row is missing");
        }
        let Some((numbers, texts, hash)) = columns(row)? else {
            return problem("the row is not of the form it had");
        };
        if chain(&before, seq, &numbers, &texts) != hash {
            return problem("the row is not as it was written, or not where it was");
        }
        if let Some(anchor) = anchor
            && anchor.seq == seq
            && anchor.hash != hex(&hash)
        {
            return problem("the anchor knows another row of this number");
        }
        if numbers[0] == Kind::Notice as i64 {
            report.notices.extend(row.get::<_, Option<String>>("summary")?);
        }
        before = hash;
        expected += 1;
        report.rows += 1;
        report.last_seq = seq;
        report.head_hash = hex(&hash);
    }
    if let Some(anchor) = anchor
        && anchor.seq > report.last_seq
    {
        let what = format!("the rows from here to {} at least were cut off", anchor.seq);
        return Ok(Some(Problem { seq: expected, what }));
    }
    Ok(None)
}

type Columns<'r> = ([i64; NUMBERS.len()], [Option<&'r str>; TEXTS.len()], Hash);

/// Reads the columns of a row; `None` where one is not of its type.
fn columns<'r>(row: &'r Row<'_>) -> rusqlite::Result<Option<Columns<'r>>> {
    let mut numbers = [0; NUMBERS.len()];
    for (number, name) in numbers.iter_mut().zip(NUMBERS) {
        let ValueRef::Integer(value) = row.get_ref(name)? else { return Ok(None) };
        *number = value;
    }
    let mut texts = [None; TEXTS.len()];
    for (text, name) in texts.iter_mut().zip(TEXTS) {
        *text = match row.get_ref(name)? {
            ValueRef::Null => None,
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Some(text),
                Err(_) => return Ok(None),
            },
            ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => return Ok(None),
        };
    }
    let ValueRef::Blob(hash) = row.get_ref("hash")? else { return Ok(None) };
    Ok(Hash::try_from(hash).ok().map(|hash| (numbers, texts, hash)))
}

/// Returns what the newest retention row says, with the end hash in bytes.
fn last_removal(connection: &Connection) -> Result<Option<(Removal, Hash)>, StoreError> {
    let template: Option<Option<String>> = connection
        .query_row(
            "SELECT template FROM events NOT INDEXED WHERE kind = ?1 ORDER BY seq DESC LIMIT 1",
            [Kind::Retention as i64],
            |row| row.get(0),
        )
        .optional()?;
    let removed: Option<Removal> = template.flatten().and_then(|text| serde_json::from_str(&text).ok());
    Ok(removed.and_then(|removed| {
        let end = unhex(&removed.end_hash)?;
        Some((removed, end))
    }))
}

fn unhex(text: &str) -> Option<Hash> {
    let mut hash = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(hash)
}
