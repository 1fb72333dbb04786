//! What runs for a token ends with the token.

use std::fs::File;
use std::net::SocketAddr;
use std::sync::Arc;

use bailiwick::adapters::auth::KeyRing;
use bailiwick::adapters::backend::{Backend, EmbeddedService, Origin};
use bailiwick::adapters::http::{HttpSettings, Server};
use bailiwick::adapters::socket::{self, Hello, Listener, connect};
use bailiwick::config::Tokens;
use bailiwick::contract::{Envelope, Transport, time};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::tasks::{over_http, with_tasks};
use crate::needs::require_program;
use crate::patience::{eventually_async, eventually_some};
use support::http_client::{api, call, mcp};
use support::service::TestService;
use support::stdio_client::in_memory;

/// A command that locks a file for as long as it lives.
fn command(name: &str) -> Value {
    let program = format!(
        "import fcntl, time\nlock = open('{name}', 'w')\nfcntl.flock(lock, fcntl.LOCK_EX)\nopen('{name}.runs', 'w')\ntime.sleep(3600)"
    );
    json!({"op": "command.run", "input": {"command": ["python3", "-c", program]},
           "options": {"timeoutSeconds": 600}})
}

fn change(host: &TestService, act: impl FnOnce(&mut Tokens)) {
    let mut tokens = Tokens::load(&host.dirs).expect("the tokens are readable");
    act(&mut tokens);
    tokens.save().expect("the tokens are saved");
}

async fn serve(host: &TestService, shutdown: &CancellationToken) -> (SocketAddr, [JoinHandle<()>; 2]) {
    let keys = Arc::new(KeyRing::open(host.dirs.clone()));
    let settings = HttpSettings { port: 0, ..HttpSettings::from_config(&host.config) };
    let server = Server::bind(Arc::clone(&host.service), Arc::clone(&keys), settings).await;
    let server = server.unwrap_or_else(|failure| panic!("the listener starts: {failure}"));
    let address = server.address();
    let listener = Listener::bind(&socket::path(&host.dirs)).expect("the socket is free");
    let over_socket = socket::serve(listener, Arc::clone(&host.service), keys, shutdown.clone());
    (address, [tokio::spawn(server.run(shutdown.clone())), tokio::spawn(over_socket)])
}

/// Ends the token while the command runs, and checks how the command and its request end.
async fn check(
    host: &TestService,
    name: &str,
    answer: impl Future<Output = Value>,
    act: impl FnOnce(&mut Tokens),
) {
    let (answer, ()) = tokio::join!(answer, async {
        let started = host.path(format!("{name}.runs"));
        eventually_async("the command runs", || started.exists()).await;
        change(host, act);
    });
    let error = &answer["error"];
    assert_eq!((&error["code"], &error["details"]["rule"]), (&json!("permission_denied"), &json!("caller")));
    let message = error["message"].as_str().expect("a message");
    assert_eq!(message, format!("the token `{name}` was revoked or has expired"), "{answer}");
    let lock = File::open(host.path(name)).expect("it was made");
    eventually_async("the program is killed", || lock.try_lock().is_ok()).await;
    let history = host.data(json!({"op": "history.timeline"})).await;
    let rows = history["operations"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["caller"] == name && row["op"] == "command.run").expect("a row");
    assert_eq!(row["code"], "permission_denied", "{row}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_runs_ends_when_its_token_is_revoked_or_expires_over_every_transport() {
    require_program("python3");
    let host = TestService::for_waits();
    let shutdown = CancellationToken::new();
    let (address, served) = serve(&host, &shutdown).await;

    let token = host.token("over-mcp");
    let message = call("computer_operation", &command("over-mcp"));
    let answer = async {
        let answer = mcp(address, &token, "2025-11-25", message).await.json();
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
        serde_json::from_str(&text).expect("JSON")
    };
    check(&host, "over-mcp", answer, |tokens| drop(tokens.revoke("over-mcp"))).await;

    let token = host.token("over-api");
    let body = command("over-api").to_string();
    let answer = async { api(address, &token, &body).await.json() };
    check(&host, "over-api", answer, |tokens| drop(tokens.rotate("over-api", time::now_ms()))).await;

    host.token("over-socket");
    let hello = Hello::new(Transport::Stdio, Some("over-socket".to_owned()));
    let client = connect(&socket::path(&host.dirs), &hello).await.expect("let in");
    let (origin, gone) = (Origin::default(), CancellationToken::new());
    let envelope = Envelope::from_value(command("over-socket"));
    let answer = async { client.submit(&origin, &envelope, &gone).await.expect("answered").into_value() };
    let expire = |tokens: &mut Tokens| tokens.set_expiry("over-socket", Some(time::now_ms() - 1));
    check(&host, "over-socket", answer, expire).await;

    host.token("in-process");
    let keys = Arc::new(KeyRing::open(host.dirs.clone()));
    let caller = keys.profile("in-process", Transport::Stdio).expect("readable").expect("it is there");
    let embedded = EmbeddedService { service: Arc::clone(&host.service), caller, keys: Some(keys) };
    let (mut client, _) = in_memory(Backend::Embedded(embedded), CancellationToken::new());
    client.initialize("2025-11-25").await;
    let answer = async {
        let answer = client.call("computer_operation", command("in-process")).await;
        let text = answer["result"]["content"][0]["text"].as_str().expect("a text").to_owned();
        serde_json::from_str(&text).expect("JSON")
    };
    check(&host, "in-process", answer, |tokens| drop(tokens.revoke("in-process"))).await;

    shutdown.cancel();
    for task in served {
        task.await.expect("no panic");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_ends_with_its_token_and_others_keep_running() {
    let host = TestService::for_waits();
    let shutdown = CancellationToken::new();
    let (address, served) = serve(&host, &shutdown).await;
    let (one, other) = (host.token("one"), host.token("other"));
    let arguments = json!({"op": "process.wait", "input": {"any": [{"until": "time", "seconds": 600}]}});
    let call = json!({"name": "computer_query", "arguments": arguments});
    let mut tasks = Vec::new();
    for token in [&one, &other] {
        let task = over_http(address, token, "tools/call", call.clone()).await["result"].clone();
        assert_eq!(task["resultType"], "task", "{task}");
        tasks.push(task["taskId"].clone());
    }
    change(&host, |tokens| drop(tokens.revoke("one")));
    let row = eventually_some("the wait ends", async || {
        let history = host.data(json!({"op": "history.timeline"})).await;
        let rows = history["operations"].as_array().expect("rows");
        rows.iter().find(|row| row["op"] == "process.wait").cloned()
    });
    let row = row.await;
    assert_eq!((&row["caller"], &row["code"]), (&json!("one"), &json!("permission_denied")), "{row}");
    let seen = over_http(address, &other, "tasks/get", json!({"taskId": tasks[1]})).await;
    assert_eq!(seen["result"]["status"], "working", "{seen}");
    shutdown.cancel();
    for task in served {
        task.await.expect("no panic");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_result_of_a_task_is_closed_to_a_token_that_was_revoked_on_an_open_connection() {
    let host = TestService::for_waits();
    host.token("one");
    let keys = Arc::new(KeyRing::open(host.dirs.clone()));
    let caller = keys.profile("one", Transport::Stdio).expect("readable").expect("it is there");
    let embedded = EmbeddedService { service: Arc::clone(&host.service), caller, keys: Some(keys) };
    let (mut client, _) = in_memory(Backend::Embedded(embedded), CancellationToken::new());
    let arguments = json!({"op": "process.wait", "input": {"any": [{"until": "time", "seconds": 2.5}]}});
    let params = json!({"name": "computer_query", "arguments": arguments, "_meta": with_tasks()});
    let task = client.ask("tools/call", params).await["result"].clone();
    let about = json!({"taskId": task["taskId"], "_meta": with_tasks()});
    eventually_some("the task ends", async || {
        let task = client.ask("tasks/get", about.clone()).await["result"].clone();
        (task["status"] == "completed").then_some(())
    })
    .await;
    change(&host, |tokens| drop(tokens.revoke("one")));
    let refused = client.ask("tasks/get", about).await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
}
