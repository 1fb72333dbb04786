//! `status`: which clients are configured, and which are served at the moment.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::installation::Installation;

/// A client that speaks MCP over stdio, for as long as it is there.
struct Session {
    child: Child,
}

impl Session {
    fn begin(place: &Installation, name: &str, words: &[&str]) -> Self {
        let words = [&["mcp"][..], words].concat();
        let mut child = place.command(&words).stdin(Stdio::piped()).spawn().expect("the binary runs");
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": name, "version": "1.0"}}});
        let input = child.stdin.as_mut().expect("piped");
        input.write_all(format!("{hello}\n").as_bytes()).expect("it reads");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        out.read_line(&mut line).expect("it answers");
        assert!(line.contains("\"result\""), "{line}");
        Self { child }
    }

    fn process(&self) -> u64 {
        self.child.id().into()
    }

    /// The client closes its side.
    fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().expect("it ends");
    }

    /// Its process is killed.
    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

fn live(place: &Installation) -> Value {
    let ran = place.run(&["status", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    ran.json()["live"].clone()
}

#[test]
fn status_shows_who_is_configured_and_who_is_served_and_does_not_mix_them() {
    let place = Installation::set_up();
    // Cursor is configured for another installation, Gemini for this one. Neither is there.
    for folder in [".cursor", ".gemini"] {
        fs::create_dir(place.folder.path().join(folder)).expect("made");
    }
    let ran = place.run(&["client", "install", "cursor", "gemini", "--yes"]);
    assert_eq!(ran.exit, 0, "{}", ran.err);
    let settings = place.folder.path().join(".cursor/mcp.json");
    let mut other: Value = serde_json::from_slice(&fs::read(&settings).expect("written")).expect("JSON");
    other["mcpServers"]["bailiwick"]["env"]["BAILIWICK_HOME"] = json!("/srv/other");
    fs::write(&settings, other.to_string()).expect("written");
    let status = place.run(&["status", "--json"]).json();
    assert_eq!(status["clients"], json!(["gemini"]), "{status:#}");
    assert_eq!(status["wrongClients"], json!(["cursor"]), "{status:#}");
    assert_eq!(status["live"], json!({"stdio": [], "http": []}));

    // One over stdio, with a process of its own; one over stdio through the service; one over HTTP.
    let token = place.make_token("laptop");
    let alone = Session::begin(&place, "alone", &[]);
    let service = place.start();
    let through = Session::begin(&place, "through", &["--caller", "laptop"]);
    assert_eq!(live(&place)["http"], json!([]), "nobody has come over HTTP yet");
    assert_eq!(service.post(Some(&token), &json!({"op": "file.stat", "target": "hello.txt"})), 200);
    assert_eq!(service.post(Some("bwl_wrong"), &json!({"op": "file.stat", "target": "hello.txt"})), 401);
    let now = live(&place);
    let stdio: Vec<(Value, Value)> = now["stdio"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| (it["client"].clone(), it["processId"].clone()))
        .collect();
    assert_eq!(stdio.len(), 2, "{now:#}");
    assert!(stdio.contains(&(json!("alone 1.0"), json!(alone.process()))), "{now:#}");
    assert!(stdio.contains(&(json!("through 1.0"), json!(through.process()))), "{now:#}");
    assert_eq!(now["http"].as_array().map(Vec::len), Some(1), "who is refused is no client: {now:#}");
    assert_eq!(now["http"][0]["caller"], "laptop");
    let text = place.run(&["status"]).out;
    for said in ["alone 1.0 (process", "through 1.0 with token `laptop` (process", "Configured    gemini"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(text.contains("Over HTTP     a client with token `laptop`, in the last 10 minutes"), "{text}");

    // Who is gone is not shown, however it went.
    alone.end();
    through.kill();
    assert_eq!(live(&place)["stdio"], json!([]));
    drop(service);
    assert_eq!(live(&place), json!({"stdio": [], "http": []}));
}
