//! Any result by its fields, and texts on one line.

use std::fmt::Write;

use serde_json::{Map, Value};

/// The fields that nobody needs for the next call.
pub(super) const SELDOM: &[&str] =
    &["sandbox", "durationMs", "elapsedMs", "engine", "startedAt", "lifetime", "maxRunSeconds"];
/// How long a list of words is on one line.
const MAX_LINE: usize = 100;

pub(super) fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Fields by line, what is nested indented; what has several lines is indented too, so that it can be no field.
pub(super) fn fields(text: &mut String, map: &Map<String, Value>, depth: usize) {
    let indent = "  ".repeat(depth);
    for (name, value) in map {
        let name = one_line(name);
        match value {
            Value::Null => {}
            Value::String(long) if long.trim_end_matches('\n').contains('\n') => {
                let _ = writeln!(text, "{indent}{name}:");
                for line in long.lines() {
                    let _ = writeln!(text, "{indent}  {}", one_line(line));
                }
            }
            Value::Object(inner) if SELDOM.contains(&name.as_str()) || inner.is_empty() => {}
            Value::Object(inner) => {
                let _ = writeln!(text, "{indent}{name}:");
                fields(text, inner, depth + 1);
            }
            Value::Array(items) if items.is_empty() => {
                let _ = writeln!(text, "{indent}{name}: none");
            }
            Value::Array(items) => list(text, &name, items, depth),
            plain => {
                let _ = writeln!(text, "{indent}{name}: {}", scalar(plain));
            }
        }
    }
}

pub(super) fn list(text: &mut String, name: &str, items: &[Value], depth: usize) {
    let indent = "  ".repeat(depth);
    let is_plain = |it: &Value| !it.is_object() && !it.is_array();
    if items.iter().all(is_plain) {
        let joined = items.iter().map(scalar).collect::<Vec<_>>().join(", ");
        if joined.chars().count() <= MAX_LINE {
            let _ = writeln!(text, "{indent}{name}: {joined}");
            return;
        }
    }
    let _ = writeln!(text, "{indent}{name}:");
    for item in items {
        match item {
            Value::Object(map) => {
                let mut inner = String::new();
                let is_flat =
                    map.values().all(|it| is_plain(it) && !it.as_str().is_some_and(|it| it.contains('\n')));
                if is_flat {
                    let parts = map.iter().filter(|(_, it)| !it.is_null());
                    inner = parts
                        .map(|(name, it)| format!("{name}: {}", scalar(it)))
                        .collect::<Vec<_>>()
                        .join(", ");
                } else {
                    fields(&mut inner, map, 0);
                }
                for (at, line) in inner.lines().enumerate() {
                    let mark = if at == 0 { "- " } else { "  " };
                    let _ = writeln!(text, "{indent}{mark}{line}");
                }
            }
            Value::Array(_) => {
                let _ = writeln!(text, "{indent}- {item}");
            }
            plain => {
                let _ = writeln!(text, "{indent}- {}", scalar(plain));
            }
        }
    }
}

pub(super) fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text.trim_end_matches('\n')),
        other => other.to_string(),
    }
}

/// A text on one line: what would begin another one is shown as an escape.
pub(super) fn one_line(text: &str) -> String {
    // Most texts have no byte of any such character: 0xC2 begins those beyond ASCII.
    let may_break = |byte: u8| byte < b' ' && byte != b'\t' || byte == 0x7f || byte == 0xc2;
    if !text.bytes().any(may_break) || !text.chars().any(|it| it.is_control() && it != '\t') {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\t' => shown.push('\t'),
            it if it.is_control() => shown.extend(it.escape_default()),
            it => shown.push(it),
        }
    }
    shown
}
