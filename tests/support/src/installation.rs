//! A temporary installation, and the real binary run in it as a person runs it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::temporary::TemporaryFolder;
use crate::{patience::PATIENCE, program};

/// A temporary installation with one project folder.
pub struct Installation {
    pub folder: TemporaryFolder,
}

/// How a command ended.
pub struct CommandOutput {
    pub exit: i32,
    pub out: String,
    pub err: String,
}

impl CommandOutput {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {} {}", self.out, self.err))
    }
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        Self {
            exit: output.status.code().expect("no signal ended it"),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

impl Installation {
    pub fn new() -> Self {
        let made = Self { folder: TemporaryFolder::new() };
        fs::create_dir(made.project()).expect("made");
        fs::write(made.project().join("hello.txt"), "hello\n").expect("written");
        made
    }

    /// Already set up, with the project open for reading as scope `project`.
    pub fn set_up() -> Self {
        let made = Self::new();
        let ran = made.run(&["setup", "project", "--preset", "read-only", "--yes"]);
        assert_eq!(ran.exit, 0, "{}", ran.err);
        made
    }

    /// Creates a token that may do all that scopes grant, and returns its value.
    pub fn make_token(&self, name: &str) -> String {
        let made = self.run(&["token", "create", name, "--json"]);
        assert_eq!(made.exit, 0, "{}", made.err);
        made.json()["token"]["secret"].as_str().expect("shown once").to_owned()
    }

    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub fn config(&self) -> PathBuf {
        self.folder.path().join("home").join("config").join("config.json")
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(words)
            .current_dir(self.folder.path())
            .env("BAILIWICK_HOME", self.folder.path().join("home"))
            .env("HOME", self.folder.path())
            .env("USERPROFILE", self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, words: &[&str]) -> CommandOutput {
        self.command(words).output().expect("the binary runs").into()
    }

    pub fn run_with_input(&self, words: &[&str], input: &str) -> CommandOutput {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().expect("the binary runs");
        child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
        child.wait_with_output().expect("it ends").into()
    }

    /// Starts the service on a free port, and waits until it says where it listens.
    pub fn start(&self) -> Service {
        self.start_at(0)
    }

    /// Starts the service on a port, and waits until it says where it listens.
    pub fn start_at(&self, port: u16) -> Service {
        let port = port.to_string();
        let mut child = self.command(&["start", "--port", &port, "--json"]).spawn().expect("the binary runs");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        out.read_line(&mut line).expect("readable");
        let started = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut said = String::new();
            let _ = child.stderr.take().expect("piped").read_to_string(&mut said);
            panic!("it did not start: {line}{said}")
        });
        Service { child, started }
    }
}

pub struct Service {
    pub child: Child,
    pub started: Value,
}

impl Service {
    /// Sends a signal, as keys and other programs do.
    #[cfg(unix)]
    pub fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, signal).expect("it runs");
    }

    /// Waits for the end, and returns the exit code and the time that it took.
    pub fn end(&mut self) -> (Option<i32>, Duration) {
        let began = Instant::now();
        while began.elapsed() < *PATIENCE {
            if let Some(status) = self.child.try_wait().expect("waited") {
                return (status.code(), began.elapsed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the service did not end");
    }

    /// Posts an envelope to the JSON API and gives the status.
    pub fn post(&self, token: Option<&str>, envelope: &Value) -> u16 {
        let answer = self.exchange(token, envelope);
        answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line")
    }

    /// Posts an envelope to the JSON API and returns the whole outcome.
    pub fn ask(&self, token: &str, envelope: &Value) -> Value {
        let answer = self.exchange(Some(token), envelope);
        let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    /// As [`Service::ask`]; `None` where the connection ends without an outcome.
    pub fn try_ask(&self, token: &str, envelope: &Value) -> Option<Value> {
        let answer = self.try_exchange(Some(token), envelope).ok()?;
        serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
    }

    fn exchange(&self, token: Option<&str>, envelope: &Value) -> String {
        self.try_exchange(token, envelope).expect("answered")
    }

    fn try_exchange(&self, token: Option<&str>, envelope: &Value) -> std::io::Result<String> {
        let address = self.started["address"].as_str().expect("an address");
        let mut stream = TcpStream::connect(address)?;
        let body = envelope.to_string();
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let request = format!(
            "POST /api/v1/operations HTTP/1.1\r\nHost: {address}\r\n{token}Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It has ended as a rule; then this has no effect.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
