//! Commands that run longer than the answer waits: each becomes a process, in the sandbox that it has.

use std::fs;

use bailiwick::contract::{Caller, Capability, CapabilityGrant, Containment, Transport};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::lifetimes::by_stdio;
use crate::needs::{at_every_level, available, lacks_full_sandbox, require_program};
use crate::patience::eventually_async;
use support::scope::TestScope;
use support::service::{Program, TestService, processes_with};

/// Prints much or little, waits for the file `go`, reads its input, and ends with a code of its own.
const MAKEFILE: &str = "run:\n\t@seq $(N); echo begun >&2; while [ ! -e go ]; do sleep 0.05; done; wc -c; exit 7\n\
                        stay:\n\t@echo up; sleep $(W)\n\
                        scratch:\n\t@mktemp -d; while [ ! -e go ]; do sleep 0.05; done\n";

fn world(level: Containment) -> TestScope {
    let world = TestScope::for_processes(json!({"sandbox": level, "allowedCommands": ["make *"]}));
    world.write("Makefile", MAKEFILE);
    world
}

fn stay(world: &TestScope, options: Value) -> Value {
    let command = json!(["make", "-s", "stay", format!("W={}", world.word)]);
    json!({"scope": "app", "op": "command.run", "input": {"command": command}, "options": options})
}

/// Runs a command that does not end before its answer is due. Returns its id.
async fn outlast(host: &TestService, command: Value, stdin: Option<String>) -> (String, Value) {
    let data = host
        .data(json!({
            "op": "command.run", "input": {"command": command, "stdin": stdin},
            "options": {"answerWithinSeconds": 1},
        }))
        .await;
    assert_eq!(
        (&data["running"], &data["exitCode"], &data["timedOut"]),
        (&json!(true), &Value::Null, &json!(false))
    );
    (data["processId"].as_str().expect("an id").to_owned(), data)
}

fn kill(process: &Program, signal: Signal) {
    let id = i32::try_from(process.0.id()).expect("a small number");
    kill_process(Pid::from_raw(id).expect("not 0"), signal).expect("it is ours");
}

fn numbers(last: usize) -> String {
    (1..=last).map(|number| format!("{number}\n")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_outlasts_its_answer_is_a_process_with_all_that_it_prints() {
    at_every_level(|level| async move {
        // Little, what goes to the disk at once, and more than one file of the ring has.
        for last in [3, 100_000, 700_000] {
            let world = world(level);
            let host = world.host();
            // More than a pipe holds: the rest is written after the answer.
            let stdin = "x".repeat(300_000);
            let (id, data) =
                outlast(&host, json!(["make", "-s", "run", format!("N={last}")]), Some(stdin)).await;
            assert_eq!(data["sandbox"]["level"], level.as_str(), "{data:#}");
            let list = host.data(json!({"op": "process.list"})).await;
            assert_eq!(list["live"], 1, "{level}: {list:#}");
            assert_eq!(list["processes"][0]["processId"], json!(id), "{level}: {list:#}");
            world.write("go", "");
            let over = host.over(&id).await;
            assert_eq!(
                (&over["status"], &over["exitCode"]),
                (&json!("ended"), &json!(2)),
                "{level}: {over:#}"
            );
            let whole = numbers(last);
            let process = host.service.facts().processes.find("app", &id).expect("it is there");
            let read = process.read(0, usize::MAX).expect("it is readable");
            assert_eq!(read.skipped_bytes, 0, "{level}, {last}: nothing is lost where the answer was given");
            let printed: Vec<u8> = read
                .frames
                .iter()
                .filter(|frame| frame.stream == bailiwick::platform::launch::kept::Stream::Stdout)
                .flat_map(|frame| frame.bytes.clone())
                .collect();
            assert_eq!(String::from_utf8_lossy(&printed), format!("{whole}300000\n"), "{level}, {last}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_own_time_limit_ends_it_and_so_does_stopping_it() {
    at_every_level(|level| async move {
        let world = world(level);
        let host = world.host();
        let data = host.data(stay(&world, json!({"answerWithinSeconds": 1, "timeoutSeconds": 3}))).await;
        assert_eq!(
            (&data["running"], &data["maxRunSeconds"]),
            (&json!(true), &json!(3)),
            "{level}: {data:#}"
        );
        let id = data["processId"].as_str().expect("an id");
        // Of a process alone its end is waited for.
        let waited = host.data(json!({"op": "process.wait", "target": id})).await;
        assert_eq!(waited["outcome"], "held", "{level}: {waited:#}");
        let over = host.read(id, json!({})).await;
        assert_eq!((&over["timedOut"], &over["stdout"]), (&json!(true), &json!("up\n")), "{level}: {over:#}");
        assert_eq!(processes_with(&world.word), 0, "{level}");

        let data = host.data(stay(&world, json!({"answerWithinSeconds": 1}))).await;
        let id = data["processId"].as_str().expect("an id");
        host.printed(id, "up\n").await;
        let stopped = host.stop(id, json!({"graceSeconds": 0})).await;
        assert_eq!(stopped["status"], "ended", "{level}: {stopped:#}");
        assert_eq!(processes_with(&world.word), 0, "{level}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_outlives_the_service_where_processes_do_and_leaves_nothing() {
    at_every_level(|level| async move {
        let world = world(level);
        let before = entries(&world);
        let mut service = world.serve();
        let answer = world.call(&stay(&world, json!({"answerWithinSeconds": 1})));
        assert_eq!(answer["data"]["running"], true, "{level}: {answer:#}");
        let id = answer["data"]["processId"].as_str().expect("an id").to_owned();
        eventually_async("it runs", || processes_with(&world.word) > 0).await;
        kill(&service, Signal::KILL);
        service.0.wait().expect("it is killed");
        let host = world.host();
        let list = host.data(json!({"op": "process.list"})).await;
        assert_eq!(list["live"], 1, "{level}: {list:#}");
        host.stop(&id, json!({"graceSeconds": 0})).await;
        eventually_async("nothing runs", || processes_with(&world.word) == 0).await;
        // What stood for protected names is removed by the launcher, which outlives the service for that.
        eventually_async("nothing is left", || entries(&world) == before).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_ends_with_the_service_or_the_client_where_processes_do() {
    for (lifetime, ends_with_service) in [("service", true), ("client", false)] {
        for level in available() {
            let policy =
                json!({"sandbox": level, "processLifetime": lifetime, "allowedCommands": ["make *"]});
            let world = TestScope::for_processes(policy);
            world.write("Makefile", MAKEFILE);
            let mut service = world.serve();
            let (client, _program, answer) =
                by_stdio(&world, stay(&world, json!({"answerWithinSeconds": 1}))).await;
            assert_eq!(answer["result"]["structuredContent"]["data"]["running"], true, "{answer:#}");
            eventually_async("it runs", || processes_with(&world.word) > 0).await;
            if ends_with_service {
                kill(&service, Signal::KILL);
                service.0.wait().expect("it is killed");
            } else {
                drop(client);
            }
            eventually_async("it has ended", || processes_with(&world.word) == 0).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_temporary_folder_stays_as_long_as_the_process_and_no_longer() {
    for level in available().into_iter().filter(|level| *level < Containment::Full) {
        let world = world(level);
        let host = world.host();
        let (id, _) = outlast(&host, json!(["make", "-s", "scratch"]), None).await;
        host.printed(&id, "\n").await;
        let made = host.read(&id, json!({})).await["stdout"].as_str().expect("text").trim().to_owned();
        assert!(fs::metadata(&made).is_ok_and(|facts| facts.is_dir()), "{level}: {made}");
        world.write("go", "");
        host.over(&id).await;
        eventually_async("it is removed", || fs::metadata(&made).is_err()).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_not_manage_processes_and_who_has_as_many_as_may_be_gets_none() {
    let level = Containment::None;
    let world = TestScope::for_processes(
        json!({"sandbox": level, "maxLiveProcesses": 1, "allowedCommands": ["make *"]}),
    );
    world.write("Makefile", MAKEFILE);
    let host = world.host();
    let local = Caller::local(Transport::Stdio);
    let capabilities =
        CapabilityGrant::Only(vec![Capability::CommandRun, Capability::FsWrite].into_iter().collect());
    let runner = Caller { capabilities, ..local.clone() };
    let short = json!({"answerWithinSeconds": 1, "timeoutSeconds": 3});
    let answer = host.send_as(&runner, stay(&world, short.clone())).await;
    assert_eq!(answer["data"]["timedOut"], true, "{answer:#}");
    assert!(answer["data"].get("running").is_none(), "{answer:#}");
    let said = answer["warnings"].to_string();
    assert!(said.contains("time limit of 3 s") && said.contains("options.timeoutSeconds"), "{said}");

    let data = host.data(stay(&world, json!({"answerWithinSeconds": 1}))).await;
    assert_eq!(data["running"], true, "{data:#}");
    let second = host.data(stay(&world, short)).await;
    assert_eq!(second["timedOut"], true, "there is one already: {second:#}");
    host.stop(data["processId"].as_str().expect("an id"), json!({"graceSeconds": 0})).await;
    assert_eq!(processes_with(&world.word), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_run_as_a_command_is_reached_when_it_is_a_process() {
    if lacks_full_sandbox() {
        return;
    }
    require_program("python3");
    let world = TestScope::for_processes(json!({"sandbox": "full", "shell": "sandboxed"}));
    let host = world.host();
    let command = json!("python3 -u -m http.server --bind 127.0.0.1 8000");
    let (id, _) = outlast(&host, command, None).await;
    let listens = json!({"any": [{"until": "http", "port": 8000, "path": "/"}, {"until": "exit"}]});
    let data = host.data(json!({"op": "process.wait", "target": id, "input": listens})).await;
    assert_eq!(data["conditions"][0]["status"], 200, "{data:#}");
    host.stop(&id, json!({"graceSeconds": 0})).await;
}

/// Returns the names in the scope's folder, and in its `.git`.
fn entries(world: &TestScope) -> Vec<String> {
    let mut names: Vec<String> = ["", ".git"]
        .iter()
        .flat_map(|inside| fs::read_dir(world.path(inside)).into_iter().flatten().flatten())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
