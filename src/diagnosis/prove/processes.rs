//! Processes that last: started, waited for, written to, stopped; a terminal; and a tree of them that is killed.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::diagnosis::command_steps::unheld;
use crate::installation::child::McpChild;
use crate::installation::limit::Limit;
use crate::installation::steps::{StepError, Steps, wrong};
use bailiwick_contract::Failure;

use super::installation::ProofInstallation;

/// Answers one line, and ends.
const ANSWERING: &str = "echo ready\nread -r line\necho \"got $line\"\n";
/// The same, and says whether it talks to a terminal.
const AT_A_TERMINAL: &str =
    "[ -t 0 ] && [ -t 1 ] && echo \"this is a terminal\"\nread -r line\necho \"got $line\"\n";
/// A child and a grandchild, none of which ends when it is asked to.
const TREE: &str = "trap '' TERM HUP INT\n\
    ( trap '' TERM HUP INT; ( trap '' TERM HUP INT; while :; do sleep 1; done ) & wait ) &\n\
    echo planted\nwait\n";
/// How many shells run a tree.
const TREE_SIZE: usize = 3;
/// How long processes may take to be there, or gone.
const TREE_TIME: Duration = Duration::from_secs(3);
/// How long a condition is waited for, in seconds.
const WAIT_SECONDS: u64 = 5;

/// Starts, waits, writes, stops.
pub fn processes(steps: &mut Steps, child: &mut McpChild, proof: &ProofInstallation) {
    steps.group("Processes");
    let names = ["start", "wait and write", "stop", "a terminal", "a tree of processes"];
    if let Some(why) = unheld() {
        for name in names {
            steps.skip(name, why.as_str());
        }
        return;
    }
    let tree = format!("tree-{}.sh", proof.mark);
    for (file, text) in [("answering.sh", ANSWERING), ("terminal.sh", AT_A_TERMINAL), (tree.as_str(), TREE)] {
        if let Err(error) = fs::write(proof.folder.join(file), text) {
            steps.skip(names[0], format!("no script can be written: {error}"));
            return;
        }
    }
    let started = steps.step(names[0], || {
        let id = start(child, "answering.sh", false)?;
        let saw = format!("process {id}");
        Ok((id, saw))
    });
    if let Some(id) = started {
        steps.step(names[1], || {
            wait(child, &id, json!({"until": "text", "text": "ready"}))?;
            write(child, &id, json!({"text": "prove\n"}))?;
            wait(child, &id, json!({"until": "exit", "code": 0}))?;
            let said = read(child, &id)?;
            if said == "ready\ngot prove\n" {
                Ok(((), "it was ready, got a line, answered it, and ended with 0".to_owned()))
            } else {
                Err(wrong(format!("it said {said:?}")))
            }
        });
    }
    steps.step(names[2], || {
        let id = start(child, "answering.sh", false)?;
        wait(child, &id, json!({"until": "text", "text": "ready"}))?;
        let stopped = stop(child, &id)?;
        if stopped["status"] == "ended" && stopped["signal"] == "SIGTERM" {
            Ok(((), "asked to end by SIGTERM, it did".to_owned()))
        } else {
            Err(wrong(format!("status {}, signal {}", stopped["status"], stopped["signal"])))
        }
    });
    steps.step(names[3], || {
        let id = start(child, "terminal.sh", true)?;
        wait(child, &id, json!({"until": "text", "text": "this is a terminal"}))?;
        write(child, &id, json!({"keys": ["typed", "Enter"]}))?;
        wait(child, &id, json!({"until": "exit", "code": 0}))?;
        let said = read(child, &id)?;
        // Once as the terminal's echo, once as the answer.
        if said.matches("typed").count() == 2 && said.contains("got typed") {
            Ok(((), "what is typed is echoed, and reaches the program".to_owned()))
        } else {
            Err(wrong(format!("it showed {said:?}")))
        }
    });
    let limit = steps.limit().clone();
    steps.step_or_skip(names[4], || kill_tree(child, &tree, &limit));
}

fn kill_tree(child: &mut McpChild, tree: &str, limit: &Limit) -> Result<((), String), StepError> {
    let id = start(child, tree, false)?;
    wait(child, &id, json!({"until": "text", "text": "planted"}))?;
    let all = limit.wait_for(TREE_TIME, || (running(tree) >= TREE_SIZE).then_some(()));
    let count = running(tree);
    let stopped = stop(child, &id)?;
    if all.is_none() {
        return Err(match count {
            0 => StepError::Skipped("this system does not show the processes that commands start".to_owned()),
            _ => StepError::Wrong(wrong(format!("{count} of {TREE_SIZE} processes ran"))),
        });
    }
    match limit.wait_for(TREE_TIME, || (running(tree) == 0).then_some(())) {
        Some(()) => Ok((
            (),
            format!(
                "{count} processes, child and grandchild among them, all deaf to SIGTERM: gone (by {})",
                stopped["signal"].as_str().unwrap_or("?")
            ),
        )),
        None => Err(StepError::Wrong(wrong(format!("{} processes are left", running(tree))))),
    }
}

/// Counts the processes of this computer that have a word in their command line.
fn running(word: &str) -> usize {
    let names = |entry: &fs::DirEntry| {
        let is_process = entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit());
        is_process.then(|| fs::read(entry.path().join("cmdline")).ok()).flatten()
    };
    let has_word = |line: &[u8]| line.split(|byte| *byte == 0).any(|part| part == word.as_bytes());
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| names(&entry)).filter(|line| has_word(line)).count()
}

fn call(
    child: &mut McpChild,
    op: &str,
    target: &str,
    input: Value,
    options: Value,
) -> Result<Value, Failure> {
    let envelope = json!({"scope": "run", "op": op, "target": target, "input": input, "options": options});
    let mut outcome = child.call("computer_operation", envelope)?;
    if outcome["ok"] == true {
        Ok(outcome["data"].take())
    } else {
        Err(wrong(format!("{op} failed: {}", outcome["error"]["message"])))
    }
}

fn start(child: &mut McpChild, script: &str, terminal: bool) -> Result<String, Failure> {
    let mut input = json!({"command": ["sh", script]});
    if terminal {
        input["terminal"] = json!(true);
    }
    let data = call(child, "process.start", "", input, json!({}))?;
    data["processId"].as_str().map(str::to_owned).ok_or_else(|| wrong("process.start gave no process"))
}

fn wait(child: &mut McpChild, id: &str, condition: Value) -> Result<(), Failure> {
    let options = json!({"timeoutSeconds": WAIT_SECONDS});
    let data = call(child, "process.wait", id, json!({"all": [condition]}), options)?;
    match data["outcome"].as_str() {
        Some("held") => Ok(()),
        outcome => {
            Err(wrong(format!("process.wait gave {}: {}", outcome.unwrap_or("?"), data["conditions"])))
        }
    }
}

fn write(child: &mut McpChild, id: &str, input: Value) -> Result<(), Failure> {
    call(child, "process.write", id, input, json!({})).map(|_| ())
}

fn read(child: &mut McpChild, id: &str) -> Result<String, Failure> {
    let data = call(child, "process.read", id, json!({}), json!({"from": 0}))?;
    Ok(data["stdout"].as_str().unwrap_or_default().to_owned())
}

/// Stops a process, and gives how it ended.
fn stop(child: &mut McpChild, id: &str) -> Result<Value, Failure> {
    let mut data = call(child, "process.stop", id, json!({}), json!({"graceSeconds": 1}))?;
    Ok(data["stopped"][0].take())
}
