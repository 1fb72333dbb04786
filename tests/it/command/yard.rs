//! A service in a temporary folder whose scope runs commands.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use bailiwick::config::Config;
use bailiwick::contract::{Caller, Containment, Envelope, Transport};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::launch::{Launcher, levels};
use bailiwick::service::{Service, ServiceSettings};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::needs::report_left_out;
use crate::temporary::TemporaryFolder;

/// A scope `app` that may run commands, and the service around it.
pub struct Yard {
    pub service: Arc<Service>,
    pub config: Config,
    pub dirs: Dirs,
    folder: TemporaryFolder,
}

/// A process that is killed if the test ends before it does.
pub struct Program(pub Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the levels that this computer has, and reports those that it lacks.
pub fn available() -> Vec<Containment> {
    let all = [Containment::None, Containment::Partial, Containment::Full];
    let (can, cannot): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|level| levels().missing(*level).is_none());
    for level in cannot {
        let why = levels().missing(level).unwrap_or_default();
        report_left_out(&format!("the sandbox level {level}: {why}"));
    }
    can
}

/// Does a test at every level that this computer has, side by side.
pub async fn at_every_level<Test, Done>(test: Test)
where
    Test: Fn(Containment) -> Done,
    Done: Future<Output = ()> + Send + 'static,
{
    let mut running: tokio::task::JoinSet<()> = available().into_iter().map(test).collect();
    while let Some(done) = running.join_next().await {
        if let Err(error) = done {
            std::panic::resume_unwind(error.into_panic());
        }
    }
}

impl Yard {
    /// Makes a service whose scope has this policy.
    pub fn new(policy: Value) -> Self {
        let folder = TemporaryFolder::new();
        fs::create_dir(folder.path().join("app")).expect("a folder is made");
        let config: Config = serde_json::from_value(json!({
            "machineId": "01JD0000000000000000000000",
            "machineName": "test",
            "scopes": [{
                "id": "app",
                "roots": [folder.path().join("app")],
                "capabilities": ["fs:read", "fs:write", "command:run", "package:run", "history:read"],
                "policy": policy,
            }],
        }))
        .expect("a valid config");
        let dirs = Dirs::below(folder.path().join("home"));
        let settings = ServiceSettings { config: config.clone(), dirs: dirs.clone() };
        let launcher = Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into());
        let service = Service::boot_with(settings, launcher)
            .unwrap_or_else(|error| panic!("the service starts: {error}"));
        Self { service, config, dirs, folder }
    }

    /// Gives a path in the scope's folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("app").join(path)
    }

    /// Writes a file of the scope.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder is made");
        fs::write(path, text).expect("a file is written");
    }

    /// Sends a request.
    pub async fn send(&self, envelope: Value, gone: &CancellationToken) -> Value {
        let caller = Caller::local(Transport::Stdio);
        let outcome = self.service.handle(&caller, Envelope::from_value(envelope), gone).await;
        outcome.into_reply().into_value()
    }

    /// Runs a command, an array or a string, and gives the whole answer.
    pub async fn answer(&self, command: Value, options: Value) -> Value {
        let envelope =
            json!({"scope": "app", "op": "command.run", "input": {"command": command}, "options": options});
        self.send(envelope, &CancellationToken::new()).await
    }

    /// Runs a command and gives its `data`.
    pub async fn run(&self, command: Value) -> Value {
        let answer = self.answer(command, json!({"timeoutSeconds": 600})).await;
        assert_eq!(answer["ok"], true, "{answer:#}");
        answer["data"].clone()
    }

    /// Runs a command that must succeed, and gives what it prints to standard output.
    pub async fn out(&self, command: Value) -> String {
        let data = self.run(command.clone()).await;
        assert_eq!(data["exitCode"], 0, "{command}: {data:#}");
        data["stdout"].as_str().expect("text").to_owned()
    }

    /// Starts `bailiwick mcp` on the same folders, as a client does.
    pub fn mcp(&self) -> Program {
        self.config.save(&Config::path(&self.dirs)).expect("the config is saved");
        let mut command = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
        command.arg("mcp").env_clear().env("BAILIWICK_HOME", self.folder.path().join("home"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        Program(command.spawn().expect("the program starts"))
    }
}

/// Counts the processes of this computer that have this word among their arguments.
pub fn processes_with(word: &str) -> usize {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
        .count()
}
