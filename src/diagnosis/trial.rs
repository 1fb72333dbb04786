//! A real MCP conversation over a real folder, step by step. Changes nothing of the user's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use bailiwick_contract::{Capability, ErrorCode, Failure};

use super::command_steps::{ALLOWED, a_command};
use crate::installation::bounded_run::{RunError, run_to_end};
use crate::installation::child::{McpChild, USUAL};
use crate::installation::limit::Limit;
use crate::installation::steps::{Expect, ShowStep, Step, Steps, wrong};
use crate::installation::text::one_line;
use crate::installation::throwaway::{Throwaway, folder_scope};
use crate::scope_setup::open_folder::{WholeHome, find_folder};
use crate::scope_setup::presets::Preset;

/// How long the check of a history of some rows may take.
const VERIFY_TIME: Duration = Duration::from_secs(10);
/// What `try` writes into the scratch scope.
const NOTE: &str = "Written by an MCP client through Bailiwick.\n";

/// `try`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TryOutput {
    /// Whether all steps went as they must.
    pub ok: bool,
    /// The folder that was checked.
    pub folder: PathBuf,
    /// The steps, in their order.
    pub steps: Vec<Step>,
}

/// A throw-away installation over a folder, before the conversation.
pub struct Trial {
    place: Throwaway,
    folder: PathBuf,
    scratch: PathBuf,
}

impl Trial {
    /// Creates the installation.
    ///
    /// # Errors
    /// When the folder cannot or must not be opened, or the temporary folder cannot be used.
    pub fn of(folder: &Path) -> Result<Self, Failure> {
        let place = Throwaway::make()?;
        let folder = find_folder(&place.home, folder, WholeHome::Refused)?;
        let scratch = place.make_folder("scratch")?;
        let writes = [Preset::Coding.capabilities(), vec![Capability::CommandRun]].concat();
        place.open(vec![
            folder_scope("project", &folder, Preset::ReadOnly.capabilities(), &[]),
            folder_scope("scratch", &scratch, writes, ALLOWED),
        ])?;
        Ok(Self { place, folder, scratch })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Holds the conversation, and shows each step.
    pub fn run(self, show: ShowStep) -> TryOutput {
        let mut steps = Steps::new(show, Limit::default());
        converse(&mut steps, &self.place, &self.scratch);
        TryOutput { ok: steps.all_well(), folder: self.folder, steps: steps.finish() }
    }
}

fn converse(steps: &mut Steps, place: &Throwaway, scratch: &Path) {
    let limit = steps.limit().clone();
    let started = steps.step("the client connects", || {
        let mut child = McpChild::start(&place.folder(), &limit)?;
        let server = child.initialize("bailiwick-try", USUAL)?;
        let name = server["serverInfo"]["name"].as_str().unwrap_or_default().to_owned();
        let version = server["serverInfo"]["version"].as_str().unwrap_or_default().to_owned();
        let protocol = server["protocolVersion"].as_str().unwrap_or_default().to_owned();
        Ok((child, format!("{name} {version}, MCP revision {protocol}")))
    });
    let Some(mut child) = started else { return };
    steps.step("it lists the tools", || {
        let tools = child.request("tools/list", &json!({}))?;
        let names: Vec<&str> = tools["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        if names.is_empty() {
            return Err(wrong("no tools"));
        }
        Ok((
            (),
            format!(
                "{} tools in {} characters: {}",
                names.len(),
                tools.to_string().chars().count(),
                names.join(", ")
            ),
        ))
    });
    steps.step("get_computer_info", || {
        let info = child.call("get_computer_info", json!({"include": ["scopes", "operations"]}))?;
        let scopes: Vec<&str> = info["data"]["scopes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| it["id"].as_str())
            .collect();
        let operations = info["data"]["operations"]["signatures"].as_array().map_or(0, Vec::len);
        if scopes != ["project", "scratch"] {
            return Err(wrong(format!("the scopes are {scopes:?}")));
        }
        Ok(((), format!("scopes {}; {operations} operations", scopes.join(", "))))
    });

    let ask = |op: &str, target: Option<&str>, input: Value, options: Value| {
        let mut envelope = json!({"scope": "project", "op": op, "input": input, "options": options});
        if let Some(target) = target {
            envelope["target"] = json!(target);
        }
        envelope
    };
    steps.envelope(
        "file.tree",
        &mut child,
        ask("file.tree", None, json!({}), json!({"depth": 2})),
        Expect::Success,
        |data| Ok(sample(data)),
    );
    let search = ask(
        "file.search",
        None,
        json!({"query": r"\b(fn|def|function|class|TODO)\b"}),
        json!({"maxResults": 200}),
    );
    steps.envelope("file.search", &mut child, search, Expect::Success, |data| {
        let matches = data["matches"].as_array().ok_or_else(|| wrong("no list of matches"))?;
        let first = matches.first().map(|it| {
            format!("; first {}:{}: {}", text(it, "path"), it["line"], clip(text(it, "preview").trim(), 48))
        });
        let more = if data["truncated"] == true { " or more" } else { "" };
        Ok(format!("{} matches{more}{}", matches.len(), first.unwrap_or_default()))
    });
    let listed = steps.envelope(
        "file.list",
        &mut child,
        ask("file.list", None, json!({}), json!({"detail": "full"})),
        Expect::Success,
        |data| {
            Ok(format!("{} entries", data["entries"].as_array().ok_or_else(|| wrong("no entries"))?.len()))
        },
    );
    if let Some(file) = listed.as_ref().and_then(pick) {
        steps.envelope(
            "file.read",
            &mut child,
            ask("file.read", Some(&file), json!({}), json!({"endLine": 200})),
            Expect::Success,
            |data| {
                let content = data["content"].as_str().ok_or_else(|| wrong("no content"))?;
                let first = content.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
                Ok(format!("{file}: {} lines, \"{}\"", data["totalLines"], clip(first.trim(), 48)))
            },
        );
    }
    for (name, envelope, code) in [
        (
            "a path outside",
            ask("file.read", Some("../../etc/passwd"), json!({}), json!({})),
            ErrorCode::PathOutOfScope,
        ),
        ("a secret", ask("file.read", Some(".env"), json!({}), json!({})), ErrorCode::PermissionDenied),
        (
            "a write in `project`",
            ask("file.create", Some("note.txt"), json!({"content": NOTE}), json!({})),
            ErrorCode::PermissionDenied,
        ),
    ] {
        steps.envelope(name, &mut child, envelope, Expect::Refusal(code), |_| Ok(String::new()));
    }
    let note =
        json!({"scope": "scratch", "op": "file.create", "target": "note.txt", "input": {"content": NOTE}});
    steps.envelope("a write in `scratch`", &mut child, note, Expect::Success, |_| {
        match fs::read_to_string(scratch.join("note.txt")) {
            Ok(there) if there == NOTE => Ok(format!("{} bytes, and the disk has exactly them", NOTE.len())),
            _ => Err(wrong("the file on the disk is not what was written")),
        }
    });
    a_command(steps, &mut child, "scratch");
    steps.step("get_operation_history", || {
        let history = child.call("get_operation_history", json!({"scope": "project", "limit": 50}))?;
        let rows = rows(&history["data"])
            .ok_or_else(|| wrong(format!("no rows: {}", history["error"]["message"])))?;
        let refused = rows.iter().filter(|row| row["code"].is_string()).count();
        if refused < 3 {
            return Err(wrong(format!("{} rows, {refused} of them refused", rows.len())));
        }
        Ok(((), format!("{} operations in `project`, {refused} of them refused", rows.len())))
    });
    leave(steps, child, place);
}

/// Ends the client, and checks the chain of the throw-away installation that it worked in.
pub fn leave(steps: &mut Steps, child: McpChild, place: &Throwaway) {
    steps.step("the client leaves", || {
        let status = child.end()?;
        if status.success() {
            Ok(((), "the server ended on its own".to_owned()))
        } else {
            Err(wrong(status.to_string()))
        }
    });
    let limit = steps.limit().clone();
    steps.step("history verify", || verify(place, &limit));
}

/// Checks the chain by the user's own command.
fn verify(place: &Throwaway, limit: &Limit) -> Result<((), String), Failure> {
    let program = std::env::current_exe().map_err(|error| wrong(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["history", "verify"]).env("BAILIWICK_HOME", place.folder());
    let ended = run_to_end(&mut command, limit, VERIFY_TIME).map_err(|unfinished| match unfinished {
        RunError::NotStarted(error) => wrong(error.to_string()),
        RunError::TookTooLong => wrong("`bailiwick log verify` did not end in time"),
    })?;
    let said = ended.out.lines().next().unwrap_or_default().to_owned();
    if ended.status.success() { Ok(((), said)) } else { Err(wrong(format!("{}: {said}", ended.status))) }
}

/// Finds the list of operations in the data of a history view.
pub fn rows(data: &Value) -> Option<&Vec<Value>> {
    ["operations", "entries", "rows", "timeline"].iter().find_map(|name| data[name].as_array())
}

/// The first names of a tree, whatever its form.
fn sample(data: &Value) -> String {
    if let Some(tree) = data["tree"].as_str() {
        let names: Vec<&str> = tree.lines().map(str::trim).take(6).collect();
        return format!("{} lines: {} …", tree.lines().count(), one_line(&names.join(" ")));
    }
    let Some(entries) = data["entries"].as_array() else { return clip(&data.to_string(), 60) };
    let names: Vec<String> = entries.iter().take(6).map(|entry| one_line(text(entry, "path"))).collect();
    format!("{} entries: {} …", entries.len(), names.join(" "))
}

/// Chooses a file worth reading: a README, else the first one that is not empty.
fn pick(listed: &Value) -> Option<String> {
    let files: Vec<&str> = listed["entries"]
        .as_array()?
        .iter()
        .filter(|entry| {
            entry["kind"] == "file" && entry["size"].as_u64().is_some_and(|size| (1..200_000).contains(&size))
        })
        .filter_map(|entry| entry["path"].as_str())
        .collect();
    let is_text = |path: &&&str| {
        [".md", ".txt", ".toml", ".rs", ".py", ".json", ".js", ".ts", ".go"]
            .iter()
            .any(|end| path.ends_with(end))
    };
    let readme = files.iter().find(|path| path.to_lowercase().starts_with("readme"));
    readme.or_else(|| files.iter().find(is_text)).map(|path| (*path).to_owned())
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

fn clip(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        text.to_owned()
    } else {
        format!("{}…", text.chars().take(limit).collect::<String>())
    }
}
