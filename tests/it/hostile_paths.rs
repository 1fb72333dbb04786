//! One list of hostile paths, against every operation, in every place that takes a path.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bailiwick::operations::FAMILIES;
use bailiwick::platform::fs::modes::symlink;
use serde_json::{Value, json};

use crate::system::Need;
use support::scope::TestScope;
use support::service::call;

/// What is only in files outside the scope's folder.
const OUTSIDE: &str = "marker-of-the-outside";
/// What is only in closed files inside it.
const CLOSED: &str = "marker-of-a-closed-file";

/// Paths that lead out, to something closed, or to nothing good.
const HOSTILE: &[&str] = &[
    "..",
    "../",
    "../outside/file.txt",
    "../app-sibling/file.txt",
    "folder/../../outside/file.txt",
    "folder/./.././../outside/file.txt",
    "./../outside",
    "/",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/environ",
    "<temporary>/outside/file.txt",
    "<temporary>/app/../outside/file.txt",
    "<temporary>/app-sibling/file.txt",
    "<temporary>/home/config/config.json",
    "..\\outside\\file.txt",
    "\\x2e\\x2e/outside/file.txt",
    "absolute-file",
    "absolute-folder/file.txt",
    "absolute-folder/new.txt",
    "relative-file",
    "relative-folder/file.txt",
    "relative-folder/deeper/../file.txt",
    "chain-1",
    "chain-1/file.txt",
    "dangling-outside",
    "dangling-outside/new.txt",
    "folder/up/outside/file.txt",
    "folder/up/home/state/history.db",
    "self/../../outside/file.txt",
    "circle",
    "circle/file.txt",
    ".env",
    ".ENV",
    "folder/../.env",
    "to-env",
    "self/.env",
    "self/to-env",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/hooks/pre-commit",
    "self/.git/hooks/pre-commit",
    "git-by-another-name/hooks/pre-commit",
    "",
    ".",
    "folder",
];

struct HostileFolder {
    scope: TestScope,
}

impl HostileFolder {
    fn new() -> Self {
        let made =
            Self { scope: TestScope::new().with_capabilities(&["fs:read", "search:read", "fs:write"]) };
        for name in ["outside/deeper", "app-sibling", "app"] {
            fs::create_dir_all(made.path(name)).expect("the temporary folder can be written");
        }
        for name in ["outside/file.txt", "outside/deeper/file.txt", "app-sibling/file.txt"] {
            fs::write(made.path(name), format!("{OUTSIDE}\n")).expect("it can be written");
        }
        made.lay_out();
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scope.beside(name)
    }

    /// Makes the content of the scope's folder again; the folder itself stays, as its root is open.
    fn lay_out(&self) {
        let app = self.path("app");
        for entry in fs::read_dir(&app).expect("the scope's folder exists") {
            let entry = entry.expect("it can be read");
            if entry.file_type().expect("an entry has a kind").is_dir() {
                fs::remove_dir_all(entry.path()).expect("it can be removed");
            } else {
                fs::remove_file(entry.path()).expect("it can be removed");
            }
        }
        fs::create_dir_all(app.join("folder")).expect("it can be made");
        fs::create_dir_all(app.join(".git/hooks")).expect("it can be made");
        for (name, text) in [
            ("a.txt", "inside"),
            ("folder/b.txt", "inside"),
            (".env", CLOSED),
            (".git/config", CLOSED),
            (".git/hooks/pre-commit", "inside"),
        ] {
            fs::write(app.join(name), format!("{text}\n")).expect("it can be written");
        }
        let outside = self.path("outside");
        for (name, leads_to) in [
            ("absolute-file", outside.join("file.txt")),
            ("absolute-folder", outside.clone()),
            ("relative-file", PathBuf::from("../outside/file.txt")),
            ("relative-folder", PathBuf::from("../outside")),
            ("chain-1", PathBuf::from("chain-2")),
            ("chain-2", PathBuf::from("./folder/../chain-3")),
            ("chain-3", PathBuf::from("../outside")),
            ("dangling-outside", outside.join("not-there")),
            ("folder/up", PathBuf::from("../..")),
            ("self", PathBuf::from(".")),
            ("circle", PathBuf::from("circle")),
            ("to-env", PathBuf::from(".env")),
            ("git-by-another-name", PathBuf::from(".git")),
        ] {
            if Need::Links.is_there() {
                symlink(leads_to, app.join(name)).expect("a link can be made");
            }
        }
    }

    /// What no operation may change: everything outside, and what is closed inside.
    fn untouchable(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        for name in ["outside", "app-sibling", "app/.git", "app/.env", "home/config"] {
            collect(&self.path(name), &mut found);
        }
        for entry in fs::read_dir(self.scope.folder()).expect("the temporary folder can be read") {
            found.insert(entry.expect("it can be read").path(), Vec::new());
        }
        found
    }
}

fn collect(path: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    let Ok(facts) = fs::symlink_metadata(path) else { return };
    if facts.is_dir() {
        found.insert(path.to_owned(), Vec::new());
        for entry in fs::read_dir(path).expect("the folder can be read") {
            collect(&entry.expect("the folder can be read").path(), found);
        }
    } else {
        found.insert(path.to_owned(), fs::read(path).unwrap_or_default());
    }
}

/// Puts a path into every place of an example that holds one, a place at a time.
fn attacks(example: &str, path: &str) -> Vec<Value> {
    let example: Value = serde_json::from_str(example).expect("an example is JSON");
    let mut all = Vec::new();
    let mut with = |change: &dyn Fn(&mut Value)| {
        let mut envelope = example.clone();
        change(&mut envelope);
        all.push(envelope);
    };
    with(&|envelope| envelope["target"] = json!(path));
    if example["input"]["to"].is_string() {
        with(&|envelope| {
            envelope["target"] = json!("a.txt");
            envelope["input"]["to"] = json!(path);
        });
        with(&|envelope| {
            envelope["target"] = json!(path);
            envelope["input"]["to"] = json!("new.txt");
        });
        with(&|envelope| {
            envelope["target"] = json!("a.txt");
            envelope["input"]["to"] = json!(path);
            envelope["options"]["ifExists"] = json!("replace");
        });
    }
    if example["input"]["paths"].is_array() {
        with(&|envelope| envelope["input"]["paths"] = json!([path, "a.txt"]));
    }
    for (op, option, value) in [
        ("file.delete", "recursive", json!(true)),
        ("file.write", "createParents", json!(true)),
        ("file.create", "createParents", json!(true)),
        ("file.mkdir", "parents", json!(true)),
        ("file.stat", "hash", json!(true)),
        ("file.list", "depth", json!(8)),
    ] {
        if example["op"] == op {
            with(&|envelope| {
                envelope["target"] = json!(path);
                envelope["options"][option] = value.clone();
            });
        }
    }
    if example["op"] == "file.patch" {
        // What does not match is shown with what is near it, which must not be what is closed.
        let edit = |old: &str| json!([{"old": old, "new": "changed", "path": path}]);
        let context = |body: &str| format!("*** Begin Patch\n{body}*** End Patch\n");
        for input in [
            json!({"edits": edit("marker-of-something")}),
            json!({"edits": edit("marker")}),
            json!({"lines": [{"start": "1:0000", "new": "changed", "path": path}]}),
            json!({"lines": [{"after": "0", "new": "changed", "path": path}]}),
            json!({"patch": format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-marker\n+changed\n")}),
            json!({"patch": format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+made\n")}),
            json!({"patch": context(&format!("*** Add File: {path}\n+made\n"))}),
            json!({"patch": context(&format!("*** Delete File: {path}\n"))}),
            json!({"patch": context(&format!("*** Update File: a.txt\n*** Move to: {path}\n@@\n-a\n+b\n"))}),
            json!({"patch": context(&format!("*** Update File: {path}\n*** Move to: new.txt\n@@\n-marker\n+b\n"))}),
        ] {
            with(&|envelope| {
                envelope["target"] = Value::Null;
                envelope["input"] = input.clone();
            });
        }
    }
    if example["op"] == "file.search" {
        for word in [OUTSIDE, CLOSED] {
            with(&|envelope| {
                envelope["target"] = json!(path);
                envelope["input"] = json!({"query": word.split('-').next()});
                envelope["options"] = json!({"includeHidden": true, "includeIgnored": true});
            });
        }
    }
    all
}

#[test]
fn no_operation_reaches_outside_or_into_closed_files_by_any_path() {
    let world = HostileFolder::new();
    let service = world.scope.boot();
    let temporary = world.scope.folder().to_str().expect("temporary paths are UTF-8");
    // The first request makes the folders of the service.
    call(&service, json!({"op": "file.stat", "target": "a.txt"}));
    let before = world.untouchable();
    let mut tried = 0;
    let mut worked = 0;
    for entry in FAMILIES.iter().flat_map(|family| family.operations) {
        if entry.spec.family() != "file" {
            continue;
        }
        for path in HOSTILE {
            let attacks = attacks(entry.spec.example, &path.replace("<temporary>", temporary));
            let last = attacks.len() - 1;
            for (at, attack) in attacks.into_iter().enumerate() {
                let shown = attack.to_string();
                let outcome = call(&service, attack);
                let text = outcome.to_string();
                tried += 1;
                assert!(!text.contains(OUTSIDE), "{shown} read outside:\n{text}");
                assert!(!text.contains(CLOSED), "{shown} read a closed file:\n{text}");
                let done = outcome["ok"] == true;
                // Looking takes long elsewhere: before all is laid out again it tells as much, and not always which it was.
                if cfg!(target_os = "linux") || done || at == last {
                    assert_eq!(world.untouchable(), before, "{shown} changed what it must not:\n{text}");
                }
                if done {
                    worked += 1;
                    world.lay_out();
                }
                // A message may repeat what was asked, and nothing else of where the folder lies.
                if !shown.contains(temporary) {
                    assert!(!text.contains(temporary), "{shown} told where the scope lies:\n{text}");
                }
            }
        }
    }
    assert!(tried > 500 && worked > 50, "{worked} of {tried} requests worked; the attacks are not real");
}
