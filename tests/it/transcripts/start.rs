//! `start`: the view of what comes, the end by Ctrl-C, and what is in its way.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::place::TranscriptFixture;
use super::transcript::{CTRL_C, Transcript};

/// A service without a terminal.
pub struct ServeProcess {
    child: Child,
    out: BufReader<ChildStdout>,
    pub started: Value,
}

impl ServeProcess {
    pub fn start(place: &TranscriptFixture) -> Self {
        Self::start_with(place, &["serve", "--port", "0", "--json"])
    }

    pub fn start_with(place: &TranscriptFixture, words: &[&str]) -> Self {
        let mut child = place.command(words).spawn().expect("the binary runs");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("readable");
        let started = serde_json::from_str(&line).unwrap_or(Value::String(line));
        Self { child, out, started }
    }

    /// Ends it, and gives what it said after its first line.
    pub fn end(mut self) -> String {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::INT).expect("it runs");
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("UTF-8");
        assert!(self.child.wait().expect("it ends").success());
        rest
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        // It has ended as a rule; then this has no effect.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Speaks MCP over stdio as a client of a name of its own choice.
fn speak_as(place: &TranscriptFixture, name: &str, arguments: &Value) {
    let mut command = place.command(&["mcp"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("the binary runs");
    let mut input = child.stdin.take().expect("piped");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "computer_operation", "arguments": arguments}});
    for (message, is_answered) in [
        (hello, true),
        (json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), false),
        (call, true),
    ] {
        input.write_all(format!("{message}\n").as_bytes()).expect("it reads");
        if is_answered {
            let mut line = String::new();
            out.read_line(&mut line).expect("it answers");
            assert!(line.contains("\"result\""), "{line}");
        }
    }
    drop(input);
    child.wait().expect("it ends");
}

#[test]
fn the_view_shows_requests_as_they_come_and_ctrl_c_ends_it() {
    let place = TranscriptFixture::set_up();
    let mut it = Transcript::begin(&place, "start", "Requests as they come, from clients of every kind");
    let words = ["serve", "--port", "0"];
    let mut terminal = it.start(&words);
    terminal.until("Requests as they come");
    place.well(&["call", "file.read", "hello.txt"]);
    terminal.until("file.read");
    assert_ne!(place.run(&["call", "command.run", "--command", "ls"]).exit, 0);
    terminal.until("command.run");
    assert_ne!(place.run(&["call", "file.read", "a/folder/that/is/rather/deep/and/then/a/file.txt"]).exit, 0);
    terminal.until("file.txt");
    // A name that would clear the screen, set the title and turn the text around.
    let hostile = "evil\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}";
    speak_as(
        &place,
        hostile,
        &json!({"op": "file.create", "target": "made\u{1b}[2J.txt", "input": {"content": ""}}),
    );
    terminal.until("file.create");
    speak_as(
        &place,
        "claude-code",
        &json!({"op": "file.write", "target": "notes.txt", "input": {"content": "x"}}),
    );
    terminal.until("file.write");
    assert!(
        !terminal.text().contains("\u{1b}[2J") && !terminal.text().contains("\u{1b}]"),
        "{}",
        terminal.text()
    );
    terminal.press(CTRL_C);
    assert_eq!(it.ended(&words, terminal), 0);
    it.columns(40);
    let mut terminal = it.start(&words);
    terminal.until("Requests as they come");
    place.well(&["call", "file.read", "hello.txt"]);
    terminal.until("file.read");
    assert_ne!(place.run(&["call", "file.read", "a/folder/that/is/rather/deep/and/then/a/file.txt"]).exit, 0);
    terminal.until("not_found");
    terminal.press(CTRL_C);
    assert_eq!(it.ended(&words, terminal), 0);
    it.columns(80).note("Without the view");
    let words = ["serve", "--port", "0", "--quiet"];
    let mut terminal = it.start(&words);
    terminal.until("Ctrl-C ends it");
    place.well(&["call", "file.read", "hello.txt"]);
    terminal.press(CTRL_C);
    assert_eq!(it.ended(&words, terminal), 0);
    it.end();
}

#[test]
fn the_owners_token_is_made_where_http_is_first_wanted_and_somebody_sees_it() {
    let place = TranscriptFixture::set_up();
    let tokens = place.config().with_file_name("tokens.json");
    ServeProcess::start(&place).end();
    assert!(!tokens.exists(), "what no terminal shows stays in a log");
    let it = Transcript::begin(&place, "", "");
    let at_a_terminal = || {
        let mut terminal = it.start(&["serve", "--port", "0", "--quiet"]);
        terminal.until("Ctrl-C ends it");
        terminal.press(CTRL_C);
        let (exit, printed) = terminal.ended();
        assert_eq!(exit, 0);
        String::from_utf8_lossy(&printed).into_owned()
    };
    let first = at_a_terminal();
    assert!(first.contains("this is the owner's") && first.contains("bwl_"), "{first}");
    assert!(place.well(&["token", "list"]).out.contains("owner (owner)"));
    let second = at_a_terminal();
    assert!(!second.contains("bwl_"), "it is shown once: {second}");
    place.well(&["token", "revoke", "owner"]);
    let third = at_a_terminal();
    assert!(!third.contains("bwl_") && third.contains("There is no token"), "{third}");
}

#[test]
fn without_a_terminal_requests_are_told_only_if_asked_for() {
    let place = TranscriptFixture::set_up();
    let read = || place.well(&["call", "file.read", "hello.txt"]);
    let silent = ServeProcess::start(&place);
    read();
    assert_eq!(silent.end(), "");
    let logged = ServeProcess::start_with(&place, &["serve", "--port", "0", "--log"]);
    read();
    let said = logged.end();
    assert!(
        said.contains("file.read project:hello.txt") && said.contains("Stopped after 1 request."),
        "{said}"
    );
    let events = ServeProcess::start_with(&place, &["serve", "--port", "0", "--log", "--json"]);
    read();
    assert_ne!(place.run(&["call", "file.read", "missing"]).exit, 0);
    let started = events.started.clone();
    let events: Vec<Value> =
        events.end().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let kinds: Vec<&str> = events.iter().filter_map(|it| it["event"].as_str()).collect();
    assert_eq!(kinds, ["request", "request", "stopped"], "{events:#?}");
    assert_eq!(
        (&events[0]["standing"], &events[1]["standing"]),
        (&json!("ok"), &json!("failed")),
        "{events:#?}"
    );
    for (schema, told) in
        std::iter::once(("serve", &started)).chain(events.iter().map(|event| ("serve.events", event)))
    {
        let path = crate::source::repository().join(format!("schemas/cli/{schema}.json"));
        let schema = serde_json::from_str(&fs::read_to_string(path).expect("a schema")).expect("JSON");
        assert!(jsonschema::is_valid(&schema, told), "{told:#}");
    }
}

#[test]
fn a_port_or_a_place_that_is_taken_is_said_with_who_has_it() {
    let place = TranscriptFixture::set_up();
    let other = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = other.local_addr().expect("bound").port().to_string();
    let ran = place.run(&["serve", "--port", &port]);
    assert_eq!(ran.exit, 18, "{}", ran.err);
    let id = std::process::id().to_string();
    assert!(ran.err.contains(&format!("(process {id}) listens there")), "{}", ran.err);
    assert!(ran.err.contains("bailiwick serve --port "), "{}", ran.err);
    let served = ServeProcess::start(&place);
    let ran = place.run(&["serve", "--port", "0"]);
    assert_eq!(ran.exit, 16, "{}", ran.err);
    let process = served.started["processId"].as_u64().expect("an id").to_string();
    assert!(ran.err.contains("running already") && ran.err.contains(&process), "{}", ran.err);
}
