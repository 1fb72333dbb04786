//! No answer of any operation on windows, menus, dialogs and the clipboard shows a secret, and none can be forgotten here.

use std::collections::BTreeSet;

use bailiwick::operations::FAMILIES;
use bailiwick::registry::Registry;
use support::desktop::Desktop;
use support::elements::lines;
use support::needs::{lacks_full_sandbox, report_left_out};
use support::patience::eventually;

use super::*;
use crate::screen::{file_dialogs, private};

/// The families whose answers are gone through.
const SWEPT: [&str; 6] = ["ui", "window", "menu", "dialog", "tray", "clipboard"];
/// Secrets of the config, as windows and the clipboard have them: one has characters that quotes and URIs escape.
const SECRETS: [&str; 2] = ["zebra-stripes-4711", r#"pa"ss\wo rd-4711"#];

/// What an answer has to have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    /// What stands for the secret.
    Mark,
    /// Anything but the secret.
    Anything,
    /// An error, which shows no secret either.
    Refusal,
}

/// A service whose answers are checked.
struct Sweep {
    host: TestService,
    /// What an answer shows in the place of a secret.
    mark: &'static str,
    secret: &'static str,
    answered: BTreeSet<String>,
}

impl Sweep {
    async fn send(&mut self, request: Value, shows: Shows) -> Value {
        let answer = self.host.send(request.clone()).await;
        assert_eq!(answer["ok"], shows != Shows::Refusal, "{request}: {answer:#}");
        let text = answer.to_string();
        // However often quotes are escaped, and as URIs have it.
        let plain = |text: &str| text.replace('\\', "");
        let in_uri: String = self.secret.replace('"', "%22").replace('\\', "%5C").replace(' ', "%20");
        for secret in [&plain(self.secret), &in_uri] {
            assert!(!plain(&text).contains(secret), "{request}: {answer:#}");
        }
        assert!(shows != Shows::Mark || text.contains(self.mark), "{request}: {answer:#}");
        if shows != Shows::Refusal {
            self.answered.insert(request["op"].as_str().expect("a name").to_owned());
        }
        answer["data"].clone()
    }

    async fn ask(&mut self, op: &str, target: &str, input: Value, shows: Shows) -> Value {
        let target = (!target.is_empty()).then_some(target);
        self.send(json!({"scope": "app", "op": op, "target": target, "input": input}), shows).await
    }

    /// Lists the elements of a window, and returns the one whose line begins so.
    async fn element(&mut self, window: &str, start: &str) -> String {
        let seen = self.ask("ui.see", window, json!({}), Shows::Mark).await;
        let lines = lines(&seen);
        let mut found =
            lines.iter().filter_map(|line| line.split_once(' ')).filter(|(_, rest)| rest.starts_with(start));
        let (id, _) = found.next().unwrap_or_else(|| panic!("{start}: {seen:#}"));
        format!("{id}@{}", seen["snapshot"].as_str().expect("a snapshot"))
    }
}

fn policy(mode: &str, secret: &str) -> Value {
    json!({
        "allowWindows": true, "allowDisplays": true, "visibleInput": "allow", "secrets": mode,
        "allowedCommands": ["python3 *"], "environment": {"DEPLOY_TOKEN": secret},
    })
}

async fn windows_are_used(sweep: &mut Sweep, desktop: &Desktop) {
    use Shows::{Anything, Mark, Refusal};
    let window = desktop.window();
    sweep.ask("window.list", "", json!({}), Mark).await;
    for (op, input) in [
        ("window.minimize", json!({})),
        ("window.restore", json!({})),
        ("window.maximize", json!({})),
        ("window.restore", json!({})),
        ("window.set_bounds", json!({"x": 40, "y": 60, "width": 500, "height": 400})),
        ("window.focus", json!({})),
    ] {
        sweep.ask(op, &window, input, Anything).await;
    }
    let secret = sweep.secret;
    let name = format!("Name {secret}");
    for (op, target, input) in [
        ("ui.find", window.as_str(), json!({"text": name})),
        ("ui.read", &window, json!({})),
        ("ui.verify", &window, json!({"conditions": [{"text": name}]})),
        ("ui.wait", &window, json!({"text": name})),
        ("menu.list", &window, json!({"path": [format!("File {secret}")]})),
    ] {
        sweep.ask(op, target, input, Mark).await;
    }
    sweep.ask("ui.find", &window, json!({"text": "nothing of the kind", "near": name}), Anything).await;
    let field = sweep.element(&window, "text field").await;
    let inspected = sweep.ask("ui.inspect", &field, json!({}), Mark).await;
    let line = inspected["element"].as_str().expect("a line");
    let bounds = line.rsplit_once('[').and_then(|(_, rest)| rest.split_once(']')).expect("bounds").0;
    let bounds: Vec<i32> = bounds.split(' ').map(|it| it.parse().expect("a number")).collect();
    let point = json!({"x": bounds[0] + bounds[2] / 2, "y": bounds[1] + bounds[3] / 2});
    sweep.ask("ui.element_at", &window, point, Mark).await;
    for (start, op, input, shows) in [
        ("text field", "ui.get_value", json!({}), Mark),
        ("text field", "ui.focus", json!({}), Mark),
        ("text field", "ui.action", json!({"name": "no such action"}), Refusal),
        ("combo box", "ui.select", json!({"item": format!("Two {secret}")}), Mark),
        ("combo box", "ui.select", json!({"item": format!("Three {secret}")}), Refusal),
        ("button", "ui.scroll_to", json!({}), Mark),
        ("button", "ui.press", json!({}), Mark),
        ("button", "ui.action", json!({"name": "click"}), Mark),
        ("toggle button", "ui.expand", json!({"open": true}), Mark),
    ] {
        let element = sweep.element(&window, start).await;
        sweep.ask(op, &element, input, shows).await;
    }
    let field = sweep.element(&window, "text field").await;
    let (id, snapshot) = field.split_once('@').expect("an id");
    let path = [format!("File {secret}"), format!("Print {secret}")];
    sweep.ask("menu.select", snapshot, json!({"path": path}), Mark).await;
    sweep.ask("menu.select", snapshot, json!({"path": [path[0], "Open"]}), Refusal).await;
    // What was there is shown as it was, and what is set is read back.
    sweep.ask("ui.set_value", &field, json!({"value": format!("<{secret}>")}), Mark).await;
    sweep.ask("ui.type", &field, json!({"text": format!("<{secret}>"), "submit": true}), Mark).await;
    sweep.ask("ui.context", &window, json!({}), Mark).await;
    let level = sweep.element(&window, "slider").await;
    sweep.ask("ui.step", &level, json!({"by": 1}), Mark).await;
    sweep.ask("ui.step", &level, json!({"by": 1_000}), Refusal).await;
    let notes = sweep.element(&window, "text field \"Notes").await;
    sweep.ask("ui.scroll", &notes, json!({"direction": "down"}), Anything).await;
    let fields = json!([{"element": id, "value": secret}]);
    sweep.ask("ui.fill", snapshot, json!({"fields": fields}), Mark).await;
}

async fn dialogs_are_used(sweep: &mut Sweep, desktop: &mut Desktop) {
    use Shows::{Anything, Mark, Refusal};
    desktop.change("dialog");
    let window = desktop.window();
    let (secret, title) = (sweep.secret, format!("Ask {}", sweep.secret));
    let is_there = || {
        let windows = desktop.server.displays().list().expect("a listing").windows;
        windows.iter().any(|it| it.title == title && it.mapped)
    };
    eventually("the dialog is there", is_there);
    let listed = sweep.ask("dialog.list", &window, json!({}), Mark).await;
    let snapshot = listed["dialogs"][0]["snapshot"].as_str().unwrap_or_else(|| panic!("{listed:#}"));
    sweep.ask("dialog.input", snapshot, json!({"text": "Report"}), Mark).await;
    sweep.ask("dialog.press", snapshot, json!({"button": secret}), Refusal).await;
    sweep.ask("dialog.press", snapshot, json!({"button": format!("Save {secret}")}), Mark).await;
    sweep.ask("dialog.dismiss", snapshot, json!({}), Anything).await;
    eventually("the dialog is gone", || !is_there());
}

async fn an_icon_is_used(sweep: &mut Sweep, desktop: &Desktop) {
    use Shows::{Anything, Mark, Refusal};
    let icon = desktop.icon().expect("an icon").to_owned();
    sweep.ask("tray.list", "", json!({}), Mark).await;
    sweep.ask("tray.list", &icon, json!({}), Mark).await;
    sweep.ask("tray.select", &icon, json!({"path": [format!("Online{}", sweep.secret)]}), Anything).await;
    sweep.ask("tray.select", &icon, json!({"path": [sweep.secret]}), Refusal).await;
    sweep.ask("tray.select", sweep.secret, json!({}), Refusal).await;
}

async fn the_clipboard_is_used(sweep: &mut Sweep, desktop: &Desktop) {
    use Shows::{Anything, Mark};
    let window = desktop.window();
    let text = format!("<{}>", sweep.secret);
    sweep.ask("clipboard.set", "", json!({"text": text}), Anything).await;
    sweep.ask("clipboard.get", "", json!({}), Mark).await;
    sweep.ask("clipboard.save", "", json!({}), Anything).await;
    sweep.ask("clipboard.clear", "", json!({}), Anything).await;
    sweep.ask("clipboard.restore", "", json!({}), Anything).await;
    // The dialog had the keyboard.
    sweep.ask("window.focus", &window, json!({}), Anything).await;
    let field = sweep.element(&window, "text field").await;
    sweep.ask("ui.focus", &field, json!({}), Mark).await;
    desktop.rest();
    let paste = json!({"scope": "app", "op": "clipboard.paste", "target": window, "input": {"text": text},
        "options": {"foreground": true}});
    sweep.send(paste, Anything).await;
    let in_uri = sweep.secret.replace('"', "%22").replace('\\', "%5C").replace(' ', "%20");
    let files = json!([format!("file:///home/me/{in_uri}.txt")]);
    sweep.ask("clipboard.set", "", json!({"files": files}), Anything).await;
    sweep.ask("clipboard.get", "", json!({}), Mark).await;
}

/// Chooses a file in a dialog whose accepting button is called so.
async fn a_file_is_chosen(sweep: &mut Sweep) {
    const PROGRAM: &str = r#"
import os
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
dialog = Gtk.FileChooserDialog(title="Open it", action=Gtk.FileChooserAction.OPEN)
dialog.add_buttons("Cancel", Gtk.ResponseType.CANCEL, "Open " + os.environ["DEPLOY_TOKEN"], Gtk.ResponseType.ACCEPT)
dialog.connect("response", lambda it, _: it.hide())
dialog.show()
Gtk.main()
"#;
    for (name, content) in [("dialog.py", PROGRAM), ("notes.txt", "hello")] {
        sweep.host.write(name, content);
    }
    private::create(&sweep.host).await;
    let process = private::launch(&sweep.host, "dialog.py").await;
    let snapshot = file_dialogs::dialog(&sweep.host, "Open it", &process).await;
    sweep.send(file_dialogs::file(&snapshot, "notes.txt", "open"), Shows::Mark).await;
}

async fn no_answer_shows_a_secret(mode: &str, mark: &'static str) {
    for secret in SECRETS {
        let mut desktop = Desktop::start("named", secret);
        let _manager = desktop.server.manage();
        let scope = json!({
            "id": "app", "type": "computer",
            "capabilities": [
                "ui:read", "ui:control", "window:read", "window:control", "clipboard:read", "clipboard:write",
                "input:control",
            ],
            "policy": policy(mode, secret),
        });
        let host = TestScope::new().with_scopes(&[scope]).with_sources(desktop.sources()).host();
        let mut sweep = Sweep { host, mark, secret, answered: BTreeSet::new() };
        windows_are_used(&mut sweep, &desktop).await;
        dialogs_are_used(&mut sweep, &mut desktop).await;
        an_icon_is_used(&mut sweep, &desktop).await;
        the_clipboard_is_used(&mut sweep, &desktop).await;
        sweep.ask("window.close", &desktop.window(), json!({}), Shows::Anything).await;

        sweep.host = private::scope().with_policy(policy(mode, secret)).host();
        a_file_is_chosen(&mut sweep).await;

        let registry = Registry::new(FAMILIES);
        let missing: Vec<&str> = registry
            .operations()
            .filter(|entry| entry.alias_of.is_none())
            .map(|entry| entry.spec.name)
            .filter(|name| SWEPT.contains(&name.split('.').next().unwrap_or_default()))
            .filter(|name| !sweep.answered.contains(*name))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_about_windows_shows_a_secret_where_handles_stand_for_them() {
    if lacks_full_sandbox() {
        return report_left_out("a full sandbox");
    }
    no_answer_shows_a_secret("handles", "{{secret:").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_about_windows_shows_a_secret_where_they_are_redacted() {
    if lacks_full_sandbox() {
        return report_left_out("a full sandbox");
    }
    no_answer_shows_a_secret("redact", "[redacted:secret:").await;
}
