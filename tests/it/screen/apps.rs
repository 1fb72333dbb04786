//! Applications on a real display with a window manager: which there are, and what is done to all windows of one.

use std::process::{Command, Stdio};

use bailiwick::platform::screen::Rect;
use serde_json::{Value, json};

use super::scope::{ScreenScope, refusal};
use support::patience::{eventually, eventually_some};
use support::screen::{XServer, window_id};
use support::service::{Program, data};

/// A program of its own, with two windows; one of them is not closed when it is asked to.
const EDITOR: &str = r#"
import gi
gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, GLib, Gtk
Gdk.set_program_class("Editor")
for title in ("Stubborn", "Draft"):
    window = Gtk.Window(title=title)
    window.set_default_size(200, 100)
    if title == "Stubborn":
        window.connect("delete-event", lambda *_: True)
    window.show_all()
Gtk.main()
"#;

fn editor(server: &XServer) -> Program {
    let program = Command::new("/usr/bin/python3")
        .args(["-c", EDITOR])
        .env_clear()
        .env("DISPLAY", server.id())
        .env("XAUTHORITY", server.sources().authority.expect("a cookie"))
        .env("HOME", "/nonexistent")
        .env("LC_ALL", "C.UTF-8")
        .env("GDK_BACKEND", "x11")
        .env("NO_AT_BRIDGE", "1")
        .env("GSETTINGS_BACKEND", "memory")
        .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let program =
        Program(program.expect("Python starts (on Debian: apt-get install python3-gi gir1.2-gtk-3.0)"));
    eventually("both windows are there", || {
        let windows = server.displays().list().expect("a listing").windows;
        ["Stubborn", "Draft"].iter().all(|title| windows.iter().any(|it| it.title == *title && it.mapped))
    });
    program
}

async fn app(desk: &ScreenScope, verb: &str, target: &str) -> Value {
    data(&desk.act(&format!("app.{verb}"), Some(target), json!({}), json!({})).await).clone()
}

async fn listed(desk: &ScreenScope, name: &str) -> Value {
    let answer = desk.act("app.list", None, json!({}), json!({})).await;
    let apps = data(&answer)["apps"].as_array().expect("a list").clone();
    apps.into_iter().find(|app| app["app"] == name).unwrap_or(Value::Null)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_windows_of_an_app_are_put_away_brought_back_and_closed_and_no_program_is_killed() {
    let server = XServer::start();
    let _manager = server.manage();
    let client = server.client();
    let notes = client.managed(Rect::new(100, 60, 300, 200), "Notes", false);
    let editor_program = editor(&server);
    let desk = ScreenScope::controlling(&server, json!({}));
    let editor = listed(&desk, "Editor").await;
    let id = editor["id"].as_str().expect("an id").to_owned();
    assert_eq!(id, format!("editor:{}", editor_program.0.id()));
    assert_eq!(
        (&editor["pid"], editor["windows"].as_array().map(Vec::len)),
        (&json!(editor_program.0.id()), Some(2))
    );
    let painter = listed(&desk, "Painter").await["id"].as_str().expect("an id").to_owned();

    for (target, name) in [(id.as_str(), "Editor"), (&window_id(&server, notes), "Painter")] {
        let done = app(&desk, "activate", target).await;
        assert_eq!(
            (&done["effect"], done["windows"].as_array().map(Vec::len)),
            (&json!("confirmed"), Some(1)),
            "{done}"
        );
        let front = desk.act("app.frontmost", None, json!({}), json!({})).await;
        assert_eq!(data(&front)["app"]["app"], name, "{front}");
    }
    let judged = desk.act("app.hide", Some(&id), json!({}), json!({"dryRun": true})).await;
    assert_eq!((&data(&judged)["dryRun"], &data(&judged)["effect"]), (&json!(true), &Value::Null));
    let done = app(&desk, "hide", &id).await;
    assert_eq!(
        (&done["effect"], done["windows"].as_array().map(Vec::len)),
        (&json!("confirmed"), Some(2)),
        "{done}"
    );
    assert_eq!(listed(&desk, "Editor").await["hidden"], true);
    assert_eq!(listed(&desk, "Painter").await["hidden"], Value::Null, "no other is put away");
    let done = app(&desk, "hide", &id).await;
    assert_eq!((&done["effect"], &done["windows"]), (&Value::Null, &json!([])), "nothing is left to do");
    let done = app(&desk, "unhide", &id).await;
    assert_eq!(done["effect"], "confirmed", "{done}");
    assert_eq!(listed(&desk, "Editor").await["hidden"], Value::Null);

    // One window does not close: its program lives on, and so does what it has.
    let done = app(&desk, "quit", &id).await;
    assert!(["partial", "suspected_noop"].contains(&done["effect"].as_str().expect("an effect")), "{done}");
    let left = listed(&desk, "Editor").await;
    assert!(left["windows"].as_array().is_some_and(|it| !it.is_empty()), "{left}");
    let done = app(&desk, "quit", &painter).await;
    assert_eq!(done["effect"], "confirmed", "{done}");
    assert_eq!(listed(&desk, "Painter").await, Value::Null);
    let gone = desk.act("app.activate", Some(&painter), json!({}), json!({})).await;
    assert_eq!(refusal(&gone).0, "not_found", "{gone}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_that_the_scope_does_not_show_are_of_no_app() {
    let server = XServer::start();
    let _manager = server.manage();
    let client = server.client();
    let notes = client.managed(Rect::new(100, 60, 300, 200), "Notes", true);
    let _editor = editor(&server);
    let desk =
        ScreenScope::controlling(&server, json!({"deniedWindows": [{"title": "Draft"}, {"title": "Notes"}]}));
    let answer = desk.act("app.list", None, json!({}), json!({})).await;
    let apps = data(&answer)["apps"].as_array().expect("a list");
    assert_eq!((apps.len(), &data(&answer)["withheld"]), (1, &json!(2)), "{answer}");
    let shown = apps[0]["windows"].as_array().expect("windows");
    assert_eq!((&apps[0]["app"], shown.len()), (&json!("Editor"), 1), "{answer}");
    let done = app(&desk, "hide", apps[0]["id"].as_str().expect("an id")).await;
    assert_eq!(done["effect"], "confirmed", "{done}");
    let hidden = desk.act("app.quit", Some(&window_id(&server, notes)), json!({}), json!({})).await;
    assert_eq!(refusal(&hidden).0, "not_found", "{hidden}");
    let windows = server.displays().list().expect("a listing").windows;
    for title in ["Draft", "Notes"] {
        assert!(windows.iter().any(|it| it.title == title && it.mapped), "`{title}` is as it was");
    }
    // The window manager gives the keyboard to one of the others.
    eventually_some("a hidden window has the focus", async || {
        let front = desk.act("app.frontmost", None, json!({}), json!({})).await;
        (*data(&front) == json!({"withheld": true})).then_some(())
    })
    .await;
}
