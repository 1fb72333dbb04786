//! A service in a temporary folder whose scope starts processes and waits for them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use bailiwick::adapters::backend::{Backend, Embedded};
use bailiwick::config::{Config, NewToken, Tokens};
use bailiwick::contract::{Caller, Envelope, Progress, Transport, id, time};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::launch::Launcher;
use bailiwick::service::{Service, ServiceSettings};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::needs::require_program;
use crate::patience::{PATIENCE, eventually_async};
use crate::temporary::TemporaryFolder;

/// A scope `app` that may do everything with processes, and the service around it.
pub struct Hall {
    pub service: Arc<Service>,
    pub config: Config,
    pub dirs: Dirs,
    folder: TemporaryFolder,
}

impl Hall {
    /// Makes a service whose scope has these capabilities.
    pub fn with(capabilities: &[&str]) -> Self {
        let folder = TemporaryFolder::new();
        fs::create_dir(folder.path().join("app")).expect("a folder is made");
        let config: Config = serde_json::from_value(json!({
            "machineId": "01JD0000000000000000000000",
            "machineName": "test",
            "scopes": [{
                "id": "app",
                "roots": [folder.path().join("app")],
                "capabilities": capabilities,
                "policy": {"allowedCommands": ["python3 *"], "network": "loopback"},
            }],
        }))
        .expect("a valid config");
        let dirs = Dirs::below(folder.path().join("home"));
        let service = boot(&config, &dirs);
        Self { service, config, dirs, folder }
    }

    /// Makes a service whose scope may do everything with processes and files.
    pub fn new() -> Self {
        Self::with(&["fs:read", "fs:write", "command:run", "process:manage", "history:read"])
    }

    /// Puts another service in the place of this one, over the same folders.
    pub fn restart(&mut self) {
        self.service = boot(&self.config, &self.dirs);
    }

    /// Gives the service as the local user has it.
    pub fn backend(&self) -> Backend {
        Backend::Embedded(Embedded {
            service: Arc::clone(&self.service),
            caller: Caller::local(Transport::Stdio),
            keys: None,
        })
    }

    /// Makes a token that may do everything, and gives its secret.
    pub fn token(&self, name: &str) -> String {
        let mut tokens = Tokens::load(&self.dirs).expect("the tokens are readable");
        let all = || vec!["*".to_owned()];
        let new = NewToken {
            name: name.to_owned(),
            scopes: all(),
            capabilities: all(),
            expires_at_ms: None,
            owner: false,
        };
        let (_, secret) = tokens.create(new, time::now_ms()).expect("a token is made");
        tokens.save().expect("the tokens are saved");
        secret
    }

    /// Gives a path in the scope's folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("app").join(path)
    }

    /// Writes a file of the scope.
    pub fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).expect("a file is written");
    }

    /// Sends a request, and gives the whole answer.
    pub async fn send(&self, envelope: Value) -> Value {
        let caller = Caller::local(Transport::Stdio);
        let gone = CancellationToken::new();
        let outcome = self.service.handle(&caller, Envelope::from_value(envelope), &gone).await;
        outcome.into_reply().into_value()
    }

    /// Sends a request that must succeed, and gives its `data`.
    pub async fn data(&self, envelope: Value) -> Value {
        let answer = self.send(envelope).await;
        assert_eq!(answer["ok"], true, "{answer:#}");
        answer["data"].clone()
    }

    /// Starts a Python program and gives its id. Lines are printed at once.
    pub async fn python(&self, program: &str) -> String {
        require_program("python3");
        let name = format!("{}.py", id::new_id());
        self.write(&name, &format!("import sys, time, os\n{program}\n"));
        let command = json!(["python3", "-u", name]);
        let started = self.data(json!({"op": "process.start", "input": {"command": command}})).await;
        started["processId"].as_str().expect("an id").to_owned()
    }

    /// Kills the keepers of what goes on, and with them all that they keep.
    pub fn kill_keepers(&self) {
        for process in self.service.facts().processes.all() {
            let keeper = process.status().ok().filter(|status| !status.state.is_final());
            let number = keeper.and_then(|status| i32::try_from(status.process_id).ok());
            if let Some(keeper) = number.and_then(Pid::from_raw) {
                let _ = kill_process(keeper, Signal::KILL);
            }
        }
    }

    /// Waits for the conditions, and gives `data`.
    pub async fn wait(&self, input: Value) -> Value {
        self.data(wait_envelope(&input)).await
    }

    /// Waits for the conditions, acts as soon as they were looked at for the first time, and returns `data`.
    pub async fn wait_and(&self, input: Value, act: impl AsyncFnOnce()) -> Value {
        self.wait_and_when("", input, act).await
    }

    /// Waits for the conditions, acts as soon as the wait reports this text, and returns `data`.
    pub async fn wait_and_when(&self, text: &str, input: Value, act: impl AsyncFnOnce()) -> Value {
        let (caller, gone, progress) =
            (Caller::local(Transport::Stdio), CancellationToken::new(), Progress::default());
        let envelope = Envelope::from_value(wait_envelope(&input));
        let waiting = self.service.handle_told(&caller, envelope, &gone, &progress);
        let acting = async {
            // A wait reports how far it is after each look that did not end it.
            let reports = || progress.said().is_some_and(|report| report.contains(text));
            eventually_async("the wait looks", reports).await;
            act().await;
        };
        let (outcome, ()) = tokio::join!(waiting, acting);
        let answer = outcome.into_reply().into_value();
        assert_eq!(answer["ok"], true, "{answer:#}");
        answer["data"].clone()
    }
}

impl Drop for Hall {
    /// Ends what goes on: it would outlive the test.
    fn drop(&mut self) {
        self.kill_keepers();
    }
}

fn wait_envelope(input: &Value) -> Value {
    json!({"op": "process.wait", "input": input, "options": {"timeoutSeconds": PATIENCE.as_secs()}})
}

fn boot(config: &Config, dirs: &Dirs) -> Arc<Service> {
    let settings = ServiceSettings { config: config.clone(), dirs: dirs.clone() };
    let launcher = Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into());
    Service::boot_with(settings, launcher).unwrap_or_else(|error| panic!("the service starts: {error}"))
}
