//! However a command ends, nothing that it started is left: not what went into the background, not what left
//! its session.

use std::collections::BTreeSet;
use std::ffi::OsString;

use bailiwick::contract::Containment;
use bailiwick::contract::id::new_id;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::needs::{at_every_level, available};
use crate::patience::eventually_async;
use support::service::{Program, TestService, processes_with};
use support::stdio_client::StdioClient;

/// A host whose makefile leaves processes behind: one in the background, and two in sessions of their own.
///
/// Returns the word that all of them have among their arguments.
fn host(level: Containment) -> (TestService, String) {
    let host = TestService::for_commands(json!({"sandbox": level, "allowedCommands": ["make *"]}));
    // A time to sleep that no other test has.
    let digits: String = new_id().bytes().rev().take(9).map(|byte| char::from(b'0' + byte % 10)).collect();
    let word = format!("7{digits}");
    host.write(
        "Makefile",
        format!(
            "stay:\n\t@echo > \"$${{TMPDIR:-/tmp}}/left\"; sleep {word} & setsid sleep {word} & setsid sh -c 'sleep {word} & wait' & echo up; sleep {word}\n\
             leave:\n\t@sleep {word} & setsid sleep {word} & setsid sh -c 'sleep {word} & wait' & echo up\n"
        ),
    );
    (host, word)
}

fn stay() -> Value {
    json!({"scope": "app", "op": "command.run", "input": {"command": ["make", "stay"]}, "options": {"timeoutSeconds": 1000}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_after_the_time_is_over_and_what_was_printed_is_told() {
    at_every_level(|level| async move {
        let (host, word) = host(level);
        let answer = host.answer(json!(["make", "stay"]), json!({"timeoutSeconds": 10})).await;
        assert_eq!(answer["ok"], true, "{level}: {answer:#}");
        assert_eq!(answer["data"]["timedOut"], true, "{level}: {answer:#}");
        assert_eq!(answer["data"]["stdout"], "up\n", "{level}: {answer:#}");
        eventually_async("all have ended", || processes_with(&word) == 0).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_takes_too_much_memory_is_ended_and_told_which_command_raises_the_limit() {
    at_every_level(|level| async move {
        // No process can do harm if nothing ends it.
        let limits = json!({"sandbox": level, "allowedCommands": ["make *"], "maxJobMemoryMegabytes": 96, "maxMemoryMegabytes": 2048});
        let host = TestService::for_commands(limits);
        host.write("Makefile", "hog:\n\t@echo up; tail /dev/zero\n");
        let answer = host.answer(json!(["make", "hog"]), json!({"timeoutSeconds": 1000})).await;
        assert_eq!(answer["ok"], true, "{level}: {answer:#}");
        let data = &answer["data"];
        assert_eq!((&data["memoryExceeded"], &data["signal"]), (&json!(true), &json!("SIGKILL")), "{level}: {answer:#}");
        assert_eq!((&data["timedOut"], &data["stdout"]), (&json!(false), &json!("up\n")), "{level}: {answer:#}");
        let warning = answer["warnings"].to_string();
        for part in ["the limit is 96 MB", "`bailiwick scope edit app --limit job-memory-megabytes=", "For the user:"] {
            assert!(warning.contains(part), "{level}: {warning}");
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_when_the_command_itself_ends_and_the_answer_says_so() {
    at_every_level(|level| async move {
        let (host, word) = host(level);
        let answer = host.answer(json!(["make", "leave"]), json!({})).await;
        assert_eq!(answer["data"]["exitCode"], 0, "{level}: {answer:#}");
        assert!(answer["warnings"].to_string().contains("processes behind"), "{level}: {answer:#}");
        eventually_async("all have ended", || processes_with(&word) == 0).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_when_the_client_cancels() {
    at_every_level(|level| async move {
        let (host, word) = host(level);
        let gone = CancellationToken::new();
        let (answer, ()) = tokio::join!(host.send_until(stay(), &gone), async {
            eventually_async("it runs", || processes_with(&word) >= 4).await;
            gone.cancel();
        });
        assert_eq!(answer["error"]["code"], "cancelled", "{level}: {answer:#}");
        eventually_async("all have ended", || processes_with(&word) == 0).await;
    })
    .await;
}

/// Starts a client with its own service, has it run the command, and gives both when it runs.
async fn running(host: &TestService, word: &str) -> (StdioClient, Program) {
    let mut program = host.mcp();
    let mut client = StdioClient::of(&mut program.0);
    client.initialize("2025-06-18").await;
    let params = json!({"name": "computer_operation", "arguments": stay()});
    client.send(&json!({"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": params})).await;
    eventually_async("it runs", || processes_with(word) >= 4).await;
    (client, program)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_when_the_client_is_gone() {
    at_every_level(|level| async move {
        let (host, word) = host(level);
        let (client, _program) = running(&host, &word).await;
        drop(client);
        eventually_async("all have ended", || processes_with(&word) == 0).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_when_the_service_is_asked_to_end_or_killed() {
    for signal in [Signal::TERM, Signal::KILL] {
        at_every_level(move |level| async move {
            let (host, word) = host(level);
            let (_client, program) = running(&host, &word).await;
            let id = i32::try_from(program.0.id()).expect("a small number");
            kill_process(Pid::from_raw(id).expect("not 0"), signal).expect("it is ours");
            eventually_async("all have ended", || processes_with(&word) == 0).await;
        })
        .await;
    }
}

/// Returns the temporary folders of the scope's commands.
fn temporary_folders(host: &TestService) -> BTreeSet<OsString> {
    let folder = host.dirs.state.join("homes/scope-app/tmp");
    let entries = std::fs::read_dir(folder).expect("it was made");
    entries.map(|entry| entry.expect("it is readable").file_name()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn temporary_files_that_a_killed_service_leaves_go_with_the_next_service_or_command() {
    // In a full sandbox they are in memory, and go with it.
    for level in available().into_iter().filter(|level| *level != Containment::Full) {
        let (mut host, word) = host(level);
        let (_living, _its_program) = running(&host, &word).await;
        let of_the_living = temporary_folders(&host);
        assert_eq!(of_the_living.len(), 1, "{level}");
        for by_a_command in [false, true] {
            let (_client, mut program) = running(&host, &word).await;
            eventually_async("both run", || processes_with(&word) >= 8).await;
            assert_eq!(temporary_folders(&host).len(), 2, "{level}");
            program.0.kill().expect("it is ours");
            program.0.wait().expect("it is killed");
            assert_eq!(temporary_folders(&host).len(), 2, "{level}: nobody is left who removes it");
            if by_a_command {
                host.run(json!(["make", "--version"])).await;
            } else {
                host.restart();
            }
            eventually_async("it is removed", || temporary_folders(&host) == of_the_living).await;
            eventually_async("one runs", || processes_with(&word) == 4).await;
        }
        let left = host.dirs.state.join("homes/.temporary/scope-app");
        let locks = || std::fs::read_dir(&left).expect("it is there").count();
        eventually_async("the lock of the living is left", || locks() == 1).await;
        let folder = host.dirs.state.join("homes/scope-app/tmp").join(of_the_living.first().expect("one"));
        assert!(folder.join("left").exists(), "{level}: what lives keeps its files");
    }
}
