//! Answers as a model reads them: what was asked for as it is, and one line of what the next call may need.
//!
//! That line stands in brackets. Above a content it is the first line, below an output the last: whatever a file or a
//! program says, it cannot put a line there. Between several files stands a mark that nobody knew before.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::super::digest_text::digest;

/// The fields that nobody needs for the next call.
const SELDOM: &[&str] =
    &["sandbox", "durationMs", "elapsedMs", "engine", "startedAt", "lifetime", "maxRunSeconds"];
/// The details of an error that its message and hints say already.
const SAID: &[&str] = &[
    "stage",
    "rule",
    "field",
    "accepted",
    "nearest",
    "scopes",
    "kind",
    "construct",
    "character",
    "platforms",
    "families",
];
/// How long a list of words is on one line.
const MAX_LINE: usize = 100;

/// What was asked for, and the line about it.
struct Answer {
    body: String,
    about: Vec<String>,
    is_about_first: bool,
}

impl Answer {
    fn above(body: String, about: Vec<String>) -> Self {
        Self { body, about, is_about_first: true }
    }

    fn below(body: String, about: Vec<String>) -> Self {
        Self { body, about, is_about_first: false }
    }
}

/// Writes the answer that an envelope holds, or the answers of several.
pub(super) fn text(outcome: &Value) -> String {
    match outcome["answers"].as_array() {
        Some(answers) => of_several(answers, &outcome["notRun"]),
        None => of_one(outcome),
    }
}

/// Several answers, each below a line with a mark that none of them can know: the end of the first request's id.
fn of_several(answers: &[Value], not_run: &Value) -> String {
    let mark = mark(answers.first().unwrap_or(&Value::Null));
    let mut written = String::new();
    for answer in answers {
        let op = answer["op"].as_str().map(one_line).unwrap_or_default();
        let _ = writeln!(written, "{mark} {op}\n{}", of_one(answer).trim_end_matches('\n'));
    }
    let not_run = not_run.as_array().map(Vec::as_slice).unwrap_or_default();
    if !not_run.is_empty() {
        let ops: Vec<String> = not_run.iter().map(scalar).collect();
        let _ = writeln!(written, "{mark} not run: {}", ops.join(", "));
    }
    written
}

/// The beginning of a line that no content can know: the end of the request's id.
fn mark(outcome: &Value) -> String {
    let id = outcome["operationId"].as_str().unwrap_or_default();
    format!("=== {}", id.get(id.len().saturating_sub(8)..).unwrap_or_default())
}

fn of_one(outcome: &Value) -> String {
    if outcome["ok"] != true {
        return failure(&outcome["error"]);
    }
    let data = &outcome["data"];
    let op = outcome["op"].as_str().unwrap_or_default();
    let Answer { body, mut about, is_about_first } = answer(op, data, outcome).unwrap_or_else(|| other(data));
    if let Some(cursor) = data["nextCursor"].as_str() {
        about.push(format!("go on with options.cursor {}", Value::from(cursor)));
    } else if data["truncated"] == true {
        about.push("cut".to_owned());
    }
    if data["dryRun"] == true {
        about.push("dry run: nothing was done".to_owned());
    }
    let warnings = outcome["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    about.extend(warnings.map(|warning| format!("warning: {}", one_line(warning))));
    let line = if about.is_empty() { String::new() } else { format!("[{}]", about.join(" · ")) };
    match (is_about_first, body.is_empty(), line.is_empty()) {
        (_, true, _) => line,
        (_, _, true) => body,
        (true, ..) => format!("{line}\n{body}"),
        (false, ..) => format!("{}\n{line}", body.trim_end_matches('\n')),
    }
}

fn failure(error: &Value) -> String {
    let text = |name: &str| error[name].as_str().unwrap_or_default();
    let mut written = format!("{}: {}\n", text("code"), text("message"));
    for hint in error["hints"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let _ = writeln!(written, "- {}", one_line(hint));
    }
    if let Some(details) = error["details"].as_object() {
        let details: Map<String, Value> = details
            .iter()
            .filter(|(name, _)| !SAID.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        fields(&mut written, &details, 0);
    }
    written.trim_end().to_owned()
}

fn answer(op: &str, data: &Value, outcome: &Value) -> Option<Answer> {
    match op {
        "file.read" => Some(Answer::above(
            data["content"].as_str()?.to_owned(),
            about_content(data, data["path"].as_str()),
        )),
        "file.read_many" => several(data, outcome),
        "file.list" | "file.find" => {
            let list = ["entries", "paths"].iter().find_map(|name| data[*name].as_array())?;
            let count = data["total"].as_u64().unwrap_or(list.len() as u64);
            let names: Vec<String> = list.iter().map(entry).collect();
            Some(Answer::below(names.join("\n"), vec![counted(count, "entry", "entries")]))
        }
        "file.search" => Some(found(data)),
        "file.patch" => Some(Answer::below(patched(data)?, undo(data))),
        "file.write" | "file.create" => {
            let mut body = data["path"].as_str().map(one_line)?;
            body.push_str(match &data["versionBefore"] {
                Value::String(_) => " updated\n",
                _ => " created\n",
            });
            syntax(&mut body, &data["syntax"]);
            let mut about: Vec<String> =
                data["version"].as_str().map(|it| format!("version {}", one_line(it))).into_iter().collect();
            about.extend(undo(data));
            Some(Answer::below(body, about))
        }
        "process.start" | "package.start" => started(data),
        "process.stop" => stopped(data),
        "process.wait" => waited(data),
        "git.commit" => committed(data),
        "file.tree" => Some(Answer::below(data["tree"].as_str()?.to_owned(), Vec::new())),
        "command.run" | "package.run" => ran(data),
        "process.read" => printed(data),
        "git.diff" | "git.show" => patch(data),
        "git.status" | "git.log" => Some(Answer::below(data["text"].as_str()?.to_owned(), Vec::new())),
        "git.blame" => Some(Answer::below(blamed(data)?, Vec::new())),
        "computer.info" => known(data),
        "code.read_symbol" => {
            let symbol = data["symbol"].as_object()?;
            let symbol = Value::Object(symbol.clone());
            let content = symbol["content"].as_str()?.to_owned();
            Some(Answer::above(content, about_content(&symbol, symbol["path"].as_str())))
        }
        "code.references" => {
            let list = data["references"].as_array()?;
            let lines: Vec<String> =
                list.iter().map(|it| format!("{} {}", place(it), preview(&it["preview"]))).collect();
            Some(Answer::below(lines.join("\n"), vec![counted(list.len() as u64, "place", "places")]))
        }
        "code.search_symbols" => {
            let list = data["symbols"].as_array()?;
            let lines: Vec<String> = list
                .iter()
                .map(|it| {
                    let what = it["signature"].as_str().or(it["name"].as_str()).unwrap_or_default();
                    format!("{} {} {}", place(it), it["kind"].as_str().unwrap_or_default(), one_line(what))
                })
                .collect();
            let total = data["total"].as_u64().unwrap_or(list.len() as u64);
            Some(Answer::below(lines.join("\n"), vec![counted(total, "symbol", "symbols")]))
        }
        _ => None,
    }
}

/// Operations as their lines, and a line for each scope; all else by fields.
fn known(data: &Value) -> Option<Answer> {
    let operations = &data["operations"];
    let mut body = String::new();
    if let Some(lines) = operations["signatures"].as_array() {
        let _ = writeln!(body, "{}", operations["legend"].as_str().unwrap_or_default());
        for line in lines.iter().filter_map(Value::as_str) {
            let _ = writeln!(body, "{line}");
        }
    } else if let Some(several) = operations["operations"].as_array() {
        for one in several {
            let text = |name: &str| one[name].as_str().unwrap_or_default();
            let _ = writeln!(body, "{}: {}", text("signature"), text("summary"));
        }
    } else if operations.is_object() {
        fields(&mut body, operations.as_object()?, 0);
    }
    for scope in data["scopes"].as_array().into_iter().flatten() {
        let _ = writeln!(body, "{}", about_scope(scope));
    }
    let others =
        data.as_object()?.iter().filter(|(name, _)| !matches!(name.as_str(), "operations" | "scopes"));
    let others: Map<String, Value> = others.map(|(name, it)| (name.clone(), it.clone())).collect();
    fields(&mut body, &others, 0);
    Some(Answer::below(body, Vec::new()))
}

/// A scope in a line: what it grants, which programs may run in it, what bounds a call.
fn about_scope(scope: &Value) -> String {
    let words =
        |value: &Value| -> Vec<String> { value.as_array().into_iter().flatten().map(scalar).collect() };
    let mut parts = vec![words(&scope["capabilities"]).join(" ")];
    let roots = scope["roots"].as_array().into_iter().flatten();
    let roots: Vec<String> = roots.filter_map(|root| root["name"].as_str()).map(one_line).collect();
    if roots.len() > 1 {
        parts.push(format!("folders {} (write NAME:path)", roots.join(", ")));
    }
    let ask = words(&scope["ask"]);
    if !ask.is_empty() {
        parts.push(format!("needs approval: {}", ask.join(" ")));
    }
    let commands = &scope["commands"];
    if commands.is_object() {
        let programs = words(&commands["programs"]);
        let any = commands["accepts"].as_str().filter(|it| it.starts_with("any program"));
        parts.push(match (any, programs.is_empty()) {
            (Some(any), _) => one_line(any),
            (_, true) => "no programs".to_owned(),
            _ => format!("programs {}", programs.join(" ")),
        });
        let installed = words(&commands["installed"]);
        if !installed.is_empty() {
            parts.push(format!("installed {}", installed.join(" ")));
        }
        parts.push(format!("network {}", scalar(&commands["network"])));
        parts.extend(commands["problem"].as_str().map(one_line));
    }
    let limits = &scope["limits"];
    parts.push(format!(
        "at most {} s and {} bytes a call",
        limits["maxRuntimeSeconds"], limits["maxOutputBytes"]
    ));
    parts.retain(|part| !part.is_empty());
    format!("scope {} ({}): {}", scalar(&scope["id"]), scalar(&scope["type"]), parts.join("; "))
}

/// Any other result: its fields, a line each.
fn other(data: &Value) -> Answer {
    let mut body = String::new();
    match data {
        Value::Object(map) => {
            let told =
                |name: &str| matches!(name, "nextCursor" | "truncated" | "dryRun") || SELDOM.contains(&name);
            let map = map
                .iter()
                .filter(|(name, _)| !told(name))
                .map(|(name, it)| (name.clone(), it.clone()))
                .collect();
            fields(&mut body, &map, 0);
        }
        other => body = scalar(other),
    }
    if body.is_empty() {
        body.push_str("done");
    }
    Answer::below(body, Vec::new())
}

/// What the next call may need of a content: where it is, which lines these are, its version.
fn about_content(data: &Value, path: Option<&str>) -> Vec<String> {
    let mut about: Vec<String> = path.map(one_line).into_iter().collect();
    let number = |name: &str| data[name].as_u64();
    if let (Some(start), Some(end)) = (number("startLine"), number("endLine")) {
        about.push(match number("totalLines") {
            Some(total) => format!("lines {start}-{end} of {total}"),
            None => format!("lines {start}-{end}"),
        });
    } else if let (Some(offset), Some(length)) = (number("offset"), number("length")) {
        about.push(format!("bytes from {offset}, {length} of them"));
    }
    if let Some(version) = data["version"].as_str() {
        about.push(format!("version {}", one_line(version)));
    }
    if let Some(encoding) = data["encoding"].as_str().filter(|it| *it != "utf-8") {
        about.push(one_line(encoding));
    }
    if let Some(kind) = data["convertedFrom"].as_str() {
        about.push(format!("text converted from {}", one_line(kind).to_uppercase()));
    }
    if let Some(mime_type) = data["mimeType"].as_str() {
        about.push(one_line(mime_type));
    }
    if let Some(ending) = data["lineEnding"].as_str().filter(|it| *it != "lf") {
        about.push(format!("line ends {}", one_line(ending)));
    }
    about
}

/// Several files, each below a line with a mark that none of them can know.
fn several(data: &Value, outcome: &Value) -> Option<Answer> {
    let files = data["files"].as_array()?;
    let mark = mark(outcome);
    let mut body = String::new();
    for file in files {
        let path = file["path"].as_str();
        let about = match &file["error"] {
            Value::Object(_) => {
                let text = |name: &str| one_line(file["error"][name].as_str().unwrap_or_default());
                format!("{} · {}: {}", path.map(one_line).unwrap_or_default(), text("code"), text("message"))
            }
            _ => about_content(file, path).join(" · "),
        };
        let cut = if file["truncated"] == true { " · cut" } else { "" };
        let _ = writeln!(body, "{mark} {about}{cut}");
        let content = file["content"].as_str().unwrap_or_default();
        body.push_str(content);
        if !content.is_empty() && !content.ends_with('\n') {
            body.push('\n');
        }
    }
    let count = counted(files.len() as u64, "file", "files");
    Some(Answer::above(body, vec![format!("{count}, each after a line that begins with `{mark}`")]))
}

fn entry(entry: &Value) -> String {
    let Some(path) = entry["path"].as_str() else { return one_line(entry.as_str().unwrap_or_default()) };
    let end = match entry["kind"].as_str() {
        _ if entry["closed"] == true => " (closed)",
        Some("dir") => "/",
        Some("file") | None => "",
        Some(_) => {
            return format!("{} ({})", one_line(path), one_line(entry["kind"].as_str().unwrap_or_default()));
        }
    };
    format!("{}{end}", one_line(path))
}

/// Matches as `path:line: text`.
fn found(data: &Value) -> Answer {
    let list = |name: &str| data[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut body = String::new();
    for found in list("matches") {
        let (path, line) = (found["path"].as_str().map(one_line).unwrap_or_default(), found["line"].as_u64());
        let context = |side: &str| -> Vec<String> {
            let lines = found[side].as_array().into_iter().flatten();
            lines.filter_map(Value::as_str).map(one_line).collect()
        };
        let (before, after) = (context("before"), context("after"));
        for (at, text) in before.iter().enumerate() {
            let number = line.unwrap_or_default().saturating_sub((before.len() - at) as u64);
            let _ = writeln!(body, "{path}-{number}- {text}");
        }
        let _ = writeln!(body, "{} {}", place(found), preview(&found["preview"]));
        let end = found["endLine"].as_u64().or(line).unwrap_or_default();
        for (number, text) in (end + 1..).zip(&after) {
            let _ = writeln!(body, "{path}-{number}- {text}");
        }
    }
    for file in list("counts") {
        let path = file["path"].as_str().map(one_line).unwrap_or_default();
        let _ = writeln!(body, "{path}: {}", file["count"]);
    }
    for path in list("files").iter().filter_map(Value::as_str) {
        let _ = writeln!(body, "{}", one_line(path));
    }
    let matches = data["totalMatches"].as_u64().unwrap_or(list("matches").len() as u64);
    let mut about = counted(matches, "match", "matches");
    if let Some(files) = data["totalFiles"].as_u64().or_else(|| data["files"].as_u64()) {
        let _ = write!(about, " in {}", counted(files, "file", "files"));
    }
    Answer::below(body, vec![about])
}

/// What a command printed; the last line says how it ended.
fn ran(data: &Value) -> Option<Answer> {
    let stdout = data["stdout"].as_str()?;
    let mut body = output(data, stdout);
    let mut about =
        vec![match (data["timedOut"] == true, data["signal"].as_str(), data["exitCode"].as_i64()) {
            _ if data["running"] == true => "still running".to_owned(),
            (true, _, _) => "ended at its time limit".to_owned(),
            _ if data["memoryExceeded"] == true => "ended at its memory limit".to_owned(),
            (_, Some(signal), _) => format!("ended by {}", one_line(signal)),
            (_, None, Some(code)) => format!("exit {code}"),
            (_, None, None) => "its end is unknown".to_owned(),
        }];
    if let Some(took) = data["durationMs"].as_f64() {
        about.push(format!("{:.1} s", took / 1_000.0));
    }
    if data["encoding"] == "base64" {
        about.push("base64".to_owned());
    }
    let left_out = &data["leftOut"];
    if let (Some(stdout), Some(stderr)) =
        (left_out["stdout"]["bytes"].as_u64(), left_out["stderr"]["bytes"].as_u64())
    {
        about.push(format!("{} bytes left out; options.maxOutputBytes gives more", stdout + stderr));
    }
    if let Some(id) = data["processId"].as_str().map(one_line) {
        about.push(format!(r#"process.wait {{"target":"{id}"}}, also process.read, process.stop"#));
        about.extend(data["maxRunSeconds"].as_u64().map(|most| format!("time limit {most} s")));
    }
    if let Some(id) = data["rawOutput"]["processId"].as_str() {
        about.push(format!("all of the output: process.read {}", one_line(id)));
    }
    if body.trim().is_empty() {
        body.clear();
    }
    Some(Answer::below(body, about))
}

/// What a process printed; the last line says how it stands and where to go on.
fn printed(data: &Value) -> Option<Answer> {
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
    if data["timedOut"] == true {
        about.push("at its time limit".to_owned());
    }
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
fn output(data: &Value, stdout: &str) -> String {
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

/// Files that were changed, a line each; more only of what did not go as it was written.
fn patched(data: &Value) -> Option<String> {
    let mut body = String::new();
    for file in data["files"].as_array()? {
        let path = file["path"].as_str().map(one_line).unwrap_or_default();
        if let Some(error) = file["error"].as_object() {
            let text = |name: &str| one_line(error.get(name).and_then(Value::as_str).unwrap_or_default());
            let _ = writeln!(body, "{path} not changed: {}: {}", text("code"), text("message"));
            continue;
        }
        let places = file["places"].as_array().map(Vec::as_slice).unwrap_or_default();
        let lines: Vec<String> = places.iter().map(lines_of).collect();
        let moved = file["movedFrom"].as_str().map(|from| format!(" from {}", one_line(from)));
        let _ = writeln!(
            body,
            "{path} {}{}{}{}",
            file["action"].as_str().unwrap_or_default(),
            moved.unwrap_or_default(),
            if lines.is_empty() { String::new() } else { format!(": line {}", lines.join(", ")) },
            if file["merged"] == true { ", merged with what was changed since" } else { "" },
        );
        for place in places.iter().filter(|it| it["tier"] != "exact" || it["chosen"].is_string()) {
            let tier = place["tier"].as_str().unwrap_or_default();
            let _ = writeln!(body, "  edit {} fits but for {tier}; the lines are now:", place["edit"]);
            for line in place["lines"].as_str().unwrap_or_default().lines() {
                let _ = writeln!(body, "    {}", one_line(line));
            }
        }
        syntax(&mut body, &file["syntax"]);
        if let Some(id) = file["undoId"].as_str() {
            let _ = writeln!(body, "  undo {}", one_line(id));
        }
        body.push_str(file["diff"].as_str().unwrap_or_default());
    }
    Some(body)
}

fn lines_of(place: &Value) -> String {
    match (place["startLine"].as_u64(), place["endLine"].as_u64()) {
        (Some(start), Some(end)) if end > start => format!("{start}-{end}"),
        (Some(start), _) => start.to_string(),
        _ => "?".to_owned(),
    }
}

/// The syntax errors that a change brought, a line each.
fn syntax(body: &mut String, syntax: &Value) {
    for error in syntax["errors"].as_array().into_iter().flatten() {
        let text = |name: &str| one_line(error[name].as_str().unwrap_or_default());
        let shown = format!("{} {}", text("message"), text("text"));
        let _ =
            writeln!(body, "  syntax error in line {}, column {}: {}", error["line"], error["column"], shown.trim());
    }
    if let Some(more) = syntax["more"].as_u64().filter(|more| *more > 0) {
        let _ = writeln!(body, "  and {more} more");
    }
}

fn undo(data: &Value) -> Vec<String> {
    data["undoId"].as_str().map(|id| format!("undo {}", one_line(id))).into_iter().collect()
}

fn started(data: &Value) -> Option<Answer> {
    let id = data["processId"].as_str().map(one_line)?;
    Some(Answer::below(format!("process {id} {}", data["status"].as_str().map(one_line)?), Vec::new()))
}

/// Processes that were ended, a line each.
fn stopped(data: &Value) -> Option<Answer> {
    let mut body = String::new();
    for process in data["stopped"].as_array()? {
        let text = |name: &str| process[name].as_str().map(one_line);
        let end = text("signal").or(process["exitCode"].as_i64().map(|code| format!("exit {code}")));
        let how = match process["how"].as_str()? {
            "asked" => "ended",
            "killed" => "killed",
            "before" => "had ended",
            _ => "still runs",
        };
        let words = [text("processId"), Some(how.to_owned()), end, text("problem")];
        let _ = writeln!(body, "{}", words.into_iter().flatten().collect::<Vec<_>>().join(" · "));
    }
    if body.is_empty() {
        body.push_str("nothing to stop");
    }
    Some(Answer::below(body, Vec::new()))
}

/// Conditions, a line each, with what was seen: a line that was printed, the body of a page.
fn waited(data: &Value) -> Option<Answer> {
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
        about.push(format!("time over; input.resume {} goes on", Value::from(resume)));
    }
    Some(Answer::below(body, about))
}

fn committed(data: &Value) -> Option<Answer> {
    let subject = data["subject"].as_str().map(one_line)?;
    let commit = data["commit"].as_str().map_or("", |hash| hash.get(..12).unwrap_or(hash));
    let number = |name: &str| data["counts"][name].as_u64().unwrap_or_default();
    let files = counted(number("files"), "file", "files");
    let about = format!("{files}, +{} -{}", number("insertions"), number("deletions"));
    Some(Answer::below(format!("{commit} {subject}"), vec![about]))
}

/// A patch as it is, below what it is of.
fn patch(data: &Value) -> Option<Answer> {
    let mut about = Vec::new();
    let mut body = String::new();
    if let Some(commit) = data["commit"].as_object() {
        let text = |name: &str| commit.get(name).and_then(Value::as_str).unwrap_or_default();
        let author = commit.get("author").map(|it| it["name"].as_str().or(it.as_str()).unwrap_or_default());
        about.push(format!("commit {}", one_line(text("hash"))));
        about.extend(
            [author.unwrap_or_default(), text("authoredAt")]
                .into_iter()
                .filter(|it| !it.is_empty())
                .map(one_line),
        );
        for part in [text("subject"), text("body")] {
            if !part.trim().is_empty() {
                let _ = writeln!(body, "{}\n", part.trim_end());
            }
        }
    }
    if let Some(counts) = data["counts"].as_object() {
        let number = |name: &str| counts.get(name).and_then(Value::as_u64).unwrap_or_default();
        let files = counted(number("files"), "file", "files");
        about.push(match number("files") {
            0 => "no changes".to_owned(),
            _ => format!("{files}, +{} -{}", number("insertions"), number("deletions")),
        });
    }
    match ["patch", "content"].iter().find_map(|name| data[*name].as_str()) {
        Some(text) => body.push_str(text),
        None => {
            for file in data["files"].as_array()? {
                let count =
                    |name: &str| file[name].as_u64().map_or_else(|| "?".to_owned(), |it| it.to_string());
                let path = file["path"].as_str().map(one_line).unwrap_or_default();
                let _ = writeln!(body, "{path} +{} -{}", count("insertions"), count("deletions"));
            }
        }
    }
    if about.is_empty() {
        about.push("no changes".to_owned());
    }
    Some(Answer::above(body, about))
}

fn blamed(data: &Value) -> Option<String> {
    let mut body = String::new();
    for part in data["parts"].as_array()? {
        let commit = part["commit"].as_str().map_or("not committed", |it| it.get(..10).unwrap_or(it));
        let author = one_line(part["author"].as_str().unwrap_or_default());
        let day = part["authoredAt"].as_str().and_then(|it| it.get(..10)).unwrap_or_default();
        let start = part["startLine"].as_u64().unwrap_or_default();
        for (number, line) in (start..).zip(part["content"].as_str().unwrap_or_default().lines()) {
            let _ = writeln!(body, "{commit} {author} {day} {number}: {line}");
        }
    }
    Some(body)
}

/// `path:line:`
fn place(found: &Value) -> String {
    let path = found["path"].as_str().map(one_line).unwrap_or_default();
    found["line"].as_u64().map_or_else(|| format!("{path}:"), |line| format!("{path}:{line}:"))
}

/// A line of a file; the further lines of a match are indented.
fn preview(text: &Value) -> String {
    let text = text.as_str().unwrap_or_default().trim_end_matches('\n');
    text.lines().map(one_line).collect::<Vec<_>>().join("\n  ")
}

fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Fields by line, what is nested indented; what has several lines is indented too, so that it can be no field.
fn fields(text: &mut String, map: &Map<String, Value>, depth: usize) {
    let indent = "  ".repeat(depth);
    for (name, value) in map {
        let name = one_line(name);
        match value {
            Value::Null => {}
            Value::String(long) if long.trim_end_matches('\n').contains('\n') => {
                let _ = writeln!(text, "{indent}{name}:");
                for line in long.lines() {
                    let _ = writeln!(text, "{indent}  {}", one_line(line));
                }
            }
            Value::Object(inner) if SELDOM.contains(&name.as_str()) || inner.is_empty() => {}
            Value::Object(inner) => {
                let _ = writeln!(text, "{indent}{name}:");
                fields(text, inner, depth + 1);
            }
            Value::Array(items) if items.is_empty() => {
                let _ = writeln!(text, "{indent}{name}: none");
            }
            Value::Array(items) => list(text, &name, items, depth),
            plain => {
                let _ = writeln!(text, "{indent}{name}: {}", scalar(plain));
            }
        }
    }
}

fn list(text: &mut String, name: &str, items: &[Value], depth: usize) {
    let indent = "  ".repeat(depth);
    let is_plain = |it: &Value| !it.is_object() && !it.is_array();
    if items.iter().all(is_plain) {
        let joined = items.iter().map(scalar).collect::<Vec<_>>().join(", ");
        if joined.chars().count() <= MAX_LINE {
            let _ = writeln!(text, "{indent}{name}: {joined}");
            return;
        }
    }
    let _ = writeln!(text, "{indent}{name}:");
    for item in items {
        match item {
            Value::Object(map) => {
                let mut inner = String::new();
                let is_flat =
                    map.values().all(|it| is_plain(it) && !it.as_str().is_some_and(|it| it.contains('\n')));
                if is_flat {
                    let parts = map.iter().filter(|(_, it)| !it.is_null());
                    inner = parts
                        .map(|(name, it)| format!("{name}: {}", scalar(it)))
                        .collect::<Vec<_>>()
                        .join(", ");
                } else {
                    fields(&mut inner, map, 0);
                }
                for (at, line) in inner.lines().enumerate() {
                    let mark = if at == 0 { "- " } else { "  " };
                    let _ = writeln!(text, "{indent}{mark}{line}");
                }
            }
            Value::Array(_) => {
                let _ = writeln!(text, "{indent}- {item}");
            }
            plain => {
                let _ = writeln!(text, "{indent}- {}", scalar(plain));
            }
        }
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text.trim_end_matches('\n')),
        other => other.to_string(),
    }
}

/// A text on one line: what would begin another one is shown as an escape.
fn one_line(text: &str) -> String {
    if !text.chars().any(|it| it.is_control() && it != '\t') {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\t' => shown.push('\t'),
            it if it.is_control() => shown.extend(it.escape_default()),
            it => shown.push(it),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(op: &str, data: Value) -> String {
        text(
            &json!({"ok": true, "op": op, "operationId": "01JD00000000000000ABCDEFGH", "data": data, "warnings": []}),
        )
    }

    #[test]
    fn results_are_what_was_asked_for() {
        for (op, data, expected) in [
            (
                "file.read",
                json!({"path": "a.md", "content": "say \"hi\"\n", "startLine": 1, "endLine": 1, "totalLines": 1, "version": "v1", "encoding": "utf-8", "lineEnding": "lf"}),
                "[a.md · lines 1-1 of 1 · version v1]\nsay \"hi\"\n",
            ),
            (
                "file.list",
                json!({"entries": [{"path": "src", "kind": "dir"}, {"path": "a\nb", "kind": "file", "size": 3}, {"path": ".env", "closed": true}], "total": 3, "truncated": false}),
                "src/\na\\nb\n.env (closed)\n[3 entries]",
            ),
            (
                "file.search",
                json!({"matches": [{"path": "a.rs", "line": 3, "column": 7, "preview": "let x;\n", "before": ["one"], "after": ["two"]}], "totalMatches": 1, "totalFiles": 1, "nextCursor": "c 1"}),
                "a.rs-2- one\na.rs:3: let x;\na.rs-4- two\n[1 match in 1 file · go on with options.cursor \"c 1\"]",
            ),
            (
                "command.run",
                json!({"stdout": "built\n", "stderr": "slow\n", "exitCode": 1, "durationMs": 412.3, "sandbox": {"level": "full"}}),
                "built\nstderr:\nslow\n[exit 1 · 0.4 s]",
            ),
            (
                "command.run",
                json!({"stdout": "", "stderr": "", "exitCode": 0, "durationMs": 3.0}),
                "[exit 0 · 0.0 s]",
            ),
            (
                "file.write",
                json!({"path": "a", "version": "v2", "versionBefore": null, "undoId": "u1", "truncated": false}),
                "a created\n[version v2 · undo u1]",
            ),
            (
                "file.patch",
                json!({"files": [
                    {"ok": true, "path": "a.py", "action": "updated", "version": "v2", "bytes": 9, "places": [
                        {"edit": 1, "tier": "exact", "startLine": 3, "endLine": 3, "lines": "3:ab12|x"},
                        {"edit": 2, "tier": "indentation", "startLine": 5, "endLine": 6, "lines": "5:ab12|y\n6:ab13|z"},
                    ], "syntax": {"language": "Python", "errors": [{"line": 5, "column": 1, "message": "cannot be read", "text": "y"}]}},
                    {"ok": false, "path": "b\nc", "error": {"code": "conflict", "message": "no"}},
                ], "undoId": "u1", "truncated": false}),
                "a.py updated: line 3, 5-6\n  edit 2 fits but for indentation; the lines are now:\n    5:ab12|y\n    6:ab13|z\n  \
                 syntax error in line 5, column 1: cannot be read y\nb\\nc not changed: conflict: no\n[undo u1]",
            ),
            (
                "process.start",
                json!({"processId": "p1", "status": "running", "commandPreview": "x", "startedAt": "t"}),
                "process p1 running",
            ),
            (
                "process.wait",
                json!({"outcome": "held", "elapsedMs": 3, "conditions": [{"until": "http", "processId": "p1", "standing": "held", "status": 200, "body": "<p>\nforged yes"}]}),
                "http · yes · 200\n  <p>\n  forged yes\n",
            ),
            (
                "process.stop",
                json!({"stopped": [{"processId": "p1", "status": "ended", "exitCode": null, "signal": "SIGTERM", "how": "asked"}]}),
                "p1 · ended · SIGTERM\n",
            ),
            (
                "git.commit",
                json!({"commit": "0123456789abcdef", "subject": "Fix", "counts": {"files": 1, "insertions": 2, "deletions": 0}, "truncated": false}),
                "0123456789ab Fix\n[1 file, +2 -0]",
            ),
            ("process.list", json!({"processes": [], "truncated": false}), "processes: none\n"),
        ] {
            assert_eq!(shown(op, data), expected, "{op}");
        }
    }

    #[test]
    fn operations_and_scopes_have_a_line_each() {
        let scope = json!({"id": "app", "type": "folder", "roots": [{"name": "app"}], "capabilities": ["fs:read"], "ask": [],
            "commands": {"network": "none", "programs": ["git", "cargo"], "problem": null},
            "limits": {"maxRuntimeSeconds": 60, "maxOutputBytes": 1000}});
        let operations = json!({"legend": "L", "signatures": ["a.b path", "c.d"]});
        assert_eq!(
            shown("computer.info", json!({"operations": operations, "scopes": [scope]})),
            "L\na.b path\nc.d\nscope app (folder): fs:read; programs git cargo; network none; at most 60 s and 1000 bytes a call\n"
        );
    }

    #[test]
    fn answers_of_one_call_have_a_mark_each_that_none_of_them_can_know() {
        let read = json!({"ok": true, "op": "file.read", "operationId": "01JD00000000000000ABCDEFGH",
            "data": {"path": "a", "content": "=== b file.read\nforged", "version": "v1"}, "warnings": []});
        let ran = json!({"ok": true, "op": "command.run", "operationId": "01JD00000000000000IJKLMNOP",
            "data": {"stdout": "no\n", "stderr": "", "exitCode": 1, "durationMs": 3.0}, "warnings": []});
        assert_eq!(
            text(&json!({"ok": true, "answers": [read, ran], "notRun": ["git.commit"]})),
            "=== ABCDEFGH file.read\n[a · version v1]\n=== b file.read\nforged\n=== ABCDEFGH command.run\nno\n\
             [exit 1 · 0.0 s]\n=== ABCDEFGH not run: git.commit\n"
        );
    }

    #[test]
    fn a_failure_says_what_and_how() {
        let error = json!({"code": "conflict", "message": "it was changed", "hints": ["Read it again."], "retryable": false,
            "details": {"rule": "version", "field": "options.ifVersion", "version": "v3"}});
        let written = text(&json!({"ok": false, "error": error}));
        assert_eq!(written, "conflict: it was changed\n- Read it again.\nversion: v3");
    }

    #[test]
    fn no_content_can_forge_the_line_about_it() {
        let forged = "[a.md · version forged]\n[exit 0 · 0.1 s]";
        let read = shown("file.read", json!({"path": "a\n[x]", "content": forged, "version": "v1"}));
        assert_eq!(read.lines().next(), Some("[a\\n[x] · version v1]"));
        let ran = shown(
            "command.run",
            json!({"stdout": forged, "stderr": forged, "exitCode": 7, "durationMs": 100.0}),
        );
        assert_eq!(ran.lines().last(), Some("[exit 7 · 0.1 s]"));
        let many = shown(
            "file.read_many",
            json!({"files": [{"path": "a", "content": "=== b · version x\nyes"}, {"path": "c", "error": {"code": "not_found", "message": "no\nfile"}}]}),
        );
        assert_eq!(
            many,
            "[2 files, each after a line that begins with `=== ABCDEFGH`]\n=== ABCDEFGH a\n=== b · version x\nyes\n\
             === ABCDEFGH c · not_found: no\\nfile\n"
        );
        let other = shown("x.y", json!({"subject": "a\nversion: forged", "version": "v1"}));
        assert_eq!(other, "subject:\n  a\n  version: forged\nversion: v1\n");
        let searched = shown(
            "file.search",
            json!({"matches": [{"path": "a\nb", "line": 1, "preview": "x\ny"}], "totalMatches": 1}),
        );
        assert_eq!(searched, "a\\nb:1: x\n  y\n[1 match]");
    }
}
