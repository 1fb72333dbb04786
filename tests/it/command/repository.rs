//! What a repository says about itself starts no program, even where nothing holds commands.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::needs::{lacks_full_sandbox, require_program};
use support::service::TestService;

fn host() -> TestService {
    TestService::for_commands(json!({
        "sandbox": "none",
        "allowedCommands": ["git *"],
        "environment": {
            "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com",
            "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com",
        },
    }))
}

/// Does what the user may have done before: nothing that a client could do here.
fn git(host: &TestService, folder: &str, words: &[&str]) {
    let status = Command::new("git").args(words).current_dir(host.path(folder)).status().expect("git runs");
    assert!(status.success(), "{words:?}");
}

fn program(host: &TestService, path: &str) -> String {
    host.write(path, format!("#!/bin/sh\ntouch {}\n", host.path("canary").display()));
    let path = host.path(path);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode is set");
    path.display().to_string()
}

async fn run_in(host: &TestService, folder: &str, command: Value) -> Value {
    let envelope =
        json!({"scope": "app", "op": "command.run", "target": folder, "input": {"command": command}});
    host.send(envelope).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_program_that_a_repository_names_runs() {
    require_program("git");
    let host = host();
    host.write("a.txt", "a\n");
    git(&host, ".", &["init", "-q"]);
    let canary = host.path("canary");
    // A monitor of the file system, in the repository's configuration.
    let monitor = program(&host, "monitor");
    git(&host, ".", &["config", "core.fsmonitor", &monitor]);
    host.out(json!("git status --short")).await;
    assert!(!canary.exists(), "core.fsmonitor ran");
    // Hooks in the working tree, which a client can write.
    program(&host, ".husky/pre-commit");
    git(&host, ".", &["config", "core.hooksPath", ".husky"]);
    host.out(json!("git add a.txt && git commit -q -m one")).await;
    assert!(!canary.exists(), "a hook of the working tree ran");
    // Hooks where no file operation can write are the user's.
    let hook = program(&host, ".git/hooks/pre-commit");
    assert!(hook.ends_with("hooks/pre-commit"));
    host.out(json!("git commit -q --allow-empty -m two")).await;
    assert!(canary.exists(), "the user's own hook did not run");
    fs::remove_file(&canary).expect("it is there");
    // An alias is no subcommand.
    git(&host, ".", &["config", "alias.st", "!touch canary"]);
    let answer = host.answer(json!(["git", "st"]), json!({})).await;
    assert_eq!(answer["error"]["details"]["rule"], "profile:git", "{answer:#}");
    assert!(!canary.exists(), "an alias ran");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bare_repository_among_the_files_is_not_taken_for_the_repository() {
    require_program("git");
    let host = host();
    fs::create_dir(host.path("data")).expect("a folder is made");
    git(&host, "data", &["init", "-q", "--bare"]);
    let pager = program(&host, "pager");
    git(&host, "data", &["config", "alias.x", "!touch canary"]);
    git(&host, "data", &["config", "core.fsmonitor", &pager]);
    let answer = run_in(&host, "data", json!(["git", "log"])).await;
    assert_eq!(answer["data"]["exitCode"], 128, "{answer:#}");
    assert!(
        answer["data"]["stderr"].as_str().is_some_and(|it| it.contains("safe.bareRepository")),
        "{answer:#}"
    );
    for command in [json!(["git", "--bare", "log"]), json!(["git", "--git-dir=.", "log"])] {
        let answer = run_in(&host, "data", command).await;
        assert_eq!(answer["error"]["code"], "approval_required", "{answer:#}");
    }
    assert!(!host.path("canary").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_gets_what_is_not_literal_in_a_full_sandbox_and_the_result_says_so() {
    let host = TestService::for_commands(json!({"shell": "sandboxed", "deniedCommands": ["touch *"]}));
    let answer = host
        .answer(json!("for x in a b; do echo \"<$x>\"; done; id -u > /tmp/x && cat < /tmp/x"), json!({}))
        .await;
    if lacks_full_sandbox() {
        assert_eq!(answer["ok"], false, "{answer:#}");
        return;
    }
    assert!(answer["data"]["stdout"].as_str().is_some_and(|it| it.starts_with("<a>\n<b>\n")), "{answer:#}");
    assert_eq!(answer["data"]["sandbox"]["level"], "full");
    assert_eq!(answer["data"]["sandbox"]["advisory"], true, "{answer:#}");
    let answer = host.answer(json!("true; for x in a; do touch $x; done"), json!({})).await;
    assert_eq!(answer["error"]["details"]["rule"], "deniedCommands[0]", "{answer:#}");
}
