//! A scope with the real Codex, whose provider is a test's own.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::fake::{Provider, Reply};
use crate::patience::PATIENCE;
use crate::temporary::TemporaryFolder;
use support::scope::TestScope;
use support::service::TestService;

/// The key that Codex shows its provider.
pub const KEY: &str = "fake-key-that-no-command-sees";

/// Two scopes, `app` and `other`, with one state folder. Not below the system's temporary folder, which is another
/// one inside a sandbox.
pub struct CodexScope {
    pub provider: Provider,
    host: TestService,
}

impl Deref for CodexScope {
    type Target = TestService;

    fn deref(&self) -> &TestService {
        &self.host
    }
}

/// Returns the folder with the program of the real Codex.
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

/// Returns the capabilities of a scope in which Codex may write.
pub fn writing() -> Value {
    json!(["fs:read", "fs:write", "codex:run", "process:manage", "command:run", "history:read"])
}

impl CodexScope {
    /// Makes scopes in which Codex may write.
    pub fn new(replies: Vec<Reply>) -> Self {
        Self::with(replies, &writing(), &json!({}))
    }

    /// Makes scopes with these capabilities, and a policy that is added to the usual one.
    pub fn with(replies: Vec<Reply>, capabilities: &Value, policy: &Value) -> Self {
        let temporary = TemporaryFolder::below(Path::new(env!("CARGO_TARGET_TMPDIR")));
        let folder = temporary.path().to_owned();
        fs::create_dir_all(folder.join("person")).expect("made");
        let provider = Provider::new(replies);
        let port = provider.port();
        // The user's own settings, with what must not be taken over.
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
        let capabilities: Vec<&str> =
            capabilities.as_array().into_iter().flatten().flat_map(Value::as_str).collect();
        let scope = TestScope::in_folder(temporary).with_capabilities(&capabilities).with_policy(usual);
        Self { provider, host: scope.with_copy("other").save().host() }
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

    /// Returns the files below the state folder in which a text occurs.
    pub fn stored(&self, text: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        search(&self.dirs.state, text.as_bytes(), &mut found);
        found
    }
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
