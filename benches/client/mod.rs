//! The client of benches: it asks a real `bailiwick mcp`, audited, over stdio.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use bailiwick::config::Config;
use bailiwick::contract::id;
use bailiwick::platform::dirs::Dirs;
use serde_json::{Value, json};

/// A `bailiwick mcp` in a folder of its own.
pub struct Client {
    folder: PathBuf,
    /// Its process.
    pub child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// Starts it with scopes over a folder, which `scopes` fills.
    pub fn start(scopes: impl FnOnce(&Path) -> Value) -> Self {
        let folder = std::env::temp_dir().join(format!("bailiwick-bench-{}", id::new_id()));
        let app = folder.join("app");
        fs::create_dir_all(&app).expect("a folder is made");
        let dirs = Dirs::below(folder.join("home"));
        let mut config = Config::new(id::new_id(), "bench".to_owned());
        config.scopes = serde_json::from_value(scopes(&app)).expect("valid scopes");
        config.save(&Config::path(&dirs)).expect("the config is saved");
        let mut child = Command::new(env!("CARGO_BIN_EXE_bailiwick"))
            .arg("mcp")
            .env("BAILIWICK_HOME", folder.join("home"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let mut client = Self { folder, child, input, output: BufReader::new(output) };
        client.ask(
            "initialize",
            &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}),
        );
        writeln!(client.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .expect("it reads");
        client
    }

    fn ask(&mut self, method: &str, params: &Value) -> String {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        writeln!(self.input, "{message}").expect("it reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("it writes");
        answer
    }

    /// Sends an envelope, and returns the milliseconds until its answer.
    pub fn time(&mut self, envelope: &Value) -> f64 {
        let params = json!({"name": "computer_operation", "arguments": envelope});
        let began = Instant::now();
        let answer = self.ask("tools/call", &params);
        let ms = began.elapsed().as_secs_f64() * 1_000.0;
        assert!(answer.contains(r#""isError":false"#), "{answer}");
        ms
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
