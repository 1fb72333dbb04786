//! A service whose scope starts programs in terminals, and a user with a terminal of their own.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::scope::TestScope;
use support::service::{TestService, data};

use crate::patience::PATIENCE;

/// Two scopes with a folder each: `app`, where clients start programs, and `person`, whose programs no sandbox holds. The
/// user's terminal is one of theirs: that of `bailiwick approve`.
pub struct TerminalScope {
    service: TestService,
}

impl Deref for TerminalScope {
    type Target = TestService;

    fn deref(&self) -> &TestService {
        &self.service
    }
}

/// A program that was started.
pub struct Program<'a> {
    host: &'a TerminalScope,
    scope: &'static str,
    pub id: String,
}

impl TerminalScope {
    pub fn new() -> Self {
        let binary = Path::new(env!("CARGO_BIN_EXE_bailiwick"));
        let usual = ["/usr/local/bin", "/usr/bin", "/bin"];
        let programs = ["python3 *", "vim *", "less *", "npm *", "node *", "cat *", "sleep *"];
        let person = json!({
            "sandbox": "none",
            "searchPath": [binary.parent().expect("it is in a folder"), "/usr/bin"],
            "allowedCommands": ["bailiwick *", "python3 *"],
        });
        let capabilities = ["fs:read", "fs:write", "command:run", "process:manage", "history:read"];
        let scope = TestScope::new()
            .with_config_file()
            .with_capabilities(&capabilities)
            .with_policy(json!({"searchPath": usual, "allowedCommands": programs}))
            .with_scope(
                json!({"id": "person", "roots": ["person"], "capabilities": capabilities, "policy": person}),
            )
            .save();
        Self { service: scope.host() }
    }

    /// Starts a program of `app`, with a terminal or without.
    pub async fn start(&self, command: &[&str], terminal: Value) -> Program<'_> {
        self.start_in("app", command, terminal).await
    }

    /// Starts `bailiwick approve` in a terminal, as the user does.
    pub async fn approve(&self, words: &[&str]) -> Program<'_> {
        let config = self.config_path();
        let config = config.to_str().expect("UTF-8");
        let command = [&["bailiwick", "--config", config, "approve"][..], words].concat();
        self.start_in("person", &command, json!({"rows": 40, "columns": 150})).await
    }

    /// Starts a script of Python in a terminal of the user's, with words that begin with the config's path.
    pub async fn person_python(&self, script: &str, words: &[&str]) -> Program<'_> {
        let binary = env!("CARGO_BIN_EXE_bailiwick");
        let config = self.config_path();
        let config = config.to_str().expect("UTF-8");
        let command = [&["python3", "-c", script, binary, config][..], words].concat();
        self.start_in("person", &command, json!({"rows": 40, "columns": 150})).await
    }

    async fn start_in(&self, scope: &'static str, command: &[&str], terminal: Value) -> Program<'_> {
        let input = json!({"command": command, "terminal": terminal});
        let answer = self.send(json!({"scope": scope, "op": "process.start", "input": input})).await;
        let id = data(&answer)["processId"].as_str().expect("an id").to_owned();
        Program { host: self, scope, id }
    }

    /// Runs a command of the command line to its end, without a terminal.
    pub fn cli(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("the binary runs")
    }

    /// Returns what waits for the user, as `bailiwick approve --list --json` tells it.
    pub fn waiting(&self) -> Vec<Value> {
        let ran = self.cli(&["approve", "--list", "--json"]);
        let told: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
        told["waiting"].as_array().expect("a list").clone()
    }

    /// Waits until so many prompts wait for the user.
    pub async fn until_waiting(&self, count: usize) -> Vec<Value> {
        let began = Instant::now();
        loop {
            let waiting = self.waiting();
            if waiting.len() == count {
                return waiting;
            }
            assert!(began.elapsed() < *PATIENCE, "not {count}: {waiting:#?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns every file below a folder that contains some bytes.
    pub fn files_with(&self, bytes: &[u8]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let kind = entry.file_type().expect("a kind");
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if entry.metadata().is_ok_and(|facts| facts.is_file()) {
                    let content = fs::read(entry.path()).unwrap_or_default();
                    if content.windows(bytes.len()).any(|part| part == bytes) {
                        found.push(entry.path());
                    }
                }
            }
        }
        found
    }
}

impl Program<'_> {
    /// Sends a request about it, and gives the whole answer.
    pub async fn ask(&self, op: &str, input: Value, options: Value) -> Value {
        let envelope =
            json!({"scope": self.scope, "op": op, "target": self.id, "input": input, "options": options});
        self.host.send(envelope).await
    }

    /// Writes to it; gives the `data`.
    pub async fn write(&self, input: Value) -> Value {
        data(&self.ask("process.write", input, json!({})).await).clone()
    }

    /// Presses keys.
    pub async fn press(&self, keys: &[&str]) {
        self.write(json!({"keys": keys})).await;
    }

    /// Returns what its terminal shows.
    pub async fn screen(&self) -> Value {
        data(&self.ask("process.read", json!({}), json!({"view": "screen"})).await)["screen"].clone()
    }

    /// Returns the lines that its terminal shows.
    pub async fn lines(&self) -> Vec<String> {
        lines(&self.screen().await)
    }

    /// Waits until a line of its terminal is this one, at its beginning, and gives the screen.
    pub async fn shows(&self, line: &str) -> Value {
        let began = Instant::now();
        loop {
            let screen = self.screen().await;
            if lines(&screen).iter().any(|shown| shown.starts_with(line)) {
                return screen;
            }
            assert!(began.elapsed() < *PATIENCE, "no {line:?}: {:#?}", lines(&screen));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the last line of its terminal is this one.
    pub async fn ends_with(&self, line: &str) -> Value {
        let began = Instant::now();
        loop {
            let screen = self.screen().await;
            if lines(&screen).last().is_some_and(|last| last == line) {
                return screen;
            }
            assert!(began.elapsed() < *PATIENCE, "no {line:?} at the end: {:#?}", lines(&screen));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns all that it printed that is kept, as text, control sequences included.
    pub async fn printed(&self) -> String {
        let answer = self.ask("process.read", json!({}), json!({"stripAnsi": false})).await;
        data(&answer)["stdout"].as_str().expect("text").to_owned()
    }

    /// Returns the last line that it printed.
    pub async fn tail(&self) -> String {
        let answer = self.ask("process.read", json!({}), json!({"tail": 1})).await;
        data(&answer)["stdout"].as_str().expect("text").to_owned()
    }

    /// Waits for its end, and gives how it ended.
    pub async fn ended(&self) -> Value {
        let began = Instant::now();
        loop {
            let answer = self.ask("process.read", json!({}), json!({"tail": 1})).await;
            let data = data(&answer);
            if data["status"] != "running" && data["status"] != "starting" {
                return data.clone();
            }
            assert!(began.elapsed() < *PATIENCE, "it continues: {data:#} {:#?}", self.lines().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Returns the lines of a screen.
pub fn lines(screen: &Value) -> Vec<String> {
    let lines = screen["lines"].as_array().expect("lines");
    lines.iter().map(|line| line.as_str().expect("text").to_owned()).collect()
}
