//! The loopback interface that the commands and processes of one caller in one scope have together.

use bailiwick::contract::{Caller, Transport};
use serde_json::{Value, json};

use crate::needs::{lacks_full_sandbox, require_program};
use support::scope::TestScope;
use support::service::TestService;

/// Serves its folder; the port is free, since the network is the sandbox's.
const SERVER: &[&str] = &["python3", "-m", "http.server", "--bind", "127.0.0.1", "8000"];
/// Prints the first line of what the server answers.
const CLIENT: &str =
    "exec 3<>/dev/tcp/127.0.0.1/8000 && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && head -1 <&3 | tr -d '\\r'";

async fn ask(host: &TestService, caller: &Caller, scope: &str) -> Value {
    let envelope = json!({"scope": scope, "op": "command.run", "input": {"command": CLIENT}});
    let answer = host.send_as(caller, envelope).await;
    assert_eq!(answer["data"]["sandbox"]["network"], "loopback", "{answer:#}");
    answer["data"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_started_server_is_reached_by_the_next_command_of_its_caller_and_scope_and_by_no_other() {
    if lacks_full_sandbox() {
        return;
    }
    require_program("python3");
    let world = TestScope::for_processes(json!({"sandbox": "full", "shell": "sandboxed"}));
    let host = world.host();
    let local = Caller::local(Transport::Stdio);
    let other = host.caller_with_token("other");
    let before = ask(&host, &local, "app").await;
    assert_ne!(before["exitCode"], 0, "nothing listens yet: {before:#}");
    let server = host.start(json!(SERVER)).await;
    let listens = json!({"any": [{"until": "http", "port": 8000, "path": "/"}, {"until": "exit"}]});
    let data = host.data(json!({"op": "process.wait", "target": server, "input": listens})).await;
    assert_eq!(data["conditions"][0]["status"], 200, "{data:#}");
    let reached = ask(&host, &local, "app").await;
    assert_eq!(reached["stdout"], "HTTP/1.0 200 OK\n", "{reached:#}");
    for (caller, scope) in [(&local, "other"), (&other, "app")] {
        let refused = ask(&host, caller, scope).await;
        assert_ne!(refused["exitCode"], 0, "{} in {scope}: {refused:#}", caller.name);
        assert_eq!(refused["stdout"], "", "{} in {scope}: {refused:#}", caller.name);
    }
    // Both ends of one network, while others come and go in it.
    let reached = ask(&host, &local, "app").await;
    assert_eq!(reached["stdout"], "HTTP/1.0 200 OK\n", "{reached:#}");
    let log = host.read(&server, json!({})).await.to_string();
    assert!(!log.contains("Error") && !log.contains("Traceback"), "the server is not cut off: {log}");
    host.stop(&server, json!({"graceSeconds": 0})).await;
    let after = ask(&host, &local, "app").await;
    assert_ne!(after["exitCode"], 0, "{after:#}");
}
