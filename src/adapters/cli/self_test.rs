//! `self-test`: each class of operation, done for real in a temporary scope over a real MCP child.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::contract::{Capability, ErrorCode, Failure};
use crate::platform::fs::modes::symlink;

use super::args::Preset;
use super::child::McpChild;
use super::command_steps::{a_command, refused_commands};
use super::printer::{Printer, Report};
use super::steps::{Expect, Steps, wrong};
use super::throwaway::Throwaway;
use super::try_folder::{rows, verify};

/// What lies outside the scope and must never be seen.
const OUTSIDE: &str = "outside-9c1f";
/// What lies in a closed file and must never be seen.
const SECRET: &str = "secret-77ab";

/// Tests this build on this computer.
///
/// # Errors
/// When the temporary folder cannot be used.
pub fn run(printer: Printer) -> Result<Report, Failure> {
    let place = Throwaway::make()?;
    let folder = place.make_folder("scope")?;
    prepare(&place, &folder).map_err(|error| {
        Failure::new(ErrorCode::ProviderUnavailable, format!("the temporary folder cannot be used: {error}"))
    })?;
    place.open(&[
        ("test", folder.clone(), Preset::Coding.capabilities()),
        ("look", folder.clone(), Preset::ReadOnly.capabilities()),
        ("run", folder.clone(), vec![Capability::CommandRun]),
    ])?;
    let mut steps = Steps::new(printer);
    converse(&mut steps, &place, &folder);
    let text = if steps.all_well() {
        "\nAll is as it must be.\n"
    } else {
        "\nNot all is as it must be: see FAIL above.\n"
    };
    Ok(steps.report(text.to_owned(), json!({"version": env!("CARGO_PKG_VERSION")})))
}

fn prepare(place: &Throwaway, folder: &Path) -> std::io::Result<()> {
    let outside = place.folder().with_file_name("outside.txt");
    fs::write(&outside, OUTSIDE)?;
    fs::write(folder.join("hello.txt"), "hello one\nhello two\n")?;
    fs::create_dir_all(folder.join("src/deep"))?;
    fs::write(folder.join("src/deep/code.rs"), "fn needle() {}\n")?;
    fs::write(folder.join(".env"), format!("KEY={SECRET}\n"))?;
    symlink("hello.txt", folder.join("inside-link"))?;
    symlink(&outside, folder.join("outside-link"))
}

fn converse(steps: &mut Steps, place: &Throwaway, folder: &Path) {
    let started = steps.step("start and connect", || {
        let mut child = McpChild::start(&place.folder())?;
        let server = child.initialize("bailiwick-self-test")?;
        Ok((child, format!("MCP revision {}", server["protocolVersion"].as_str().unwrap_or("?"))))
    });
    let Some(mut child) = started else { return };
    steps.step("list the tools", || {
        let tools = child.request("tools/list", &json!({}))?;
        let count = tools["tools"].as_array().map_or(0, Vec::len);
        let size = tools["tools"].to_string().chars().count();
        if count == 4 && size <= 2_800 {
            Ok(((), format!("{count} tools in {size} characters")))
        } else {
            Err(wrong(format!("{count} tools in {size} characters")))
        }
    });
    reads(steps, &mut child);
    writes(steps, &mut child, folder);
    refusals(steps, &mut child, folder);
    a_command(steps, &mut child, "run");
    refused_commands(steps, &mut child, "run", &place.folder().with_file_name("made-by-a-command"));
    steps.step("history", || {
        let history = child.call("get_operation_history", json!({"scope": "test", "limit": 200}))?;
        let rows = rows(&history["data"]).ok_or_else(|| wrong("no rows"))?;
        let refused = rows.iter().filter(|row| row["code"].is_string()).count();
        let text = history.to_string();
        if text.contains(SECRET) || text.contains(OUTSIDE) {
            return Err(wrong("a secret is in it"));
        }
        if rows.len() < 15 || refused < 6 {
            return Err(wrong(format!("{} rows, {refused} of them refused", rows.len())));
        }
        Ok(((), format!("{} operations, {refused} of them refused", rows.len())))
    });
    steps.step("end with the client", || {
        let status = child.end()?;
        if status.success() { Ok(((), "ended by itself".to_owned())) } else { Err(wrong(status.to_string())) }
    });
    steps.step("history verify", || verify(place));
}

fn ask(op: &str, target: &str, input: Value, options: Value) -> Value {
    json!({"scope": "test", "op": op, "target": target, "input": input, "options": options})
}

/// Holds a value to what it must contain.
fn has(data: &Value, wanted: &str, saw: &str) -> Result<String, Failure> {
    let text = data.to_string();
    if text.contains(SECRET) || text.contains(OUTSIDE) {
        return Err(wrong("it shows what is closed"));
    }
    if text.contains(wanted) { Ok(saw.to_owned()) } else { Err(wrong(format!("`{wanted}` is missing"))) }
}

fn reads(steps: &mut Steps, child: &mut McpChild) {
    for (name, envelope, wanted, saw) in [
        (
            "read a file",
            ask("file.read", "hello.txt", json!({}), json!({})),
            "hello one\\nhello two\\n",
            "its content",
        ),
        (
            "read over a link inside",
            ask("file.read", "inside-link", json!({}), json!({})),
            "hello one",
            "the linked file's content",
        ),
        (
            "read many",
            json!({"scope": "test", "op": "file.read_many", "input": {"paths": ["hello.txt", ".env"]}}),
            "permission_denied",
            "one file, one refusal",
        ),
        ("list a folder", ask("file.list", "src", json!({}), json!({})), "deep", "its entries"),
        ("tree", ask("file.tree", "", json!({}), json!({})), "code.rs", "the files below"),
        ("find", ask("file.find", "", json!({"pattern": "*.rs"}), json!({})), "src/deep/code.rs", "the file"),
        (
            "search",
            ask("file.search", "", json!({"query": "needle"}), json!({})),
            "src/deep/code.rs",
            "the match",
        ),
        (
            "stat",
            ask("file.stat", "hello.txt", json!({}), json!({"hash": true})),
            "\"size\":20",
            "size and hash",
        ),
    ] {
        steps.envelope(name, child, envelope, Expect::Success, |data| has(data, wanted, saw));
    }
    let search = ask("file.search", "", json!({"query": SECRET}), json!({"includeHidden": true}));
    steps.envelope("search closed files", child, search, Expect::Success, |data| {
        match data["matches"].as_array() {
            Some(list) if list.is_empty() => Ok("no match, though the text is there".to_owned()),
            _ => Err(wrong("a closed file was searched")),
        }
    });
}

fn writes(steps: &mut Steps, child: &mut McpChild, folder: &Path) {
    let on_disk = |path: &str, wanted: Option<&str>, saw: &str| {
        let there = fs::read_to_string(folder.join(path)).ok();
        if there.as_deref() == wanted {
            Ok(saw.to_owned())
        } else {
            Err(wrong(format!("`{path}` has {there:?} on disk")))
        }
    };
    let create = ask("file.create", "new.txt", json!({"content": "one\n"}), json!({}));
    steps.envelope("create", child, create.clone(), Expect::Success, |_| {
        on_disk("new.txt", Some("one\n"), "the file on disk")
    });
    steps.envelope("create what exists", child, create, Expect::Refusal(ErrorCode::Conflict), |_| {
        Ok(String::new())
    });
    let stale = ask(
        "file.write",
        "new.txt",
        json!({"content": "lost\n"}),
        json!({"ifVersion": "s-000000000000000000000000"}),
    );
    steps.envelope("write over a change", child, stale, Expect::Refusal(ErrorCode::Conflict), |_| {
        Ok(String::new())
    });
    for (name, envelope, path, wanted) in [
        (
            "write",
            ask("file.write", "new.txt", json!({"content": "two\n"}), json!({})),
            "new.txt",
            Some("two\n"),
        ),
        ("make a folder", ask("file.mkdir", "made", json!({}), json!({})), "made/none", None),
        (
            "copy",
            ask("file.copy", "new.txt", json!({"to": "made/copy.txt"}), json!({})),
            "made/copy.txt",
            Some("two\n"),
        ),
        (
            "move",
            ask("file.move", "made/copy.txt", json!({"to": "made/moved.txt"}), json!({})),
            "made/moved.txt",
            Some("two\n"),
        ),
        ("delete", ask("file.delete", "new.txt", json!({}), json!({})), "new.txt", None),
        (
            "delete a folder",
            ask("file.delete", "made", json!({}), json!({"recursive": true})),
            "made/moved.txt",
            None,
        ),
    ] {
        steps
            .envelope(name, child, envelope, Expect::Success, |_| on_disk(path, wanted, "as asked, on disk"));
    }
}

fn refusals(steps: &mut Steps, child: &mut McpChild, folder: &Path) {
    let look = json!({"scope": "look", "op": "file.create", "target": "x", "input": {"content": ""}});
    for (name, envelope, code) in [
        (
            "a path outside",
            ask("file.read", "../outside.txt", json!({}), json!({})),
            ErrorCode::PathOutOfScope,
        ),
        ("a link outside", ask("file.read", "outside-link", json!({}), json!({})), ErrorCode::PathOutOfScope),
        ("a secret", ask("file.read", ".env", json!({}), json!({})), ErrorCode::PermissionDenied),
        (
            "a secret as target",
            ask("file.move", "hello.txt", json!({"to": ".env"}), json!({"ifExists": "replace"})),
            ErrorCode::PermissionDenied,
        ),
        (
            "Git's own files",
            ask("file.create", ".git/hooks/pre-commit", json!({"content": "x"}), json!({})),
            ErrorCode::PermissionDenied,
        ),
        ("a right not granted", look, ErrorCode::PermissionDenied),
        ("an unknown scope", json!({"scope": "other", "op": "file.list"}), ErrorCode::UnknownScope),
        (
            "an unknown operation",
            json!({"scope": "test", "op": "policy.change"}),
            ErrorCode::UnknownOperation,
        ),
        (
            "an unknown field",
            ask("file.read", "hello.txt", json!({}), json!({"colour": 1})),
            ErrorCode::InvalidRequest,
        ),
        ("a missing file", ask("file.read", "none.txt", json!({}), json!({})), ErrorCode::NotFound),
    ] {
        steps.envelope(name, child, envelope, Expect::Refusal(code), |_| Ok(String::new()));
    }
    steps.step("the closed file", || match fs::read_to_string(folder.join(".env")) {
        Ok(text) if text == format!("KEY={SECRET}\n") => Ok(((), "is as it was".to_owned())),
        _ => Err(wrong("it was changed")),
    });
}
