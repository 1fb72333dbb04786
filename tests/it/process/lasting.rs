//! What continues without the service that started it, and is found again by the next.

use std::collections::BTreeSet;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::needs::at_every_level;
use crate::patience::eventually_async;
use support::scope::TestScope;
use support::service::{Program, processes_with};

/// Starts a command by the running service, and gives its id.
fn start(world: &TestScope, command: Value) -> String {
    let answer = world.call(&json!({"scope": "app", "op": "process.start", "input": {"command": command}}));
    assert_eq!(answer["ok"], true, "{answer:#}");
    answer["data"]["processId"].as_str().expect("an id").to_owned()
}

fn kill(process: &Program) {
    let id = i32::try_from(process.0.id()).expect("a small number");
    kill_process(Pid::from_raw(id).expect("not 0"), Signal::KILL).expect("it is ours");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_processes_outlive_the_kill_of_their_service_and_are_found_again_each_once() {
    at_every_level(|level| async move {
        let world = TestScope::for_processes(json!({"sandbox": level, "allowedCommands": ["make *"]}));
        let word = world.word.clone();
        // Each waits for a file, and ends with a code of its own.
        world.write(
            "Makefile",
            "run:\n\t@echo begin $(N); while [ ! -e go ]; do sleep 0.05; done; echo end $(N); exit $(N)\n\
             stay:\n\t@echo up; sleep $(W)\n",
        );
        let mut service = world.serve();
        let ids: Vec<String> =
            (0..9).map(|number| start(&world, json!(["make", "-s", "run", format!("N={number}")]))).collect();
        let stays = start(&world, json!(["make", "-s", "stay", format!("W={word}")]));
        eventually_async("it runs", || processes_with(&word) > 0).await;
        kill(&service);
        service.0.wait().expect("it is killed");

        // Some end while there is no service, some under the next one.
        let host = world.host();
        let live = host.data(json!({"op": "process.list"})).await;
        assert_eq!(live["live"], 10, "{level}: {live:#}");
        drop(host);
        world.write("go", "");
        let host = world.host();
        for (number, id) in ids.iter().enumerate() {
            let over = host.over(id).await;
            // make ends with 2 where a command of it failed.
            let code = if number == 0 { 0 } else { 2 };
            assert_eq!(
                (&over["status"], &over["exitCode"]),
                (&json!("ended"), &json!(code)),
                "{level}: {over:#}"
            );
            assert_eq!(over["stdout"], format!("begin {number}\nend {number}\n"), "{level}: {over:#}");
        }
        let list = host.data(json!({"op": "process.list"})).await;
        let listed: Vec<&str> = list["processes"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|row| row["processId"].as_str())
            .collect();
        assert_eq!(listed.len(), 10, "{level}: nothing lost, nothing double");
        assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), 10, "{level}");
        assert_eq!(listed[0], stays, "{level}: what runs comes first");
        assert_eq!(host.stop(&stays, json!({})).await["status"], "ended", "{level}");
        assert_eq!(processes_with(&word), 0, "{level}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_whose_keeper_is_killed_is_lost_and_what_it_printed_stays() {
    at_every_level(|level| async move {
        let world = TestScope::for_processes(json!({"sandbox": level, "allowedCommands": ["make *"]}));
        let word = world.word.clone();
        world.write("Makefile", format!("stay:\n\t@echo up; sleep {word}\n"));
        let host = world.host();
        let id = host.start(json!(["make", "stay"])).await;
        host.printed(&id, "up\n").await;
        let process = host.service.facts().processes.find("app", &id).expect("it is there");
        let mut changes = process.changes();
        let keeper = i32::try_from(process.status().expect("it runs").process_id).expect("a small number");
        kill_process(Pid::from_raw(keeper).expect("not 0"), Signal::KILL).expect("it is ours");
        // Anyone who listens is told.
        let _ = changes.wait_for(|change| change.ended).await;
        let read = host.read(&id, json!({})).await;
        assert_eq!((&read["status"], &read["stdout"]), (&json!("lost"), &json!("up\n")), "{level}: {read:#}");
        assert_eq!(host.stop(&id, json!({})).await["how"], "before", "{level}");
        eventually_async("nothing of it is left", || processes_with(&word) == 0).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_person_lists_reads_and_ends_them_from_the_command_line_with_or_without_a_service() {
    let world = TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["make *"]}));
    let word = world.word.clone();
    world.write("Makefile", format!("stay:\n\t@echo up; echo wrong >&2; sleep {word}\n"));
    let host = world.host();
    let ids = [host.start(json!(["make", "stay"])).await, host.start(json!(["make", "stay"])).await];
    for id in &ids {
        host.printed(id, "up\n").await;
    }
    drop(host);
    let list = world.cli(&["processes"]);
    let shown = list["processes"].as_array().expect("a list");
    assert_eq!(shown.len(), 2, "{list:#}");
    assert!(shown.iter().all(|row| row["status"] == "running" && row["scope"] == "app"), "{list:#}");
    let read = world.cli(&["processes", "read", &ids[0]]);
    assert_eq!((&read["stdout"], &read["stderr"]), (&json!("up\n"), &json!("wrong\n")), "{read:#}");

    // One that follows ends when the process does.
    let follow = world
        .command(&["processes", "read", &ids[0], "--follow"])
        .stdout(std::process::Stdio::piped())
        .spawn();
    let mut follow = Program(follow.expect("the program starts"));
    let stopped = world.cli(&["processes", "stop", &ids[0]]);
    assert_eq!(stopped["stopped"][0]["status"], "ended", "{stopped:#}");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut follow.0.stdout.take().expect("piped"), &mut text).expect("text");
    assert!(text.contains("up\n") && text.contains("wrong\n"), "{text:?}");
    assert!(follow.0.wait().expect("it ends").success());

    // All of every scope, also where the config knows none of them any more.
    let mut config = world.config.clone();
    config.scopes.clear();
    config.save(&bailiwick::config::Config::path(&world.dirs)).expect("the config is saved");
    let stopped = world.cli(&["processes", "stop", "--all"]);
    assert_eq!(stopped["stopped"].as_array().map(Vec::len), Some(1), "{stopped:#}");
    assert_eq!(processes_with(&word), 0);
    assert_eq!(world.cli(&["processes", "read", "nothing"])["error"]["code"], "process_not_found");
}
