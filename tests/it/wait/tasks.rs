//! What takes long becomes a task for a client that declares the extension.

use std::sync::Arc;

use bailiwick::adapters::auth::KeyRing;
use bailiwick::adapters::http::{HttpSettings, Server};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::patience::eventually_some;
use support::http_client::{send, whole};
use support::service::TestService;
use support::stdio_client::{StdioClient, in_memory, meta};

const TASKS: &str = "io.modelcontextprotocol/tasks";

pub(super) fn with_tasks() -> Value {
    let mut meta = meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"extensions": {TASKS: {}}});
    meta
}

/// A condition that holds after some seconds.
fn seconds(seconds: f64) -> Value {
    json!({"until": "time", "seconds": seconds})
}

async fn call(client: &mut StdioClient, condition: Value, meta: Value) -> Value {
    let arguments = whole(json!({"op": "process.wait", "input": {"any": [condition]}}));
    let params = json!({"name": "computer_query", "arguments": arguments, "_meta": meta});
    client.ask("tools/call", params).await["result"].clone()
}

async fn about(client: &mut StdioClient, method: &str, id: &Value) -> Value {
    client.ask(method, json!({"taskId": id, "_meta": with_tasks()})).await
}

/// Asks until a task has ended.
async fn ended(client: &mut StdioClient, id: &Value) -> Value {
    eventually_some("the task ends", async || {
        let task = about(client, "tasks/get", id).await["result"].clone();
        (task["status"] != "working").then_some(task)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_wait_becomes_a_task_whose_result_is_fetched_later() {
    let host = TestService::for_waits();
    let (mut client, _) = in_memory(host.backend(), CancellationToken::new());
    let task = call(&mut client, json!({"until": "file", "path": "go"}), with_tasks()).await;
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    assert_eq!(task["statusMessage"], "0 of 1 condition: file not yet");
    // The connection is free meanwhile.
    let stat = client.call_modern("computer_query", json!({"op": "file.stat"})).await;
    assert_eq!(stat["result"]["structuredContent"]["ok"], true, "{stat}");
    host.write("go", "");
    let task = ended(&mut client, &task["taskId"]).await;
    assert_eq!(task["status"], "completed", "{task}");
    assert_eq!(task["result"]["structuredContent"]["data"]["outcome"], "held", "{task}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ends_soon_and_clients_without_the_extension_get_no_task() {
    let host = TestService::for_waits();
    let (mut client, _) = in_memory(host.backend(), CancellationToken::new());
    let short = call(&mut client, seconds(0.1), with_tasks()).await;
    assert_eq!(short["structuredContent"]["data"]["outcome"], "held", "{short}");
    let long = call(&mut client, seconds(2.5), meta()).await;
    assert_eq!(long["structuredContent"]["data"]["outcome"], "held", "{long}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_is_cancelled_ends_and_the_history_says_so() {
    let host = TestService::for_waits();
    let (mut client, _) = in_memory(host.backend(), CancellationToken::new());
    let task = call(&mut client, seconds(600.0), with_tasks()).await;
    about(&mut client, "tasks/cancel", &task["taskId"]).await;
    assert_eq!(ended(&mut client, &task["taskId"]).await["status"], "cancelled");
    let history = host.data(json!({"op": "history.timeline"})).await;
    let rows = history["operations"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["op"] == "process.wait").expect("a row");
    assert_eq!(row["code"], "cancelled");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_ends_with_the_conversation_that_began_it() {
    let host = TestService::for_waits();
    let (mut client, served) = in_memory(host.backend(), CancellationToken::new());
    call(&mut client, seconds(600.0), with_tasks()).await;
    drop(client);
    served.await.expect("no panic");
    let code = eventually_some("the wait ends", async || {
        let history = host.data(json!({"op": "history.timeline"})).await;
        let rows = history["operations"].as_array().expect("rows");
        rows.iter().find(|row| row["op"] == "process.wait").map(|row| row["code"].clone())
    });
    assert_eq!(code.await, "cancelled");
}

/// Sends a message of revision 2026-07-28 with the extension declared, and gives the answer.
pub(super) async fn over_http(
    address: std::net::SocketAddr,
    token: &str,
    method: &str,
    params: Value,
) -> Value {
    let name = params["name"].as_str().or(params["taskId"].as_str()).unwrap_or_default().to_owned();
    let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    message["params"]["_meta"] = with_tasks();
    let bearer = format!("Bearer {token}");
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
        ("Mcp-Name", name.as_str()),
    ];
    send(address, "POST", "/mcp", &headers, &message.to_string()).await.json()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_there_for_the_caller_alone_who_began_it() {
    let host = TestService::for_waits();
    let shutdown = CancellationToken::new();
    let (one, other) = (host.token("one"), host.token("other"));
    let keys = Arc::new(KeyRing::open(host.dirs.clone()));
    let settings = HttpSettings { port: 0, ..HttpSettings::from_config(&host.config) };
    let server = Server::bind(Arc::clone(&host.service), keys, settings).await;
    let server = server.unwrap_or_else(|failure| panic!("the listener starts: {failure}"));
    let address = server.address();
    let serving = tokio::spawn(server.run(shutdown.clone()));
    let arguments = json!({"op": "process.wait", "input": {"any": [{"until": "time", "seconds": 600}]}});
    let call = json!({"name": "computer_query", "arguments": arguments});
    let task = over_http(address, &one, "tools/call", call).await["result"].clone();
    assert_eq!(task["resultType"], "task", "{task}");
    let about = json!({"taskId": task["taskId"]});
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let mut params = about.clone();
        if method == "tasks/update" {
            params["inputResponses"] = json!({});
        }
        let refused = over_http(address, &other, method, params).await;
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
        assert!(
            refused["error"]["message"].as_str().is_some_and(|it| it.starts_with("unknown task")),
            "{refused}"
        );
    }
    let seen = over_http(address, &one, "tasks/get", about.clone()).await;
    assert_eq!(seen["result"]["status"], "working", "{seen}");
    shutdown.cancel();
    serving.await.expect("no panic");
}
