//! Secrets that commands and processes are given by their handles.

use sha2::{Digest, Sha256};

use super::*;

const VALUE: &str = "correct-horse-battery-77";

fn host(policy: Value) -> TestService {
    let mut all = json!({
        "secrets": "handles",
        "allowedCommands": ["printenv *", "sha256sum *", "printf *", "cat *", "sh *"],
        "allowedEnvironment": ["PGPASSWORD"],
        "network": "loopback",
    });
    for (name, value) in policy.as_object().into_iter().flatten() {
        all[name] = value.clone();
    }
    TestScope::new()
        .with_capabilities(&["fs:read", "fs:write", "command:run", "process:manage", "history:read"])
        .with_policy(all)
        .save()
        .host()
}

async fn handle(host: &TestService, value: &str) -> String {
    host.write("a.txt", format!("DB_PASSWORD={value}\n"));
    let content = host.data(json!({"op": "file.read", "target": "a.txt"})).await["content"].clone();
    content.as_str().expect("text").trim_end()["DB_PASSWORD=".len()..].to_owned()
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn by_stdin(handle: &str) -> Value {
    json!({"op": "command.run", "input": {"command": ["sha256sum", "-"], "stdin": handle}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_has_a_secret_with_approval_only_and_nothing_keeps_the_value() {
    let host = host(json!({}));
    let known = handle(&host, VALUE).await;
    let answer = host.send(by_stdin(&known)).await;
    assert_eq!(answer["error"]["code"], "approval_required", "{answer:#}");
    assert_eq!(answer["error"]["details"]["rule"], "secret-handles", "{answer:#}");
    let words = json!({"op": "command.run", "input": {"command": ["printf", "%s", known]}});
    let by_word = host.send(words.clone()).await;
    assert_eq!(by_word["error"]["code"], "approval_required", "{by_word:#}");
    let listed = host.cli(&["approve", "--list"]);
    assert!(listed.to_string().contains(&known) && !listed.to_string().contains(VALUE), "{listed:#}");
    for asked in [&answer, &by_word] {
        let id = asked["error"]["details"]["approvalId"].as_str().expect("an id");
        assert_eq!(host.cli(&["approve", id, "--once"])["ok"], true);
    }
    let ran = host.data(by_stdin(&known)).await;
    assert!(ran["stdout"].as_str().is_some_and(|it| it.starts_with(&digest(VALUE))), "{ran:#}");
    let ran = host.data(words).await;
    assert_eq!(ran["stdout"], known, "what it prints is the handle again");
    let history = host.data(json!({"op": "history.timeline"})).await.to_string();
    assert!(history.contains(&known) && !history.contains(VALUE), "{history}");
    stores_none(&host);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_for_a_command_with_a_secret_has_no_rule_with_its_value() {
    let host = host(json!({"secretCommands": "allow", "askCommands": ["printf *"]}));
    let known = handle(&host, VALUE).await;
    let answer = host.send(json!({"op": "command.run", "input": {"command": ["printf", "%s", known]}})).await;
    assert_eq!(answer["error"]["code"], "approval_required", "{answer:#}");
    let answer = answer.to_string() + &host.cli(&["approve", "--list"]).to_string();
    assert!(answer.contains(&known) && !answer.contains(VALUE), "{answer}");
    stores_none(&host);
}

/// Checks that nothing that the service keeps has the value.
fn stores_none(host: &TestService) {
    for file in walkdir(&host.dirs.state) {
        let is_file = fs::metadata(&file).is_ok_and(|facts| facts.is_file());
        let content = if is_file { fs::read(&file).unwrap_or_default() } else { Vec::new() };
        let is_there = content.windows(VALUE.len()).any(|part| part == VALUE.as_bytes());
        assert!(!is_there, "{}", file.display());
    }
}

fn walkdir(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(walkdir(&entry.path())),
            Ok(kind) if !kind.is_symlink() => found.push(entry.path()),
            _ => {}
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_scope_allows_it_words_variables_and_input_have_the_value() {
    let host = host(json!({"secretCommands": "allow"}));
    let known = handle(&host, VALUE).await;
    let ran = host.data(by_stdin(&known)).await;
    assert!(ran["stdout"].as_str().is_some_and(|it| it.starts_with(&digest(VALUE))), "{ran:#}");
    let variable = json!({"op": "command.run",
        "input": {"command": ["printenv", "PGPASSWORD"], "env": {"PGPASSWORD": known}}});
    let ran = host.data(variable).await;
    assert_eq!(ran["stdout"], format!("{known}\n"));
    let word =
        json!({"op": "command.run", "input": {"command": ["printf", "%s|%s", format!("-p{known}"), "b"]}});
    assert_eq!(host.data(word).await["stdout"], format!("-p{known}|b"));

    let process = host.start(json!(["sha256sum", "-"])).await;
    let input = json!({"op": "process.write", "target": process, "input": {"text": known, "close": true}});
    host.data(input).await;
    let read = host.over(&process).await;
    assert!(read["stdout"].as_str().is_some_and(|it| it.starts_with(&digest(VALUE))), "{read:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_is_one_word_and_never_a_text_of_commands() {
    let host = host(json!({"secretCommands": "allow", "deniedCommands": ["printf --version"]}));
    let special = handle(&host, "x7;touch made;#abc").await;
    let short = {
        host.write("b.txt", "PIN_SECRET=1234\n");
        let content = host.data(json!({"op": "file.read", "target": "b.txt"})).await["content"].clone();
        content.as_str().expect("text").trim_end()["PIN_SECRET=".len()..].to_owned()
    };
    for command in [
        json!(format!("printf {special}")),
        json!(["sh", "-c", format!("printf {special}")]),
        json!(["printf", format!("a{special}")]),
        json!(["printf", short]),
    ] {
        let answer = host.send(json!({"op": "command.run", "input": {"command": command}})).await;
        // A text for a shell is refused by the rules, before anything is said of handles.
        let code = if command[0] == "sh" { "permission_denied" } else { "invalid_request" };
        assert_eq!(answer["error"]["code"], code, "{command}: {answer:#}");
    }
    assert!(!host.path("made").exists());
    let ran = host.data(json!({"op": "command.run", "input": {"command": ["printf", "%s", special]}})).await;
    assert_eq!(ran["stdout"], special);
    // The rules judge the value itself.
    let option = handle(&host, "--version").await;
    let answer = host.send(json!({"op": "command.run", "input": {"command": ["printf", option]}})).await;
    assert_eq!(answer["error"]["code"], "permission_denied", "{answer:#}");
    assert!(!answer.to_string().contains("--version"), "{answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn output_in_base64_is_refused_before_a_command_starts() {
    let host = host(json!({"secretCommands": "allow"}));
    let request = json!({"op": "command.run", "input": {"command": ["cat", "a.txt"]}, "options": {"encoding": "base64"}});
    let answer = host.send(request).await;
    assert_eq!(answer["error"]["details"]["field"], "options.encoding", "{answer:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_file_of_a_ticket_is_named_by_a_keyed_digest() {
    // The same request of two installations: without a key, both files would have one name.
    let mut names = Vec::new();
    for _ in 0..2 {
        let host = host(json!({"askOperations": ["process.list"]}));
        let answer = host.send(json!({"op": "process.list"})).await;
        assert_eq!(answer["error"]["code"], "approval_required", "{answer:#}");
        let files = walkdir(&host.dirs.state);
        let ticket = files.iter().find(|file| file.extension().is_some_and(|it| it == "open"));
        names.push(ticket.and_then(|file| file.file_name()).expect("a ticket").to_owned());
    }
    assert_ne!(names[0], names[1]);
}
