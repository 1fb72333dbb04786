//! What commands and processes are answered with: what they printed, and how they ended or are now.

use std::fmt::Write;

use serde_json::Value;

use super::super::super::digest_text::digest;
use super::fields::{counted, one_line};
use super::text::Answer;

/// From which time on it is said how long a command took.
const WORTH_SAYING_MS: f64 = 1_000.0;

/// How many characters of a process's id are shown.
const SHORT_ID: usize = 6;

/// What a command printed; the last line says how it ended.
pub(super) fn ran(data: &Value) -> Option<Answer> {
    let stdout = data["stdout"].as_str()?;
    let mut body = output(data, stdout);
    let process = data["processId"].as_str().filter(|_| data["running"] == true);
    let end = match (data["timedOut"] == true, data["signal"].as_str(), data["exitCode"].as_i64()) {
        (true, _, _) => "ended at its time limit".to_owned(),
        (_, Some(signal), _) => format!("ended by {}", one_line(signal)),
        (_, None, Some(code)) => format!("exit {code}"),
        (_, None, None) => "its end is unknown".to_owned(),
    };
    let mut about = vec![process.map_or(end, |id| {
        format!("still running as process {}; process.wait waits for its end", short_id(id))
    })];
    if let Some(took) = data["durationMs"].as_f64().filter(|took| *took >= WORTH_SAYING_MS) {
        about.push(format!("{:.1} s", took / 1_000.0));
    }
    if data["encoding"] == "base64" {
        about.push("base64".to_owned());
    }
    if let Some(id) = data["rawOutput"]["processId"].as_str() {
        about.push(format!("all of the output: process.read {}", short_id(id)));
    }
    if data["committed"] == true {
        about.push("taken over from its preview, not run again".to_owned());
    }
    about.extend(changes(&data["changes"]));
    if body.trim().is_empty() {
        body.clear();
    }
    Some(Answer::below(body, about))
}

/// Says what a command changed in the folders of its scope, and what of that undo does not cover.
fn changes(changes: &Value) -> Vec<String> {
    let counts = ["created", "changed", "removed"].into_iter().filter_map(|what| {
        let count = changes[what].as_u64().filter(|count| *count > 0)?;
        Some(format!("{count} {what}"))
    });
    let mut words: Vec<String> = counts.collect();
    let names = changes["notCovered"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut names: Vec<String> = names.map(|name| format!("`{}`", one_line(name))).collect();
    names.extend(changes["moreNotCovered"].as_u64().map(|more| format!("{more} more")));
    if !names.is_empty() {
        words.push(format!("not covered by undo: {}", names.join(", ")));
    }
    words.extend(changes["undoId"].as_str().map(|id| format!("undo {}", one_line(id))));
    words
}

/// What a process printed; the last line says its state and where to continue.
pub(super) fn printed(data: &Value) -> Option<Answer> {
    let body = if let Some(lines) = data["screen"]["lines"].as_array() {
        let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
        lines.join("\n").trim_end().to_owned()
    } else if let Some(lines) = data["lines"].as_array() {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| {
                let mark = if line["stream"] == "stderr" { "stderr: " } else { "" };
                format!("{mark}{}", one_line(line["text"].as_str().unwrap_or_default()))
            })
            .collect();
        lines.join("\n")
    } else {
        output(data, data["stdout"].as_str()?)
    };
    let mut about = vec![data["status"].as_str().map(one_line).unwrap_or_default()];
    if let Some(code) = data["exitCode"].as_i64() {
        about.push(format!("exit {code}"));
    }
    if let Some(signal) = data["signal"].as_str() {
        about.push(format!("ended by {}", one_line(signal)));
    }
    if let Some(problem) = data["problem"].as_str() {
        about.push(one_line(problem));
    }
    Some(Answer::below(body, about))
}

/// The two streams, or what the digest made of them.
pub(super) fn output(data: &Value, stdout: &str) -> String {
    let mut body = if data["digest"].is_object() { digest(&data["digest"]) } else { stdout.to_owned() };
    if let Some(stderr) = data["stderr"].as_str().filter(|text| !text.is_empty()) {
        if !body.is_empty() {
            body.push_str(if body.ends_with('\n') { "" } else { "\n" });
            body.push_str("stderr:\n");
        }
        body.push_str(stderr);
    }
    body
}

pub(super) fn started(data: &Value) -> Option<Answer> {
    let id = short_id(data["processId"].as_str()?);
    Some(Answer::below(format!("process {id} {}", data["status"].as_str().map(one_line)?), Vec::new()))
}

/// Returns the end of an id, by which a process or a change is found too.
pub(super) fn short_id(id: &str) -> String {
    let id = one_line(id);
    let from = id.char_indices().rev().nth(SHORT_ID - 1).map_or(0, |(at, _)| at);
    id[from..].to_owned()
}

/// Processes, a line each.
pub(super) fn listed(data: &Value) -> Option<Answer> {
    let list = data["processes"].as_array()?;
    let line = |process: &Value| {
        let text = |name: &str| process[name].as_str().map(one_line);
        let exit = process["exitCode"].as_i64().map(|code| format!(" exit {code}")).unwrap_or_default();
        let status = text("status").unwrap_or_default();
        let called = text("label").or(text("commandPreview")).unwrap_or_default();
        Some(format!("{} {status}{exit}: {called}", short_id(process["processId"].as_str()?)))
    };
    let lines: Option<Vec<String>> = list.iter().map(line).collect();
    let count = counted(list.len() as u64, "process", "processes");
    Some(Answer::below(lines?.join("\n"), vec![count]))
}

/// Processes that were ended, a line each.
pub(super) fn stopped(data: &Value) -> Option<Answer> {
    let mut body = String::new();
    let stopped = data["stopped"].as_array()?;
    for process in stopped {
        let text = |name: &str| process[name].as_str().map(one_line);
        let end = text("signal").or(process["exitCode"].as_i64().map(|code| format!("exit {code}")));
        let how = match process["how"].as_str()? {
            "asked" => "ended",
            "killed" => "killed",
            "before" => "had ended",
            _ => "still runs",
        };
        let id = process["processId"].as_str().filter(|_| stopped.len() > 1).map(short_id);
        let words = [id, Some(how.to_owned()), end, text("problem")];
        let _ = writeln!(body, "{}", words.into_iter().flatten().collect::<Vec<_>>().join(" · "));
    }
    if body.is_empty() {
        body.push_str("nothing to stop");
    }
    Some(Answer::below(body, Vec::new()))
}

/// Conditions, a line each, with what was seen: a line that was printed, the body of a page.
pub(super) fn waited(data: &Value) -> Option<Answer> {
    let mut body = String::new();
    for condition in data["conditions"].as_array()? {
        let text = |name: &str| condition[name].as_str().map(one_line);
        let mut words = vec![text("until").unwrap_or_default()];
        words.push(match condition["standing"].as_str()? {
            "held" => "yes".to_owned(),
            "waiting" => "not yet".to_owned(),
            other => one_line(other),
        });
        words.extend(condition["status"].as_u64().map(|status| status.to_string()));
        words.extend(condition["exitCode"].as_i64().map(|code| format!("exit {code}")));
        words.extend(["signal", "line", "why"].into_iter().filter_map(text));
        let _ = writeln!(body, "{}", words.join(" · "));
        if condition["digest"].is_object() {
            body.push_str(&digest(&condition["digest"]));
        }
        for line in condition["body"].as_str().unwrap_or_default().lines() {
            let _ = writeln!(body, "  {}", one_line(line));
        }
        if condition["bodyTruncated"] == true {
            body.push_str("  …\n");
        }
    }
    let mut about = Vec::new();
    if let Some(resume) = data["resume"].as_str() {
        about.push(format!("time over; input.resume {} continues", Value::from(resume)));
    }
    Some(Answer::below(body, about))
}
