//! `policy why`, `policy test --against-history` and `policy learn`: what the history says when it is judged again.

use serde_json::{Value, json};

use support::scope::TestScope;
use support::service::{TestService, data};

/// Starts a service, and sends it requests that are allowed, refused and asked about.
async fn with_history() -> TestService {
    let host = TestScope::new()
        .with_capabilities(&["fs:read", "search:read", "fs:write", "command:run", "history:read"])
        .with_field("ask", json!(["fs:write"]))
        .with_policy(
            json!({"allowedCommands": ["printf *", "echo *"], "askCommands": ["echo t*", "echo one"]}),
        )
        .save()
        .host();
    for file in ["a.txt", "b.txt", ".env"] {
        host.write(file, "text\n");
    }
    for target in ["a.txt", "b.txt", "a.txt", ".env"] {
        host.send(json!({"op": "file.read", "target": target})).await;
    }
    for words in [json!(["printf", "one"]), json!(["rm", "-rf", "x"]), json!(["echo", "one"])] {
        host.send(command(&words)).await;
    }
    host.send(json!({"op": "file.write", "target": "new.txt", "input": {"content": "text"}})).await;
    host
}

fn command(words: &Value) -> Value {
    json!({"op": "command.run", "input": {"command": words}})
}

/// Returns the id of the newest request that was answered with this code; `None` for success.
fn newest(host: &TestService, op: &str, code: Option<&str>) -> String {
    let log = host.cli(&["log", "--op", op, "--limit", "100"]);
    let rows = log["operations"].as_array().unwrap_or_else(|| panic!("{log:#}"));
    let row = rows.iter().find(|row| row["op"] == op && row["code"].as_str() == code);
    row.unwrap_or_else(|| panic!("{op} {code:?}: {log:#}"))["operationId"].as_str().expect("an id").to_owned()
}

fn why(host: &TestService, id: &str) -> Value {
    let answer = host.cli(&["policy", "why", id]);
    assert_eq!(answer["ok"], true, "{answer:#}");
    answer
}

/// Writes a config that differs from the one in force, and judges the history by it.
fn replay(host: &TestService, change: impl FnOnce(&mut Value)) -> Value {
    let text = std::fs::read_to_string(host.config_path()).expect("read");
    let mut config: Value = serde_json::from_str(&text).expect("JSON");
    change(&mut config["scopes"][0]);
    let file = host.beside("new.json");
    std::fs::write(&file, config.to_string()).expect("written");
    host.cli(&["policy", "test", "--against-history", file.to_str().expect("UTF-8")])
}

fn counts(replayed: &Value) -> [u64; 4] {
    let sum = |name: &str| {
        let groups = replayed[name].as_array().unwrap_or_else(|| panic!("{replayed:#}"));
        groups.iter().map(|group| group["requests"].as_u64().expect("a number")).sum()
    };
    let unchanged = replayed["unchanged"].as_u64().expect("a number");
    [sum("newlyAllowed"), sum("newlyDenied"), sum("newlyAsked"), unchanged]
}

#[tokio::test(flavor = "multi_thread")]
async fn why_names_stage_rule_and_the_command_that_changes_it() {
    let host = with_history().await;
    let allowed = why(&host, &newest(&host, "file.read", None));
    assert_eq!(allowed["decided"], json!({"verdict": "allow", "stage": null, "rule": null}), "{allowed:#}");
    assert_eq!(allowed["change"], json!(["bailiwick scope deny app fs:read"]));
    assert!(allowed["why"].to_string().contains("fs:read"), "{allowed:#}");

    let run = why(&host, &newest(&host, "command.run", None));
    assert!(run["why"].to_string().contains("allowedCommands[0]"), "{run:#}");
    assert_eq!(run["change"], json!(["bailiwick scope deny app --command 'printf *'"]));

    let closed = why(&host, &newest(&host, "file.read", Some("permission_denied")));
    assert_eq!(
        (&closed["decided"]["verdict"], &closed["decided"]["stage"]),
        (&json!("deny"), &json!("sensitive"))
    );
    assert_eq!(closed["decided"]["rule"], "environment-file", "{closed:#}");
    assert_eq!(closed["change"], json!(["bailiwick scope allow app --files .env"]), "{closed:#}");

    let denied = why(&host, &newest(&host, "command.run", Some("permission_denied")));
    assert_eq!(denied["decided"]["rule"], "not-allowed", "{denied:#}");

    let asked = why(&host, &newest(&host, "file.write", Some("approval_required")));
    assert_eq!(asked["decided"]["verdict"], "ask", "{asked:#}");
    assert_eq!(asked["change"], json!(["bailiwick scope allow app fs:write"]));
    // The command does what it says, and the request is judged by the rules of now.
    let done = host.cli(&["scope", "allow", "app", "fs:write"]);
    assert_eq!(done["ok"], true, "{done:#}");
    let asked = why(&host, asked["operationId"].as_str().expect("an id"));
    assert_eq!((&asked["decided"]["verdict"], &asked["now"]["verdict"]), (&json!("ask"), &json!("allow")));

    let unknown = host.cli(&["policy", "why", "01JD0000000000000000000000"]);
    assert_eq!(unknown["error"]["code"], "not_found", "{unknown:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_config_is_judged_by_what_was_asked_before() {
    let host = with_history().await;
    let same = replay(&host, |_| {});
    assert_eq!((&same["ok"], counts(&same)), (&json!(true), [0, 0, 0, 8]), "{same:#}");
    assert_eq!(same["notJudged"], json!([]), "{same:#}");

    let tighter = replay(&host, |scope| scope["capabilities"] = json!(["search:read", "command:run"]));
    // Three of four reads were permitted; the write was asked about.
    assert_eq!(counts(&tighter), [0, 3, 0, 5], "{tighter:#}");
    let group = &tighter["newlyDenied"][0];
    assert_eq!((&group["op"], &group["now"]["rule"]), (&json!("file.read"), &json!("scope-capabilities")));

    let wider = replay(&host, |scope| {
        scope["ask"] = json!([]);
        scope["policy"] = json!({"allowedCommands": ["printf *", "echo *"], "openSensitive": [".env"]});
    });
    assert_eq!(counts(&wider), [3, 0, 0, 5], "{wider:#}");
    let asking = replay(&host, |scope| scope["policy"]["askOperations"] = json!(["file.read"]));
    assert_eq!(counts(&asking), [0, 0, 3, 5], "{asking:#}");
    assert_eq!(asking["newlyAsked"][0]["now"]["rule"], "ask-operations", "{asking:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_history_does_not_hold_is_not_judged_and_counted_with_its_reason() {
    let host = TestScope::new()
        .with_capabilities(&["fs:read", "fs:write", "command:run", "package:run", "history:read"])
        .with_policy(json!({"allowedCommands": ["printf *"]}))
        .save()
        .host();
    host.write("a.txt", "old\n");
    host.write("Makefile", "hello:\n\t@true\n");
    let edit =
        json!({"op": "file.patch", "target": "a.txt", "input": {"edits": [{"old": "old", "new": "new"}]}});
    data(&host.send(edit).await);
    host.send(command(&json!(["printf", "ghp_0123456789abcdefghijABCDEFGHIJ012345"]))).await;
    host.send(json!({"op": "package.run", "input": {"script": "hello"}})).await;
    #[cfg(unix)]
    {
        host.write(".env", "A=1\n");
        std::os::unix::fs::symlink(".env", host.path("link.txt")).expect("a link");
        host.send(json!({"op": "file.read", "target": "link.txt"})).await;
    }
    data(&host.send(json!({"op": "file.write", "target": "b.txt", "input": {"content": "text"}})).await);
    let replayed = replay(&host, |_| {});
    assert_eq!((&replayed["ok"], counts(&replayed)), (&json!(true), [0, 0, 0, 1]), "{replayed:#}");
    let reasons = replayed["notJudged"].to_string();
    for reason in ["such as edits", "a secret", "files of the project"] {
        assert!(reasons.contains(reason), "{reason}: {reasons}");
    }
    assert!(!cfg!(unix) || reasons.contains("found on the disk"), "{reasons}");
    // What comes before any field is judged all the same.
    let none = replay(&host, |scope| scope["capabilities"] = json!(["history:read"]));
    assert_eq!(counts(&none)[0], 0, "{none:#}");
    assert!(counts(&none)[1] >= 4 && none["notJudged"] == json!([]), "{none:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn learn_proposes_the_smallest_rules_and_changes_nothing_until_it_is_told_to() {
    let host = with_history().await;
    let nothing = host.cli(&["policy", "learn"]);
    assert_eq!((&nothing["approvals"], &nothing["proposals"]), (&json!(0), &json!([])), "{nothing:#}");
    for words in [json!(["echo", "two"]), json!(["echo", "three"])] {
        let answer = host.send(command(&words)).await;
        let id = answer["error"]["details"]["approvalId"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
        assert_eq!(host.cli(&["approve", id, "--once"])["ok"], true);
        data(&host.send(command(&words)).await);
    }
    let approved = why(&host, &newest(&host, "command.run", None));
    assert_eq!((&approved["approved"], &approved["decided"]["verdict"]), (&json!(true), &json!("ask")));
    let before = std::fs::read_to_string(host.config_path()).expect("read");
    let learnt = host.cli(&["policy", "learn"]);
    assert_eq!((&learnt["approvals"], &learnt["applied"]), (&json!(2), &json!(false)), "{learnt:#}");
    let proposal = &learnt["proposals"][0];
    assert_eq!(proposal["commands"][0], "bailiwick scope edit app --remove-rule 'echo t*'", "{learnt:#}");
    assert_eq!(std::fs::read_to_string(host.config_path()).expect("read"), before);
    let applied = host.cli(&["policy", "learn", "--apply"]);
    assert_eq!(applied["applied"], true, "{applied:#}");
    let again = host.cli(&["policy", "learn"]);
    assert_eq!((&again["notAskedNow"], &again["proposals"]), (&json!(2), &json!([])), "{again:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn learn_proposes_a_capability_where_that_alone_was_asked_about() {
    let host = TestScope::new()
        .with_capabilities(&["fs:read", "command:run", "history:read"])
        .with_field("ask", json!(["fs:write"]))
        .save()
        .host();
    let write = json!({"op": "file.write", "target": "a.txt", "input": {"content": "text"}});
    let answer = host.send(write).await;
    let id = answer["error"]["details"]["approvalId"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
    assert_eq!(host.cli(&["approve", id, "--once"])["ok"], true);
    let learnt = host.cli(&["policy", "learn"]);
    assert_eq!(
        learnt["proposals"][0]["commands"],
        json!(["bailiwick scope allow app fs:write"]),
        "{learnt:#}"
    );
    assert_eq!(learnt["proposals"][0]["covers"], json!(["a.txt"]), "{learnt:#}");
}
