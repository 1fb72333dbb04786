//! Reading, searching, writing, patching, and taking back.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use bailiwick_contract::{ErrorCode, Failure};

use super::installation::{OUTSIDE, ProofInstallation, SECRET, ask as ask_scope};
use crate::installation::child::McpChild;
use crate::installation::steps::{Expect, Steps, wrong};

fn ask(op: &str, target: &str, input: Value, options: Value) -> Value {
    ask_scope("test", op, target, input, options)
}

/// Holds a value to what it must contain.
fn has(data: &Value, wanted: &str, saw: &str) -> Result<String, Failure> {
    let text = data.to_string();
    if text.contains(SECRET) || text.contains(OUTSIDE) {
        return Err(wrong("it shows what is closed"));
    }
    if text.contains(wanted) { Ok(saw.to_owned()) } else { Err(wrong(format!("`{wanted}` is missing"))) }
}

/// Reads in every way.
pub fn reads(steps: &mut Steps, child: &mut McpChild) {
    steps.group("Reading");
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
    // A part of it: the history keeps what was looked for.
    let part = SECRET.split('-').next().unwrap_or(SECRET);
    let search = ask("file.search", "", json!({"query": part}), json!({"includeHidden": true}));
    steps.envelope("search closed files", child, search, Expect::Success, |data| {
        match data["matches"].as_array() {
            Some(list) if list.is_empty() => Ok("no match, though the text is there".to_owned()),
            _ => Err(wrong("a closed file was searched")),
        }
    });
}

/// Holds a file of the scope to what must be in it, or to not being there.
fn on_disk(folder: &Path, path: &str, wanted: Option<&str>, saw: &str) -> Result<String, Failure> {
    let there = fs::read_to_string(folder.join(path)).ok();
    if there.as_deref() == wanted {
        Ok(saw.to_owned())
    } else {
        Err(wrong(format!("`{path}` has {there:?} on disk")))
    }
}

/// Writes in every way.
pub fn writes(steps: &mut Steps, child: &mut McpChild, proof: &ProofInstallation) {
    steps.group("Writing");
    let folder = &proof.folder;
    let create = ask("file.create", "new.txt", json!({"content": "one\n"}), json!({}));
    steps.envelope("create", child, create.clone(), Expect::Success, |_| {
        on_disk(folder, "new.txt", Some("one\n"), "the file on disk")
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
        let saw = "as asked, on disk";
        steps.envelope(name, child, envelope, Expect::Success, |_| on_disk(folder, path, wanted, saw));
    }
    patch_and_undo(steps, child, folder);
}

/// Patches a file, is refused a patch that does not fit, and takes the first one back.
fn patch_and_undo(steps: &mut Steps, child: &mut McpChild, folder: &Path) {
    let patch = |old: &str| {
        ask("file.patch", "hello.txt", json!({"edits": [{"old": old, "new": "hello three"}]}), json!({}))
    };
    let patched = steps.envelope("patch", child, patch("hello two"), Expect::Success, |data| {
        let tier = data["files"][0]["places"][0]["tier"].as_str().unwrap_or("?");
        let saw = format!("the line on disk, matched `{tier}`");
        on_disk(folder, "hello.txt", Some("hello one\nhello three\n"), &saw)
    });
    let refusal = Expect::Refusal(ErrorCode::Conflict);
    steps.envelope("patch what is not there", child, patch("hello four"), refusal, |_| Ok(String::new()));
    match patched.as_ref().and_then(|data| data["undoId"].as_str()) {
        Some(undo) => {
            let restore = json!({"scope": "test", "op": "file.restore", "input": {"undoId": undo}});
            steps.envelope("take it back", child, restore, Expect::Success, |_| {
                on_disk(folder, "hello.txt", Some("hello one\nhello two\n"), "the file as it was, on disk")
            });
        }
        None => steps.skip("take it back", "there is no change that could be taken back"),
    }
}
