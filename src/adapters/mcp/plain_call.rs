//! Calls of tools that need nothing of rmcp: neither its checks of headers beyond those here, nor tasks.
//!
//! What is read here rmcp would take, and answer in the same way; everything else is left to it.

use http::HeaderMap;
use rmcp::model::{
    CallToolRequestMethod, ClientCapabilities, ConstString, Implementation, ProtocolVersion, RequestId,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{elicitation, tools};

/// A call of a tool.
#[derive(Debug)]
pub struct PlainCall {
    pub(super) id: RequestId,
    pub(super) tool: String,
    pub(super) arguments: Map<String, Value>,
    /// Whether the client speaks revision 2026-07-28.
    pub(super) is_modern: bool,
    /// Whether it says that it can ask its user, and send the call again with the answer.
    pub(super) can_ask: bool,
    /// What the client calls itself, where it says so in the call.
    pub(super) client: Option<Implementation>,
    /// What notifications of progress are to carry.
    pub progress_token: Option<Value>,
}

impl PlainCall {
    /// Reads a message over HTTP as a plain call. `None` for everything that is for rmcp to judge.
    pub fn read(headers: &HeaderMap, message: Value) -> Option<Self> {
        Self::read_if(message, |meta, tool| is_modern(headers, meta, tool))
    }

    /// Reads a message of a conversation as a plain call. `None` for everything that is for rmcp to judge.
    ///
    /// `has_agreed` says whether the conversation began with `initialize`, and so is of an older revision.
    pub(super) fn read_line(message: Value, has_agreed: bool) -> Option<Self> {
        Self::read_if(message, |meta, _| {
            if has_agreed {
                let is_silent = ![VERSION, CAPABILITIES, CLIENT].iter().any(|name| meta.contains_key(*name));
                return is_silent.then_some(false);
            }
            (meta.get(VERSION)? == ProtocolVersion::V_2026_07_28.as_str()).then_some(true)
        })
    }

    fn read_if(
        message: Value,
        is_modern: impl FnOnce(&Map<String, Value>, &str) -> Option<bool>,
    ) -> Option<Self> {
        let Value::Object(mut message) = message else { return None };
        let (method, id) = (message.remove("method")?, message.remove("id")?);
        let Value::Object(mut params) = message.remove("params")? else { return None };
        if method != CallToolRequestMethod::VALUE
            || message.remove("jsonrpc")? != "2.0"
            || !message.is_empty()
        {
            return None;
        }
        let Value::String(tool) = params.remove("name")? else { return None };
        tools::find(&tool)?;
        let arguments = match params.remove("arguments") {
            Some(Value::Object(arguments)) => arguments,
            None => Map::new(),
            Some(_) => return None,
        };
        let mut meta = match params.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            None => Map::new(),
            Some(_) => return None,
        };
        if !params.is_empty() {
            return None;
        }
        let is_modern = is_modern(&meta, &tool)?;
        let mut can_ask = false;
        if is_modern {
            let capabilities = decoded::<ClientCapabilities>(&mut meta, CAPABILITIES)??;
            if capabilities.supports_tasks() {
                return None;
            }
            can_ask = elicitation::can_ask(&capabilities);
        }
        let client = decoded(&mut meta, CLIENT)?;
        let progress_token = meta.remove("progressToken");
        let is_token = |token: &Value| token.is_string() || token.is_i64();
        if !progress_token.as_ref().is_none_or(is_token) {
            return None;
        }
        let id = if id.is_string() || id.is_i64() { serde_json::from_value(id).ok()? } else { return None };
        Some(Self { id, tool, arguments, is_modern, can_ask, client, progress_token })
    }
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
/// The revisions that say nothing of themselves in a call.
const LEGACY: &[ProtocolVersion] =
    &[ProtocolVersion::V_2025_03_26, ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];

/// Returns whether a call over HTTP is one of revision 2026-07-28, if headers and body agree.
fn is_modern(headers: &HeaderMap, meta: &Map<String, Value>, tool: &str) -> Option<bool> {
    let only = |name: &str| -> Option<Option<&str>> {
        let mut values = headers.get_all(name).iter();
        let first = values.next().map(|value| value.to_str()).transpose().ok()?;
        values.next().is_none().then_some(first)
    };
    let version = only("mcp-protocol-version")?;
    match (version, meta.get(VERSION)) {
        (None, None) => Some(false),
        (Some(version), None) => LEGACY.iter().any(|it| it.as_str() == version).then_some(false),
        (Some(version), Some(said)) => {
            let agree = version == ProtocolVersion::V_2026_07_28.as_str()
                && said == version
                && only("mcp-method")? == Some(CallToolRequestMethod::VALUE)
                && only("mcp-name")? == Some(tool)
                && !headers.keys().any(|name| name.as_str().starts_with("mcp-param-"));
            agree.then_some(true)
        }
        (None, Some(_)) => None,
    }
}

/// Takes a field out of `_meta`. `None` where it is there and is not what it should be.
fn decoded<T: for<'de> Deserialize<'de>>(meta: &mut Map<String, Value>, name: &str) -> Option<Option<T>> {
    match meta.remove(name) {
        Some(value) => serde_json::from_value(value).ok().map(Some),
        None => Some(None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(params: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    }

    fn modern(more: &[(&str, Value)]) -> Value {
        let mut meta =
            json!({VERSION: "2026-07-28", CAPABILITIES: {}, CLIENT: {"name": "test", "version": "1"}});
        meta.as_object_mut()
            .expect("an object")
            .extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        meta
    }

    #[test]
    fn the_usual_calls_of_a_conversation_are_plain() {
        let arguments = json!({"scope": "app", "op": "file.stat"});
        for (meta, has_agreed) in [
            (json!({}), true),
            (json!({"progressToken": 3, "claudecode/toolUseId": "toolu_1"}), true),
            (modern(&[]), false),
            (modern(&[("progressToken", json!("p"))]), false),
        ] {
            let message = call(json!({"name": "computer_query", "arguments": arguments, "_meta": meta}));
            let read = PlainCall::read_line(message, has_agreed).unwrap_or_else(|| panic!("{meta}"));
            assert_eq!((read.is_modern, read.tool.as_str()), (!has_agreed, "computer_query"));
            assert_eq!(read.progress_token.as_ref(), meta.get("progressToken"));
            assert_eq!(read.client.is_some(), !has_agreed);
        }
        let message = call(json!({"name": "get_computer_info"}));
        assert!(PlainCall::read_line(message, true).expect("plain").arguments.is_empty());
    }

    #[test]
    fn what_is_for_rmcp_to_judge_is_left_to_it() {
        let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        for (message, has_agreed) in [
            // The one revision in a conversation of the other.
            (call(json!({"name": "computer_query", "_meta": modern(&[])})), true),
            (call(json!({"name": "computer_query", "_meta": {CAPABILITIES: {}}})), true),
            (call(json!({"name": "computer_query"})), false),
            (
                call(json!({"name": "computer_query", "_meta": modern(&[(VERSION, json!("2031-01-01"))])})),
                false,
            ),
            (call(json!({"name": "computer_query", "_meta": {VERSION: "2026-07-28"}})), false),
            // A client that takes a task for an answer.
            (call(json!({"name": "computer_query", "_meta": modern(&[(CAPABILITIES, tasks)])})), false),
            (call(json!({"name": "computer_query", "_meta": {"progressToken": 1.5}})), true),
            (call(json!({"name": "computer_query", "arguments": "{}"})), true),
            (call(json!({"name": "computer_query", "inputResponses": {}})), true),
            (call(json!({"name": "no_such_tool"})), true),
            (json!({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "computer_query"}}), true),
            (
                json!({"jsonrpc": "2.0", "id": 1.5, "method": "tools/call", "params": {"name": "computer_query"}}),
                true,
            ),
            (
                json!({"jsonrpc": "1.0", "id": 1, "method": "tools/call", "params": {"name": "computer_query"}}),
                true,
            ),
            (
                json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"name": "computer_query"}}),
                true,
            ),
            (json!([call(json!({"name": "computer_query"}))]), true),
        ] {
            assert!(PlainCall::read_line(message.clone(), has_agreed).is_none(), "{message}");
        }
    }
}
