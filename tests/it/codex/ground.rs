//! A scope with the real Codex, whose provider is a test's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick::config::Config;
use bailiwick::contract::id::new_id;
use bailiwick::contract::{Caller, Envelope, Transport};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::launch::Launcher;
use bailiwick::service::{Service, ServiceSettings};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::fake::{Provider, Reply};
use crate::patience::PATIENCE;

/// The key that Codex shows its provider.
pub const KEY: &str = "fake-key-that-no-command-sees";

/// Two scopes, `app` and `other`, with one state folder. Not below the system's temporary folder, which is another
/// one inside a sandbox.
pub struct Ground {
    pub provider: Provider,
    pub service: Arc<Service>,
    pub dirs: Dirs,
    folder: PathBuf,
}

impl Drop for Ground {
    /// However a test ends, nothing of it goes on.
    fn drop(&mut self) {
        let _ = self.command(&["processes", "stop", "--all", "--grace", "0"]).output();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Gives the folder with the program of the real Codex.
pub fn codex_folder() -> PathBuf {
    let installer = crate::source::repository().join("tests/codex/install");
    let printed = std::process::Command::new(installer).arg("--where").output().expect("python3 runs it");
    let folder = String::from_utf8(printed.stdout).expect("a path in UTF-8");
    let packages = Path::new(folder.trim_end()).join("node_modules/@openai");
    let found = fs::read_dir(&packages).into_iter().flatten().flatten().find_map(|entry| {
        let vendor = fs::read_dir(entry.path().join("vendor")).ok()?;
        vendor.flatten().map(|triple| triple.path().join("bin")).find(|bin| bin.join("codex").is_file())
    });
    found.expect("the real Codex is not installed: run tests/codex/install")
}

/// Gives the capabilities of a scope in which Codex may write.
pub fn writing() -> Value {
    json!(["fs:read", "fs:write", "codex:run", "process:manage", "command:run", "history:read"])
}

impl Ground {
    /// Makes a ground on which Codex may write.
    pub fn new(replies: Vec<Reply>) -> Self {
        Self::with(replies, &writing(), &json!({}))
    }

    /// Makes a ground with these capabilities, and a policy that is added to the usual one.
    pub fn with(replies: Vec<Reply>, capabilities: &Value, policy: &Value) -> Self {
        let base = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let folder = base.canonicalize().expect("it is there").join(format!("codex-{}", new_id()));
        fs::create_dir_all(folder.join("person")).expect("made");
        let provider = Provider::new(replies);
        let port = provider.port();
        // The person's own settings, with what must not be taken over.
        let evil = folder.join("person/evil");
        fs::write(
            folder.join("person/config.toml"),
            format!(
                "model = \"fake-1\"\nmodel_provider = \"fake\"\nsandbox_mode = \"danger-full-access\"\n\
                 [mcp_servers.evil]\ncommand = \"/bin/touch\"\nargs = [\"{}\"]\n\
                 [model_providers.fake]\nname = \"Fake\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\n\
                 wire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n",
                evil.display()
            ),
        )
        .expect("written");
        let mut usual = json!({
            "searchPath": [codex_folder(), "/usr/bin", "/bin"],
            "environment": {"CODEX_HOME": folder.join("person"), "FAKE_KEY": KEY},
            "maxRuntimeSeconds": 120,
        });
        for (name, value) in policy.as_object().into_iter().flatten() {
            usual[name] = value.clone();
        }
        let scope = |id: &str| {
            fs::create_dir(folder.join(id)).expect("made");
            json!({"id": id, "roots": [folder.join(id)], "capabilities": capabilities, "policy": usual})
        };
        let config: Config = serde_json::from_value(json!({
            "machineId": "01JD0000000000000000000000",
            "machineName": "test",
            "scopes": [scope("app"), scope("other")],
        }))
        .expect("a valid config");
        let dirs = Dirs::below(folder.join("home"));
        config.save(&Config::path(&dirs)).expect("saved");
        let service = boot(config, dirs.clone());
        Self { provider, service, dirs, folder }
    }

    /// Boots another service on the same folders.
    pub fn another_service(&self) -> Arc<Service> {
        let text = fs::read(Config::path(&self.dirs)).expect("read");
        boot(serde_json::from_slice(&text).expect("valid"), self.dirs.clone())
    }

    /// Gives a path in scope `app`.
    pub fn app(&self, path: &str) -> PathBuf {
        self.folder.join("app").join(path)
    }

    /// Gives the folder around everything.
    pub fn around(&self) -> &Path {
        &self.folder
    }

    /// Sends an envelope of scope `app`, unless it names another, as the local user.
    pub async fn send(&self, envelope: Value) -> Value {
        send(&self.service, envelope, &CancellationToken::new()).await
    }

    /// Runs Codex with a prompt.
    pub async fn run(&self, prompt: &str) -> Value {
        self.run_with(prompt, json!({})).await
    }

    /// Runs Codex with a prompt and options.
    pub async fn run_with(&self, prompt: &str, options: Value) -> Value {
        self.send(json!({"op": "codex.run", "input": {"prompt": prompt}, "options": options})).await
    }

    /// Waits until a process is over.
    pub async fn over(&self, id: &Value) {
        let wait = json!({"op": "process.wait", "target": id, "input": {"any": [{"until": "exit"}]}, "options": {"timeoutSeconds": PATIENCE.as_secs()}});
        let answer = self.send(wait).await;
        assert_eq!(answer["ok"], true, "{answer}");
    }

    /// Gives the files below the state folder in which a text occurs.
    pub fn stored(&self, text: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        search(&self.dirs.state, text.as_bytes(), &mut found);
        found
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_bailiwick"));
        command.args(words).env_clear().env("BAILIWICK_HOME", self.folder.join("home"));
        command
    }
}

fn boot(config: Config, dirs: Dirs) -> Arc<Service> {
    let launcher = Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into());
    let settings = ServiceSettings { config, dirs };
    Service::boot_with(settings, launcher).unwrap_or_else(|error| panic!("the service starts: {error}"))
}

/// Sends an envelope of scope `app`, unless it names another, until `gone` is raised.
pub async fn send(service: &Arc<Service>, mut envelope: Value, gone: &CancellationToken) -> Value {
    if envelope.get("scope").is_none() {
        envelope["scope"] = json!("app");
    }
    let caller = Caller::local(Transport::Stdio);
    service.handle(&caller, Envelope::from_value(envelope), gone).await.into_reply().into_value()
}

fn search(folder: &Path, text: &[u8], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            search(&path, text, found);
        } else if entry.metadata().is_ok_and(|facts| facts.len() > 0) {
            let content = fs::read(&path).unwrap_or_default();
            if memchr::memmem::find(&content, text).is_some() {
                found.push(path);
            }
        }
    }
}
