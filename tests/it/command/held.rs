//! What a held command can reach, and that nothing runs where it cannot be sandboxed as the scope wants.

use std::fs;
use std::net::TcpListener;

use bailiwick::config::Config;
use bailiwick::contract::Containment;
use bailiwick::platform::launch::levels;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::needs::{available, available_sandboxes, lacks_full_sandbox};
use crate::patience::eventually_async;
use support::service::TestService;

/// A policy at a level, for makefiles.
fn make(level: impl serde::Serialize) -> Value {
    json!({"sandbox": level, "allowedCommands": ["make *", "printenv *", "true"]})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_and_the_history_name_the_level() {
    for level in available() {
        let host = TestService::for_commands(make(level));
        let data = host.run(json!(["true"])).await;
        assert_eq!(data["sandbox"]["level"], json!(level), "{data:#}");
        assert_eq!(data["sandbox"]["degraded"] == json!(true), level != Containment::Full, "{data:#}");
        let last = json!({"scope": "app", "op": "history.last"});
        let last = host.send(last).await;
        assert!(last.to_string().contains(&format!("`true`, {level}, exit 0")), "{last:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_computer_tells_its_levels_and_what_holds_a_scope() {
    let host = TestService::for_commands(make("auto"));
    let info = json!({"op": "computer.info", "input": {"include": ["sandbox", "scopes"]}});
    let info = host.send(info).await;
    for level in info["data"]["sandbox"]["levels"].as_array().expect("levels") {
        let had = available().iter().any(|it| level["level"] == json!(it));
        assert_eq!(level["available"], had, "{level}");
        assert_eq!(level["why"].is_string(), !had, "{level}");
    }
    let commands = &info["data"]["scopes"][0]["commands"];
    assert_eq!(commands["level"], info["data"]["sandbox"]["strongest"], "{info:#}");
    // What is installed and may run; Git is installed, too.
    assert_eq!(commands["installed"], json!(["make"]), "{info:#}");
    // It is asked for its version where it is fully sandboxed; nothing is run for that elsewhere.
    let asked = json!({"op": "computer.info", "input": {"include": ["versions"]}});
    let versions = &host.send(asked).await["data"]["versions"];
    let is_full = commands["level"] == json!(Containment::Full);
    let version = versions["app"]["make"].as_str();
    assert_eq!(version.is_some_and(|version| version.contains('.')), is_full, "{versions}");
    let told = versions["app"].as_object().map_or(0, serde_json::Map::len);
    assert_eq!(told, usize::from(is_full), "what may not run is not asked: {versions}");
    if !commands["level"].is_null() {
        let data = host.run(json!(["true"])).await;
        assert_eq!(data["sandbox"]["level"], commands["level"], "{info:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_runs_at_a_level_that_the_computer_lacks() {
    let all = [Containment::Full, Containment::Partial, Containment::None];
    for level in all.into_iter().filter(|level| levels().missing(*level).is_some()) {
        let host = TestService::for_commands(make(level));
        let answer = host.answer(json!(["make", "made"]), json!({})).await;
        assert_eq!(answer["error"]["details"]["rule"], "sandbox-level", "{answer:#}");
        assert!(!host.path("made").exists());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_command_writes_in_its_roots_and_its_home_and_nowhere_else() {
    for level in available_sandboxes() {
        let host = TestService::for_commands(make(level));
        let outside = host.path("../outside");
        fs::create_dir(&outside).expect("a folder is made");
        host.config.save(&Config::path(&host.dirs)).expect("the config is saved");
        host.write(
            "Makefile",
            "inside:\n\t@echo a > made && echo b > $$HOME/made && echo c > $$TMPDIR/made\n\
             outside:\n\t@echo x > ../outside/made\n\
             system:\n\t@echo x > /usr/bin/bailiwick-test-made\n\
             state:\n\t@cat ../home/config/config.json\n",
        );
        assert_eq!(host.run(json!(["make", "inside"])).await["exitCode"], 0, "{level}");
        assert!(host.path("made").exists());
        let home = host.dirs.state.join("homes/scope-app");
        assert!(home.join("made").exists(), "{level}");
        // What was temporary is gone.
        eventually_async("it is removed", || !home.join("tmp").read_dir().is_ok_and(|left| left.count() > 0))
            .await;
        for target in ["outside", "system", "state"] {
            let answer = host.answer(json!(["make", target]), json!({})).await;
            assert_eq!(answer["data"]["exitCode"], 2, "{level} {target}: {answer:#}");
            assert!(answer["warnings"].to_string().contains("For the user"), "{level} {target}: {answer:#}");
        }
        assert_eq!(fs::read_dir(&outside).expect("it exists").count(), 0, "{level}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_home_is_private_and_not_in_a_root() {
    for level in available() {
        let host = TestService::for_commands(make(level));
        let home = host.out(json!(["printenv", "HOME"])).await;
        assert_eq!(home.trim(), host.dirs.state.join("homes/scope-app").to_str().expect("text"), "{level}");
        use std::os::unix::fs::MetadataExt;
        let mode = fs::metadata(home.trim()).expect("it exists").mode();
        assert_eq!(mode & 0o777, 0o700, "{level}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_git_would_run_later_stays_as_it_is() {
    if lacks_full_sandbox() {
        return;
    }
    let host = TestService::for_commands(make("full"));
    host.write(".git/config", "[core]\n");
    host.write(".git/hooks/pre-commit.sample", "");
    host.write(
        "Makefile",
        "hook:\n\t@echo evil > .git/hooks/pre-commit\n\
         config:\n\t@echo evil >> .git/config\n\
         swap:\n\t@mv .git/hooks .git/away\n\
         objects:\n\t@mkdir .git/objects && echo fine\n",
    );
    for target in ["hook", "config", "swap"] {
        let answer = host.answer(json!(["make", target]), json!({})).await;
        assert_eq!(answer["data"]["exitCode"], 2, "{target}: {answer:#}");
        assert!(answer["warnings"].to_string().contains("Git's settings and hooks"), "{target}: {answer:#}");
    }
    // A repository below the root, in which the command runs.
    host.write("sub/.git/config", "[core]\n");
    host.write("sub/deep/Makefile", "config:\n\t@echo evil >> ../.git/config\n");
    let within = json!({"scope": "app", "op": "command.run", "target": "sub/deep", "input": {"command": ["make", "config"]}});
    let answer = host.send(within).await;
    assert_eq!(answer["data"]["exitCode"], 2, "{answer:#}");
    assert_eq!(fs::read_to_string(host.path("sub/.git/config")).expect("it is there"), "[core]\n");
    assert_eq!(host.run(json!(["make", "objects"])).await["exitCode"], 0);
    assert_eq!(fs::read_to_string(host.path(".git/config")).expect("it is there"), "[core]\n");
    assert!(!host.path(".git/hooks/pre-commit").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_reads_only_where_the_scope_says_so_and_only_in_a_full_sandbox() {
    let script = json!("for i in 1 2; do echo \"$i\"; done");
    for level in available() {
        let policy = json!({"sandbox": level, "shell": "sandboxed", "allowedCommands": ["true"]});
        let answer = TestService::for_commands(policy).answer(script.clone(), json!({})).await;
        if level == Containment::Full {
            assert_eq!(answer["data"]["stdout"], "1\n2\n", "{answer:#}");
            assert_eq!(answer["data"]["sandbox"]["advisory"], true, "{answer:#}");
        } else {
            assert_eq!(answer["error"]["code"], "permission_denied", "{level}: {answer:#}");
        }
        let off = TestService::for_commands(json!({"sandbox": level, "allowedCommands": ["true"]}))
            .answer(script.clone(), json!({}))
            .await;
        assert_eq!(off["error"]["details"]["rule"], "not-literal", "{level}: {off:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_network_is_what_the_scope_says() {
    if lacks_full_sandbox() {
        return;
    }
    let outside = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = outside.local_addr().expect("it is bound").port();
    for (network, reaches) in [("none", false), ("loopback", false), ("full", true)] {
        let mut policy = make("full");
        policy["network"] = json!(network);
        let host = TestService::for_commands(policy);
        host.write("Makefile", format!("SHELL := /bin/bash\ngo:\n\t@exec 3<>/dev/tcp/127.0.0.1/{port}\n"));
        let answer = host.answer(json!(["make", "go"]), json!({})).await;
        assert_eq!(answer["data"]["sandbox"]["network"], network, "{answer:#}");
        assert_eq!(answer["data"]["exitCode"] == json!(0), reaches, "{network}: {answer:#}");
        if !reaches {
            assert!(answer["warnings"].to_string().contains("network"), "{network}: {answer:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_side_by_side_get_each_their_own_answer() {
    let host = TestService::for_commands(json!({"sandbox": "none", "allowedCommands": ["printf *"]}));
    let answers = futures_of(&host, 8).await;
    for (at, answer) in answers.iter().enumerate() {
        assert_eq!(answer["stdout"], at.to_string());
    }
}

async fn futures_of(host: &TestService, count: usize) -> Vec<Value> {
    let mut set = tokio::task::JoinSet::new();
    for at in 0..count {
        let service = std::sync::Arc::clone(&host.service);
        set.spawn(async move {
            let caller = bailiwick::contract::Caller::local(bailiwick::contract::Transport::Stdio);
            let envelope = json!({"scope": "app", "op": "command.run", "input": {"command": ["printf", at.to_string()]}});
            let gone = CancellationToken::new();
            let envelope = bailiwick::contract::Envelope::from_value(envelope);
            let answer = service.handle(&caller, envelope, &gone).await.into_reply().into_value();
            (at, answer["data"].clone())
        });
    }
    let mut answers = set.join_all().await;
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answer)| answer).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_for_temporary_files_that_became_a_link_leads_nowhere() {
    for level in available().into_iter().filter(|level| *level != Containment::Full) {
        let host = TestService::for_commands(make(level));
        let outside = host.path("../outside");
        fs::create_dir(&outside).expect("a folder is made");
        let outside = outside.canonicalize().expect("it is there");
        host.write(
            "Makefile",
            format!(
                "swap:\n\t@mv $$HOME/tmp $$HOME/old && ln -s {0} $$HOME/tmp\n\
                 full:\n\t@mkdir -p $$TMPDIR/a/b && echo x > $$TMPDIR/a/b/file && echo $$TMPDIR\n\
                 late:\n\t@mkdir {0}/$$(basename $$TMPDIR) 2>/dev/null; echo x > $$TMPDIR/file && mv $$HOME/tmp $$HOME/older && ln -s {0} $$HOME/tmp\n",
                outside.display()
            ),
        );
        let count = || fs::read_dir(&outside).expect("it exists").count();
        assert_eq!(host.run(json!(["make", "swap"])).await["exitCode"], 0, "{level}");
        assert_eq!(count(), 0, "{level}: nothing was made there");
        // The next one gets a folder of its own again, which is gone with it.
        let made = host.out(json!(["make", "-s", "full"])).await;
        let made = std::path::PathBuf::from(made.trim());
        assert!(made.starts_with(host.dirs.state.join("homes/scope-app/tmp")), "{level}: {}", made.display());
        eventually_async("it is removed", || !made.exists()).await;
        assert_eq!(count(), 0, "{level}");
        // Exchanged while the command runs: what is removed is what was made, not what has the name now.
        host.run(json!(["make", "late"])).await;
        let older = host.dirs.state.join("homes/scope-app/older");
        eventually_async("it is removed", || fs::read_dir(&older).is_ok_and(|left| left.count() == 0)).await;
        let expected = usize::from(level == Containment::None);
        assert_eq!(count(), expected, "{level}: what a command at `none` made there stays");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_chooses_the_level_or_the_network_that_it_runs_with() {
    if lacks_full_sandbox() {
        return;
    }
    let policy = json!({"allowedCommands": ["touch *"], "sandbox": "full", "network": "none"});
    let host = TestService::for_commands(policy);
    let fields = [
        ("sandbox", json!("none")),
        ("sandbox", json!("partial")),
        ("network", json!("full")),
        ("containment", json!("none")),
        ("level", json!("none")),
        ("policy", json!({"sandbox": "none"})),
        ("shell", json!("sandboxed")),
        ("sandbox_permissions", json!("require_escalated")),
        ("dangerouslyDisableSandbox", json!(true)),
        ("allowedCommands", json!(["*"])),
        ("env", json!({"BAILIWICK_SANDBOX": "none"})),
    ];
    let mut refused = 0;
    for (name, value) in &fields {
        for place in ["input", "options", ""] {
            let mut request =
                json!({"op": "command.run", "input": {"command": ["touch", "ran"]}, "options": {}});
            let object = if place.is_empty() { &mut request } else { &mut request[place] };
            object[*name] = value.clone();
            let answer = host.send(request.clone()).await;
            let ran = host.path("ran").exists();
            if answer["ok"] == true {
                let held = &answer["data"]["sandbox"];
                assert_eq!(
                    (&held["level"], &held["network"]),
                    (&json!("full"), &json!("none")),
                    "{request}: {answer}"
                );
                fs::remove_file(host.path("ran")).expect("it ran");
            } else {
                refused += 1;
                assert!(!ran, "{request} was refused and ran: {answer}");
            }
        }
    }
    assert!(refused > 2 * fields.len(), "{refused}");
}
