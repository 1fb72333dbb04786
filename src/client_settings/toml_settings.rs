//! Settings in TOML. A new entry is text at the end of the file; all other edits go through the document, which
//! keeps what it does not touch.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, RawString, TableLike};

use super::entry::Entry;
use super::settings::{FirstEdit, Problem};

/// Reads the text as a value.
pub fn value(text: &str) -> Result<Value, Problem> {
    parse(text)?;
    toml::from_str(text).map_err(|error| Problem::Shape(error.message().to_owned()))
}

/// Puts an entry in, or makes the one that is there right.
pub fn put(text: &str, container: &str, name: &str, entry: &Entry) -> Result<String, Problem> {
    let mut document = parse(text)?;
    match document.get_mut(container) {
        Some(Item::Table(servers)) if servers.is_dotted() => {
            // `mcp_servers.other.command = "…"`: no header may add to it any more.
            match servers.get_mut(name) {
                Some(there) => update(there, name, entry)?,
                None => drop(servers.insert(name, Item::Value(inline(entry).into()))),
            }
        }
        None => return Ok(append(text, container, name, entry)),
        Some(Item::Table(servers)) => match servers.get_mut(name) {
            Some(there) => update(there, name, entry)?,
            None => return Ok(append(text, container, name, entry)),
        },
        Some(servers) => {
            let servers = servers
                .as_table_like_mut()
                .ok_or_else(|| Problem::Shape(format!("`{container}` is no table")))?;
            match servers.get_mut(name) {
                Some(there) => update(there, name, entry)?,
                None => drop(servers.insert(name, Item::Value(inline(entry).into()))),
            }
        }
    }
    Ok(document.to_string())
}

/// Takes an entry out.
pub fn take_out(text: &str, container: &str, name: &str, made: &FirstEdit) -> Result<String, Problem> {
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut(container).and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    let Some(gone) = servers.remove(name) else { return Ok(text.to_owned()) };
    let is_empty = servers.is_empty();
    if is_empty && made.container {
        document.remove(container);
    }
    // What the user wrote above the entry's header is kept, where the file now continues.
    let above =
        gone.as_table().and_then(|it| it.decor().prefix()).and_then(RawString::as_str).unwrap_or_default();
    if above.contains('#') {
        let after = document.trailing().as_str().unwrap_or_default().to_owned();
        document.set_trailing(format!("{above}{after}"));
    }
    Ok(document.to_string())
}

/// Returns the comments, sorted: an edit may move one, and must lose none.
pub fn comments(text: &str) -> Vec<String> {
    let mut found: Vec<String> =
        text.lines().filter_map(|line| line.trim().strip_prefix('#')).map(str::to_owned).collect();
    found.sort();
    found
}

/// The text of an entry as a table of its own.
pub fn table(container: &str, name: &str, entry: &Entry) -> String {
    let mut text = format!("[{container}.{name}]\n");
    for (field, value) in &entry.fields {
        text.push_str(&format!("{field} = {}\n", item(value)));
    }
    text
}

fn append(text: &str, container: &str, name: &str, entry: &Entry) -> String {
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{}", table(container, name, entry))
}

fn update(there: &mut Item, name: &str, entry: &Entry) -> Result<(), Problem> {
    let fields = there.as_table_like_mut().ok_or_else(|| Problem::Shape(format!("`{name}` is no table")))?;
    for name in entry.superfluous(&plain(fields)) {
        fields.remove(&name);
    }
    for (field, wanted) in &entry.fields {
        set(fields, field, wanted);
    }
    Ok(())
}

fn set(fields: &mut dyn TableLike, name: &str, wanted: &Value) {
    let Some(there) = fields.get_mut(name) else {
        fields.insert(name, Item::Value(item(wanted)));
        return;
    };
    if let (true, Value::Object(wanted)) = (there.is_table_like(), wanted) {
        if let Some(inner) = there.as_table_like_mut() {
            wanted.iter().for_each(|(name, wanted)| set(inner, name, wanted));
        }
    } else if as_json(there) != *wanted {
        // What is around the value stays, such as a comment behind it.
        let decor = there.as_value().map(|it| it.decor().clone());
        let mut value = item(wanted);
        if let Some(decor) = decor {
            *value.decor_mut() = decor;
        }
        *there = Item::Value(value);
    }
}

/// Returns the fields whose names matter, as JSON.
fn plain(fields: &dyn TableLike) -> Value {
    fields.iter().map(|(name, it)| (name.to_owned(), as_json(it))).collect()
}

fn as_json(there: &Item) -> Value {
    match there {
        Item::Value(toml_edit::Value::String(it)) => Value::from(it.value().as_str()),
        Item::Value(toml_edit::Value::Array(items)) => {
            items.iter().map(|it| it.as_str().map_or(Value::Null, Value::from)).collect()
        }
        _ => Value::Null,
    }
}

fn inline(entry: &Entry) -> InlineTable {
    entry.fields.iter().map(|(name, value)| (*name, item(value))).collect()
}

fn item(value: &Value) -> toml_edit::Value {
    match value {
        Value::Array(items) => items.iter().map(item).collect::<Array>().into(),
        Value::Object(fields) => {
            fields.iter().map(|(name, it)| (name.as_str(), item(it))).collect::<InlineTable>().into()
        }
        Value::Bool(it) => (*it).into(),
        Value::Null | Value::Number(_) => unreachable!("entries hold texts, lists, and tables of texts"),
        Value::String(it) => it.as_str().into(),
    }
}

fn parse(text: &str) -> Result<DocumentMut, Problem> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..at).unwrap_or_default();
        Problem::Syntax {
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
            message: error.message().trim().replace('\n', ", "),
        }
    })
}
