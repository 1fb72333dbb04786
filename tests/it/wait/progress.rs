//! A client that asks for it is told that its wait goes on, and how far it is.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::hall::Hall;
use crate::adapters::stdio_client::{Client, in_memory, outcome};

fn wait(seconds: f64) -> Value {
    json!({"op": "process.wait", "input": {"all": [{"until": "time", "seconds": 0.05},
                                                   {"until": "time", "seconds": seconds}]}})
}

/// Calls process.wait with a progress token, and gives the notifications and the answer.
async fn told(client: &mut Client, seconds: f64, token: Value) -> (Vec<Value>, Value) {
    let meta = json!({"progressToken": token});
    let params = json!({"name": "computer_query", "arguments": wait(seconds), "_meta": meta});
    client.send(&json!({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": params})).await;
    let mut notifications = Vec::new();
    loop {
        let message = client.receive().await;
        if message["id"] == "w" {
            return (notifications, message);
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        notifications.push(message["params"].clone());
    }
}

/// Checks what a client was told during a wait of some seconds.
fn check(notifications: &[Value], token: &Value, seconds: f64) {
    assert!(!notifications.is_empty() && notifications.len() as f64 <= seconds, "{notifications:?}");
    let progress: Vec<f64> =
        notifications.iter().map(|it| it["progress"].as_f64().expect("a number")).collect();
    assert!(progress.is_sorted_by(|one, next| one < next), "{progress:?}");
    for notification in notifications {
        assert_eq!(notification["progressToken"], *token);
        assert_eq!(notification["message"], "1 of 2 conditions: time has held, time not yet");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_with_a_token_is_told_how_far_it_is_and_one_without_is_not() {
    let hall = Hall::new();
    let (mut client, _) = in_memory(hall.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    let (notifications, answer) = told(&mut client, 2.6, json!("t-1")).await;
    check(&notifications, &json!("t-1"), 2.6);
    assert_eq!(outcome(&answer)["data"]["outcome"], "held");
    // `call` takes the next message for the answer: a notification would be noticed.
    let answer = client.call("computer_query", wait(1.3)).await;
    assert_eq!(outcome(&answer)["data"]["outcome"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_comes_through_the_local_socket_of_a_running_service() {
    use bailiwick::adapters::auth::KeyRing;
    use bailiwick::adapters::backend::Backend;
    use bailiwick::adapters::socket::{self, Hello, Listener};
    use bailiwick::contract::{Failure, Transport};
    use std::sync::Arc;

    let hall = Hall::new();
    let shutdown = CancellationToken::new();
    let listener = Listener::bind(&socket::path(&hall.dirs)).expect("the socket is free");
    let keys = Arc::new(KeyRing::open(hall.dirs.clone()));
    let serving = tokio::spawn(socket::serve(listener, Arc::clone(&hall.service), keys, shutdown.clone()));
    let embed = Box::new(|| Err(Failure::invalid("", "the running service is used")));
    let backend = Backend::open(&hall.dirs, Hello::new(Transport::Stdio, None), embed).await.expect("let in");
    assert!(backend.is_remote());
    let (mut client, _) = in_memory(backend, CancellationToken::new());
    client.initialize("2025-06-18").await;
    let (notifications, answer) = told(&mut client, 2.6, json!(7)).await;
    check(&notifications, &json!(7), 2.6);
    assert_eq!(outcome(&answer)["data"]["outcome"], "held");
    shutdown.cancel();
    serving.await.expect("no panic");
}
