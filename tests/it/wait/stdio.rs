//! Requests that wait, over a conversation in lines.

use bailiwick::adapters::mcp::stdio::ConversationEnd;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::patience::PATIENCE;
use support::service::TestService;
use support::stdio_client::{in_memory, outcome};

/// A call that is answered when the file `go` is there.
fn call(id: &str) -> Value {
    let arguments = json!({"op": "process.wait", "input": {"any": [{"until": "file", "path": "go"}]},
                           "options": {"timeoutSeconds": PATIENCE.as_secs(), "detail": "full"}});
    let params = json!({"name": "computer_query", "arguments": arguments, "_meta": {"progressToken": id}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_requests_with_one_id_the_second_is_refused_and_the_first_answered() {
    let host = TestService::for_waits();
    let (mut client, _) = in_memory(host.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    client.send(&call("same")).await;
    let stat = json!({"jsonrpc": "2.0", "id": "same", "method": "tools/call",
                      "params": {"name": "computer_query", "arguments": {"op": "file.stat", "options": {"detail": "full"}}}});
    client.send(&stat).await;
    // Progress of the first may come between.
    let mut next = async || loop {
        let message = client.receive().await;
        if message.get("method").is_none() {
            break message;
        }
    };
    let refused = next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("same"), &json!(-32600)), "{refused}");
    host.write("go", "");
    let answer = next().await;
    assert_eq!(answer["id"], "same");
    assert_eq!(outcome(&answer)["data"]["outcome"], "held", "{answer}");
    // Once it is answered its id is free.
    client.send(&stat).await;
    assert_eq!(outcome(&client.receive().await)["op"], "file.stat");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_written_after_the_end_of_input_for_what_is_cancelled_then() {
    let host = TestService::for_waits();
    let (mut client, served) = in_memory(host.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    client.send(&call("left")).await;
    // Until it says something about itself, it runs.
    assert_eq!(client.receive().await["method"], "notifications/progress");
    client.input.as_mut().expect("open").shutdown().await.expect("closed");
    let mut rest = String::new();
    client.output.read_to_string(&mut rest).await.expect("read");
    let answers = rest.lines().filter(|line| line.contains("\"result\"") || line.contains("\"error\""));
    assert_eq!(answers.count(), 0, "{rest}");
    assert_eq!(served.await.expect("no panic"), ConversationEnd::ByClient);
    let history = host.data(json!({"op": "history.timeline"})).await;
    let rows = history["operations"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["op"] == "process.wait").expect("a row");
    assert_eq!(row["code"], "cancelled");
}
