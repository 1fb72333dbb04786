//! Two scopes that start processes, and services around them: in this process, and as programs of their own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use bailiwick::config::Config;
use bailiwick::contract::id::new_id;
use bailiwick::contract::{Caller, Envelope, Transport};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::launch::Launcher;
use bailiwick::service::{Service, ServiceSettings};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::command::yard::Program;
use crate::temporary::TemporaryFolder;

/// A config with the scopes `app` and `other`, on one state folder.
pub struct Ground {
    pub config: Config,
    pub dirs: Dirs,
    folder: TemporaryFolder,
    /// A time to sleep that no other test has: the word by which the processes of this ground are known.
    pub word: String,
}

/// A service in this process.
pub struct Host {
    pub service: Arc<Service>,
}

impl Drop for Ground {
    /// However a test ends, nothing of it goes on.
    fn drop(&mut self) {
        let _ = self.cli(&["processes", "stop", "--all", "--grace", "0"]);
    }
}

impl Ground {
    /// Makes the folders and the config; `policy` is that of both scopes.
    pub fn new(policy: Value) -> Self {
        let folder = TemporaryFolder::new();
        let scope = |id: &str| {
            fs::create_dir(folder.path().join(id)).expect("a folder is made");
            json!({
                "id": id,
                "roots": [folder.path().join(id)],
                "capabilities": ["fs:write", "command:run", "package:run", "process:manage", "history:read"],
                "policy": policy,
            })
        };
        let config: Config = serde_json::from_value(json!({
            "machineId": "01JD0000000000000000000000",
            "machineName": "test",
            "scopes": [scope("app"), scope("other")],
        }))
        .expect("a valid config");
        let dirs = Dirs::below(folder.path().join("home"));
        config.save(&Config::path(&dirs)).expect("the config is saved");
        let digits: String =
            new_id().bytes().rev().take(9).map(|byte| char::from(b'0' + byte % 10)).collect();
        Self { config, dirs, folder, word: format!("7{digits}") }
    }

    /// Boots a service on the state folder. Several may be there at once.
    pub fn host(&self) -> Host {
        let settings = ServiceSettings { config: self.config.clone(), dirs: self.dirs.clone() };
        let launcher = Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into());
        let service = Service::boot_with(settings, launcher)
            .unwrap_or_else(|error| panic!("the service starts: {error}"));
        Host { service }
    }

    /// Writes a file of scope `app`.
    pub fn write(&self, path: &str, text: &str) {
        fs::write(self.folder.path().join("app").join(path), text).expect("a file is written");
    }

    /// Gives a path in the folder of scope `app`.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("app").join(path)
    }

    /// Gives the folder of a process.
    pub fn process(&self, id: &str) -> PathBuf {
        self.dirs.state.join("processes").join(id)
    }

    /// Starts `bailiwick start`, and waits until it serves.
    pub fn serve(&self) -> Program {
        let mut command = self.command(&["start", "--port", "0", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut program = Program(command.spawn().expect("the program starts"));
        let output = program.0.stdout.take().expect("piped");
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).expect("it says that it serves");
        assert!(line.contains("\"ok\":true"), "{line}");
        program
    }

    /// Runs the program with some words, and gives what it prints as JSON.
    pub fn cli(&self, words: &[&str]) -> Value {
        let output = self.command(words).arg("--json").output().expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }

    /// Sends an envelope by the command line: to the running service, if there is one.
    pub fn call(&self, envelope: &Value) -> Value {
        self.cli(&["call", &envelope.to_string()])
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_bailiwick")));
        command.args(words).env_clear().env("BAILIWICK_HOME", self.folder.path().join("home"));
        command
    }
}

impl Host {
    /// Sends an envelope of scope `app`, unless it names another, as the local user.
    pub async fn send(&self, envelope: Value) -> Value {
        self.send_as(&Caller::local(Transport::Stdio), envelope).await
    }

    pub async fn send_as(&self, caller: &Caller, mut envelope: Value) -> Value {
        if envelope.get("scope").is_none() {
            envelope["scope"] = json!("app");
        }
        let gone = CancellationToken::new();
        let outcome = self.service.handle(caller, Envelope::from_value(envelope), &gone).await;
        outcome.into_reply().into_value()
    }

    /// Sends an envelope that must succeed, and gives its `data`.
    pub async fn data(&self, envelope: Value) -> Value {
        let answer = self.send(envelope.clone()).await;
        assert_eq!(answer["ok"], true, "{envelope}: {answer:#}");
        answer["data"].clone()
    }

    /// Starts a command of scope `app` and gives its id.
    pub async fn start(&self, command: Value) -> String {
        let data = self.data(json!({"op": "process.start", "input": {"command": command}})).await;
        data["processId"].as_str().expect("an id").to_owned()
    }

    /// Reads a process with some options.
    pub async fn read(&self, id: &str, options: Value) -> Value {
        self.data(json!({"op": "process.read", "target": id, "options": options})).await
    }

    /// Stops a process.
    pub async fn stop(&self, id: &str, options: Value) -> Value {
        let data = self.data(json!({"op": "process.stop", "target": id, "options": options})).await;
        data["stopped"][0].clone()
    }

    /// Waits until a process is over, and gives how it stands.
    pub async fn over(&self, id: &str) -> Value {
        let process = self.service.facts().processes.find("app", id).expect("it is there");
        // What ends the telling ends the process.
        let _ = process.changes().wait_for(|change| change.ended).await;
        self.read(id, json!({})).await
    }

    /// Waits until a process has printed a text.
    pub async fn printed(&self, id: &str, text: &str) {
        let process = self.service.facts().processes.find("app", id).expect("it is there");
        let mut changes = process.changes();
        loop {
            let is_over = changes.borrow_and_update().ended;
            let read = self.read(id, json!({})).await;
            if read["stdout"].as_str().is_some_and(|stdout| stdout.contains(text)) {
                return;
            }
            assert!(!is_over, "it ended without a word of {text:?}: {read:#}");
            // Where it ends, the next look is the last.
            let _ = changes.changed().await;
        }
    }
}
