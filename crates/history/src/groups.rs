//! Operations counted by session or by connection, over a bounded number of the newest rows.

use std::collections::HashMap;

use rusqlite::{Connection, params};

use super::database::StoreError;
use super::row::Kind;

/// How many rows are checked for one answer.
const MAX_ROWS: usize = 20_000;

/// By what operations are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// By session, caller, client and transport.
    Session,
    /// By caller, client and transport.
    Connection,
}

/// Operations that came the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The session; `None` where none was named, and when sessions are not told apart.
    pub session: Option<String>,
    /// The caller's name.
    pub caller: String,
    /// What the client called itself.
    pub client: Option<String>,
    /// The transport's name.
    pub transport: String,
    /// When the first operation began, in milliseconds since the epoch.
    pub first_ms: i64,
    /// When the last one began.
    pub last_ms: i64,
    /// How many there were.
    pub operations: u64,
    /// How many of them failed.
    pub failed: u64,
    /// How many of them have no recorded end.
    pub unfinished: u64,
}

/// The groups of a scope.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    /// The groups, the latest first.
    pub groups: Vec<Group>,
    /// Where the next answer continues, if there were more rows than one answer looks at.
    pub next: Option<String>,
}

/// Counts the operations of a scope, from `cursor` backwards.
///
/// # Errors
/// See [`StoreError`].
pub fn groups(
    connection: &Connection,
    scope: &str,
    by: GroupBy,
    cursor: Option<&str>,
) -> Result<Groups, StoreError> {
    type CallRoute = (Option<String>, String, Option<String>, String);
    let mut rows = connection.prepare_cached(
        "SELECT id, kind, at_ms, session, caller, client, transport, code FROM events INDEXED BY events_by_scope
         WHERE scope = ?1 AND id < ?2 ORDER BY id DESC, kind DESC",
    )?;
    let mut rows = rows.query(params![scope, cursor.unwrap_or("~")])?;
    let mut found: HashMap<CallRoute, Group> = HashMap::new();
    let (mut seen, mut next, mut last_id) = (0, None, String::new());
    while let Some(row) = rows.next()? {
        let id = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if id == last_id {
            continue;
        }
        if seen == MAX_ROWS {
            next = Some(last_id);
            break;
        }
        seen += 1;
        last_id.clear();
        last_id.push_str(id);
        let (kind, at_ms): (i64, i64) = (row.get(1)?, row.get(2)?);
        let session = if by == GroupBy::Session { row.get(3)? } else { None };
        let text = |at: usize| -> rusqlite::Result<String> {
            Ok(row.get::<_, Option<String>>(at)?.unwrap_or_default())
        };
        let way: CallRoute = (session, text(4)?, row.get(5)?, text(6)?);
        let group = found.entry(way).or_insert_with_key(|(session, caller, client, transport)| Group {
            session: session.clone(),
            caller: caller.clone(),
            client: client.clone(),
            transport: transport.clone(),
            first_ms: at_ms,
            last_ms: at_ms,
            operations: 0,
            failed: 0,
            unfinished: 0,
        });
        group.first_ms = group.first_ms.min(at_ms);
        group.last_ms = group.last_ms.max(at_ms);
        group.operations += 1;
        group.failed += u64::from(row.get_ref(7)?.as_str_or_null().map_err(rusqlite::Error::from)?.is_some());
        group.unfinished += u64::from(kind == Kind::Received as i64);
    }
    let mut groups: Vec<Group> = found.into_values().collect();
    groups.sort_by(|one, other| {
        (other.last_ms, &one.session, &one.caller, &one.client, &one.transport).cmp(&(
            one.last_ms,
            &other.session,
            &other.caller,
            &other.client,
            &other.transport,
        ))
    });
    Ok(Groups { groups, next })
}
