//! The built program: the same envelopes through its processes, and how they end.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::unix::pipe;

use super::envelopes;
use crate::patience::eventually_some;
use support::http_client::api;
use support::server::TestServer;
use support::service::normal;
use support::stdio_client::{StdioClient, outcome};

/// A process that is killed if the test ends before it does.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn program(house: &TestServer, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
    command.args(words).env_clear().env("BAILIWICK_HOME", house.path("home"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn mcp(house: &TestServer, words: &[&str]) -> (StdioClient, Program) {
    let mut child = program(house, &[&["mcp"], words].concat()).spawn().expect("the program starts");
    (StdioClient::of(&mut child), Program(child))
}

/// Starts the service, and gives it with its address.
async fn start(house: &TestServer) -> (Program, std::net::SocketAddr) {
    let mut child = program(house, &["start", "--port", "0", "--json"]).spawn().expect("the program starts");
    let output = OwnedFd::from(child.stdout.take().expect("piped"));
    let mut lines = BufReader::new(pipe::Receiver::from_owned_fd(output).expect("a pipe")).lines();
    let line = lines.next_line().await.expect("read").expect("it says where it serves");
    let started: Value = serde_json::from_str(&line).expect("JSON");
    (Program(child), started["address"].as_str().expect("an address").parse().expect("an address"))
}

fn signal(program: &Program, signal: Signal) {
    let id = i32::try_from(program.0.id()).expect("a small number");
    kill_process(Pid::from_raw(id).expect("not 0"), signal).expect("it is ours");
}

/// Waits for the end.
async fn ended(mut program: Program) -> ExitStatus {
    eventually_some("it ends", async || program.0.try_wait().expect("it was ours")).await
}

/// What the transports inside this process give, as the measure for the program.
async fn expected(house: &TestServer, envelope: &Value) -> Value {
    let gone = tokio_util::sync::CancellationToken::new();
    let envelope = bailiwick::requests::read(envelope.clone());
    normal(house.backend().submit(envelope, &gone).await.into_value())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_gives_the_same_outcome_over_stdio_cli_and_http() {
    let house = TestServer::new();
    house.save_config();
    let (mut alone, alone_child) = mcp(&house, &[]);
    alone.initialize("2025-11-25").await;
    for (name, envelope, code) in envelopes::all() {
        let expected = expected(&house, &envelope).await;
        assert_eq!(expected["error"]["code"].as_str().unwrap_or("ok"), code, "{name}");
        let got = normal(outcome(&alone.call("computer_operation", envelope.clone()).await));
        assert_eq!(got, expected, "{name} by a process of its own");
    }
    let (service, address) = start(&house).await;
    let (mut linked, linked_child) = mcp(&house, &[]);
    for (name, envelope, _) in envelopes::all() {
        let expected = expected(&house, &envelope).await;
        let got = normal(outcome(&linked.call_modern("computer_operation", envelope.clone()).await));
        assert_eq!(got, expected, "{name} by the running service, stdio");
        let got = api(address, &house.token, &envelope.to_string()).await.json();
        assert_eq!(normal(got), expected, "{name} by the running service, JSON API");
        let ran = program(&house, &["call", &envelope.to_string(), "--json"]).output().expect("it runs");
        let got: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{name}: {ran:?}"));
        assert_eq!(normal(got), expected, "{name} by the CLI");
    }
    drop((alone, linked));
    assert!(ended(alone_child).await.success(), "the end of input ends it with 0");
    assert!(ended(linked_child).await.success(), "the end of input ends it with 0");
    signal(&service, Signal::TERM);
    assert!(ended(service).await.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn signals_end_the_program_with_0() {
    let house = TestServer::new();
    house.save_config();
    for which in [Signal::INT, Signal::TERM] {
        let (service, address) = start(&house).await;
        let idle = tokio::net::TcpStream::connect(address).await.expect("accepted");
        let (mut client, child) = mcp(&house, &[]);
        client.initialize("2025-11-25").await;
        signal(&child, which);
        assert!(ended(child).await.success());
        signal(&service, which);
        assert!(ended(service).await.success());
        assert!(!bailiwick::adapters::socket::path(&house.dirs).exists());
        drop(idle);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_restricts_a_client_with_and_without_a_running_service() {
    let house = TestServer::new();
    house.save_config();
    house.token("narrow", None, &["notes"], &["fs:read"]);
    let check = async || {
        let (mut client, _child) = mcp(&house, &["--caller", "narrow"]);
        client.initialize("2025-11-25").await;
        let answer = client.call("computer_operation", json!({"scope": "app", "op": "file.stat"})).await;
        assert_eq!(outcome(&answer)["error"]["code"], "unknown_scope");
        let answer = client.call("computer_query", json!({"op": "file.stat"})).await;
        assert_eq!(outcome(&answer)["ok"], true, "its only scope can be left out");
        let nobody = program(&house, &["mcp", "--caller", "nobody"]).output().expect("it runs");
        assert!(!nobody.status.success() && nobody.stdout.is_empty(), "{nobody:?}");
    };
    check().await;
    let (service, _) = start(&house).await;
    check().await;
    signal(&service, Signal::TERM);
    assert!(ended(service).await.success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_goes_on_when_its_service_is_killed() {
    let house = TestServer::new();
    house.save_config();
    let (service, _) = start(&house).await;
    let (mut client, child) = mcp(&house, &[]);
    client.initialize("2025-11-25").await;
    let stat = json!({"scope": "app", "op": "file.stat"});
    assert_eq!(outcome(&client.call("computer_query", stat.clone()).await)["ok"], true);
    drop(service);
    // The request that notices may find the service gone; those after it are served.
    let first = outcome(&client.call("computer_query", stat.clone()).await);
    assert!(first["ok"] == true || first["error"]["code"] == "provider_unavailable", "{first}");
    assert_eq!(outcome(&client.call("computer_query", stat.clone()).await)["ok"], true);
    // What the killed one left behind does not keep another from starting.
    let (service, _) = start(&house).await;
    assert_eq!(outcome(&client.call("computer_query", stat).await)["ok"], true);
    drop(client);
    assert!(ended(child).await.success());
    signal(&service, Signal::TERM);
    assert!(ended(service).await.success());
}
