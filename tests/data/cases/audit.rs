//! Rows of the history, as an `audit` block shows them.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

use super::mask::SeenValues;

/// The columns, by the key that a block uses.
const COLUMNS: &[(&str, &str)] = &[
    ("id", "id"),
    ("kind", "kind"),
    ("at", "at_ms"),
    ("durationUs", "duration_us"),
    ("bytes", "bytes"),
    ("hasEffect", "has_effect"),
    ("machine", "machine"),
    ("caller", "caller"),
    ("client", "client"),
    ("session", "session"),
    ("transport", "transport"),
    ("scope", "scope"),
    ("op", "op"),
    ("target", "target"),
    ("capability", "capability"),
    ("stage", "stage"),
    ("rule", "rule"),
    ("code", "code"),
    ("summary", "summary"),
    ("error", "error"),
    ("template", "template"),
];

/// What a block shows that has not said which keys it wants.
const DEFAULT_KEYS: &[&str] = &["kind", "op", "target", "capability", "stage", "rule", "code", "summary"];

/// Returns the block's text as it should be: the newest rows, each with the keys that the block's own
/// objects have; all rows with the usual keys for an empty block.
///
/// # Errors
/// A sentence about the block or the store.
pub fn audit(state: &Path, block: &str, seen: &SeenValues) -> Result<String, String> {
    let rows = rows(state).map_err(|error| format!("the history cannot be read: {error}"))?;
    let wanted: Vec<Map<String, Value>> = if block.trim().is_empty() {
        rows.iter().map(usual).collect()
    } else {
        serde_json::from_str(block)
            .map_err(|error| format!("an audit block is an array of objects: {error}"))?
    };
    let newest = &rows[rows.len().saturating_sub(wanted.len())..];
    let mut shown = Vec::new();
    for (row, wanted) in newest.iter().zip(&wanted) {
        let mut shorter = Map::new();
        for key in wanted.keys() {
            let value = row.get(key).ok_or_else(|| format!("a row has no field `{key}`"))?;
            shorter.insert(key.clone(), value.clone());
        }
        let mut value = Value::Object(shorter);
        seen.mask(&mut value);
        shown.push(value);
    }
    Ok(format(&shown))
}

/// Brings a block's text to the form that [`audit`] gives.
///
/// # Errors
/// When it is not JSON.
pub fn normal(block: &str) -> Result<String, String> {
    let rows: Vec<Value> = serde_json::from_str(block).map_err(|error| error.to_string())?;
    Ok(format(&rows))
}

fn format(rows: &[Value]) -> String {
    let lines: Vec<String> = rows.iter().map(|row| format!("  {row}")).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

fn usual(row: &Map<String, Value>) -> Map<String, Value> {
    let keys = DEFAULT_KEYS.iter().filter(|key| row.get(**key).is_some_and(|value| !value.is_null()));
    keys.map(|key| ((*key).to_owned(), Value::Null)).collect()
}

/// Reads every row, oldest first.
fn rows(state: &Path) -> rusqlite::Result<Vec<Map<String, Value>>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let store = Connection::open_with_flags(state.join("history.db"), flags)?;
    let columns: Vec<&str> = COLUMNS.iter().map(|(_, column)| *column).collect();
    let mut query = store.prepare(&format!("SELECT {} FROM events ORDER BY seq", columns.join(", ")))?;
    let mut rows = query.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut object = Map::new();
        for (at, (key, _)) in COLUMNS.iter().enumerate() {
            let value = match row.get_ref(at)? {
                ValueRef::Integer(number) => json!(number),
                ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
                _ => Value::Null,
            };
            object.insert((*key).to_owned(), readable(key, value));
        }
        found.push(object);
    }
    Ok(found)
}

/// Returns a stored value the form that a reader of the case wants.
fn readable(key: &str, value: Value) -> Value {
    match (key, &value) {
        ("id", _) => json!("<id>"),
        ("at", _) => json!("<time>"),
        ("durationUs", _) => json!("<us>"),
        ("hasEffect", Value::Number(number)) => json!(number.as_i64() != Some(0)),
        ("kind", Value::Number(number)) => match number.as_i64() {
            Some(1) => json!("received"),
            Some(2) => json!("finished"),
            Some(3) => json!("retention"),
            Some(4) => json!("notice"),
            _ => value,
        },
        ("template", Value::String(text)) => serde_json::from_str(text).unwrap_or(value),
        _ => value,
    }
}
