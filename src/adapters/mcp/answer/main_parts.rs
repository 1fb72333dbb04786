//! Answers that clients ask for most, without a tree of what is most of their text: the content of a file, the entries of a
//! folder.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::text::{line_of_entry, of_one, text};

/// How much of an outcome is before its data.
const HEAD_BYTES: usize = 512;

/// An answer in two parts, each as it is within a JSON string.
pub(in super::super) struct FileAnswer<'a> {
    /// The line about it, with its end.
    pub about: String,
    /// The content.
    pub content: &'a str,
}

#[derive(Deserialize)]
struct Outcome<'a> {
    ok: bool,
    op: &'a str,
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow, alias = "entries")]
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    closed: bool,
}

/// Writes the answer that the outcome of a `file.read` holds, as [`answer`] does. `None` for everything else, and where there
/// is no content.
pub(in super::super) fn read_file(outcome: &str) -> Option<FileAnswer<'_>> {
    let content = main_part(outcome, "file.read")?.strip_prefix('"')?.strip_suffix('"')?;
    if content.is_empty() {
        return None;
    }
    let about = Value::from(text(&without(outcome, content)?) + "\n").to_string();
    Some(FileAnswer { about: about[1..about.len() - 1].to_owned(), content })
}

/// Writes the answer that the text of an envelope holds, or the answers of several.
pub(in super::super) fn answer(outcome: &str) -> String {
    let listed = || {
        let entries = main_part(outcome, "file.list")?;
        let list: Vec<Entry<'_>> = serde_json::from_str(entries).ok()?;
        let lines = list.iter().map(|it| line_of_entry(&it.path, it.kind.as_deref(), it.closed)).collect();
        Some(of_one(&without(outcome, entries.strip_prefix('[')?.strip_suffix(']')?)?, Some(lines)))
    };
    listed().unwrap_or_else(|| text(&serde_json::from_str(outcome).expect("a reply is JSON text")))
}

/// Returns the JSON text of what is most of an operation's data, where that is the operation and it succeeded.
fn main_part<'a>(outcome: &'a str, op: &str) -> Option<&'a str> {
    let head = &outcome.as_bytes()[..outcome.len().min(HEAD_BYTES)];
    memchr::memmem::find(head, op.as_bytes())?;
    let read: Outcome<'a> = serde_json::from_str(outcome).ok()?;
    (read.ok && read.op == op).then(|| read.data.content.get())
}

/// Reads an outcome without a part of its text.
fn without(outcome: &str, part: &str) -> Option<Value> {
    let at = part.as_ptr().addr() - outcome.as_ptr().addr();
    serde_json::from_str(&[&outcome[..at], &outcome[at + part.len()..]].concat()).ok()
}
