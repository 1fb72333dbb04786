//! The files in force: which they are, what they say without secrets, what is wrong in them, and changing them by hand.
//!
//! Nothing here is repaired. What is written was checked as the service would check it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use bailiwick_config::{Config, Tokens};
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::modes::MetadataExt;
use bailiwick_platform::fs::{Ownership, Protection, Secrecy, read_own_file, replace_file};
use bailiwick_policy::RootPaths;
use bailiwick_providers::edit::{Text, text_diff};

use super::examine::{ProblemOutput, examine};
use crate::client_settings::write::masked;
use crate::installation::home::Home;
use crate::installation::running::socket_path;
use crate::installation::text::one_line;
use crate::scope_setup::effective::{EffectiveScope, effective};
use crate::scope_setup::scope_words::without_values;

/// The largest file that is checked.
const LIMIT_BYTES: u64 = 4 << 20;

/// A file or folder of Bailiwick's own.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlaceOutput {
    /// What it is for.
    pub what: &'static str,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
}

/// By what the files are chosen.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChosenBy {
    /// The flag `--config`.
    Flag,
    /// The variable `BAILIWICK_HOME`.
    Environment,
    /// Nothing: the usual folders of this system.
    Usual,
}

/// `config path`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathOutput {
    /// Always true.
    pub ok: bool,
    /// The config file.
    pub config: PathBuf,
    /// By what it is chosen.
    pub chosen_by: ChosenBy,
    /// The config and everything beside it.
    pub places: Vec<PlaceOutput>,
}

/// `config show`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShowOutput {
    /// Always true.
    pub ok: bool,
    /// The file.
    pub file: PathBuf,
    /// What it says; values of environment variables are left out. With `--defaults`, also what holds without it.
    pub config: Value,
}

/// `config validate`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ValidateOutput {
    /// Whether the file would be accepted.
    pub ok: bool,
    /// The file.
    pub file: PathBuf,
    /// The mistakes.
    pub problems: Vec<ProblemOutput>,
}

/// `config edit`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EditOutput {
    /// Whether the copy was valid.
    pub ok: bool,
    /// The config file.
    pub file: PathBuf,
    /// Whether it was written.
    pub written: bool,
    /// What changes, as `git diff` shows it; what looks like a secret is masked.
    pub diff: String,
    /// Where the copy is, if it was kept.
    pub copy: Option<PathBuf>,
    /// The mistakes in the copy.
    pub problems: Vec<ProblemOutput>,
}

impl PathOutput {
    /// Names the files of an installation.
    pub fn of(home: &Home) -> Self {
        let chosen_by = if home.config_is_named {
            ChosenBy::Flag
        } else if env::var_os("BAILIWICK_HOME").is_some_and(|it| !it.is_empty()) {
            ChosenBy::Environment
        } else {
            ChosenBy::Usual
        };
        let schema = home.config_path.with_file_name(Config::SCHEMA_FILE);
        let places = [
            ("config", home.config_path.clone()),
            ("tokens", Tokens::path(&home.dirs)),
            ("schema for editors", schema),
            ("state and history", home.dirs.state.clone()),
            ("local socket", socket_path(&home.dirs)),
        ];
        let places: Vec<PlaceOutput> = places
            .into_iter()
            .map(|(what, path)| PlaceOutput { what, exists: path.exists(), path })
            .collect();
        Self { ok: true, config: home.config_path.clone(), chosen_by, places }
    }
}

/// Returns what the config says, and whether it has variables whose values are left out. With `defaults` also what holds where a
/// scope says nothing.
///
/// # Errors
/// When there is none, or it is broken.
pub fn shown_config(home: &Home, defaults: bool) -> Result<(Value, bool), Failure> {
    let mut config = home.config()?;
    let known = config.scopes.clone();
    config.scopes.iter_mut().for_each(|scope| *scope = without_values(scope));
    let mut value = serde_json::to_value(&config).expect("a config has a JSON form");
    if defaults {
        let paths = RootPaths::new(&known);
        for (scope, shown) in known.iter().zip(value["scopes"].as_array_mut().into_iter().flatten()) {
            fill_in(shown, &effective(home, scope, &paths)?);
        }
    }
    let hides = known.iter().any(|scope| !scope.policy.environment.is_empty());
    Ok((value, hides))
}

/// Adds what holds where a scope says nothing.
fn fill_in(scope: &mut Value, effective: &EffectiveScope) {
    let fields = scope.as_object_mut().expect("a scope is an object");
    for name in ["ask", "deny", "roots"] {
        fields.entry(name).or_insert_with(|| json!([]));
    }
    let id = fields["id"].clone();
    fields.entry("name").or_insert(id);
    let Some(policy) = fields.get_mut("policy").and_then(Value::as_object_mut) else { return };
    let mut add = |name: &str, value: Value| {
        policy.entry(name).or_insert(value);
    };
    add("maxRuntimeSeconds", json!(effective.max_runtime_seconds));
    add("maxOutputBytes", json!(effective.max_output_bytes));
    add("refuseHardLinks", json!(false));
    for name in ["openSensitive", "closedFiles", "askFiles", "askOperations", "askFirstUse", "untrustedFiles"]
    {
        add(name, json!([]));
    }
    add("allowDisplays", json!(effective.displays));
    add("allowWindows", json!(effective.windows));
    add("allowProcesses", json!(effective.window_processes));
    let Some(commands) = &effective.commands else { return };
    for name in ["allowedCommands", "askCommands", "deniedCommands", "readPaths", "allowedEnvironment"] {
        add(name, json!([]));
    }
    add("environment", Value::Object(Map::new()));
    add("shell", json!(commands.shell));
    add("searchPath", json!(commands.search_path));
    add("network", json!(commands.network));
    add("sandbox", json!(commands.sandbox));
    add("maxMemoryMegabytes", json!(commands.max_memory_bytes.map(|bytes| bytes >> 20)));
    add("maxJobMemoryMegabytes", json!(commands.max_job_memory_bytes >> 20));
    add("maxProcesses", json!(commands.max_processes));
    add("maxFileMegabytes", json!(commands.max_file_bytes.map(|bytes| bytes >> 20)));
    add("processLifetime", json!(commands.process_lifetime));
    add("maxLiveProcesses", json!(commands.max_live_processes));
    add("maxProcessSeconds", json!(commands.max_process_seconds));
}

/// Looks for mistakes in a file; in the one that is in force, also at who can change it.
///
/// # Errors
/// `not_found` where there is no such file.
pub fn validate(home: &Home, file: &Path, is_in_force: bool) -> Result<ValidateOutput, Failure> {
    let content = read(file)?;
    let mut problems = examine(home, file, &content);
    if is_in_force && let Err(error) = read_own_file(file, Secrecy::Guarded, LIMIT_BYTES) {
        problems.insert(
            0,
            ProblemOutput {
                line: None,
                column: None,
                field: String::new(),
                problem: error.to_string(),
                fix: format!(
                    "Run `{}`, as the user whose file it is.",
                    Protection::narrowing_command(file, false)
                ),
            },
        );
    }
    Ok(ValidateOutput { ok: problems.is_empty(), file: file.to_owned(), problems })
}

/// Reads a file to look at.
///
/// # Errors
/// `not_found`, or why it cannot be read.
pub fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let shown = one_line(&PathBuf::from(file).display().to_string());
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::new(ErrorCode::NotFound, format!("there is no file `{shown}`"))
                .hint("`bailiwick config path` names the files in force.")
        }
        _ => Failure::new(ErrorCode::OsPermissionRequired, format!("`{shown}`: {error}")),
    };
    let facts = fs::metadata(file).map_err(failed)?;
    if !facts.is_file() || facts.len() > LIMIT_BYTES {
        return Err(Failure::invalid("FILE", format!("`{shown}` is no config: it is no file, or too large")));
    }
    fs::read(file).map_err(failed)
}

/// Replaces the config, with the mode that it has.
///
/// # Errors
/// `provider_unavailable`.
pub fn write_over(file: &Path, after: &[u8]) -> Result<(), Failure> {
    // A link in the file's place is the user's choice: what it leads to is replaced.
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let mode = fs::metadata(&target).map_or(0o600, |facts| facts.mode() & 0o7777);
    replace_file(&target, after, mode).map_err(|error| unwritable(file, &error))
}

/// Refuses to change a file of another user.
///
/// # Errors
/// `permission_denied`.
pub fn check_owner(file: &Path) -> Result<(), Failure> {
    if Ownership::of(file).map_err(|error| unwritable(file, &error))?.is_mine() {
        return Ok(());
    }
    let shown = one_line(&file.display().to_string());
    Err(Failure::denied("other-owner", format!("{shown} belongs to another user"))
        .hint("Run this as the user whose file it is."))
}

/// Creates the failure for a file that cannot be written.
pub fn unwritable(file: &Path, error: &std::io::Error) -> Failure {
    let shown = one_line(&file.display().to_string());
    Failure::new(ErrorCode::ProviderUnavailable, format!("{shown} cannot be written: {error}"))
        .hint("Check the folder's owner, permissions and free space.")
}

/// Shows what changes; what is named as a secret is masked.
pub fn diff(before: &[u8], after: &[u8]) -> String {
    let text = |bytes: &[u8]| Text::new(String::from_utf8_lossy(bytes).into_owned());
    let diff = text_diff((None, None), &text(before), &text(after));
    diff.lines().skip(2).map(|line| masked(line) + "\n").collect()
}
