//! Calls that need nothing of the protocol library are answered as it answers them.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use support::http_client::whole;
use support::server::TestServer;
use support::stdio_client::{StdioClient, in_memory, meta};

/// Calls that do something and calls that are refused: the tool and its arguments.
pub fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("computer_query", json!({"scope": "app", "op": "file.stat"})),
        ("computer_query", json!({"scope": "app", "op": "file.read", "target": "missing"})),
        ("computer_query", json!({"scope": "app", "op": "file.write", "target": "new"})),
        ("computer_query", json!({"scope": "app", "op": "file.list", "then": [{"op": "file.stat"}]})),
        ("get_computer_info", json!({"include": ["nothing"]})),
        ("get_operation_history", json!({"scope": "app", "view": "sideways"})),
    ]
}

/// Returns what two answers to the same call share: all but ids and times.
pub fn comparable(mut message: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for name in ["operationId", "startedAt", "durationMs", "headSeq", "headHash"] {
                    fields.remove(name);
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let text = message["result"]["content"][0]["text"].take();
    if let Some(text) = text.as_str() {
        let whole = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
        message["result"]["content"][0]["text"] = whole;
    }
    strip(&mut message);
    message
}

/// Sends the parameters of a call.
async fn answer(client: &mut StdioClient, params: Value) -> Value {
    let mut answer = client.ask("tools/call", params).await;
    answer["id"].take();
    comparable(answer)
}

#[tokio::test(flavor = "current_thread")]
async fn over_lines_as_the_protocol_library_answers_them() {
    let house = TestServer::new();
    for version in ["2025-03-26", "2025-11-25", "2026-07-28"] {
        let (mut client, _) = in_memory(house.backend(), CancellationToken::new());
        let mut about = json!({});
        if version == "2026-07-28" {
            about = meta();
        } else {
            client.initialize(version).await;
        }
        for (tool, arguments) in calls() {
            let plain = json!({"name": tool, "arguments": whole(arguments.clone()), "_meta": about});
            // The library ignores what it does not know, and what has it is left to the library.
            let mut other = plain.clone();
            other["unknown"] = json!(1);
            let other = answer(&mut client, other).await;
            assert_eq!(answer(&mut client, plain).await, other, "{version} {tool} {arguments}");
        }
        // What the library judges is left to it: a call that says nothing of its revision, or another one.
        let (other, refused) = match version {
            "2026-07-28" => (json!({}), json!(-32602)),
            _ => (meta(), Value::Null),
        };
        let unknown = json!({"io.modelcontextprotocol/protocolVersion": "2031-01-01"});
        for (params, code) in [
            (json!({"name": "no_such_tool", "_meta": about}), json!(-32602)),
            (json!({"name": "computer_query", "arguments": [], "_meta": about}), Value::Null),
            (json!({"name": "get_computer_info", "_meta": unknown}), json!(-32022)),
            (json!({"name": "get_computer_info", "_meta": other}), refused),
        ] {
            let answer = client.ask("tools/call", params.clone()).await;
            assert_eq!(answer["error"]["code"], code, "{version} {params} {answer}");
        }
    }
}
