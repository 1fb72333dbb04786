//! Results as text. Knows the shapes of a few operations; everything else has one general form.

use std::fmt::Write;
use std::io::IsTerminal;

use serde_json::{Map, Value};

use super::super::super::digest_text::digest;
use super::super::printer::{one_line, printable, table};
use bailiwick_platform::quoting::quote;

/// The text of a result, and talk about it for standard error.
#[derive(Debug, Default)]
pub struct RenderedResult {
    /// The data.
    pub text: String,
    /// What else to say, such as that the result was cut.
    pub notes: Vec<String>,
}

/// Renders the `data` of an operation's result.
pub fn render(op: &str, data: &Value) -> RenderedResult {
    let text = match op {
        "file.read" => content(data),
        "file.list" | "file.find" => paths(data),
        "file.search" => matches(data),
        "command.run" | "package.run" => return ran(data),
        "file.tree" => data["tree"].as_str().map(|tree| format!("{}\n", printable(tree.trim_end()))),
        _ => None,
    };
    let text = text.unwrap_or_else(|| {
        let mut data = data.clone();
        // What the note below says is not said twice.
        if let Some(fields) = data.as_object_mut() {
            fields.remove("nextCursor");
            fields.remove("truncated");
        }
        general(&data)
    });
    let mut rendered = RenderedResult { text, notes: Vec::new() };
    if let Some(cursor) = data["nextCursor"].as_str() {
        rendered.notes.push(format!("\nThere is more: add --cursor {}", quote(cursor)));
    } else if data["truncated"] == true {
        rendered.notes.push("\nThe result was cut; ask for less at a time to see all.".to_owned());
    }
    rendered
}

/// What a command printed; how it ended and what held it are talk.
fn ran(data: &Value) -> RenderedResult {
    let mut rendered = RenderedResult::default();
    let Some(stdout) = data["stdout"].as_str() else {
        rendered.text = general(data);
        return rendered;
    };
    rendered.text = on_terminal(stdout);
    if data["digest"].is_object() {
        rendered.text = on_terminal(&digest(&data["digest"]));
        if let Some(id) = data["rawOutput"]["processId"].as_str() {
            rendered.notes.push(format!("\nAll of the output: bailiwick ps logs {id}"));
        }
    }
    if let Some(stderr) = data["stderr"].as_str().filter(|text| !text.is_empty()) {
        rendered.notes.push(printable(stderr.trim_end_matches('\n')));
    }
    let ended = match (data["timedOut"] == true, data["signal"].as_str(), data["exitCode"].as_i64()) {
        _ if data["running"] == true => "still running".to_owned(),
        (true, _, _) => "its time was over".to_owned(),
        _ if data["memoryExceeded"] == true => "it took too much memory".to_owned(),
        (_, Some(signal), _) => format!("ended by {signal}"),
        (_, None, Some(code)) => format!("exit {code}"),
        (_, None, None) => "its end is unknown".to_owned(),
    };
    if let Some(id) = data["processId"].as_str() {
        rendered.notes.push(format!("It keeps running: bailiwick ps logs {id}, wait for it or stop it"));
    }
    if data["committed"] == true {
        rendered
            .notes
            .push("The changes of its preview were taken over; the command did not run again".to_owned());
    }
    let sandbox = &data["sandbox"];
    let (level, network) = (sandbox["level"].as_str(), sandbox["network"].as_str());
    rendered.notes.push(format!(
        "({ended}; {} ms; sandbox {}, network {}{})",
        data["durationMs"],
        level.unwrap_or("unknown"),
        network.unwrap_or("unknown"),
        if data["truncated"] == true && !data["digest"].is_object() { "; the output was cut" } else { "" },
    ));
    rendered
}

/// Text as it is; on a terminal, what would steer it is shown as escapes.
fn on_terminal(text: &str) -> String {
    if !std::io::stdout().is_terminal() {
        return text.to_owned();
    }
    let mut shown = printable(text);
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown
}

/// A file as it is.
fn content(data: &Value) -> Option<String> {
    data["content"].as_str().map(on_terminal)
}

/// A list of entries or of paths: one a line.
fn paths(data: &Value) -> Option<String> {
    let list = ["entries", "paths", "matches", "files"].iter().find_map(|name| data[name].as_array())?;
    if list.is_empty() {
        return Some("nothing found\n".to_owned());
    }
    let rows: Vec<Vec<String>> = list
        .iter()
        .map(|entry| match entry.as_str() {
            Some(path) => vec![one_line(path)],
            None if entry["modified"].is_null() => vec![
                entry["kind"].as_str().unwrap_or_default().to_owned(),
                one_line(entry["path"].as_str().unwrap_or_default()),
            ],
            None => vec![
                entry["kind"].as_str().unwrap_or_default().to_owned(),
                entry["size"].as_u64().map(|size| size.to_string()).unwrap_or_default(),
                entry["modified"]
                    .as_str()
                    .map(|at| at.get(..16).unwrap_or(at).replace('T', " "))
                    .unwrap_or_default(),
                one_line(entry["path"].as_str().unwrap_or_default()),
            ],
        })
        .collect();
    Some(table(&rows))
}

/// Matches as `path:line:col: preview`.
fn matches(data: &Value) -> Option<String> {
    let list = data["matches"].as_array()?;
    let mut text = String::new();
    for found in list {
        let path = one_line(found["path"].as_str()?);
        match (found["line"].as_u64(), found["preview"].as_str()) {
            (Some(line), Some(preview)) => {
                let column = found["column"].as_u64().map(|it| format!("{it}:")).unwrap_or_default();
                let _ = writeln!(text, "{path}:{line}:{column} {}", one_line(preview.trim_end_matches('\n')));
            }
            _ => match found["count"].as_u64() {
                Some(count) => {
                    let _ = writeln!(text, "{path}: {count}");
                }
                None => {
                    let _ = writeln!(text, "{path}");
                }
            },
        }
    }
    if let Some(files) = data["files"].as_array().filter(|_| list.is_empty()) {
        for file in files {
            let path = file.as_str().or(file["path"].as_str()).unwrap_or_default();
            let count = file["count"].as_u64().map(|it| format!(": {it}")).unwrap_or_default();
            let _ = writeln!(text, "{}{count}", one_line(path));
        }
    }
    if text.is_empty() {
        text.push_str("no matches\n");
    }
    Some(text)
}

/// Any value: fields by line, lists of objects as a table, what is nested indented.
pub fn general(data: &Value) -> String {
    let mut text = String::new();
    match data {
        Value::Object(fields) => object(&mut text, fields, 0),
        Value::Array(items) => list(&mut text, items, 0),
        other => {
            let _ = writeln!(text, "{}", scalar(other));
        }
    }
    text
}

fn object(text: &mut String, fields: &Map<String, Value>, depth: usize) {
    let is_short = |value: &Value| match value {
        Value::Array(_) if are_lines(value) => false,
        Value::Array(items) => items.iter().all(|it| !it.is_object() && !it.is_array()),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => !text.contains('\n'),
        _ => true,
    };
    let width = fields.iter().filter(|(_, it)| is_short(it)).map(|(name, _)| name.chars().count()).max();
    let width = width.unwrap_or(0);
    let indent = "  ".repeat(depth);
    for (name, value) in fields {
        let name = one_line(name);
        match value {
            _ if is_short(value) => {
                let _ = writeln!(text, "{indent}{name:<width$}  {}", short(value));
            }
            Value::Object(inner) => {
                let _ = writeln!(text, "{indent}{name}");
                object(text, inner, depth + 1);
            }
            Value::Array(lines) if are_lines(value) => {
                let _ = writeln!(text, "{indent}{name}");
                for line in lines {
                    let _ = writeln!(text, "{}", format!("{indent}  {}", scalar(line)).trim_end());
                }
            }
            Value::Array(items) => {
                let _ = writeln!(text, "{indent}{name}");
                list(text, items, depth + 1);
            }
            other => {
                let _ = writeln!(text, "{indent}{name}");
                for line in printable(other.as_str().unwrap_or_default()).lines() {
                    let _ = writeln!(text, "{indent}  {line}");
                }
            }
        }
    }
}

fn list(text: &mut String, items: &[Value], depth: usize) {
    let indent = "  ".repeat(depth);
    let flat = |item: &Value| {
        item.as_object().is_some_and(|fields| {
            fields.values().all(|value| match value {
                Value::Array(items) => items.iter().all(|it| !it.is_object() && !it.is_array()),
                Value::Object(_) => false,
                _ => true,
            })
        })
    };
    if !items.is_empty() && items.iter().all(flat) {
        let mut names: Vec<&String> = Vec::new();
        for name in items.iter().filter_map(Value::as_object).flat_map(Map::keys) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut rows = vec![names.iter().map(|name| name.to_uppercase()).collect::<Vec<_>>()];
        rows.extend(items.iter().map(|item| names.iter().map(|name| short(&item[*name])).collect()));
        for line in table(&rows).lines() {
            let _ = writeln!(text, "{indent}{line}");
        }
        return;
    }
    for item in items {
        match item {
            Value::Object(fields) => {
                let mut inner = String::new();
                object(&mut inner, fields, 0);
                for (index, line) in inner.lines().enumerate() {
                    let mark = if index == 0 { "- " } else { "  " };
                    let _ = writeln!(text, "{indent}{mark}{line}");
                }
            }
            other => {
                let _ = writeln!(text, "{indent}- {}", short(other));
            }
        }
    }
}

/// Returns whether a list is one of texts rather than of words: of the lines of a screen, for one.
fn are_lines(value: &Value) -> bool {
    let has_blanks = |it: &Value| it.as_str().is_some_and(|text| text.contains(' '));
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string) && items.iter().any(has_blanks))
}

fn short(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => items.iter().map(scalar).collect::<Vec<_>>().join(" "),
        Value::Object(_) => "-".to_owned(),
        other => scalar(other),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => one_line(text),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_shown_as_a_person_expects() {
        let found = json!({"matches": [{"path": "a.rs", "line": 3, "column": 7, "preview": "let x;\n"}], "truncated": false});
        assert_eq!(render("file.search", &found).text, "a.rs:3:7: let x;\n");
        let listed = json!({"entries": [{"path": "a", "kind": "file", "size": 3, "modified": "2026-11-21T10:26:56.123Z"}], "nextCursor": "x y"});
        let listed = render("file.list", &listed);
        assert_eq!(listed.text, "file  3  2026-11-21 10:26  a\n");
        let names = json!({"entries": [{"path": "a", "kind": "file"}, {"path": ".env", "closed": true}]});
        assert_eq!(render("file.list", &names).text, "file  a\n      .env\n");
        assert_eq!(listed.notes, ["\nThere is more: add --cursor 'x y'"]);
        assert_eq!(render("file.read", &json!({"content": "a\nb"})).text, "a\nb");
    }

    #[test]
    fn any_value_has_a_general_form_that_cannot_steer_the_terminal() {
        let data = json!({"name": "a\u{1b}[2J", "on": true, "rows": [{"id": 1, "what": null}], "in": {"x": [1, 2]},
            "screen": ["$ ls", "", "a"]});
        assert_eq!(
            general(&data),
            "in\n  x  1 2\nname  a\\u{1b}[2J\non    yes\nrows\n  ID  WHAT\n  1   -\nscreen\n  $ ls\n\n  a\n"
        );
    }
}
