//! What the real Codex does and does not. Left out by `tests/run --no-clients`, where it is not installed.

use std::fs;
use std::net::TcpListener;

use bailiwick::contract::{Caller, Transport};
use serde_json::{Value, json};
use support::service::{data, send};
use tokio_util::sync::CancellationToken;

use super::fake::Reply;
use super::scope::{CodexScope, KEY, writing};
use crate::patience::eventually_async;

const PATCH: &str = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: greeting.txt\n@@\n-hello\n+good morning\n\
                     +and good night\n*** End Patch\nEOF";

fn runs(command: &str) -> Vec<Reply> {
    vec![Reply::Runs(command.to_owned()), Reply::Says("It is done.")]
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_answers_in_a_full_sandbox() {
    let world = CodexScope::new(vec![Reply::Says("Forty-two.")]);
    let answer = world.run("What is the answer?").await;
    let data = data(&answer);
    assert_eq!(data["exitCode"], 0, "{answer:#}");
    assert_eq!(data["finalMessage"], "Forty-two.");
    assert_eq!(data["usage"]["inputTokens"], 100, "{answer:#}");
    assert_eq!(data["usage"]["cachedInputTokens"], 40);
    assert_eq!(data["sessionId"].as_str().map(str::len), Some(36));
    assert_eq!(data["diffSummary"]["changedFiles"], 0);
    assert_eq!(data["timedOut"], false);
    assert_eq!(data["sandbox"]["level"], "full", "{answer:#}");
    assert_eq!(data["codexSandbox"], json!({"mode": "workspace-write", "network": false}));
    let asked = world.provider.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0]["input"].to_string().contains("What is the answer?"));
    assert_eq!(asked[0]["model"], "fake-1", "the user's own model is asked");
    assert!(!world.folder().join("person/evil").exists(), "no MCP server of the user is started");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_codex_says_and_changes_shows_no_secret_where_handles_stand_for_them() {
    const SECRET: &str = "correct-horse-battery-77";
    let patch = PATCH.replace("+good morning", &format!("+password = \"{SECRET}\""));
    let replies = vec![Reply::Runs(patch), Reply::Says("Done. DB_PASSWORD=correct-horse-battery-77 is set.")];
    let world = CodexScope::with(replies, &writing(), &json!({"secrets": "handles"}));
    world.write("greeting.txt", "hello\n");
    let answer = world.run("Set it.").await;
    assert_eq!(data(&answer)["exitCode"], 0, "{answer:#}");
    let text = answer.to_string();
    assert!(text.contains("DB_PASSWORD={{secret:") && !text.contains(SECRET), "{text}");
    let history = world.data(json!({"op": "history.timeline"})).await.to_string();
    assert!(!history.contains(SECRET), "{history}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_of_codex_is_seen_on_disk_and_in_the_history() {
    let world = CodexScope::new(runs(PATCH));
    fs::write(world.path("greeting.txt"), "hello\nworld\n").expect("written");
    let answer = world.run("Greet better.").await;
    let data = data(&answer);
    assert_eq!(
        fs::read_to_string(world.path("greeting.txt")).expect("read"),
        "good morning\nand good night\nworld\n"
    );
    let summary = &data["diffSummary"];
    assert_eq!(summary["changedFiles"], 1, "{answer:#}");
    assert_eq!((&summary["insertions"], &summary["deletions"]), (&json!(2), &json!(1)));
    assert_eq!(summary["files"][0]["path"], "greeting.txt");
    assert_eq!(summary["files"][0]["change"], "modified");
    assert_eq!(data["fileChanges"], json!([{"path": "greeting.txt", "change": "update"}]), "{answer:#}");
    let history = world.send(json!({"op": "history.timeline"})).await;
    let row = history.to_string();
    assert!(row.contains("Codex workspace-write: Greet better.; exit 0, 1 files changed"), "{history:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_codex_changed_is_taken_back_and_of_a_started_one_it_is_said_that_it_cannot_be() {
    let script = "echo changed > greeting.txt; rm -r dir; ln -s greeting.txt link; true";
    let world = CodexScope::with(runs(script), &writing(), &json!({"undo": "commands"}));
    fs::create_dir(world.path("dir")).expect("made");
    fs::write(world.path("dir/file"), "in a folder").expect("written");
    fs::write(world.path("greeting.txt"), "hello\n").expect("written");
    let answer = world.run("Change it.").await;
    let changes = &data(&answer)["changes"];
    // Codex itself leaves empty folders now and then, besides what its commands make.
    assert_eq!((&changes["changed"], &changes["removed"]), (&json!(1), &json!(2)), "{answer:#}");
    assert!(changes["created"].as_u64().is_some_and(|created| created >= 1), "{answer:#}");
    assert!(!world.path("dir").exists() && world.path("link").is_symlink());
    let undone =
        world.send(json!({"op": "history.undo", "input": {"operation": answer["operationId"]}})).await;
    assert_eq!(undone["ok"], true, "{undone:#}");
    assert_eq!(fs::read_to_string(world.path("dir/file")).expect("it is back"), "in a folder");
    assert_eq!(fs::read_to_string(world.path("greeting.txt")).expect("it is there"), "hello\n");
    assert!(!world.path("link").is_symlink());
    let started = world.send(json!({"op": "codex.start", "input": {"prompt": "Change it."}})).await;
    assert!(started["warnings"].to_string().contains("cannot be taken back"), "{started:#}");
    world.over(&data(&started)["processId"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_of_codex_sees_the_scope_and_little_else() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = other.local_addr().expect("an address").port();
    let script = format!(
        "echo made > made.txt; (exec 3<>/dev/tcp/127.0.0.1/{port}) && echo REACHED; \
         cat \"$CODEX_HOME\"/config.toml ~/../../codex/*/config.toml ../person/config.toml ../home/config/config.json; \
         ls ../other && echo OTHER; env; cat /proc/[0-9]*/environ | tr '\\0' '\\n'; grep -q . /etc/shadow && echo SHADOW; \
         touch ../outside.txt; true"
    );
    let world = CodexScope::new(runs(&script));
    fs::write(world.folder().join("other/theirs.txt"), "theirs").expect("written");
    let answer = world.run("Look around.").await;
    let data = data(&answer);
    assert_eq!(data["exitCode"], 0, "{answer:#}");
    assert_eq!(fs::read_to_string(world.path("made.txt")).expect("the command ran"), "made\n", "{answer:#}");
    let seen = world.provider.tool_output();
    for hidden in ["REACHED", KEY, "FAKE_KEY", "base_url", "machineId", "OTHER", "SHADOW", "theirs"] {
        assert!(!seen.contains(hidden), "{hidden}: {seen}");
    }
    assert!(!world.folder().join("outside.txt").exists());
    other.set_nonblocking(true).expect("set");
    assert!(other.accept().is_err(), "nothing of Codex's commands reaches a port of this computer");
    assert_eq!(data["diffSummary"]["changedFiles"], 1, "{answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_network_of_the_scope_is_full_so_is_that_of_commands() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = other.local_addr().expect("an address").port();
    let script = format!("(exec 3<>/dev/tcp/127.0.0.1/{port}) && echo REACHED");
    let world = CodexScope::with(runs(&script), &writing(), &json!({"network": "full"}));
    let answer = world.run("Reach out.").await;
    assert_eq!(data(&answer)["codexSandbox"]["network"], true);
    assert!(world.provider.tool_output().contains("REACHED"), "{}", world.provider.tool_output());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_write_nothing_is_written() {
    let script = "echo changed > file.txt; echo new > new.txt; true";
    for (capabilities, options) in [
        (json!(["fs:read", "codex:run", "history:read"]), json!({})),
        (writing(), json!({"sandbox": "read-only"})),
    ] {
        let world = CodexScope::with(runs(script), &capabilities, &json!({}));
        fs::write(world.path("file.txt"), "as it was").expect("written");
        let answer = world.run_with("Change it.", options).await;
        let data = data(&answer);
        assert_eq!(data["codexSandbox"]["mode"], "read-only");
        assert_eq!(data["diffSummary"]["changedFiles"], 0, "{answer:#}");
        assert_eq!(fs::read_to_string(world.path("file.txt")).expect("read"), "as it was");
        assert!(!world.path("new.txt").exists());
        let seen = world.provider.tool_output();
        assert!(seen.contains("Read-only") || seen.contains("ermission denied"), "{seen}");
    }
    let world = CodexScope::with(runs(script), &json!(["fs:read", "codex:run"]), &json!({}));
    let answer = world.run_with("Change it.", json!({"sandbox": "workspace-write"})).await;
    assert_eq!(answer["error"]["code"], "permission_denied");
    assert_eq!(answer["error"]["details"]["stage"], "needs");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_sandbox_of_the_scope_codexs_own_still_holds() {
    let script = "echo made > made.txt; touch ../outside.txt; cat ../home/config/config.json ../other/theirs.txt; true";
    let world = CodexScope::with(runs(script), &writing(), &json!({"sandbox": "none"}));
    fs::write(world.folder().join("other/theirs.txt"), "theirs").expect("written");
    let answer = world.run("Look around.").await;
    assert_eq!(data(&answer)["sandbox"]["level"], "none", "what does not hold is not claimed");
    assert!(world.path("made.txt").exists(), "{}", world.provider.tool_output());
    assert!(!world.folder().join("outside.txt").exists());
    let seen = world.provider.tool_output();
    assert!(!seen.contains("machineId") && !seen.contains("theirs\\n"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_partial_sandbox_codex_is_not_run_at_all() {
    let world = CodexScope::with(runs("true"), &writing(), &json!({"sandbox": "partial"}));
    let answer = world.run("Work.").await;
    assert_eq!(answer["error"]["code"], "provider_unavailable", "{answer:#}");
    assert_eq!(answer["error"]["details"]["rule"], "sandbox-level");
    assert!(world.provider.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_cannot_have_codex_run_programs_of_its_own() {
    let world = CodexScope::new(vec![Reply::Says("Done.")]);
    fs::create_dir_all(world.path(".codex")).expect("made");
    let canary = world.path("canary");
    let settings = format!(
        "notify = [\"/bin/touch\", \"{0}\"]\n[mcp_servers.evil]\ncommand = \"/bin/touch\"\nargs = [\"{0}\"]\n",
        canary.display()
    );
    fs::write(world.path(".codex/config.toml"), settings).expect("written");
    let answer = world.run("Work.").await;
    assert_eq!(data(&answer)["exitCode"], 0, "{answer:#}");
    assert!(!canary.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusing_provider_is_a_result_with_its_reason() {
    let world = CodexScope::new(vec![Reply::Refuses(401, "the key is bad")]);
    let answer = world.run("Work.").await;
    let data = data(&answer);
    assert_eq!(data["exitCode"], 1, "{answer:#}");
    assert!(data["errors"].to_string().contains("the key is bad"), "{answer:#}");
    assert_eq!(data["finalMessage"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_a_prompt_whatever_it_looks_like() {
    let world = CodexScope::new(vec![Reply::Says("Done.")]);
    let prompt = "--dangerously-bypass-approvals-and-sandbox -c sandbox_mode=\"danger-full-access\"";
    let answer = world.run(prompt).await;
    assert_eq!(data(&answer)["exitCode"], 0, "{answer:#}");
    let asked = world.provider.asked();
    assert!(
        asked[0]["input"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|item| item["content"][0]["text"].as_str().is_some_and(|text| text.trim() == prompt))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_huge_prompt_arrives_whole_both_ways() {
    let world = CodexScope::new(vec![Reply::Says("Done.")]);
    let prompt = format!("{} the end", "all work and no play ".repeat(15_000));
    let answer = world.run(&prompt).await;
    assert_eq!(data(&answer)["exitCode"], 0, "{answer:#}");
    let answer = world.send(json!({"op": "codex.start", "input": {"prompt": prompt}})).await;
    let id = data(&answer)["processId"].clone();
    world.over(&id).await;
    for asked in world.provider.asked() {
        assert!(asked["input"].to_string().contains(&prompt), "{}", asked["input"].to_string().len());
    }
    assert_eq!(world.provider.asked().len(), 2);
    let too_long = world.run(&"x".repeat((1 << 20) + 1)).await;
    assert_eq!(too_long["error"]["code"], "invalid_request");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sensitive_prompt_is_stored_nowhere() {
    let secret = "Prompt-that-nobody-keeps-7f3a";
    let world = CodexScope::new(vec![Reply::Says("Done.")]);
    let run = world.run_with(secret, json!({"sensitive": true})).await;
    assert_eq!(data(&run)["exitCode"], 0, "{run:#}");
    let start = json!({"op": "codex.start", "input": {"prompt": secret}, "options": {"sensitive": true}});
    let started = world.send(start).await;
    let id = data(&started)["processId"].clone();
    world.over(&id).await;
    let read = world.send(json!({"op": "codex.read", "target": id})).await;
    assert_eq!(data(&read)["result"]["finalMessage"], "Done.", "{read:#}");
    assert_eq!(world.provider.asked().len(), 2);
    assert_eq!(world.stored(secret), Vec::<std::path::PathBuf>::new());
    // The search finds what is stored.
    let open = "Prompt-that-may-be-kept-7f3a";
    world.run(open).await;
    assert!(!world.stored(open).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_time_limit_codex_is_ended_and_told_of() {
    // How long Codex needs before it runs a command depends on what else the computer does.
    for seconds in [15, 60, 120] {
        let world = CodexScope::new(vec![Reply::Runs("echo begun > begun.txt; sleep 600".to_owned())]);
        let answer = world.run_with("Sleep.", json!({"timeoutSeconds": seconds})).await;
        let data = data(&answer);
        assert_eq!(data["timedOut"], true, "{answer:#}");
        if world.path("begun.txt").exists() {
            assert_eq!(data["diffSummary"]["files"][0]["path"], "begun.txt", "{answer:#}");
            return;
        }
    }
    panic!("Codex never ran the command");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_leaves_takes_codex_with_it() {
    let world = CodexScope::new(vec![Reply::Hangs]);
    let gone = CancellationToken::new();
    let (service, token) = (world.service.clone(), gone.clone());
    let call = tokio::spawn(async move {
        let run = json!({"scope": "app", "op": "codex.run", "input": {"prompt": "Wait."}});
        send(&service, &Caller::local(Transport::Stdio), run, &token).await
    });
    eventually_async("Codex asks", || !world.provider.asked().is_empty()).await;
    assert!(lives(&world), "Codex works");
    gone.cancel();
    let answer = call.await.expect("it answers");
    assert_eq!(answer["error"]["code"], "cancelled", "{answer:#}");
    eventually_async("Codex ends", || !lives(&world)).await;
}

/// Returns whether a process has the home of this world in its environment.
fn lives(world: &CodexScope) -> bool {
    let home = world.dirs.state.join("codex");
    let home = home.to_str().expect("text").as_bytes();
    fs::read_dir("/proc").expect("read").flatten().any(|entry| {
        fs::read(entry.path().join("environ")).is_ok_and(|text| memchr::memmem::find(&text, home).is_some())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_started_codex_is_read_waited_for_and_listed() {
    let world = CodexScope::new(runs(PATCH));
    fs::write(world.path("greeting.txt"), "hello\n").expect("written");
    let answer = world.send(json!({"op": "codex.start", "input": {"prompt": "Greet better."}})).await;
    let started = data(&answer).clone();
    assert_eq!(started["status"], "running");
    world.over(&started["processId"]).await;
    let read = world.send(json!({"op": "codex.read", "target": started["processId"]})).await;
    let of_process = data(&read);
    let session = &of_process["sessionId"];
    assert_eq!(session.as_str().map(str::len), Some(36), "{read:#}");
    // It is waited for, for eight seconds.
    if !started["sessionId"].is_null() || answer["durationMs"].as_f64() < Some(8_000.0) {
        assert_eq!(started["sessionId"], *session, "{answer:#}");
    }
    let kinds: Vec<&str> = of_process["steps"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|step| step["kind"].as_str())
        .collect();
    for kind in ["session", "files", "message", "turn"] {
        assert!(kinds.contains(&kind), "{kind}: {read:#}");
    }
    let result = &of_process["result"];
    assert_eq!((&result["exitCode"], &result["finalMessage"]), (&json!(0), &json!("It is done.")));
    assert_eq!(result["diffSummary"]["insertions"], 2, "{read:#}");
    assert_eq!(result["diffSummary"]["deletions"], 1);
    let cursor = &of_process["nextCursor"];
    let again = json!({"op": "codex.read", "target": session, "options": {"cursor": cursor}});
    let again = world.send(again).await;
    assert_eq!(data(&again)["steps"], json!([]), "what was given is not given again");
    assert_eq!(data(&again)["processId"], started["processId"], "the session names the run too");
    let list = world.send(json!({"op": "codex.list"})).await;
    assert_eq!(data(&list)["runs"][0]["processId"], started["processId"]);
    assert_eq!(data(&list)["runs"][0]["promptPreview"], "Greet better.");
    assert_eq!(data(&list)["sessions"][0]["sessionId"], *session);
    for op in ["codex.read", "codex.stop"] {
        let other = world.send(json!({"op": op, "scope": "other", "target": started["processId"]})).await;
        assert_eq!(other["error"]["code"], "process_not_found", "to another scope it does not exist");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_started_codex_outlives_its_service_and_is_stopped_by_another() {
    let world = CodexScope::new(vec![Reply::Hangs]);
    let answer = world.send(json!({"op": "codex.start", "input": {"prompt": "Wait."}})).await;
    let id = data(&answer)["processId"].clone();
    let another = world.host();
    let read = another.send(json!({"op": "codex.read", "target": id})).await;
    assert_eq!(data(&read)["status"], "running", "{read:#}");
    assert!(data(&read).get("result").is_none());
    let stopped = another.send(json!({"op": "codex.stop", "target": id})).await;
    assert!(matches!(data(&stopped)["how"].as_str(), Some("asked" | "killed")), "{stopped:#}");
    assert!(!lives(&world));
    let again = world.send(json!({"op": "codex.stop", "target": id})).await;
    assert_eq!(data(&again)["how"], "before");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_gone_on_with_in_its_own_scope_alone() {
    let world = CodexScope::new(vec![Reply::Says("Noted: 17.")]);
    let first = world.run("Remember 17.").await;
    let session = data(&first)["sessionId"].clone();
    let second = world.run_with("Which number?", json!({"resume": session})).await;
    assert_eq!(data(&second)["sessionId"], session, "{second:#}");
    let asked = world.provider.asked();
    assert!(asked[1]["input"].to_string().contains("Remember 17."), "it knows what was said before");
    let resume = json!({"op": "codex.run", "scope": "other", "input": {"prompt": "Which?"}, "options": {"resume": session}});
    let other = world.send(resume).await;
    assert_eq!(
        (&other["error"]["code"], &other["error"]["details"]["rule"]),
        (&json!("not_found"), &json!("codex-session"))
    );
    assert_eq!(world.provider.asked().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_rules_deny_is_denied_to_codex_too() {
    let world = CodexScope::with(runs("true"), &writing(), &json!({"deniedCommands": ["codex *"]}));
    let answer = world.run("Work.").await;
    assert_eq!(answer["error"]["details"]["stage"], "command", "{answer:#}");
    let world = CodexScope::with(runs("true"), &json!(["fs:read", "fs:write", "command:run"]), &json!({}));
    let answer = world.run("Work.").await;
    assert_eq!(answer["error"]["details"]["stage"], "capability", "{answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_codex_that_is_not_let_in_says_how_to_log_in() {
    let world = CodexScope::new(vec![Reply::Says("Done.")]);
    fs::write(world.folder().join("person/config.toml"), "model = \"fake-1\"\n").expect("written");
    let answer = world.run("Work.").await;
    assert_eq!(answer["error"]["details"]["rule"], "codex-logged-out", "{answer:#}");
    assert!(answer["error"]["hints"].to_string().contains("codex login"), "{answer:#}");
    assert!(world.provider.asked().is_empty());
    let info = world.send(json!({"op": "computer.info", "input": {"include": ["scopes"]}})).await;
    assert_eq!(data(&info)["scopes"][0]["codex"]["rule"], "codex-logged-out", "{info:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_there_is_of_codex_is_told_to_those_who_may_run_it() {
    let world = CodexScope::new(vec![Reply::Says("Done.")]);
    let info = json!({"op": "computer.info", "input": {"include": ["scopes"]}});
    let answer = world.send(info.clone()).await;
    let codex = &data(&answer)["scopes"][0]["codex"];
    assert_eq!((&codex["available"], &codex["login"]), (&json!(true), &json!("environment")), "{answer:#}");
    assert!(codex["version"].as_str().is_some_and(|version| version.split('.').count() == 3));
    let world = CodexScope::with(vec![Reply::Says("Done.")], &json!(["fs:read"]), &json!({}));
    let answer = world.send(info).await;
    assert!(data(&answer)["scopes"][0].get("codex").is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_starts_nothing_and_shows_no_word_of_the_prompt() {
    let world = CodexScope::new(vec![Reply::Says("Done.")]);
    let answer = world.run_with("Do it.", json!({"dryRun": true})).await;
    let data = data(&answer);
    assert_eq!(data["dryRun"], true);
    assert_eq!((&data["plan"][0]["argv"][0], &data["plan"][0]["argv"][1]), (&json!("codex"), &json!("exec")));
    assert!(!data["plan"].to_string().contains("Do it."));
    assert!(world.provider.asked().is_empty());
}
