//! MCP over lines: what a conversation withstands, and how it ends.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use bailiwick::adapters::mcp::stdio::ConversationEnd;

use support::http_client::whole;
use support::server::TestServer;
use support::stdio_client::{StdioClient, in_memory, meta, outcome};

async fn lives(client: &mut StdioClient) {
    let answer = client.call_modern("computer_query", json!({"scope": "app", "op": "file.stat"})).await;
    assert_eq!(outcome(&answer)["ok"], true);
}

fn conversation(house: &TestServer) -> (StdioClient, tokio::task::JoinHandle<ConversationEnd>) {
    in_memory(house.backend(), CancellationToken::new())
}

#[tokio::test(flavor = "current_thread")]
async fn lines_that_are_no_message_are_answered_and_the_session_lives() {
    let house = TestServer::new();
    let (mut client, _) = conversation(&house);
    for (line, code) in [
        (&b"{\"jsonrpc\":\n"[..], -32700),
        (b"{\"a\":\"\xff\xfe\"}\n", -32700),
        (b"hello\n", -32700),
        (b"[]\n", -32600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n", -32600),
    ] {
        client.send_raw(line).await;
        let answer = client.receive().await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer.get("id").is_none_or(Value::is_null));
        lives(&mut client).await;
    }
    client.send_raw(b"\n\r\n  \n").await;
    client.send(&json!({"jsonrpc": "2.0", "method": "window/logMessage", "params": {}})).await;
    lives(&mut client).await;
}

#[tokio::test(flavor = "current_thread")]
async fn what_is_wrong_with_a_line_is_told_before_the_answer_to_the_next() {
    let house = TestServer::new();
    let (mut client, _) = conversation(&house);
    client.initialize("2025-11-25").await;
    let params = json!({"name": "computer_query", "arguments": {"scope": "app", "op": "file.stat"}});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    client.send_raw(format!("hello\n{call}\n").as_bytes()).await;
    assert_eq!(client.receive().await["error"]["code"], -32700);
    assert_eq!(client.receive().await["id"], 7);
}

#[tokio::test(flavor = "current_thread")]
async fn a_line_of_17_mebibytes_is_refused_and_the_session_lives() {
    let house = TestServer::new();
    let (mut client, _) = conversation(&house);
    lives(&mut client).await;
    let mut line = vec![b'x'; 17 << 20];
    line.push(b'\n');
    client.send_raw(&line).await;
    let answer = client.receive().await;
    assert_eq!(answer["error"]["code"], -32700, "{answer}");
    lives(&mut client).await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_notification_before_the_handshake_does_not_end_the_session() {
    let house = TestServer::new();
    let (mut client, _) = conversation(&house);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
        .await;
    let answer = client.initialize("2025-06-18").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    let answer = client.call("computer_query", json!({"scope": "app", "op": "file.stat"})).await;
    assert_eq!(outcome(&answer)["ok"], true);
}

#[tokio::test(flavor = "current_thread")]
async fn the_end_of_input_ends_it_after_what_was_asked_is_answered() {
    let house = TestServer::new();
    let (mut client, served) = conversation(&house);
    for id in 1..=20 {
        let params = json!({"name": "computer_query", "arguments": {"scope": "app", "op": "file.stat"}, "_meta": meta()});
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})).await;
    }
    // The write half of a pair in memory has to be shut down to be closed.
    use tokio::io::AsyncWriteExt;
    client.input.as_mut().expect("open").shutdown().await.expect("closed");
    let mut ids = Vec::new();
    for _ in 1..=20 {
        ids.push(client.receive().await["id"].as_u64().expect("an id"));
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=20).collect::<Vec<_>>());
    assert_eq!(served.await.expect("no panic"), ConversationEnd::ByClient);
}

#[tokio::test(flavor = "current_thread")]
async fn a_second_initialize_is_refused_and_what_was_agreed_counts() {
    let house = TestServer::new();
    let (mut client, _) = conversation(&house);
    let answer = client.initialize("9999").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
    assert!(client.ask("ping", json!({})).await.get("result").is_some());
    let answer = client.initialize("2025-03-26").await;
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert!(
        client.ask("ping", json!({})).await.get("result").is_some(),
        "the conversation continues as it was"
    );
}

#[tokio::test(flavor = "current_thread")]
async fn the_messages_of_a_batch_are_answered_for_the_one_revision_that_has_them() {
    let house = TestServer::new();
    let ping = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let batch =
        json!([ping(json!(7)), note, ping(json!("eight")), {"jsonrpc": "2.0", "id": {}, "method": "ping"}]);
    let (mut client, _) = conversation(&house);
    client.initialize("2025-03-26").await;
    client.send(&batch).await;
    let mut answered = Vec::new();
    for _ in 0..3 {
        let answer = client.receive().await;
        answered.push((answer["id"].to_string(), answer["error"]["code"].as_i64()));
    }
    answered.sort();
    let expected = [("\"eight\"", None), ("7", None), ("null", Some(-32600))];
    assert_eq!(answered, expected.map(|(id, code)| (id.to_owned(), code)));
    for (line, code) in [(&b"[]\n"[..], -32600), (b"[{]\n", -32700), (b"[{\"id\":1,\"id\":2}]\n", -32600)] {
        client.send_raw(line).await;
        let answer = client.receive().await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    let too_many: Vec<Value> = (100..165).map(|id| ping(json!(id))).collect();
    client.send(&json!(too_many)).await;
    assert_eq!(client.receive().await["error"]["code"], -32600);
    assert!(client.ask("ping", json!({})).await.get("result").is_some());

    let (mut newer, _) = conversation(&house);
    newer.initialize("2025-06-18").await;
    newer.send(&batch).await;
    assert_eq!(newer.receive().await["error"]["code"], -32600);
    assert!(newer.ask("ping", json!({})).await.get("result").is_some());
}

#[tokio::test(flavor = "current_thread")]
async fn shutdown_ends_it() {
    let house = TestServer::new();
    for handshake in [false, true] {
        let shutdown = CancellationToken::new();
        let (mut client, served) = in_memory(house.backend(), shutdown.clone());
        if handshake {
            client.initialize("2025-11-25").await;
        }
        shutdown.cancel();
        assert_eq!(served.await.expect("no panic"), ConversationEnd::ByShutdown);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn thousands_of_pipelined_calls_are_all_answered() {
    let house = TestServer::new();
    let (mut client, _) = conversation(&house);
    client.initialize("2025-11-25").await;
    let mut input = client.input.take().expect("open");
    let count = 3_000_u64;
    let writer = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        for id in 100..100 + count {
            let arguments = whole(json!({"scope": "app", "op": "file.stat"}));
            let params = json!({"name": "computer_query", "arguments": arguments});
            let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            input.write_all(format!("{line}\n").as_bytes()).await.expect("the server reads");
        }
        input
    });
    let mut ids = std::collections::BTreeSet::new();
    while ids.len() < usize::try_from(count).expect("a small number") {
        let answer = client.receive().await;
        assert_eq!(outcome(&answer)["ok"], true);
        ids.insert(answer["id"].as_u64().expect("an id"));
    }
    drop(writer.await.expect("no panic"));
}
