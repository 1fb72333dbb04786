//! What changes to files and commits are answered with: a line for each, and more only of what did not go as it was sent.

use std::fmt::Write;

use serde_json::Value;

use super::fields::{counted, one_line};
use super::processes::short_id;
use super::text::Answer;

/// Files that were changed, a line each; more only of what did not go as it was written.
pub(super) fn patched(data: &Value) -> Option<String> {
    let mut body = String::new();
    for file in data["files"].as_array()? {
        let path = file["path"].as_str().map(one_line).unwrap_or_default();
        if let Some(error) = file["error"].as_object() {
            let text = |name: &str| one_line(error.get(name).and_then(Value::as_str).unwrap_or_default());
            let _ = writeln!(body, "{path} not changed: {}: {}", text("code"), text("message"));
            continue;
        }
        let places = file["places"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut lines: Vec<String> = places.iter().map(lines_of).collect();
        // Several edits of one line are one line.
        lines.dedup();
        let moved = file["movedFrom"].as_str().map(|from| format!(" from {}", one_line(from)));
        let _ = writeln!(
            body,
            "{path} {}{}{}{}",
            file["action"].as_str().unwrap_or_default(),
            moved.unwrap_or_default(),
            if lines.is_empty() { String::new() } else { format!(": line {}", lines.join(", ")) },
            if file["merged"] == true { ", merged with what was changed since" } else { "" },
        );
        for place in places {
            let Some(how) = how_it_fits(place) else { continue };
            let _ = writeln!(body, "  edit {} {how}; the lines are now:", place["edit"]);
            for line in place["lines"].as_str().unwrap_or_default().lines() {
                let _ = writeln!(body, "    {}", one_line(line));
            }
        }
        syntax(&mut body, &file["syntax"]);
        if let Some(id) = file["undoId"].as_str() {
            let _ = writeln!(body, "  undo {}", short_id(id));
        }
        body.push_str(file["diff"].as_str().unwrap_or_default());
    }
    Some(body)
}

/// How an edit was read that is not there as it was written, or in several places; `None` of one that is there once. Line
/// ends and blanks behind lines stay as the file has them, so that nothing has to be shown.
fn how_it_fits(place: &Value) -> Option<String> {
    let chosen = match place["chosen"].as_str() {
        Some("order") => Some("the order of the hunks"),
        Some("header") => Some("the line after `@@`"),
        Some("end_of_file") => Some("the end of the file"),
        Some("line_number") => Some("its line number"),
        _ => None,
    };
    let differs = match place["tier"].as_str() {
        Some("indentation") => Some("indentation"),
        Some("tabs") => Some("tabs and spaces"),
        Some("unicode") => Some("quotes, dashes or spaces"),
        _ => None,
    };
    match (differs, chosen) {
        (Some(differs), None) => Some(format!("fits but for {differs}")),
        (None, Some(chosen)) => Some(format!("fits several places, and {chosen} decided")),
        (Some(differs), Some(chosen)) => {
            Some(format!("fits several places but for {differs}, and {chosen} decided"))
        }
        (None, None) if place["tier"] == "anchor" => Some("is made".to_owned()),
        (None, None) => None,
    }
}

pub(super) fn lines_of(place: &Value) -> String {
    match (place["startLine"].as_u64(), place["endLine"].as_u64()) {
        (Some(start), Some(end)) if end > start => format!("{start}-{end}"),
        (Some(start), _) => start.to_string(),
        _ => "?".to_owned(),
    }
}

/// The syntax errors that a change brought, a line each.
pub(super) fn syntax(body: &mut String, syntax: &Value) {
    for error in syntax["errors"].as_array().into_iter().flatten() {
        let text = |name: &str| one_line(error[name].as_str().unwrap_or_default());
        let message = if error["message"] == "syntax error" { String::new() } else { text("message") };
        let shown = format!("{message} {}", text("text"));
        let _ = writeln!(
            body,
            "  syntax error in line {}, column {}: {}",
            error["line"],
            error["column"],
            shown.trim()
        );
    }
    if let Some(more) = syntax["more"].as_u64().filter(|more| *more > 0) {
        let _ = writeln!(body, "  and {more} more");
    }
}

pub(super) fn undo(data: &Value) -> Vec<String> {
    data["undoId"].as_str().map(|id| format!("undo {}", short_id(id))).into_iter().collect()
}

/// Changes that were staged or unstaged, a line each.
pub(super) fn staged(data: &Value) -> Option<Answer> {
    let list = data["staged"].as_array().or(data["unstaged"].as_array())?;
    let text = |it: &Value, name: &str| it[name].as_str().map(one_line).unwrap_or_default();
    let lines: Vec<String> =
        list.iter().map(|it| format!("{} {}", text(it, "change"), text(it, "path"))).collect();
    let count = data["count"].as_u64().unwrap_or(list.len() as u64);
    let done = if data["staged"].is_array() { "staged" } else { "unstaged" };
    Some(Answer::below(lines.join("\n"), vec![format!("{} {done}", counted(count, "file", "files"))]))
}

pub(super) fn committed(data: &Value) -> Option<Answer> {
    let subject = data["subject"].as_str().map(one_line)?;
    let commit = data["commit"].as_str().map_or("", |hash| hash.get(..12).unwrap_or(hash));
    let number = |name: &str| data["counts"][name].as_u64().unwrap_or_default();
    let files = counted(number("files"), "file", "files");
    let about = format!("{files}, +{} -{}", number("insertions"), number("deletions"));
    Some(Answer::below(format!("{commit} {subject}"), vec![about]))
}
