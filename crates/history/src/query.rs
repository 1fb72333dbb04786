//! Reading the history: one entry for each operation, newest first, a page at a time.
//!
//! Pages continue by key (the operation's id, which sorts by time), never by counting, so that a page costs
//! the same at the end of a million rows. A filter that finds little stops after a bounded number of rows
//! and says where to continue. Readers have connections of their own and never wait for the writer.

use std::path::Path;

use rusqlite::{Connection, Row, params};

use super::database::{StoreError, open_reader};
use super::row::Kind;
use super::store::HistoryReadError;
use bailiwick_contract::{Cancel, hex};

/// How many rows one page looks at.
const MAX_ROWS: usize = 20_000;
/// How many entries one page holds.
const MAX_ENTRIES: usize = 1_000;
/// How many virtual instructions pass between two looks at the cancellation.
const INSTRUCTIONS: i32 = 10_000;
/// How far the time within an id may stand from the row's own.
const ID_SLACK_MS: i64 = 1_000;

/// The columns of a row, where the table has them: looking them up by name takes longer than reading them.
mod column {
    pub const SEQ: usize = 0;
    pub const ID: usize = 1;
    pub const KIND: usize = 2;
    pub const AT_MS: usize = 3;
    pub const DURATION_US: usize = 4;
    pub const BYTES: usize = 5;
    pub const HAS_EFFECT: usize = 6;
    pub const MACHINE: usize = 7;
    pub const CALLER: usize = 8;
    pub const CLIENT: usize = 9;
    pub const SESSION: usize = 10;
    pub const TRANSPORT: usize = 11;
    pub const SCOPE: usize = 12;
    pub const OP: usize = 13;
    pub const TARGET: usize = 14;
    pub const CAPABILITY: usize = 15;
    pub const STAGE: usize = 16;
    pub const RULE: usize = 17;
    pub const CODE: usize = 18;
    pub const SUMMARY: usize = 19;
    pub const ERROR: usize = 20;
    pub const TEMPLATE: usize = 21;
    pub const HASH: usize = 22;

    /// Their names, for a test.
    #[cfg(test)]
    pub const NAMES: [&str; 23] = [
        "seq",
        "id",
        "kind",
        "at_ms",
        "duration_us",
        "bytes",
        "has_effect",
        "machine",
        "caller",
        "client",
        "session",
        "transport",
        "scope",
        "op",
        "target",
        "capability",
        "stage",
        "rule",
        "code",
        "summary",
        "error",
        "template",
        "hash",
    ];
}

/// Which operations are asked for. Everything that is given must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only of this scope; `None` shows every scope, and what belongs to none.
    pub scope: Option<String>,
    /// Only this operation name, or family (`file.`).
    pub op: Option<String>,
    /// Only those with this text in op, target, summary, error, caller or client; case does not matter.
    pub text: Option<String>,
    /// Only those that succeeded, or only those that failed.
    pub ok: Option<bool>,
    /// Only those that failed with this code.
    pub code: Option<String>,
    /// Only those of this caller.
    pub caller: Option<String>,
    /// Only those of this client, by what it called itself or by its token; the beginning of the name is enough.
    pub client: Option<String>,
    /// Only those of this session.
    pub session: Option<String>,
    /// Only those that began at this time or later, in milliseconds since the epoch.
    pub since_ms: Option<i64>,
    /// Only those that began at this time or earlier.
    pub until_ms: Option<i64>,
    /// Where to continue: the `next` of an earlier page.
    pub cursor: Option<String>,
    /// How many at most; 0 stands for 50.
    pub limit: usize,
}

/// How far an operation got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It ended, and was answered.
    Finished,
    /// It was about to have an effect, and its end is not recorded: it runs, or was cut off.
    Unfinished,
    /// The history tells of itself.
    Notice,
}

/// One operation as the history knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The number of the row in the chain.
    pub seq: i64,
    /// The operation's id.
    pub operation_id: String,
    /// How far it got.
    pub state: State,
    /// When it began, in milliseconds since the epoch.
    pub at_ms: i64,
    /// How long it took, in microseconds.
    pub duration_us: i64,
    /// The size of the answer's data, in bytes.
    pub bytes: i64,
    /// Whether it could have an effect.
    pub has_effect: bool,
    /// The computer's id.
    pub machine: String,
    /// The caller's name.
    pub caller: String,
    /// What the client called itself.
    pub client: Option<String>,
    /// The connection that it came by.
    pub session: Option<String>,
    /// The transport's name.
    pub transport: String,
    /// The scope; empty where there was none.
    pub scope: String,
    /// The operation's name.
    pub op: String,
    /// The target, redacted.
    pub target: Option<String>,
    /// The capability by which it was permitted.
    pub capability: Option<String>,
    /// The policy stage that refused.
    pub stage: Option<String>,
    /// The rule that refused.
    pub rule: Option<String>,
    /// The error code; `None` if it succeeded or did not end.
    pub code: Option<String>,
    /// The result in a few words.
    pub summary: Option<String>,
    /// The error's message, redacted.
    pub error: Option<String>,
    /// Of the envelope: `input`, `options`, and `leftOut` for what was not kept; as JSON text.
    pub template: Option<String>,
    /// The row's hash, in hexadecimal.
    pub hash: String,
}

/// A part of the answer.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// The operations, newest first.
    pub entries: Vec<Entry>,
    /// Where to continue; `None` at the end.
    pub next: Option<String>,
}

/// Reads a page of the history in a folder, of all scopes unless the filter names one. For the user.
///
/// # Errors
/// When the store cannot be read. Without a store the page is empty.
pub fn query(folder: &Path, filter: &Filter) -> Result<Page, HistoryReadError> {
    if !folder.join(super::database::FILE_NAME).exists() {
        return Ok(Page::default());
    }
    let read = || page(&open_reader(folder)?, filter);
    read().map_err(|error| HistoryReadError(error.to_string()))
}

/// Lets `work` use a connection that stops when `cancel` is raised.
pub fn with_cancel<T>(
    connection: &mut Connection,
    cancel: &Cancel,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let flag = cancel.clone();
    connection.progress_handler(INSTRUCTIONS, Some(move || flag.is_raised()))?;
    let result = work(connection);
    connection.progress_handler(0, None::<fn() -> bool>)?;
    result
}

/// Reads a page.
///
/// # Errors
/// See [`StoreError`].
pub fn page(connection: &Connection, filter: &Filter) -> Result<Page, StoreError> {
    if !has_schema(connection)? {
        return Ok(Page::default());
    }
    let limit = if filter.limit == 0 { 50 } else { filter.limit.min(MAX_ENTRIES) };
    let scopes = match &filter.scope {
        Some(scope) => vec![scope.clone()],
        None => scopes(connection)?,
    };
    let mut entries = Vec::new();
    let mut floor: Option<String> = None;
    for scope in &scopes {
        let (found, stopped_at) = page_of_scope(connection, scope, filter, limit)?;
        entries.extend(found);
        // Below the highest stop, entries of that scope are not known yet.
        floor = floor.max(stopped_at);
    }
    if scopes.len() > 1 {
        entries.sort_by(|one, other| other.operation_id.cmp(&one.operation_id));
        if let Some(floor) = &floor {
            entries.retain(|entry| entry.operation_id >= *floor);
        }
    }
    let next = if entries.len() > limit {
        entries.truncate(limit);
        entries.last().map(|entry| entry.operation_id.clone())
    } else {
        floor
    };
    Ok(Page { entries, next })
}

/// Reads the rows of one operation, oldest first.
///
/// # Errors
/// See [`StoreError`].
pub fn rows_of(connection: &Connection, scope: &str, id: &str) -> Result<Vec<Entry>, StoreError> {
    if !has_schema(connection)? {
        return Ok(Vec::new());
    }
    let mut rows =
        connection.prepare_cached("SELECT * FROM events WHERE scope = ?1 AND id = ?2 ORDER BY kind, seq")?;
    let entries = rows.query_map(params![scope, id], entry)?.collect::<rusqlite::Result<_>>()?;
    Ok(entries)
}

/// Returns the scopes that have rows, by leaping from one to the next.
fn scopes(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut leaps = connection.prepare_cached(
        "WITH RECURSIVE leap (scope) AS (
            SELECT min(scope) FROM events
            UNION ALL
            SELECT (SELECT min(scope) FROM events WHERE scope > leap.scope) FROM leap WHERE leap.scope IS NOT NULL
        ) SELECT scope FROM leap WHERE scope IS NOT NULL",
    )?;
    let scopes = leaps.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(scopes)
}

/// Reads the entries of one scope, and where it stopped before the end.
fn page_of_scope(
    connection: &Connection,
    scope: &str,
    filter: &Filter,
    limit: usize,
) -> Result<(Vec<Entry>, Option<String>), StoreError> {
    let only_failed = filter.code.is_some() || filter.ok == Some(false);
    let (index, condition) = if only_failed {
        ("events_failed", "AND code IS NOT NULL AND kind = 2")
    } else {
        ("events_by_scope", "")
    };
    let mut rows = connection.prepare_cached(&format!(
        "SELECT * FROM events INDEXED BY {index}
         WHERE scope = ?1 AND id < ?2 AND id >= ?3 {condition} ORDER BY id DESC, kind DESC"
    ))?;
    let below = filter.until_ms.map_or_else(|| "~".to_owned(), |ms| first_id(ms.saturating_add(ID_SLACK_MS)));
    let below = filter.cursor.clone().map_or_else(|| below.clone(), |cursor| cursor.min(below.clone()));
    let from = filter.since_ms.map_or_else(String::new, |ms| first_id(ms.saturating_sub(ID_SLACK_MS)));
    let needle = filter.text.as_deref().map(str::to_lowercase);
    let mut rows = rows.query(params![scope, below, from])?;
    let mut entries: Vec<Entry> = Vec::new();
    let mut seen = 0;
    let mut last_id = String::new();
    while let Some(row) = rows.next()? {
        let id = row.get_ref(column::ID)?.as_str().map_err(rusqlite::Error::from)?;
        // Of the rows of one operation the last moment comes first.
        if id == last_id {
            continue;
        }
        if seen == MAX_ROWS || entries.len() > limit {
            return Ok((entries, Some(last_id)));
        }
        seen += 1;
        last_id.clear();
        last_id.push_str(id);
        if holds(row, filter, needle.as_deref())? {
            entries.push(entry(row)?);
        }
    }
    Ok((entries, None))
}

/// Returns the least id of a millisecond.
fn first_id(ms: i64) -> String {
    ulid::Ulid::from_parts(ms.max(0).unsigned_abs(), 0).to_string()
}

/// Returns whether a row is asked for.
pub(super) fn holds(row: &Row<'_>, filter: &Filter, needle: Option<&str>) -> rusqlite::Result<bool> {
    let text = |column: usize| -> rusqlite::Result<&str> {
        Ok(row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)?.unwrap_or_default())
    };
    let is = |column: usize, wanted: &Option<String>| -> rusqlite::Result<bool> {
        wanted.as_deref().map_or(Ok(true), |wanted| Ok(text(column)? == wanted))
    };
    let kind: i64 = row.get(column::KIND)?;
    if let Some(ok) = filter.ok
        && (kind != Kind::Finished as i64 || text(column::CODE)?.is_empty() != ok)
    {
        return Ok(false);
    }
    let at_ms: i64 = row.get(column::AT_MS)?;
    if filter.since_ms.is_some_and(|since| at_ms < since)
        || filter.until_ms.is_some_and(|until| at_ms > until)
    {
        return Ok(false);
    }
    let op_holds = match filter.op.as_deref() {
        Some(family) if family.ends_with('.') => text(column::OP)?.starts_with(family),
        _ => is(column::OP, &filter.op)?,
    };
    if !op_holds
        || !is(column::CODE, &filter.code)?
        || !is(column::CALLER, &filter.caller)?
        || !is(column::SESSION, &filter.session)?
    {
        return Ok(false);
    }
    if let Some(wanted) = filter.client.as_deref() {
        let begins = |column: usize| -> rusqlite::Result<bool> {
            let name = text(column)?;
            Ok(name.get(..wanted.len()).is_some_and(|front| front.eq_ignore_ascii_case(wanted)))
        };
        if !begins(column::CLIENT)? && !begins(column::CALLER)? {
            return Ok(false);
        }
    }
    let Some(needle) = needle else { return Ok(true) };
    let searched =
        [column::OP, column::TARGET, column::SUMMARY, column::ERROR, column::CALLER, column::CLIENT];
    for column in searched {
        if contains(text(column)?, needle) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a text contains another, which is in lower case, whatever the case of letters.
fn contains(text: &str, needle: &str) -> bool {
    if text.is_ascii() && needle.is_ascii() {
        let (text, needle) = (text.as_bytes(), needle.as_bytes());
        return needle.is_empty() || text.windows(needle.len()).any(|part| part.eq_ignore_ascii_case(needle));
    }
    text.to_lowercase().contains(needle)
}

/// Returns whether the store was set up already.
///
/// # Errors
/// See [`StoreError`].
pub fn has_schema(connection: &Connection) -> Result<bool, StoreError> {
    let version: i64 = connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))?;
    Ok(version > 0)
}

/// Reads a row.
///
/// # Errors
/// Those of SQLite.
pub fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let kind: i64 = row.get(column::KIND)?;
    let text = |column: usize| -> rusqlite::Result<String> {
        Ok(row.get::<_, Option<String>>(column)?.unwrap_or_default())
    };
    Ok(Entry {
        seq: row.get(column::SEQ)?,
        operation_id: row.get(column::ID)?,
        state: match kind {
            kind if kind == Kind::Received as i64 => State::Unfinished,
            kind if kind == Kind::Finished as i64 => State::Finished,
            _ => State::Notice,
        },
        at_ms: row.get(column::AT_MS)?,
        duration_us: row.get(column::DURATION_US)?,
        bytes: row.get(column::BYTES)?,
        has_effect: row.get(column::HAS_EFFECT)?,
        machine: text(column::MACHINE)?,
        caller: text(column::CALLER)?,
        client: row.get(column::CLIENT)?,
        session: row.get(column::SESSION)?,
        transport: text(column::TRANSPORT)?,
        scope: text(column::SCOPE)?,
        op: text(column::OP)?,
        target: row.get(column::TARGET)?,
        capability: row.get(column::CAPABILITY)?,
        stage: row.get(column::STAGE)?,
        rule: row.get(column::RULE)?,
        code: row.get(column::CODE)?,
        summary: row.get(column::SUMMARY)?,
        error: row.get(column::ERROR)?,
        template: row.get(column::TEMPLATE)?,
        hash: hex(&row.get::<_, Vec<u8>>(column::HASH)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_the_table_are_where_they_are_read() {
        let connection = Connection::open_in_memory().expect("a store");
        connection.execute_batch(include_str!("migrations/0001_events.sql")).expect("the table");
        let rows = connection.prepare("SELECT * FROM events").expect("a statement");
        assert_eq!(rows.column_names().collect::<Vec<_>>(), column::NAMES);
        assert_eq!(column::NAMES[column::HASH], "hash");
    }
}
