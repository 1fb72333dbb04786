//! The digest of what tools print, as text: for the terminal and for models.

use std::fmt::Write;

use serde_json::Value;

/// A digest: the tools' own words, then a line for each failure.
pub(super) fn digest(digest: &Value) -> String {
    let mut text = String::new();
    if let Some(summary) = digest["summary"].as_str() {
        let _ = writeln!(text, "{}: {summary}", digest["tool"].as_str().unwrap_or_default());
    }
    for (title, list) in [("", "failures"), ("warnings:\n", "warnings")] {
        let list = digest[list].as_array().map(Vec::as_slice).unwrap_or_default();
        text.push_str(if list.is_empty() { "" } else { title });
        for failure in list {
            let place = ["file", "line", "column"].iter().filter_map(|field| match &failure[*field] {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            });
            let place = place.collect::<Vec<_>>().join(":");
            let words = [Some(place.as_str()), failure["name"].as_str(), failure["message"].as_str()];
            let words: Vec<&str> = words.into_iter().flatten().filter(|word| !word.is_empty()).collect();
            let _ = writeln!(text, "{}", words.join(": "));
            for also in failure["also"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                let prefix = failure["prefix"].as_str();
                let _ = match prefix.and_then(|prefix| Some((prefix, also.split_once('~')?))) {
                    Some((prefix, (line, rest)))
                        if line.bytes().all(|byte| byte.is_ascii_digit() || byte == b' ') =>
                    {
                        writeln!(text, "  also {line}{prefix}{rest}")
                    }
                    _ => writeln!(text, "  also {also}"),
                };
            }
        }
    }
    if let Some(left_out) = digest["failuresLeftOut"].as_u64() {
        let _ = writeln!(text, "… and {left_out} more");
    }
    text.push_str(digest["text"].as_str().unwrap_or_default());
    text
}
