//! How long a process lives, by what its scope says: past the service, with it, or with the client's connection.

use bailiwick::adapters::socket;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::needs::available;
use crate::patience::eventually_async;
use support::scope::TestScope;
use support::service::{Program, processes_with};
use support::stdio_client::StdioClient;

fn world(lifetime: &str, level: bailiwick::contract::Containment) -> TestScope {
    TestScope::for_processes(
        json!({"sandbox": level, "processLifetime": lifetime, "allowedCommands": ["sleep *"]}),
    )
}

fn start(world: &TestScope) -> Value {
    json!({"scope": "app", "op": "process.start", "input": {"command": ["sleep", world.word]}})
}

/// Starts `bailiwick mcp` and has it start a process.
pub async fn by_stdio(world: &TestScope, call: Value) -> (StdioClient, Program, Value) {
    let mut command = world.command(&["mcp"]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut program =
        Program(command.stderr(std::process::Stdio::null()).spawn().expect("the program starts"));
    let mut client = StdioClient::of(&mut program.0);
    client.initialize("2025-06-18").await;
    let answer = client.call("computer_operation", call).await;
    (client, program, answer)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_of_the_client_ends_with_its_connection_and_the_service_goes_on() {
    for level in available() {
        let world = world("client", level);
        let mut service = world.serve();
        let (client, _program, answer) = by_stdio(&world, start(&world)).await;
        eventually_async(&format!("it runs: {answer:#}"), || processes_with(&world.word) == 1).await;
        drop(client);
        eventually_async("it has ended with the client", || processes_with(&world.word) == 0).await;
        assert!(service.0.try_wait().expect("it can be asked").is_none(), "the service continues");
        let list = world.call(&json!({"scope": "app", "op": "process.list"}));
        assert_eq!(list["data"]["processes"][0]["status"], "ended", "{list:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_of_the_client_ends_when_the_socket_of_its_client_closes_and_no_other_does() {
    let world = world("client", bailiwick::contract::Containment::None);
    let _service = world.serve();
    let mut streams = Vec::new();
    for _ in 0..2 {
        let stream = UnixStream::connect(socket::path(&world.dirs)).await.expect("it listens");
        let (input, mut output) = stream.into_split();
        let request = json!({"request": {"id": 1, "envelope": start(&world)}});
        let hello = json!({"hello": {"protocol": 3, "transport": "socket"}});
        output.write_all(format!("{hello}\n{request}\n").as_bytes()).await.expect("written");
        let mut lines = BufReader::new(input).lines();
        let welcome = lines.next_line().await.expect("read").expect("a line");
        assert!(welcome.contains("welcome"), "{welcome}");
        let answer = lines.next_line().await.expect("read").expect("a line");
        assert!(answer.contains("processId"), "{answer}");
        streams.push((lines, output));
    }
    assert_eq!(processes_with(&world.word), 2);
    drop(streams.pop());
    eventually_async("one has ended", || processes_with(&world.word) == 1).await;
    drop(streams.pop());
    eventually_async("both have ended", || processes_with(&world.word) == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_of_the_service_ends_with_it_even_when_it_is_killed() {
    for lifetime in ["service", "client"] {
        for level in available() {
            let world = world(lifetime, level);
            let service = world.serve();
            let (_client, _program, answer) = by_stdio(&world, start(&world)).await;
            eventually_async(&format!("it runs: {answer:#}"), || processes_with(&world.word) == 1).await;
            let id = i32::try_from(service.0.id()).expect("a small number");
            kill_process(Pid::from_raw(id).expect("not 0"), Signal::KILL).expect("it is ours");
            eventually_async("it has ended with the service", || processes_with(&world.word) == 0).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_durable_process_outlives_the_client_that_served_itself() {
    for level in available() {
        let world = world("durable", level);
        let (client, mut program, answer) = by_stdio(&world, start(&world)).await;
        eventually_async(&format!("it runs: {answer:#}"), || processes_with(&world.word) == 1).await;
        drop(client);
        program.0.wait().expect("it ends when its client has gone");
        assert_eq!(processes_with(&world.word), 1);
        let host = world.host();
        assert_eq!(host.data(json!({"op": "process.list"})).await["live"], 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_connection_a_process_of_the_client_ends_with_the_service_and_the_answer_says_so() {
    let world = world("client", bailiwick::contract::Containment::None);
    let host = world.host();
    let answer = host.send(start(&world)).await;
    assert_eq!(answer["data"]["lifetime"], "service", "{answer:#}");
    assert!(
        answer["warnings"][0].as_str().is_some_and(|it| it.contains("ends with the service")),
        "{answer:#}"
    );
    drop(host);
    eventually_async("it has ended with the service", || processes_with(&world.word) == 0).await;
}
