//! Undo: a tree is broken in ten ways, and is each time as it was before.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::modes::{PermissionsExt, set_mode, symlink};

use super::installation::{ProofInstallation, ask as ask_scope};
use crate::installation::child::McpChild;
use crate::installation::steps::{Expect, Steps, wrong};

/// The folder of the tree, in the folder of the scope.
const TREE: &str = "tree";
/// More than is kept with the record of a change.
const BIG_BYTES: usize = 17 << 20;

/// What is at each path: its kind, its permission bits, and its content or where it leads.
type Picture = BTreeMap<PathBuf, (char, u32, Vec<u8>)>;

fn ask(op: &str, target: &str, input: Value, options: Value) -> Value {
    ask_scope("test", op, &format!("{TREE}/{target}"), input, options)
}

fn to(name: &str) -> Value {
    json!({"to": format!("{TREE}/{name}")})
}

/// Breaks the tree in each way, and takes that back.
pub fn undo(steps: &mut Steps, child: &mut McpChild, proof: &ProofInstallation) {
    steps.group("Undo");
    let tree = proof.folder.join(TREE);
    let made = steps.step("a tree to break", || {
        let picture = make(&tree).and_then(|()| picture(&tree)).map_err(|error| wrong(error.to_string()))?;
        let saw = format!("{} files, folders and links", picture.len());
        Ok((picture, saw))
    });
    let Some(before) = made else { return };
    let replace = json!({"ifExists": "replace"});
    for (name, envelope) in [
        ("write", ask("file.write", "a.txt", json!({"content": "broken\n"}), json!({}))),
        (
            "edit",
            ask(
                "file.patch",
                "folder/b.txt",
                json!({"edits": [{"old": "b two", "new": "broken"}]}),
                json!({}),
            ),
        ),
        ("delete", ask("file.delete", "a.txt", json!({}), json!({}))),
        ("move", ask("file.move", "a.txt", to("moved.txt"), json!({}))),
        ("copy over a file", ask("file.copy", "a.txt", to("folder/b.txt"), replace.clone())),
        ("delete a folder", ask("file.delete", "folder", json!({}), json!({"recursive": true}))),
        ("replace a link", ask("file.move", "a.txt", to("link"), replace)),
        (
            "write with other permissions",
            ask("file.write", "script.sh", json!({"content": "broken\n"}), json!({"mode": "0600"})),
        ),
        ("write over a big file", ask("file.write", "big.bin", json!({"content": "broken\n"}), json!({}))),
    ] {
        steps.step(name, || {
            let done = child.call("computer_operation", envelope)?;
            if done["ok"] != true {
                return Err(wrong(format!("it failed: {}", done["error"]["message"])));
            }
            if look(&tree)? == before {
                return Err(wrong("the tree is as before, though it was to be broken"));
            }
            let undo =
                json!({"scope": "test", "op": "history.undo", "input": {"operation": done["operationId"]}});
            let undone = child.call("computer_operation", undo)?;
            if undone["ok"] != true {
                return Err(wrong(format!("it was not taken back: {}", undone["error"]["message"])));
            }
            compare(&before, &look(&tree)?)?;
            Ok(((), "done, taken back, and all is as before".to_owned()))
        });
    }
    let batch = json!({"scope": "test", "op": "batch.run", "input": {
        "steps": [
            ask("file.write", "a.txt", json!({"content": "broken\n"}), json!({})),
            ask("file.move", "folder", to("other"), json!({})),
            ask("file.delete", "big.bin", json!({}), json!({})),
        ],
        "verify": [{"op": "file.read", "target": format!("{TREE}/a.txt"), "expect": {"content": "whole\n"}}],
    }});
    let refusal = Expect::Refusal(ErrorCode::ExecutionFailed);
    let failed = steps.envelope("a batch whose check fails", child, batch, refusal, |_| Ok(String::new()));
    if let Some(failed) = failed {
        steps.step("what it changed", || {
            let details = &failed["error"]["details"];
            if details["step"] != "verify[0]" || details["rolledBack"] != true {
                return Err(wrong(format!("it was not taken back: {}", failed["error"]["message"])));
            }
            compare(&before, &look(&tree)?)?;
            Ok(((), "all is as before".to_owned()))
        });
    }
    // What is proved later has to do with none of it; all of it goes with the installation anyway.
    let _ = fs::remove_dir_all(&tree);
}

fn make(tree: &Path) -> io::Result<()> {
    fs::create_dir_all(tree.join("folder/deep"))?;
    fs::write(tree.join("a.txt"), "a\n")?;
    fs::write(tree.join("folder/b.txt"), "b one\nb two\n")?;
    fs::write(tree.join("folder/deep/c.txt"), "c\n")?;
    fs::write(tree.join("script.sh"), "#!/bin/sh\n")?;
    set_mode(&tree.join("script.sh"), 0o750)?;
    fs::write(tree.join("big.bin"), vec![7; BIG_BYTES])?;
    symlink("folder/b.txt", tree.join("link"))
}

fn look(tree: &Path) -> Result<Picture, Failure> {
    picture(tree).map_err(|error| wrong(format!("the tree cannot be read: {error}")))
}

fn picture(tree: &Path) -> io::Result<Picture> {
    let mut found = Picture::new();
    let mut folders = vec![tree.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let facts = fs::symlink_metadata(&path)?;
            let mode = facts.permissions().mode() & 0o7777;
            let described = if facts.is_symlink() {
                ('l', 0, fs::read_link(&path)?.to_string_lossy().into_owned().into_bytes())
            } else if facts.is_dir() {
                folders.push(path.clone());
                ('d', mode, Vec::new())
            } else {
                ('f', mode, fs::read(&path)?)
            };
            found.insert(path, described);
        }
    }
    Ok(found)
}

/// Holds the tree to what it was.
fn compare(before: &Picture, after: &Picture) -> Result<(), Failure> {
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
    match before.keys().chain(after.keys()).find(differs) {
        None => Ok(()),
        Some(path) => Err(wrong(format!("`{}` is not as before", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_of_a_tree_is_seen() {
        let entry = |kind: char, mode: u32, content: &str| (kind, mode, content.as_bytes().to_vec());
        let before = Picture::from([
            (PathBuf::from("a"), entry('f', 0o644, "a")),
            (PathBuf::from("b"), entry('l', 0, "a")),
        ]);
        assert!(compare(&before, &before.clone()).is_ok());
        for (path, other) in [
            ("a", Some(entry('f', 0o644, "b"))),
            ("a", Some(entry('f', 0o600, "a"))),
            ("a", None),
            ("b", Some(entry('f', 0, "a"))),
            ("c", Some(entry('d', 0o755, ""))),
        ] {
            let mut after = before.clone();
            match other {
                Some(other) => drop(after.insert(path.into(), other)),
                None => drop(after.remove(Path::new(path))),
            }
            let failure = compare(&before, &after).expect_err("it differs");
            assert!(failure.message.contains(path), "{}", failure.message);
        }
    }
}
