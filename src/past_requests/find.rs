//! Requests of the history: a page of them, and one by its id or by the end of it.

use serde_json::{Value, json};

use bailiwick_contract::{ErrorCode, Failure, id};
use bailiwick_history::{Entry, Filter, Page};

use super::undo_state::{KeptChanges, UndoState};
use crate::installation::home::Home;
use crate::installation::text::one_line;
use crate::text_layout::columns::cut;

/// How many operations are checked to count them, or to find one by the end of its id.
pub const COUNTED: usize = 20_000;
/// How many characters of an id are shown: its last ones, which are random.
const SHORT_ID: usize = 6;

/// Reads a page.
///
/// # Errors
/// `provider_unavailable` when the store cannot be read.
pub fn read(home: &Home, filter: &Filter) -> Result<Page, Failure> {
    bailiwick_history::query(&home.dirs.state, filter).map_err(|error| {
        Failure::new(ErrorCode::ProviderUnavailable, error.to_string())
            .hint("`bailiwick status` says how the history is.")
    })
}

/// Returns when a request began, in milliseconds since the epoch.
pub fn began_ms(entry: &Entry) -> i64 {
    id::began_ms(&entry.operation_id).unwrap_or(entry.at_ms)
}

/// Returns the part of an id by which a row is named.
pub fn short_id(id: &str) -> &str {
    id.len().checked_sub(SHORT_ID).and_then(|at| id.get(at..)).unwrap_or(id)
}

/// Returns whether an operation can be taken back.
pub fn undo_of(home: &Home, entry: &Entry) -> Option<UndoState> {
    KeptChanges::since(home, began_ms(entry)).ok()?.state(entry)
}

/// Finds an operation by its id, or by the short one of its row.
///
/// # Errors
/// `invalid_request` for what is no id; `not_found` for an id that the history does not know.
pub fn find_entry(home: &Home, scope: Option<&str>, wanted: &str) -> Result<Entry, Failure> {
    let wanted = wanted.to_ascii_uppercase();
    if wanted.len() == SHORT_ID && wanted.bytes().all(|it| it.is_ascii_alphanumeric()) {
        return by_short_id(home, scope, &wanted);
    }
    if !id::is_id(&wanted) {
        return Err(Failure::invalid(
            "id",
            format!("`{}` is not the id of an operation", cut(&one_line(&wanted), 40)),
        )
        .hint("`bailiwick log` shows the ids, of 6 letters and digits; whole ones have 26."));
    }
    // Pages continue below a cursor; this one is the next text above the id.
    let filter = Filter {
        limit: 1,
        cursor: Some(format!("{wanted}0")),
        scope: scope.map(str::to_owned),
        ..Filter::default()
    };
    let entry = read(home, &filter)?.entries.into_iter().next();
    entry.filter(|entry| entry.operation_id == wanted).ok_or_else(|| unknown_id(&wanted))
}

fn unknown_id(wanted: &str) -> Failure {
    Failure::new(ErrorCode::NotFound, format!("the history has no operation `{wanted}`"))
        .hint("It may have been removed by age; `bailiwick log` shows the newest.")
}

/// Finds the operation whose id ends so, among the newest.
fn by_short_id(home: &Home, scope: Option<&str>, wanted: &str) -> Result<Entry, Failure> {
    let mut filter = Filter { scope: scope.map(str::to_owned), limit: 1_000, ..Filter::default() };
    let mut found: Vec<Entry> = Vec::new();
    let mut seen = 0;
    loop {
        let page = read(home, &filter)?;
        seen += page.entries.len();
        found.extend(page.entries.into_iter().filter(|entry| short_id(&entry.operation_id) == wanted));
        if page.next.is_none() || seen >= COUNTED {
            break;
        }
        filter.cursor = page.next;
    }
    let ids = found.iter().map(|entry| entry.operation_id.clone()).collect::<Vec<_>>().join(", ");
    let first = found.pop().ok_or_else(|| unknown_id(wanted))?;
    if found.is_empty() {
        return Ok(first);
    }
    Err(Failure::new(ErrorCode::Conflict, format!("several operations end in `{wanted}`"))
        .hint(format!("Use a whole id: {ids}.")))
}

/// Creates an envelope out of what was kept, and names the fields that were not.
pub fn template(entry: &Entry) -> (Value, Vec<String>) {
    let kept: Value =
        entry.template.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
    let mut envelope = json!({"op": entry.op});
    if !entry.scope.is_empty() {
        envelope["scope"] = json!(entry.scope);
    }
    if let Some(target) = &entry.target {
        envelope["target"] = json!(target);
    }
    for part in ["input", "options"] {
        if kept[part].is_object() {
            envelope[part] = kept[part].clone();
        }
    }
    let left_out =
        kept["leftOut"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    (envelope, left_out.collect())
}
