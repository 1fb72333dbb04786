//! `dialog.file` on the file dialogs of a real program of GTK, on a private display.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::private::{create, launch, scope, window};
use super::scope::refusal;
use support::needs::lacks_full_sandbox;
use support::patience::eventually_some;
use support::service::TestService;

/// Opens a file, and saves what it has read twice; each by a dialog, with a line of what came of it.
const EDITOR: &str = r#"
import os
os.environ["LC_ALL"] = "C.UTF-8"
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk

texts = []

def choose(title, action, button, then):
    dialog = Gtk.FileChooserDialog(title=title, action=action)
    dialog.add_buttons("Cancel", Gtk.ResponseType.CANCEL, button, Gtk.ResponseType.ACCEPT)
    dialog.set_do_overwrite_confirmation(True)
    def response(it, answer):
        name = it.get_filename()
        it.destroy()
        then(name if answer == Gtk.ResponseType.ACCEPT else None)
    dialog.connect("response", response)
    dialog.show()

def opened(name):
    texts.append(open(name).read())
    print("opened", os.path.basename(name), flush=True)
    choose("Save it", Gtk.FileChooserAction.SAVE, "Save", saved)

def saved(name):
    open(name, "w").write(texts[0])
    print("saved", os.path.basename(name), flush=True)
    choose("Save it again", Gtk.FileChooserAction.SAVE, "Save", saved)

choose("Open it", Gtk.FileChooserAction.OPEN, "Open", opened)
Gtk.main()
"#;

/// Waits for the dialog of a title, and returns its snapshot.
pub async fn dialog(host: &TestService, title: &str, process: &str) -> String {
    let shown = window(host, title, process).await;
    eventually_some(&format!("the dialog `{title}` is listed"), async || {
        let listed = host.send(json!({"op": "dialog.list", "target": shown})).await;
        let dialogs = listed["data"]["dialogs"].as_array()?;
        Some(dialogs.iter().find(|it| it["window"] == shown)?["snapshot"].as_str()?.to_owned())
    })
    .await
}

pub fn file(snapshot: &str, path: &str, mode: &str) -> Value {
    json!({"op": "dialog.file", "target": snapshot, "input": {"path": path, "mode": mode}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_opened_and_saved_by_dialogs_and_only_those_of_the_scope() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope().host();
    for (name, content) in
        [("editor.py", EDITOR), ("notes.txt", "hello"), ("old.txt", "old"), (".env", "KEY=1")]
    {
        host.write(name, content);
    }
    symlink("/etc/hostname", host.path("outside")).expect("a link of the test");
    symlink(".env", host.path("closed")).expect("a link of the test");
    create(&host).await;
    let process = launch(&host, "editor.py").await;

    let snapshot = dialog(&host, "Open it", &process).await;
    for (path, mode, code) in [
        ("../notes.txt", "open", "path_out_of_scope"),
        ("outside", "open", "path_out_of_scope"),
        ("outside", "save", "path_out_of_scope"),
        (".env", "open", "permission_denied"),
        ("closed", "open", "permission_denied"),
        ("closed", "save", "permission_denied"),
        ("missing.txt", "open", "not_found"),
        ("missing/new.txt", "save", "not_found"),
    ] {
        let answer = host.send(file(&snapshot, path, mode)).await;
        assert_eq!(refusal(&answer).0, code, "{path} {mode}: {answer:#}");
    }
    let mut dry_run = file(&snapshot, "notes.txt", "open");
    dry_run["options"] = json!({"dryRun": true});
    assert_eq!(host.data(dry_run).await, json!({"button": "\"Open\"", "dryRun": true}));
    assert_eq!(host.read(&process, json!({})).await["stdout"], "");

    let answer = host.data(file(&snapshot, "notes.txt", "open")).await;
    assert_eq!(answer, json!({"button": "\"Open\"", "effect": "confirmed"}));
    host.printed(&process, "opened notes.txt").await;

    let snapshot = dialog(&host, "Save it", &process).await;
    let answer = host.data(file(&snapshot, "new.txt", "save")).await;
    assert_eq!(answer, json!({"button": "\"Save\"", "effect": "confirmed"}));
    host.printed(&process, "saved new.txt").await;
    assert_eq!(std::fs::read_to_string(host.path("new.txt")).expect("it is there"), "hello");

    // One that is there already is asked about, which is another dialog.
    let snapshot = dialog(&host, "Save it again", &process).await;
    let answer = host.data(file(&snapshot, "old.txt", "save")).await;
    assert_eq!(answer, json!({"button": "\"Save\"", "effect": "partial"}));
    assert_eq!(std::fs::read_to_string(host.path("old.txt")).expect("it is there"), "old");
    let shown = window(&host, "Save it again", &process).await;
    let question = eventually_some("the question whether to replace is listed", async || {
        let listed = host.data(json!({"op": "dialog.list", "target": shown})).await;
        let dialogs = listed["dialogs"].as_array().expect("dialogs");
        let found = dialogs.iter().find(|it| it["window"] != shown && it["snapshot"].is_string())?;
        Some(found["snapshot"].as_str()?.to_owned())
    })
    .await;
    let other = host.send(file(&question, "new.txt", "save")).await;
    assert_eq!(refusal(&other).0, "unsupported_action", "{other:#}");
    host.data(json!({"op": "dialog.press", "target": question, "input": {"button": "Replace"}})).await;
    host.printed(&process, "saved old.txt").await;
    assert_eq!(std::fs::read_to_string(host.path("old.txt")).expect("it is there"), "hello");
}
