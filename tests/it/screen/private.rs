//! Private displays: real programs with windows on displays of their own, and what they cannot reach.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Instant;

use bailiwick::contract::{Caller, Transport};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use support::needs::{lacks_full_sandbox, require_program};
use support::patience::{PATIENCE, eventually, eventually_async, eventually_some};
use support::scope::TestScope;
use support::screen::XServer;
use support::service::{TestService, lives};
use support::temporary::TemporaryFolder;

pub(super) const CAPABILITIES: &[&str] = &[
    "fs:read",
    "fs:write",
    "command:run",
    "process:manage",
    "history:read",
    "display:manage",
    "app:control",
    "screen:capture",
    "ui:read",
    "ui:control",
    "window:read",
    "window:control",
    "input:control",
    "clipboard:read",
    "clipboard:write",
];

/// A window with a button that writes a file when it is pressed.
const WINDOW: &str = r#"
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window = Gtk.Window(title="Play")
button = Gtk.Button(label="Save")
button.connect("clicked", lambda _: open("pressed", "w").write("yes"))
window.add(button)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
"#;

pub fn scope() -> TestScope {
    for program in ["Xvfb", "openbox", "dbus-daemon"] {
        require_program(program);
    }
    let policy = json!({
        "allowedCommands": ["python3 *"], "allowDisplays": true, "allowWindows": true, "visibleInput": "allow",
    });
    TestScope::new().with_capabilities(CAPABILITIES).with_policy(policy).with_copy("other")
}

pub async fn create(host: &TestService) -> String {
    let made = host.data(json!({"op": "display.create", "input": {"width": 640, "height": 480}})).await;
    made["display"].as_str().expect("a display").to_owned()
}

pub async fn launch(host: &TestService, script: &str) -> String {
    let launched = host.data(json!({"op": "app.launch", "input": {"command": ["python3", script]}})).await;
    launched["processId"].as_str().expect("a process").to_owned()
}

/// Waits for the window of a title, and returns its id.
pub async fn window(host: &TestService, title: &str, process: &str) -> String {
    let began = Instant::now();
    loop {
        let listed = host.data(json!({"op": "window.list"})).await;
        let windows = listed["windows"].as_array().expect("windows");
        if let Some(found) = windows.iter().find(|it| it["title"] == title) {
            return found["window"].as_str().expect("an id").to_owned();
        }
        let read = host.read(process, json!({})).await;
        assert_eq!(read["status"], "running", "{read:#}");
        assert!(
            began.elapsed() < *PATIENCE,
            "a window `{title}`, not within {:?}: {listed:#} {read:#}",
            *PATIENCE
        );
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Returns the line of the element that contains a text, once its program shows it.
async fn element(host: &TestService, window: &str, text: &str) -> String {
    let began = Instant::now();
    loop {
        let seen = host.send(json!({"op": "ui.see", "target": window})).await;
        let lines = seen["data"]["elements"].as_array().cloned().unwrap_or_default();
        let found = lines.iter().filter_map(Value::as_str).find(|line| line.contains(text));
        if let Some(line) = found {
            let id = line.split(' ').next().expect("an id");
            return format!("{id}@{}", seen["data"]["snapshot"].as_str().expect("a snapshot"));
        }
        assert!(began.elapsed() < *PATIENCE, "an element {text}, not within {:?}: {seen:#}", *PATIENCE);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Returns whether an X server runs with this display.
fn serves(display: &str) -> bool {
    server_words(display).is_some()
}

/// Returns the words of the command line of the X server that has this display.
pub fn server_words(display: &str) -> Option<Vec<String>> {
    let folder = std::fs::read_dir("/proc").expect("processes");
    let mut all = folder.filter_map(Result::ok).map(|entry| {
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    });
    all.find(|words: &Vec<String>| {
        words.first().is_some_and(|name| name.ends_with("Xvfb"))
            && words.get(1).is_some_and(|it| it == display)
    })
}

/// Starts a private display by the command line.
fn create_by_cli(scope: &TestScope) -> String {
    let made = scope.cli(&["call", "display.create", "--scope", "app"]);
    made["data"]["display"].as_str().unwrap_or_else(|| panic!("{made:#}")).to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_on_a_private_display_is_seen_pressed_and_ended_with_it() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope().host();
    host.write("window.py", WINDOW);
    let refused =
        host.send(json!({"op": "app.launch", "input": {"command": ["python3", "window.py"]}})).await;
    assert_eq!(refused["error"]["code"], "not_found", "{refused:#}");
    let display = create(&host).await;
    assert!(serves(&display));
    let process = launch(&host, "window.py").await;
    let shown = window(&host, "Play", &process).await;
    assert!(shown.starts_with(&format!("{display}/")), "{shown}");
    let save = element(&host, &shown, "\"Save\"").await;
    let pressed = host.data(json!({"op": "ui.press", "target": save})).await;
    eventually("the program does what was pressed", || host.path("pressed").exists());
    assert!(pressed["effect"].is_string(), "{pressed:#}");
    let taken = host.send(json!({"op": "screen.capture", "target": display})).await;
    assert_eq!(taken["ok"], true, "{taken:#}");
    host.data(json!({"op": "clipboard.set", "input": {"text": "of this display"}})).await;
    let got = host.data(json!({"op": "display.get", "target": display})).await;
    assert_eq!(got["processes"], json!([process]), "{got:#}");
    let released = host.data(json!({"op": "display.release", "target": display})).await;
    assert_eq!(released["ended"], 1, "{released:#}");
    assert!(!serves(&display));
    assert_eq!(host.data(json!({"op": "display.list"})).await["displays"], json!([]));
    assert_ne!(host.read(&process, json!({})).await["status"], "running");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_on_a_private_display_reaches_the_display_and_the_bus_of_the_user() {
    if lacks_full_sandbox() {
        return;
    }
    let own = XServer::start();
    let client = own.client();
    let _own_window = client.window(bailiwick::platform::screen::Rect::new(0, 0, 50, 50), 0x20_40_60);
    let folder = TemporaryFolder::new();
    let bus = folder.path().join("bus");
    let _bus = UnixListener::bind(&bus).expect("a socket of the test");
    let desk = json!({
        "id": "desk", "type": "computer", "capabilities": ["window:read"], "policy": {"allowWindows": true},
    });
    let host = scope().with_scope(desk).with_sources(own.sources()).host();
    let display = create(&host).await;
    let script = format!(
        "import os, socket\ndef reaches(path):\n    try:\n        socket.socket(socket.AF_UNIX).connect(path)\n        return True\n\
         \x20   except OSError:\n        return False\n\
         print(os.listdir('/tmp/.X11-unix'), reaches({:?}), reaches('\\0' + {:?}), reaches({:?}), \
         reaches('/tmp/.X11-unix/X' + os.environ['DISPLAY'][1:]), flush=True)\n",
        own.socket(),
        own.socket(),
        bus
    );
    host.write("reach.py", script);
    let process = launch(&host, "reach.py").await;
    let printed = host.over(&process).await;
    let expected = format!("['X{}'] False False False True\n", &display[1..]);
    assert_eq!(printed["stdout"], expected, "{printed:#}");
    // Neither side lists the other's.
    let ids = async |scope: &str| {
        let listed = host.data(json!({"scope": scope, "op": "window.list"})).await;
        let displays = listed["displays"].as_array().expect("displays").clone();
        displays.into_iter().map(|it| it["display"].as_str().expect("an id").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("app").await, [display.as_str()]);
    assert_eq!(ids("desk").await, [own.id()]);
    let taken = host.send(json!({"op": "screen.capture", "target": own.id()})).await;
    assert_eq!(taken["error"]["code"], "not_found", "{taken:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_display_is_its_callers_alone_and_there_are_only_so_many() {
    let host = scope().host();
    let display = create(&host).await;
    let stranger = host.caller_with_token("stranger");
    let local = Caller::local(Transport::Stdio);
    for (caller, scope) in [(&stranger, "app"), (&local, "other")] {
        for op in ["display.get", "display.release"] {
            let answer = host.send_as(caller, json!({"scope": scope, "op": op, "target": display})).await;
            assert_eq!(answer["error"]["code"], "not_found", "{op} {scope}: {answer:#}");
        }
        let answer =
            host.send_as(caller, json!({"scope": scope, "op": "screen.capture", "target": display})).await;
        assert_eq!(answer["ok"], false, "{answer:#}");
        let answer = host.send_as(caller, json!({"scope": scope, "op": "display.list"})).await;
        assert_eq!(answer["data"]["displays"], json!([]), "{answer:#}");
        let input = json!({"command": ["python3", "-c", "pass"], "display": display});
        let answer = host.send_as(caller, json!({"scope": scope, "op": "app.launch", "input": input})).await;
        assert_eq!(answer["error"]["code"], "not_found", "{answer:#}");
    }
    create(&host).await;
    let answer = host.send(json!({"op": "display.create"})).await;
    assert_eq!(answer["error"]["details"]["rule"], "max-displays", "{answer:#}");
    assert!(serves(&display));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_path_that_is_too_long_for_a_bus_is_said_so_at_once() {
    let scope = scope();
    let home = scope.beside("h".repeat(80));
    let host = scope.with_home(home).host();
    let answer = host.send(json!({"op": "display.create"})).await;
    assert_eq!(answer["error"]["code"], "provider_unavailable", "{answer:#}");
    let message = answer["error"]["message"].as_str().expect("text");
    assert!(message.contains("of which 99 are possible") && !message.contains("hhh"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_display_ends_with_its_time_and_with_its_scope() {
    let host = scope().host();
    let lasting = create(&host).await;
    let short = host.data(json!({"op": "display.create", "options": {"maxRunSeconds": 1}})).await;
    let short = short["display"].as_str().expect("a display").to_owned();
    eventually_async("the display ends with its time", || !serves(&short)).await;
    assert!(serves(&lasting));
    let mut config = (*host.service.facts().config).clone();
    config.scopes.retain(|scope| scope.id != "app");
    host.service.reload(config).expect("a config");
    eventually_async("the display ends with its scope", || !serves(&lasting)).await;
}

#[test]
fn a_display_ends_with_a_killed_service() {
    let scope = scope().with_config_file().save();
    let service = scope.serve();
    let display = create_by_cli(&scope);
    assert!(serves(&display));
    let id = i32::try_from(service.0.id()).expect("a process id");
    kill_process(Pid::from_raw(id).expect("not 0"), Signal::KILL).expect("it is ours");
    eventually("the display ends with the service", || !serves(&display));
    // It was killed, too, and its socket's name and its lock are still there.
    let number = &display[1..];
    let left = [format!("/tmp/.X11-unix/X{number}"), format!("/tmp/.X{number}-lock")];
    // Its command line is gone before its process is, and until then what it leaves is its own.
    let server = std::fs::read_to_string(&left[1]).expect("its lock").trim().parse().expect("a process id");
    eventually("the server has ended", || !lives(server));
    let is_left = || left.iter().filter(|it| Path::new(it).exists()).count();
    assert_eq!(is_left(), 2);
    let _service = scope.serve();
    assert_eq!(is_left(), 0);
    let folder = scope.dirs.runtime.join("displays");
    let names = std::fs::read_dir(&folder).expect("it is there").map(|it| it.expect("an entry").file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["locks"]);
}

#[test]
fn what_the_user_is_shown_of_displays_leaves_private_ones_out() {
    let desk = json!({
        "id": "desk", "type": "computer", "capabilities": ["screen:capture"], "policy": {"allowDisplays": true},
    });
    let scope = scope().with_scope(desk).with_config_file().save();
    let _service = scope.serve();
    let display = create_by_cli(&scope);
    let server = server_words(&display).expect("the server runs");
    let cookie = server.iter().skip_while(|word| *word != "-auth").nth(1).expect("it has a cookie");
    let printed = |words: &[&str], is_named: bool| {
        let mut command = scope.command(words);
        if is_named {
            command.env("DISPLAY", &display).env("XAUTHORITY", cookie);
        }
        let output = command.output().expect("the program runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // As a display of others that cannot be read, and as one that the environment names.
    for is_named in [false, true] {
        let status = printed(&["screen", "status"], is_named);
        let is_listed = status.lines().any(|line| line.starts_with(&format!("  {display} ")));
        assert!(status.starts_with("Displays: ") && !is_listed, "{status}");
        for words in [&["doctor", "--json"][..], &["doctor", "--prove", "--json"]] {
            let printed = printed(words, is_named);
            let is_looked_at = [format!("can be read: {display}"), format!(" on {display}, ")];
            assert!(printed.contains("creen"), "{words:?}: {printed}");
            assert!(!is_looked_at.iter().any(|it| printed.contains(it)), "{words:?}: {printed}");
        }
    }
}

/// A window that is closed at once, or asks first.
const ASKS: &str = r#"
import gi, os
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
open("starts", "a").write("x")
window = Gtk.Window(title="Play")

def ask(*_):
    if os.path.exists("saved"):
        return False
    dialog = Gtk.Dialog(title="Save first?", transient_for=window, modal=True)
    dialog.add_button("Cancel", Gtk.ResponseType.CANCEL)
    dialog.connect("response", lambda it, _: it.destroy())
    dialog.show_all()
    return True

window.connect("delete-event", ask)
window.connect("destroy", Gtk.main_quit)
window.show_all()
Gtk.main()
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_is_started_again_only_once_it_has_ended_and_as_the_policy_is_then() {
    if lacks_full_sandbox() {
        return;
    }
    let host = scope().host();
    host.write("asks.py", ASKS);
    let display = create(&host).await;
    let process = launch(&host, "asks.py").await;
    window(&host, "Play", &process).await;
    let relaunch = |process: &str| json!({"op": "app.relaunch", "input": {"process": process}});
    let starts = || std::fs::read_to_string(host.path("starts")).unwrap_or_default().len();

    let blocked = host.data(relaunch(&process)).await;
    assert_eq!(blocked["state"], "blocked_by_dialog", "{blocked:#}");
    assert!(blocked["started"].is_null() && blocked["windows"][0]["dialog"].is_string(), "{blocked:#}");
    assert_eq!((host.read(&process, json!({})).await["status"].clone(), starts()), (json!("running"), 1));

    host.write("saved", "");
    host.write("sub/file", "");
    let elsewhere = json!({"op": "app.relaunch", "target": "sub", "input": {"process": process}});
    assert_eq!(host.code(elsewhere).await, "invalid_request");
    let stranger = host.caller_with_token("stranger");
    let mut by_stranger = relaunch(&process);
    by_stranger["scope"] = json!("app");
    let answer = host.send_as(&stranger, by_stranger).await;
    assert_eq!(answer["error"]["code"], "not_found", "{answer:#}");
    let mut planned = relaunch(&process);
    planned["options"] = json!({"dryRun": true});
    assert_eq!(host.data(planned).await["state"], "planned");
    assert_eq!(starts(), 1);

    let shown = window(&host, "Play", &process).await;
    let dialogs = host.data(json!({"op": "dialog.list", "target": shown})).await;
    let snapshot = dialogs["dialogs"][0]["snapshot"].as_str().unwrap_or_else(|| panic!("{dialogs:#}"));
    host.data(json!({"op": "dialog.dismiss", "target": snapshot})).await;
    let again = host.data(relaunch(&process)).await;
    assert_eq!(again["state"], "relaunched", "{again:#}");
    let second = again["started"]["processId"].as_str().expect("a process").to_owned();
    assert_ne!(second, process);
    assert_ne!(host.read(&process, json!({})).await["status"], "running");
    window(&host, "Play", &second).await;
    assert_eq!(starts(), 2);
    let got = host.data(json!({"op": "display.get", "target": display})).await;
    assert_eq!(got["processes"], json!([process, second]), "{got:#}");

    // What is not permitted any more is not started, and nothing is closed for it.
    let mut config = (*host.service.facts().config).clone();
    let scope = config.scopes.iter_mut().find(|scope| scope.id == "app").expect("the scope");
    scope.policy.allowed_commands.clear();
    host.service.reload(config).expect("a config");
    let refused = host.send(relaunch(&second)).await;
    assert_eq!(refused["error"]["code"], "permission_denied", "{refused:#}");
    assert_eq!(host.read(&second, json!({})).await["status"], "running");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_opened_with_the_program_of_the_system_which_is_judged_as_if_it_was_named() {
    if lacks_full_sandbox() {
        return;
    }
    // It says that it opens texts.
    require_program("l3afpad");
    let host = scope().host();
    create(&host).await;
    host.write("a note;%f.txt", "first line\n");
    host.write(".env", "KEY=1");
    std::os::unix::fs::symlink("/etc/hostname", host.path("out.txt")).expect("a link");
    let open = |input: Value| json!({"op": "app.open", "input": input});
    let note = || open(json!({"path": "a note;%f.txt"}));
    // The scope allows `python3 *`: the program that was found counts, and not who found it.
    let refused = host.send(note()).await;
    assert_eq!(refused["error"]["code"], "permission_denied", "{refused:#}");
    assert!(refused.to_string().contains("l3afpad"), "{refused:#}");
    let mut config = (*host.service.facts().config).clone();
    let scope = config.scopes.iter_mut().find(|scope| scope.id == "app").expect("the scope");
    scope.policy.allowed_commands = serde_json::from_value(json!(["l3afpad *"])).expect("rules");
    host.service.reload(config).expect("a config");
    let mut planned = note();
    planned["options"] = json!({"dryRun": true});
    let planned = host.data(planned).await;
    assert_eq!((&planned["handler"], &planned["status"]), (&json!("l3afpad.desktop"), &json!("planned")));
    for (input, code) in [
        (json!({"path": ".env"}), "permission_denied"),
        (json!({"path": "../other"}), "path_out_of_scope"),
        (json!({"path": "out.txt"}), "path_out_of_scope"),
        (json!({"path": "missing.txt"}), "not_found"),
        (json!({"url": "file:///etc/passwd"}), "invalid_request"),
        (json!({"url": "https://example.org/ --no-sandbox"}), "invalid_request"),
        (json!({"path": "a note;%f.txt", "url": "https://example.org/"}), "invalid_request"),
        (json!({}), "invalid_request"),
    ] {
        let answer = host.send(open(input.clone())).await;
        assert_eq!(answer["error"]["code"], code, "{input}: {answer:#}");
    }
    let opened = host.data(note()).await;
    assert_eq!((&opened["handler"], &opened["mimeType"]), (&json!("l3afpad.desktop"), &json!("text/plain")));
    eventually_some("the note is shown", async || {
        let listed = host.data(json!({"op": "window.list"})).await;
        listed.to_string().contains("a note;%f.txt").then_some(())
    })
    .await;
}
