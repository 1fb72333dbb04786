//! A client that asks for it is told that its wait continues, and how far it is.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::needs::require_program;
use crate::patience::PATIENCE;
use support::http_client::whole;
use support::service::TestService;
use support::stdio_client::{StdioClient, in_memory, outcome};

fn wait(conditions: Value) -> Value {
    json!({"op": "process.wait", "input": {"all": conditions}, "options": {"timeoutSeconds": PATIENCE.as_secs()}})
}

/// Calls process.wait with a progress token, and checks the notifications. What it waits for comes after some of them.
async fn check(host: &TestService, client: &mut StdioClient, token: Value) {
    let _ = fs::remove_file(host.path("go"));
    let conditions = json!([{"until": "file", "path": "there"}, {"until": "file", "path": "go"}]);
    host.write("there", "");
    let params = json!({"name": "computer_query", "arguments": whole(wait(conditions)), "_meta": {"progressToken": token}});
    let began = Instant::now();
    client.send(&json!({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": params})).await;
    let (mut notifications, mut reports) = (Vec::new(), 0);
    let answer = loop {
        let message = client.receive().await;
        if message["id"] == "w" {
            break message;
        }
        assert_eq!(message["method"], "notifications/progress", "{message}");
        let notification = message["params"].clone();
        assert_eq!(notification["progressToken"], token);
        reports += u32::from(notification["message"] == "1 of 2 conditions: file has held, file not yet");
        notifications.push(notification);
        if reports == 2 {
            host.write("go", "");
        }
    };
    assert_eq!(outcome(&answer)["data"]["outcome"], "held");
    // One a second at most, however long all of this took.
    assert!(notifications.len() as f64 <= began.elapsed().as_secs_f64(), "{notifications:?}");
    let progress: Vec<f64> =
        notifications.iter().map(|it| it["progress"].as_f64().expect("a number")).collect();
    assert!(progress.is_sorted_by(|one, next| one < next), "{progress:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_with_a_token_is_told_how_far_it_is_and_one_without_is_not() {
    let host = TestService::for_waits();
    let (mut client, _) = in_memory(host.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    check(&host, &mut client, json!("t-1")).await;
    // `call` takes the next message for the answer: a notification would be noticed.
    let answer = client.call("computer_query", wait(json!([{"until": "time", "seconds": 1.3}]))).await;
    assert_eq!(outcome(&answer)["data"]["outcome"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_comes_through_the_local_socket_of_a_running_service() {
    use bailiwick::adapters::auth::KeyRing;
    use bailiwick::adapters::backend::Backend;
    use bailiwick::adapters::socket::{self, Hello, Listener};
    use bailiwick::contract::{Failure, Transport};
    use std::sync::Arc;

    let host = TestService::for_waits();
    let shutdown = CancellationToken::new();
    let listener = Listener::bind(&socket::path(&host.dirs)).expect("the socket is free");
    let keys = Arc::new(KeyRing::open(host.dirs.clone()));
    let serving = tokio::spawn(socket::serve(listener, Arc::clone(&host.service), keys, shutdown.clone()));
    let embed = Box::new(|| Err(Failure::invalid("", "the running service is used")));
    let backend = Backend::open(&host.dirs, Hello::new(Transport::Stdio, None), embed).await.expect("let in");
    assert!(backend.is_remote());
    let (mut client, _) = in_memory(backend, CancellationToken::new());
    client.initialize("2025-06-18").await;
    check(&host, &mut client, json!(7)).await;
    shutdown.cancel();
    serving.await.expect("no panic");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_says_that_it_runs() {
    require_program("python3");
    let host = TestService::for_waits();
    let (mut client, _) = in_memory(host.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    let program = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.02)";
    let arguments = json!({"op": "command.run", "input": {"command": ["python3", "-c", program]},
                           "options": {"timeoutSeconds": PATIENCE.as_secs(), "detail": "full"}});
    let params =
        json!({"name": "computer_operation", "arguments": arguments, "_meta": {"progressToken": "c"}});
    client.send(&json!({"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": params})).await;
    for _ in 0..2 {
        let message = client.receive().await;
        assert_eq!(message["params"]["progressToken"], "c", "{message}");
        assert!(
            message["params"]["message"].as_str().is_some_and(|it| it.starts_with("running, ")),
            "{message}"
        );
    }
    host.write("go", "");
    let answer = loop {
        let message = client.receive().await;
        if message["id"] == "c" {
            break message;
        }
    };
    assert_eq!(outcome(&answer)["ok"], true);
}
