//! Runs one case: its blocks in order, against a service in a temporary folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bailiwick::config::{Config, ScopeConfig};
use bailiwick::contract::path::decode_name;
use bailiwick::contract::{Caller, CapabilityGrant, Envelope, ScopeGrant, Transport};
use bailiwick::platform::devices::DeviceSources;
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::fs::modes::{set_mode, symlink};
use bailiwick::platform::launch::Launcher;
use bailiwick::platform::names::OsStrExt;
use bailiwick::platform::screen::Sources;
use bailiwick::service::{Service, ServiceSettings};
use serde_json::{Value, json};
use support::system::{git_of_the_person, has_sandbox, make_pipe};
use support::temporary::TemporaryFolder;
use tokio_util::sync::CancellationToken;

use super::audit;
use super::diff::diff;
use super::display::CaseDisplay;
use super::file::{Block, Case, Part};
use super::mask::SeenValues;
use super::schema;

/// A problem and the line that it belongs to.
pub type Problem = (usize, String);

/// Runs a case and gives what differs. With `update`, the expected blocks are replaced instead.
pub async fn run(case: &mut Case, update: bool) -> Vec<Problem> {
    let mut world = World::new();
    let mut problems = Vec::new();
    let mut parts = Vec::with_capacity(case.parts.len());
    let mut answer: Option<(usize, String)> = None;
    for part in std::mem::take(&mut case.parts) {
        let Part::Block(mut block) = part else {
            parts.push(part);
            continue;
        };
        if block.name != "outcome"
            && let Some((line, answer)) = answer.take()
        {
            end_without_outcome(line, answer, update, &mut parts, &mut problems);
        }
        let line = block.line;
        let expected = match block.name.as_str() {
            "call" => {
                let (text, contradictions) = world.call(&block.content).await;
                problems.extend(contradictions.into_iter().map(|problem| (line, problem)));
                answer = Some((line, text));
                None
            }
            "outcome" => match answer.take() {
                Some((_, answer)) => Some(answer),
                None => {
                    problems.push((line, "there is no `call` before this `outcome`".to_owned()));
                    None
                }
            },
            "audit" => match world.audit(&block.content) {
                // Spaces and the order of keys are the writer's.
                Ok(got) if audit::normal(&block.content).is_ok_and(|normal| normal == got) => None,
                Ok(got) => Some(got),
                Err(problem) => {
                    problems.push((line, problem));
                    None
                }
            },
            "settled" => {
                world.settle().await;
                None
            }
            "tree" => Some(world.tree()),
            "content" => Some(world.content(&block.argument)),
            _ => {
                if let Err(problem) = world.set_up(&block) {
                    problems.push((line, problem));
                }
                None
            }
        };
        if let Some(got) = expected
            && got != block.content
        {
            if update {
                block.content = got;
            } else {
                problems.push((line, diff(&block.content, &got)));
            }
        }
        parts.push(Part::Block(block));
    }
    if let Some((line, answer)) = answer.take() {
        end_without_outcome(line, answer, update, &mut parts, &mut problems);
    }
    case.parts = parts;
    problems
}

fn end_without_outcome(
    line: usize,
    answer: String,
    update: bool,
    parts: &mut Vec<Part>,
    problems: &mut Vec<Problem>,
) {
    if !update {
        problems.push((line, format!("this `call` has no `outcome` block; the answer was\n{answer}")));
        return;
    }
    // Right after the call, before the empty lines that follow it.
    let at = parts.iter().rposition(|part| matches!(part, Part::Block(_))).map_or(0, |at| at + 1);
    parts.insert(at, Part::Block(Block::added("outcome", answer)));
}

/// A temporary folder with a scope `app`, and the service once it is needed.
struct World {
    scope: Value,
    caller: Caller,
    service: Option<Arc<Service>>,
    display: Option<CaseDisplay>,
    seen: SeenValues,
    /// Removed after all that writes there has been dropped.
    folder: TemporaryFolder,
}

impl World {
    fn new() -> Self {
        let folder = TemporaryFolder::new();
        let root = folder.path().join("app");
        make_dir(&root);
        let scope = json!({
            "id": "app",
            "name": "App",
            "roots": ["app"],
            "capabilities": ["fs:read", "search:read", "fs:write", "history:read"],
        });
        let shown = |path: &Path| path.to_str().expect("temporary paths are UTF-8").to_owned();
        let folders = vec![(shown(&root), "<root>"), (shown(folder.path()), "<temporary>")];
        let seen = SeenValues { folders, ..SeenValues::default() };
        Self { folder, scope, caller: Caller::local(Transport::Stdio), service: None, display: None, seen }
    }

    /// Returns a path that a block names; `../` leads beside the scope's folder.
    fn path(&self, argument: &str) -> PathBuf {
        use std::ffi::OsStr;
        self.folder.path().join("app").join(OsStr::from_bytes(&decode_name(argument)))
    }

    fn set_up(&mut self, block: &Block) -> Result<(), String> {
        let path = self.path(&block.argument);
        let text = block.content.trim_end_matches('\n');
        if let Some(parent) = path.parent() {
            make_dir(parent);
        }
        let done = match block.name.as_str() {
            "policy" => return self.policy(text),
            "caller" => return self.caller(text),
            "file" => fs::write(&path, &block.content).and_then(|()| set_mode(&path, 0o644)),
            "file-base64" => {
                let bytes = decode_base64(text).ok_or("the block is not base64")?;
                fs::write(&path, bytes).and_then(|()| set_mode(&path, 0o644))
            }
            "link" => symlink(text, &path),
            "hard-link" => fs::hard_link(self.path(text), &path),
            "fifo" => make_pipe(&path),
            "git" => return self.git(block),
            "display" | "desktop" => return self.show(block),
            // They are read before the case begins.
            "needs" => Ok(()),
            "dir" => {
                make_dir(&path);
                Ok(())
            }
            "mode" => {
                let mode = u32::from_str_radix(text.trim(), 8).map_err(|_| "a mode is octal")?;
                set_mode(&path, mode)
            }
            other => return Err(format!("there is no block `{other}`")),
        };
        done.map_err(|error| format!("{} {}: {error}", block.name, block.argument))
    }

    /// Starts a display with windows.
    fn show(&mut self, block: &Block) -> Result<(), String> {
        let shown = match block.name.as_str() {
            "desktop" => CaseDisplay::desktop(&block.argument, block.content.trim())?,
            _ => CaseDisplay::start(&block.argument, &block.content)?,
        };
        if let Some(window) = shown.window() {
            self.seen.folders.push((window, "<window>"));
        }
        if let Some(icon) = shown.icon() {
            self.seen.folders.push((icon, "<icon>"));
        }
        if let Some(windows) = shown.windows() {
            self.seen.folders.push((windows, "<display>/0x4000"));
        }
        self.seen.folders.push((shown.id(), "<display>"));
        self.display = Some(shown);
        Ok(())
    }

    /// Does with Git what the person did before: a command a line, always at the same time by the same author.
    fn git(&mut self, block: &Block) -> Result<(), String> {
        let folder = self.path(&block.argument);
        make_dir(&folder);
        if !has_sandbox() && self.scope["policy"].get("sandbox").is_none() {
            self.scope["policy"]["sandbox"] = json!("none");
        }
        // What each repository begins with: its own word on how lines end, whatever Git's installer was told.
        let template = self.folder.path().join("template");
        make_dir(&template);
        fs::write(template.join("config"), if cfg!(windows) { "[core]\n\tautocrlf = false\n" } else { "" })
            .map_err(|error| format!("template: {error}"))?;
        let template = format!("init.templateDir={}", template.display());
        for line in block.content.lines().filter(|line| !line.trim().is_empty()) {
            let words = line.split('\'').enumerate().flat_map(|(at, part)| {
                // Between two marks stands one word.
                if at % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }
            });
            let time = "2026-01-02T03:04:05Z";
            let output = git_of_the_person()
                .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", &template])
                .args(["-c", "maintenance.auto=false"])
                .args(words)
                .current_dir(&folder)
                .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("LC_ALL", "C")])
                .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.com")])
                .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.com")])
                .envs([("GIT_AUTHOR_DATE", time), ("GIT_COMMITTER_DATE", time), ("GIT_EDITOR", "true")])
                .output()
                .map_err(|error| format!("git does not start: {error}"))?;
            // A merge that ends in a conflict is one of the cases.
            if !output.status.success() && !line.starts_with("merge ") {
                return Err(format!("git {line}: {}", String::from_utf8_lossy(&output.stderr)));
            }
        }
        Ok(())
    }

    fn policy(&mut self, text: &str) -> Result<(), String> {
        let text = self.seen.fill(text);
        let patch: Value = serde_json::from_str(&text).map_err(|error| format!("policy: {error}"))?;
        merge(&mut self.scope, patch);
        let config = self.config()?;
        match &self.service {
            Some(service) => service.reload(config).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    fn caller(&mut self, text: &str) -> Result<(), String> {
        let fields: Value = serde_json::from_str(text).map_err(|error| format!("caller: {error}"))?;
        let list = |name: &str| -> Option<Value> { fields.get(name).cloned() };
        if let Some(name) = fields["name"].as_str() {
            self.caller.name = name.to_owned();
        }
        if let Some(scopes) = list("scopes") {
            let ids = serde_json::from_value(scopes).map_err(|error| format!("caller.scopes: {error}"))?;
            self.caller.scopes = ScopeGrant::Only(ids);
        }
        if let Some(capabilities) = list("capabilities") {
            let set = serde_json::from_value(capabilities)
                .map_err(|error| format!("caller.capabilities: {error}"))?;
            self.caller.capabilities = CapabilityGrant::Only(set);
        }
        Ok(())
    }

    /// Creates the config. Roots are names beside the scope's folder; each is made.
    fn config(&self) -> Result<Config, String> {
        let mut scope: ScopeConfig =
            serde_json::from_value(self.scope.clone()).map_err(|error| format!("policy: {error}"))?;
        for root in &mut scope.roots {
            *root = self.folder.path().join(&root);
            make_dir(root);
        }
        let config = json!({"machineId": "01JD0000000000000000000000", "machineName": "test-computer"});
        let mut config: Config = serde_json::from_value(config).expect("a minimal config is whole");
        config.scopes = vec![scope];
        Ok(config)
    }

    /// Sends a request. Returns the answer, and in what request or answer contradict the schemas.
    async fn call(&mut self, text: &str) -> (String, Vec<String>) {
        if let Err(problem) = self.boot() {
            return (format!("{problem}\n"), Vec::new());
        }
        let service = self.service.as_ref().expect("it was booted above");
        let text = self.seen.fill(text.trim_end_matches('\n'));
        let envelope = Envelope::from_json(text.as_bytes());
        let outcome = service.handle(&self.caller, envelope, &CancellationToken::new()).await;
        let mut outcome = outcome.into_reply().into_value();
        let contradictions = schema::contradictions(&text, &outcome);
        self.seen.note(&outcome);
        self.seen.mask(&mut outcome);
        (pretty(&outcome), contradictions)
    }

    /// Waits until every process that was started has ended.
    async fn settle(&self) {
        let Some(service) = &self.service else { return };
        for process in service.facts().processes.all() {
            // A process without a keeper that tells more is over too.
            let _ = process.changes().wait_for(|change| change.ended).await;
        }
    }

    fn boot(&mut self) -> Result<(), String> {
        if self.service.is_none() {
            let dirs = Dirs::below(self.folder.path().join("home"));
            let settings = ServiceSettings { config: self.config()?, dirs };
            let launcher = Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into());
            // No display and no devices but the case's own, whatever this computer has.
            let none = || Sources { sockets: self.folder.path().join("no-display"), ..Sources::default() };
            let devices = DeviceSources {
                system_bus: format!("unix:path={}", self.folder.path().join("no-bus").display()),
                classes: self.path("class"),
                sound: None,
            };
            let displays = self.display.as_ref().map_or_else(none, CaseDisplay::sources);
            let displays = Sources { devices: Some(devices), ..displays };
            let booted = Service::boot_on(settings, launcher, displays);
            self.service = Some(booted.map_err(|error| format!("the service does not start: {error}"))?);
        }
        Ok(())
    }

    fn audit(&self, block: &str) -> Result<String, String> {
        audit::audit(&self.folder.path().join("home/state"), block, &self.seen)
    }

    /// Lists what is below the scope's folder: `folder/`, `file`, `link -> where`.
    fn tree(&self) -> String {
        let mut lines = Vec::new();
        list(&self.folder.path().join("app"), "", &mut lines);
        lines.sort();
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    fn content(&self, argument: &str) -> String {
        match fs::read(self.path(argument)) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if text.is_empty() || text.ends_with('\n') {
                    text
                } else {
                    format!("{text}\n<no final newline>\n")
                }
            }
            Err(error) => format!("<{}>\n", error.kind()),
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.service = None;
    }
}

fn list(folder: &Path, prefix: &str, lines: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = bailiwick::contract::path::encode_name(entry.file_name().as_bytes());
        let path = format!("{prefix}{name}");
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            lines.push(format!("{path}/"));
            list(&entry.path(), &format!("{path}/"), lines);
        } else if kind.is_symlink() {
            let leads_to = fs::read_link(entry.path()).unwrap_or_default();
            lines.push(format!("{path} -> {}", leads_to.display()));
        } else {
            lines.push(path);
        }
    }
}

fn make_dir(path: &Path) {
    if path.is_dir() {
        return;
    }
    if let Some(parent) = path.parent() {
        make_dir(parent);
    }
    fs::create_dir(path).expect("a folder can be made in the temporary folder");
    set_mode(path, 0o755).expect("its mode can be set");
}

/// Merges objects key by key; anything else replaces what was there.
fn merge(into: &mut Value, patch: Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, patch) => *into = patch,
    }
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for character in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let digit = ALPHABET.iter().position(|it| *it == character)?;
        bits = bits << 6 | u32::try_from(digit).ok()?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).expect("JSON can be written");
    format!("{text}\n")
}
