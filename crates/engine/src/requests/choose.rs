//! Tools that are several operations here: their fields say which is meant.

use serde_json::{Map, Value};

use super::fit;
use super::names::{bare, fold};

/// The tools for files whose field `command` says what to do, and what it says.
const EDITORS: &[&str] =
    &["strreplaceeditor", "strreplacebasededittool", "texteditor", "fileeditor", "editor"];
const EDITOR_COMMANDS: &[(&str, &str)] = &[
    ("view", "file.read"),
    ("create", "file.create"),
    ("write", "file.write"),
    ("str_replace", "file.patch"),
];
/// The tools that look for texts or for names.
const SEARCHES: &[&str] = &["searchfiles", "startsearch"];
/// The fields by which a command goes to the background, and those by which it does not.
const BACKGROUND: &[&str] = &["runinbackground", "isbackground", "background", "detach", "detached"];
const FOREGROUND: &[&str] = &["blocking", "waitforcompletion"];
/// Where the fields of a request can be.
const PARTS: &[&str] = &["input", "options", "arguments", "args", "params", "parameters", "inputs", "kwargs"];

/// Returns the name of the operation that a request means, where its fields decide, and takes the field that did.
pub(super) fn chosen(name: &str, fields: &mut Map<String, Value>) -> Option<&'static str> {
    let name = fold(bare(name));
    if EDITORS.contains(&name.as_str()) {
        let command = text(get(fields, &["command"])?)?;
        let (_, op) = EDITOR_COMMANDS.iter().find(|(it, _)| *it == command)?;
        take(fields, &["command"]);
        return Some(op);
    }
    if !SEARCHES.contains(&name.as_str()) {
        return None;
    }
    match take(fields, &["searchtype"]).as_ref().and_then(text) {
        Some("content") => return Some("file.search"),
        Some("files") => return Some("file.find"),
        _ => {}
    }
    if get(fields, &["regex"]).is_some() {
        return Some("file.search");
    }
    // A word alone can be looked for in names and in texts.
    text(get(fields, &["pattern"])?)?.contains('*').then_some("file.find")
}

/// Returns the operation that another one becomes by a field, and takes the field that says so.
pub(super) fn instead(op: &str, fields: &mut Map<String, Value>) -> Option<&'static str> {
    let flag = |value: &Value| value.as_bool().or_else(|| fit::flag(text(value)?.trim()));
    let is = |fields: &Map<String, Value>, names: &[&str], wanted: bool| {
        get(fields, names).and_then(flag) == Some(wanted)
    };
    match op {
        "command.run" if is(fields, BACKGROUND, true) || is(fields, FOREGROUND, false) => {
            take(fields, BACKGROUND);
            take(fields, FOREGROUND);
            Some("process.start")
        }
        "file.list" if is(fields, &["recursive"], true) => {
            take(fields, &["recursive"]);
            Some("file.tree")
        }
        "file.read" if get(fields, &["paths", "filepaths", "files"]).is_some_and(Value::is_array) => {
            Some("file.read_many")
        }
        _ => None,
    }
}

fn text(value: &Value) -> Option<&str> {
    value.as_str()
}

/// Finds a field by its folded names, beside `op` or in a part of the request.
fn get<'f>(fields: &'f Map<String, Value>, names: &[&str]) -> Option<&'f Value> {
    let parts = PARTS.iter().filter_map(|part| fields.get(*part)?.as_object());
    let mut maps = std::iter::once(fields).chain(parts);
    maps.find_map(|map| map.iter().find(|(name, _)| is_one(names, name)).map(|(_, value)| value))
}

/// As [`get`], and takes it away.
fn take(fields: &mut Map<String, Value>, names: &[&str]) -> Option<Value> {
    let found = fields.keys().find(|name| is_one(names, name)).cloned();
    if let Some(name) = found {
        return fields.remove(&name);
    }
    PARTS.iter().find_map(|part| {
        let map = fields.get_mut(*part)?.as_object_mut()?;
        let name = map.keys().find(|name| is_one(names, name))?.clone();
        map.remove(&name)
    })
}

fn is_one(names: &[&str], name: &str) -> bool {
    names.contains(&fold(name).as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::read;

    #[test]
    fn fields_choose_the_operation() {
        for (request, op) in [
            (json!({"op": "str_replace_editor", "command": "view", "path": "a"}), "file.read"),
            (
                json!({"op": "developer__text_editor", "input": {"command": "write", "path": "a", "file_text": "x"}}),
                "file.write",
            ),
            (
                json!({"op": "str_replace_based_edit_tool", "input": {"command": "create", "path": "a", "file_text": "x"}}),
                "file.create",
            ),
            (
                json!({"op": "text_editor", "arguments": {"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}}),
                "file.patch",
            ),
            (json!({"op": "search_files", "regex": "x"}), "file.search"),
            (json!({"op": "search_files", "pattern": "*.rs"}), "file.find"),
            (
                json!({"op": "start_search", "input": {"searchType": "content", "pattern": "x"}}),
                "file.search",
            ),
            (json!({"op": "start_search", "input": {"searchType": "files", "pattern": "x"}}), "file.find"),
            (json!({"op": "bash", "command": "x", "run_in_background": true}), "process.start"),
            (json!({"op": "bash", "input": {"command": "x", "isBackground": "true"}}), "process.start"),
            (json!({"op": "run_command", "input": {"CommandLine": "x", "Blocking": false}}), "process.start"),
            (json!({"op": "bash", "input": {"command": "x", "background": false}}), "command.run"),
            (json!({"op": "list_files", "path": ".", "recursive": true}), "file.tree"),
            (json!({"op": "list_files", "path": ".", "recursive": false}), "file.list"),
            (json!({"op": "file.read", "input": {"paths": ["a", "b"]}}), "file.read_many"),
        ] {
            let got = read(request.clone());
            assert_eq!(got.as_ref().map(|it| it.op.as_str()), Ok(op), "{request}");
        }
        for request in [
            json!({"op": "search_files", "pattern": "word"}),
            json!({"op": "str_replace_editor", "command": "insert", "path": "a"}),
            json!({"op": "text_editor", "path": "a"}),
        ] {
            let failure = read(request.clone()).expect_err("it can mean two things");
            assert_eq!(failure.code.as_str(), "unknown_operation", "{request}");
        }
    }
}
