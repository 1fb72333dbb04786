//! What code holds: an outline, and definitions by name.

use serde_json::json;

use super::installation::ask;
use crate::installation::child::McpChild;
use crate::installation::steps::{Expect, Steps, wrong};

/// Asks for what the one function of the scope looks like.
pub fn code(steps: &mut Steps, child: &mut McpChild) {
    steps.group("Code");
    let outline = ask("test", "code.outline", "src/deep/code.rs", json!({}), json!({}));
    steps.envelope("outline", child, outline, Expect::Success, |data| {
        let text = data.to_string();
        if text.contains("needle") && text.contains("eye: u8") {
            Ok("the function and its signature".to_owned())
        } else {
            Err(wrong("the function is not in it"))
        }
    });
    let symbols = json!({"scope": "test", "op": "code.search_symbols", "input": {"query": "needle"}});
    steps.envelope("symbols", child, symbols, Expect::Success, |data| {
        let first = &data["symbols"][0];
        if first["path"] == "src/deep/code.rs" && first["name"] == "needle" && first["line"] == 2 {
            Ok(format!("`needle` at line 2 of its file, a {}", first["kind"].as_str().unwrap_or("?")))
        } else {
            Err(wrong(format!("the first of {} is {first}", data["total"])))
        }
    });
}
