//! Starting: judged and held as a command that is run, bounded in number, and ended as a whole.

use std::time::Instant;

use bailiwick::contract::{Caller, Capability, CapabilityGrant, Transport};
use serde_json::json;

use crate::needs::{at_every_level, lacks_program};
use crate::patience::{PATIENCE, eventually_async};
use support::scope::TestScope;
use support::service::processes_with;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_started_runs_at_every_level_and_nothing_is_left_when_it_is_stopped() {
    at_every_level(|level| async move {
        let world = TestScope::for_processes(json!({"sandbox": level, "allowedCommands": ["make *"]}));
        let word = world.word.clone();
        world.write(
            "Makefile",
            format!(
                "stay:\n\t@sleep {word} & setsid sleep {word} & setsid sh -c 'sleep {word} & wait' & echo up; sleep {word}\n"
            ),
        );
        let host = world.host();
        let data = host
            .data(json!({"op": "process.start", "input": {"command": ["make", "stay"], "label": "stays"}}))
            .await;
        assert_eq!(data["sandbox"]["level"], json!(level), "{data:#}");
        let id = data["processId"].as_str().expect("an id").to_owned();
        host.printed(&id, "up\n").await;
        eventually_async("all run", || processes_with(&word) >= 4).await;

        // All are asked, also those whose parents end first: nothing has to be killed after the grace.
        let (began, grace) = (Instant::now(), PATIENCE.as_secs());
        let stopped = host.stop(&id, json!({"graceSeconds": grace, "timeoutSeconds": grace + 60})).await;
        assert_eq!((&stopped["status"], &stopped["how"]), (&json!("ended"), &json!("asked")), "{level}: {stopped:#}");
        assert!(began.elapsed() < *PATIENCE, "{level}");
        assert_eq!(processes_with(&word), 0, "{level}");
        assert_eq!(host.read(&id, json!({})).await["stdout"], "up\n", "{level}: it stays readable");
        assert_eq!(host.stop(&id, json!({})).await["how"], "before", "{level}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_end_when_it_is_asked_to_is_killed_after_the_grace() {
    at_every_level(|level| async move {
        let world = TestScope::for_processes(json!({"sandbox": level, "allowedCommands": ["make *"]}));
        let word = world.word.clone();
        world.write("Makefile", format!("deaf:\n\t@trap '' TERM; echo up; while :; do sleep {word}; done\n"));
        let host = world.host();
        let id = host.start(json!(["make", "deaf"])).await;
        host.printed(&id, "up\n").await;
        let stopped = host.stop(&id, json!({"graceSeconds": 1})).await;
        assert_eq!(stopped["status"], "ended", "{level}: {stopped:#}");
        eventually_async("nothing is left", || processes_with(&word) == 0).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_ends_when_its_time_is_over() {
    let world = TestScope::for_processes(
        json!({"sandbox": "none", "maxProcessSeconds": 1, "allowedCommands": ["sleep *"]}),
    );
    let host = world.host();
    let start = json!({
        "op": "process.start",
        "input": {"command": ["sleep", world.word]},
        "options": {"maxRunSeconds": 600},
    });
    let data = host.data(start).await;
    assert_eq!(data["maxRunSeconds"], 1, "the scope's is the most: {data:#}");
    let id = data["processId"].as_str().expect("an id");
    let over = host.over(id).await;
    assert_eq!((&over["status"], &over["timedOut"]), (&json!("ended"), &json!(true)), "{over:#}");
    assert_eq!(processes_with(&world.word), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_starts_at_once_no_more_succeed_than_there_are_places() {
    let world = TestScope::for_processes(
        json!({"sandbox": "none", "maxLiveProcesses": 3, "allowedCommands": ["sleep *", "true"]}),
    );
    let host = std::sync::Arc::new(world.host());
    let mut starts = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let (host, word) = (std::sync::Arc::clone(&host), world.word.clone());
        starts.spawn(async move {
            host.send(json!({"op": "process.start", "input": {"command": ["sleep", word]}})).await
        });
    }
    let answers = starts.join_all().await;
    let refused: Vec<_> = answers.iter().filter(|answer| answer["ok"] == false).collect();
    assert_eq!(refused.len(), 9, "{answers:#?}");
    for answer in refused {
        assert_eq!(answer["error"]["details"]["rule"], "max-live-processes", "{answer:#}");
    }
    assert_eq!(processes_with(&world.word), 3);
    // Those that have ended count no more.
    host.data(json!({"op": "process.stop", "input": {"all": true}})).await;
    for _ in 0..5 {
        let id = host.start(json!(["true"])).await;
        assert_eq!(host.over(&id).await["exitCode"], 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_started_that_no_rule_allows_or_that_the_caller_may_not() {
    let world = TestScope::for_processes(
        json!({"sandbox": "none", "allowedCommands": ["sleep *"], "deniedCommands": ["sleep 1"]}),
    );
    let host = world.host();
    for command in [json!(["true"]), json!(["sleep", "1"]), json!("sleep 2 && true"), json!("sleep $X")] {
        let answer = host.send(json!({"op": "process.start", "input": {"command": command}})).await;
        assert_eq!(answer["ok"], false, "{answer:#}");
        assert_eq!(answer["error"]["details"]["stage"], "command", "{answer:#}");
    }
    let start = json!({"op": "command.start", "input": {"command": ["sleep", world.word]}});
    for missing in [Capability::CommandRun, Capability::ProcessManage] {
        let granted = Capability::ALL.iter().copied().filter(|it| *it != missing);
        let caller = Caller {
            capabilities: CapabilityGrant::Only(granted.collect()),
            ..Caller::local(Transport::Stdio)
        };
        let answer = host.send_as(&caller, start.clone()).await;
        assert_eq!(answer["error"]["details"]["stage"], "capability", "{answer:#}");
    }
    assert_eq!(processes_with(&world.word), 0);
    assert_eq!(host.data(json!({"op": "process.list"})).await["processes"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_nobody_waits_for_leaves_nothing_running() {
    let world = TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["sleep *"]}));
    let host = world.host();
    // Given up at many points of the way.
    for steps in 0..40 {
        let start = json!({"op": "process.start", "input": {"command": ["sleep", world.word]}});
        let sending = host.send(start);
        let given_up = async {
            for _ in 0..steps {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            biased;
            _ = sending => {}
            () = given_up => {}
        }
    }
    // What was answered meanwhile was not given up.
    host.data(json!({"op": "process.stop", "input": {"all": true}})).await;
    eventually_async("nothing is left", || processes_with(&world.word) == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_of_the_project_is_started_without_a_rule_for_its_runner() {
    let world = TestScope::for_processes(json!({"sandbox": "none"}));
    world.write("Makefile", "serve:\n\t@echo serving; sleep 1; echo done\n");
    let host = world.host();
    let data = host.data(json!({"op": "package.start", "input": {"script": "serve"}})).await;
    let id = data["processId"].as_str().expect("an id").to_owned();
    assert_eq!(data["commandPreview"], "make serve");
    let over = host.over(&id).await;
    assert_eq!((&over["exitCode"], &over["stdout"]), (&json!(0), &json!("serving\ndone\n")), "{over:#}");

    if !lacks_program("npm") {
        world.write("package.json", r#"{"scripts": {"dev": "node -e \"console.log('dev server')\""}}"#);
        let data = host
            .data(
                json!({"op": "package.start", "input": {"script": "dev"}, "options": {"timeoutSeconds": 60}}),
            )
            .await;
        let over = host.over(data["processId"].as_str().expect("an id")).await;
        assert_eq!(over["exitCode"], 0, "{over:#}");
        assert!(over["stdout"].as_str().is_some_and(|text| text.contains("dev server")), "{over:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn neither_facts_nor_history_hold_a_secret_of_the_command_or_what_it_printed() {
    let world = TestScope::for_processes(json!({"sandbox": "none", "allowedCommands": ["printf *"]}));
    let host = world.host();
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    // What is printed is together nowhere in the words.
    let (words, printed) = (["rosebud-was", "-the-sledge"], "rosebud-was-the-sledge");
    let id = host.start(json!(["printf", "%s", words[0], words[1], "--password", secret])).await;
    assert!(host.over(&id).await["stdout"].as_str().is_some_and(|stdout| stdout.starts_with(printed)));
    let facts = std::fs::read(world.process(&id).join("facts.json")).expect("the facts are there");
    drop(host);
    let history = std::fs::read(world.dirs.state.join("history.db")).expect("there is a history");
    let log = std::fs::read(world.dirs.state.join("history.db-wal")).unwrap_or_default();
    for bytes in [facts, history, log] {
        for text in [secret, printed] {
            assert!(memchr::memmem::find(&bytes, text.as_bytes()).is_none(), "{text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_that_a_process_makes_is_reported_when_it_has_ended() {
    if crate::needs::lacks_full_sandbox() {
        return;
    }
    let world = TestScope::for_processes(
        json!({"sandbox": "full", "shell": "sandboxed", "allowedCommands": ["true"]}),
    );
    let host = world.host();
    let script = "mkdir -p new/.git/hooks; echo > new/.git/hooks/post-commit; git init -q new; echo done";
    let started = host.data(json!({"op": "process.start", "input": {"command": script}})).await;
    let id = &started["processId"];
    let wait = json!({"op": "process.wait", "target": id, "input": {"any": [{"until": "exit"}]}});
    let answer = host.send(wait).await;
    let warnings = answer["warnings"].to_string();
    assert!(warnings.contains("`new`") && warnings.contains("hooks/post-commit"), "{answer:#}");
    let read = host.send(json!({"op": "process.read", "target": id})).await;
    assert_eq!(read["warnings"], json!([]), "it is said once: {read:#}");
}
