//! Git: a repository of its own, seen, staged and committed.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::installation::ProofInstallation;
use crate::installation::bounded_run::{RunError, run_to_end};
use crate::installation::child::McpChild;
use crate::installation::limit::Limit;
use crate::installation::steps::{Expect, StepError, Steps, wrong};

/// How long making the repository may take, for each step of it.
const TIME: Duration = Duration::from_secs(5);

fn ask(op: &str, input: Value) -> Value {
    json!({"scope": "repository", "op": op, "input": input})
}

/// Works in the repository.
pub fn git(steps: &mut Steps, child: &mut McpChild, proof: &ProofInstallation) {
    steps.group("Git");
    let limit = steps.limit().clone();
    let made = steps.step_or_skip("make a repository", || make(&proof.repository, &limit));
    if made.is_none() {
        return;
    }
    steps.envelope(
        "status",
        child,
        ask("git.status", json!({})),
        Expect::Success,
        |data| match data["counts"]["untracked"].as_u64() {
            Some(1) => Ok("one new file".to_owned()),
            _ => Err(wrong(format!("counts {}", data["counts"]))),
        },
    );
    let stage = ask("git.stage", json!({"all": true}));
    steps.envelope("stage", child, stage, Expect::Success, |data| {
        if data["count"] == 1 {
            Ok("it is staged".to_owned())
        } else {
            Err(wrong(format!("{}", data["count"])))
        }
    });
    let commit = ask("git.commit", json!({"message": "prove: begin"}));
    let commit = steps.envelope("commit", child, commit, Expect::Success, |data| {
        let id = data["commit"].as_str().filter(|id| id.len() >= 40).ok_or_else(|| wrong("no commit"))?;
        Ok(format!("commit {}", &id[..12]))
    });
    let Some(id) = commit.and_then(|data| data["commit"].as_str().map(str::to_owned)) else { return };
    steps.envelope("log", child, ask("git.log", json!({})), Expect::Success, |data| {
        let text = data.to_string();
        if text.contains(&id) && text.contains("prove: begin") {
            Ok("that commit, with its subject".to_owned())
        } else {
            Err(wrong("the commit is not in it"))
        }
    });
    if let Err(error) = fs::write(proof.repository.join("a.txt"), "one\ntwo\n") {
        steps.skip("diff", format!("the file cannot be changed: {error}"));
        return;
    }
    steps.envelope("diff", child, ask("git.diff", json!({})), Expect::Success, |data| {
        match data["patch"].as_str() {
            Some(patch) if patch.contains("\n+two\n") => Ok("the changed line".to_owned()),
            _ => Err(wrong("the changed line is not in it")),
        }
    });
}

/// Creates a repository as a person would, by the Git that this terminal finds, without the user's settings.
fn make(folder: &Path, limit: &Limit) -> Result<((), String), StepError> {
    fs::write(folder.join("a.txt"), "one\n").map_err(|error| wrong(error.to_string()))?;
    let mut said = String::new();
    for words in [
        &["--version"][..],
        &["init", "-q"],
        &["config", "user.name", "Prove"],
        &["config", "user.email", "prove@localhost"],
    ] {
        let mut command = Command::new("git");
        command
            .args(words)
            .current_dir(folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env_remove("GIT_DIR")
            .env_remove("GIT_WORK_TREE");
        let ended = run_to_end(&mut command, limit, TIME).map_err(|unfinished| match unfinished {
            RunError::NotStarted(error) => StepError::Skipped(format!("there is no Git: {error}")),
            RunError::TookTooLong => {
                StepError::Wrong(wrong(format!("`git {}` did not end", words.join(" "))))
            }
        })?;
        if !ended.status.success() {
            return Err(StepError::Wrong(wrong(format!("`git {}`: {}", words.join(" "), ended.said()))));
        }
        if said.is_empty() {
            said = ended.said();
        }
    }
    Ok(((), said))
}
