//! The clients of benches: they speak over stdio with a server, and one of them with a real `bailiwick mcp`, audited.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use bailiwick::config::Config;
use bailiwick::platform::dirs::Dirs;
use serde_json::{Value, json};

use crate::fixture::{Folder, config, milliseconds};

/// A server process that is spoken to by lines.
pub struct Pipe {
    /// Its process.
    pub child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Pipe {
    /// Starts it.
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { child, input, output: BufReader::new(output) }
    }

    /// Sends a line, and returns its answer.
    pub fn ask(&mut self, line: &str) -> String {
        self.input.write_all(line.as_bytes()).expect("it reads");
        self.answer()
    }

    fn answer(&mut self) -> String {
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("it writes");
        answer
    }

    /// Does what a client does first.
    pub fn initialize(&mut self) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        let answer = self.ask(&message("initialize", &params));
        assert!(answer.contains("protocolVersion"), "{answer}");
        writeln!(self.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .expect("it reads");
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the line of a request.
pub fn message(method: &str, params: &Value) -> String {
    format!("{}\n", request(method, params))
}

fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A `bailiwick mcp` in a folder of its own.
pub struct Client {
    /// Its process.
    pub pipe: Pipe,
    // Is removed after the process has ended.
    _folder: Folder,
}

impl Client {
    /// Starts it with scopes over a folder, which `scopes` fills.
    pub fn start(scopes: impl FnOnce(&Path) -> Value) -> Self {
        let folder = Folder::make();
        let (app, home) = (folder.join("app"), folder.join("home"));
        fs::create_dir(&app).expect("a folder is made");
        let path = Config::path(&Dirs::below(home.clone()));
        config(scopes(&app)).save(&path).expect("the config is saved");
        let mut command = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
        command.arg("mcp").env("BAILIWICK_HOME", home);
        let mut pipe = Pipe::start(command);
        pipe.initialize();
        Self { pipe, _folder: folder }
    }

    /// Sends an envelope, and returns the milliseconds until its answer.
    pub fn time(&mut self, envelope: &Value) -> f64 {
        let params = json!({"name": "computer_operation", "arguments": envelope});
        let began = Instant::now();
        writeln!(self.pipe.input, "{}", request("tools/call", &params)).expect("it reads");
        let answer = self.pipe.answer();
        let ms = milliseconds(began.elapsed());
        assert!(answer.contains(r#""isError":false"#), "{answer}");
        ms
    }
}
