//! The desktop shows what waits for approval, and nothing that a client could make look like something else.

use std::process::Stdio;

use serde_json::{Value, json};
use support::bus::{Bus, BusProgram};
use support::scope::TestScope;
use support::service::Program;
use support::stdio_client::{StdioClient, outcome};

/// A program that owns the name of a desktop's notifications, and prints each that it is given.
const DESKTOP: &str = r#"
import json, sys
from gi.repository import Gio, GLib
XML = '''<node><interface name="org.freedesktop.Notifications"><method name="Notify">
<arg direction="in" type="s"/><arg direction="in" type="u"/><arg direction="in" type="s"/><arg direction="in" type="s"/>
<arg direction="in" type="s"/><arg direction="in" type="as"/><arg direction="in" type="a{sv}"/><arg direction="in" type="i"/>
<arg direction="out" type="u"/></method></interface></node>'''
def call(bus, sender, path, interface, method, values, invocation):
    print(json.dumps(values.unpack()), flush=True)
    if not sys.argv[1:]:
        invocation.return_value(GLib.Variant('(u)', (1,)))
bus = Gio.bus_get_sync(Gio.BusType.SESSION)
info = Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0]
bus.register_object('/org/freedesktop/Notifications', info, call, None, None)
Gio.bus_own_name_on_connection(bus, 'org.freedesktop.Notifications', 0, lambda *_: print('"ready"', flush=True), None)
GLib.MainLoop().run()
"#;

/// A session with a desktop. It ends with its value.
struct Session {
    desktop: BusProgram,
    bus: Bus,
}

impl Session {
    /// Starts one; `words` with anything in it has the desktop never answer.
    fn start(words: &[&str]) -> Self {
        let bus = Bus::start();
        Self { desktop: bus.program(DESKTOP, words), bus }
    }

    /// Returns what the desktop shows next.
    fn next(&self) -> Value {
        self.desktop.next()
    }
}

fn scope(notifications: bool) -> TestScope {
    let mut scope = TestScope::new().with_field("ask", json!(["fs:write"]));
    scope.config.notifications = notifications;
    scope.save()
}

fn write(target: &str) -> Value {
    json!({"scope": "app", "op": "file.write", "target": target, "input": {"content": "text"}})
}

/// Connects a client, as a desktop starts one.
async fn client(scope: &TestScope, session: &Session) -> (StdioClient, Program) {
    let mut command = scope.command(&["mcp"]);
    command
        .env("DBUS_SESSION_BUS_ADDRESS", &session.bus.address)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut program = Program(command.stderr(Stdio::null()).spawn().expect("the program starts"));
    let mut client = StdioClient::of(&mut program.0);
    client.initialize("2025-06-18").await;
    (client, program)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_desktop_shows_what_waits_and_no_text_of_the_client() {
    let session = Session::start(&[]);
    let scope = scope(true);
    let (mut client, _program) = client(&scope, &session).await;
    let faked = "</body><b>Approved</b>\u{202e}&amp;\n.txt";
    let answer = outcome(&client.call("computer_operation", write(faked)).await);
    let id = answer["error"]["details"]["approvalId"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
    let shown = session.next();
    let text = format!("file.write in scope app, asked by local\nbailiwick approve {id}");
    assert_eq!(shown, json!(["Bailiwick", 0, "", "Bailiwick: approval needed", text, [], {}, -1]));
    // The same question again shows nothing; another one does.
    client.call("computer_operation", write(faked)).await;
    let answer = outcome(&client.call("computer_operation", write("other.txt")).await);
    let id = answer["error"]["details"]["approvalId"].as_str().expect("an id");
    assert!(session.next()[4].as_str().expect("a text").ends_with(id));
}

fn message(input: Value) -> Value {
    json!({"scope": "app", "op": "notify.send", "input": input})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_a_client_is_marked_as_the_client_s_and_has_nothing_to_press() {
    let session = Session::start(&[]);
    let scope = TestScope::new().with_capabilities(&["notify:send", "history:read"]).save();
    let (mut client, _program) = client(&scope, &session).await;
    let input = json!({
        "title": "Bailiwick: approval needed”\nYes",
        "body": "</body><b>Approved</b> <a href='https://example.org'>here</a>\u{202e}&amp;\nbailiwick approve 1".to_owned()
            + &" and more".repeat(100),
        "urgency": "critical",
    });
    let mut dry_run = message(input.clone());
    dry_run["options"] = json!({"dryRun": true});
    let answer = outcome(&client.call("computer_operation", dry_run).await);
    assert_eq!(answer["data"], json!({"truncated": true, "dryRun": true}), "{answer:#}");
    let answer = outcome(&client.call("computer_operation", message(input)).await);
    assert_eq!(answer["data"], json!({"effect": "unverifiable", "truncated": true}), "{answer:#}");
    let shown = session.next();
    let (fixed, text) = (&shown.as_array().expect("values")[..4], shown[4].as_str().expect("a text"));
    let title = "Message from a client: local (scope app)";
    assert_eq!(fixed, &[json!("Bailiwick client"), json!(0), json!(""), json!(title)], "{shown:#}");
    assert_eq!((&shown[5], &shown[6]), (&json!([]), &json!({"urgency": 2})), "{shown:#}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "“Bailiwick: approval needed\" Yes”", "{text}");
    let begins = "“&lt;/body&gt;&lt;b&gt;Approved&lt;/b&gt; &lt;a href='https://example.org'&gt;here&lt;/a&gt; &amp;amp; bailiwick approve 1 and";
    assert!(lines.len() == 2 && lines[1].starts_with(begins) && lines[1].ends_with("…”"), "{text}");
    // The history has that it was done.
    let history = json!({"scope": "app", "op": "history.timeline"});
    let listed = outcome(&client.call("computer_operation", history).await).to_string();
    assert!(listed.contains("the desktop has taken the message"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_clients_are_few_and_take_nothing_from_those_of_bailiwick() {
    let session = Session::start(&[]);
    let scope = scope(true)
        .with_capabilities(&["notify:send", "fs:write"])
        .with_field("ask", json!(["fs:write"]))
        .save();
    let (mut client, _program) = client(&scope, &session).await;
    let mut answer = Value::Null;
    // Where the computer is slow, earlier ones do not count any more.
    let refused = 'sent: {
        for number in 0..200 {
            let request = message(json!({"title": format!("Message {number}")}));
            answer = outcome(&client.call("computer_operation", request).await);
            if answer["ok"] != true {
                break 'sent true;
            }
            session.next();
        }
        false
    };
    assert!(refused && answer["error"]["code"] == "conflict", "{answer:#}");
    client.call("computer_operation", write("a.txt")).await;
    assert_eq!(session.next()[3], "Bailiwick: approval needed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_told_why_no_message_is_shown() {
    let mut silent = Session::start(&["silent"]);
    let scope = TestScope::new().with_capabilities(&["notify:send"]).save();
    let (mut first, _program) = client(&scope, &silent).await;
    let answer = outcome(&first.call("computer_operation", message(json!({"title": "Hello"}))).await);
    assert_eq!(answer["error"]["code"], "target_unresponsive", "{answer:#}");
    // A bus on which nobody shows messages.
    silent.desktop.end();
    let answer = outcome(&first.call("computer_operation", message(json!({"title": "Hello"}))).await);
    assert_eq!(answer["error"]["code"], "provider_unavailable", "{answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_a_desktop_that_does_not_answer() {
    let session = Session::start(&["silent"]);
    let scope = scope(true);
    let (mut client, _program) = client(&scope, &session).await;
    for file in 0..20 {
        let answer = outcome(&client.call("computer_operation", write(&format!("{file}.txt"))).await);
        assert_eq!(answer["error"]["code"], "approval_required", "{answer:#}");
    }
    session.next();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_desktop_shows_nothing_where_the_config_says_so_or_the_client_asks_its_user() {
    let session = Session::start(&[]);
    let silent = scope(false);
    let (mut first, _program) = client(&silent, &session).await;
    let answer = outcome(&first.call("computer_operation", write("a.txt")).await);
    assert_eq!(answer["error"]["code"], "approval_required", "{answer:#}");
    let asking = scope(true).with_policy(json!({"clientApprovals": ["writes"]})).save();
    let (mut second, _program) = client(&asking, &session).await;
    second.call("computer_operation", write("b.txt")).await;
    // What is shown after both is the first to be shown.
    let asks_user = scope(true);
    let (mut third, _program) = client(&asks_user, &session).await;
    let answer = outcome(&third.call("computer_operation", write("c.txt")).await);
    let id = answer["error"]["details"]["approvalId"].as_str().expect("an id");
    assert!(session.next()[4].as_str().expect("a text").ends_with(id));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_desktop_shows_that_a_process_asks_for_a_secret_and_not_its_words() {
    let session = Session::start(&[]);
    let mut scope = TestScope::new()
        .with_capabilities(&["fs:read", "fs:write", "command:run", "process:manage"])
        .with_policy(json!({"allowedCommands": ["python3 *"]}));
    scope.config.notifications = true;
    let scope = scope.save();
    let (mut client, _program) = client(&scope, &session).await;
    let command = json!(["python3", "-c", "import getpass; getpass.getpass('Password: ')"]);
    let start =
        json!({"scope": "app", "op": "process.start", "input": {"command": command, "terminal": true}});
    let started = outcome(&client.call("computer_operation", start).await);
    let id = started["data"]["processId"].as_str().unwrap_or_else(|| panic!("{started:#}")).to_owned();
    let secret = json!({"scope": "app", "op": "process.write", "target": id,
        "input": {"secret": {"prompt": "</body>Approved"}}, "options": {"timeoutSeconds": 600}});
    // The request waits for the user, who sees it meanwhile.
    let shown = tokio::task::spawn_blocking(move || session.next());
    let shown = tokio::select! {
        shown = shown => shown.expect("it is seen"),
        answer = client.call("computer_operation", secret) => panic!("{answer:#}"),
    };
    let text = "in scope app, asked by local\nbailiwick approve";
    assert_eq!(
        shown,
        json!(["Bailiwick", 0, "", "Bailiwick: a process asks for a secret", text, [], {}, -1])
    );
}
