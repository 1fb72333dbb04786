//! MCP over standard input and output, in the words of old and new protocol revisions.

use serde_json::json;

use super::installation::ProofInstallation;
use crate::installation::child::{MODERN, McpChild, envelope_in};
use crate::installation::steps::{Steps, wrong};

/// The revisions that begin with a handshake.
const WITH_HANDSHAKE: &[&str] = &["2025-03-26", "2025-06-18", "2025-11-25"];
/// What the list of tools may cost a client, in characters: 700 tokens.
const MAX_TOOL_CHARACTERS: usize = 2_800;

/// Speaks every revision, each with a child of its own.
pub fn handshakes(steps: &mut Steps, proof: &ProofInstallation) {
    steps.group("MCP over standard input and output");
    let limit = steps.limit().clone();
    let home = proof.place.folder();
    for version in WITH_HANDSHAKE {
        steps.step(&format!("revision {version}"), || {
            let mut child = McpChild::start(&home, &limit)?;
            let server = child.initialize("bailiwick-prove", version)?;
            if server["protocolVersion"] != *version {
                return Err(wrong(format!("the server answers in {}", server["protocolVersion"])));
            }
            let tools = child.request("tools/list", &json!({}))?;
            let count = tools["tools"].as_array().map_or(0, Vec::len);
            let size = tools["tools"].to_string().chars().count();
            if count != 4 || size > MAX_TOOL_CHARACTERS {
                return Err(wrong(format!("{count} tools in {size} characters")));
            }
            let status = child.end()?;
            if !status.success() {
                return Err(wrong(format!("it ended with its client, but so: {status}")));
            }
            Ok(((), format!("handshake, {count} tools in {size} characters, and it ends with its client")))
        });
    }
    steps.step(&format!("revision {MODERN}"), || {
        let mut child = McpChild::start(&home, &limit)?;
        let told = child.request_modern("server/discover", json!({}))?;
        let versions = told["supportedVersions"].as_array().map_or(0, Vec::len);
        if !told.to_string().contains(MODERN) {
            return Err(wrong("the server does not tell this revision"));
        }
        let arguments = json!({"scope": "test", "op": "file.stat", "target": "hello.txt", "detail": "full"});
        let result =
            child.request_modern("tools/call", json!({"name": "computer_query", "arguments": arguments}))?;
        match envelope_in(&result) {
            Some(outcome) if outcome["ok"] == true => {
                Ok(((), format!("{versions} revisions told, and a call without a handshake answered")))
            }
            outcome => Err(wrong(format!("the call was answered so: {outcome:?}"))),
        }
    });
}
