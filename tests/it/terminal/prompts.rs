//! Programs that ask questions, with a terminal and without.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::scope::TerminalScope;
use crate::needs::{lacks_program, require_program};
use crate::patience::PATIENCE;
use support::service::data;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn npm_init_is_answered_to_its_end() {
    if lacks_program("npm") {
        return;
    }
    let desk = TerminalScope::new();
    let npm = desk.start(&["npm", "init"], json!(true)).await;
    let answers = [
        ("package name:", "made-by-keys"),
        ("version:", "2.0.0"),
        ("description:", "It is \"tested\""),
        ("test command:", "true"),
        ("keywords:", "a, b"),
        ("license:", "MIT"),
        ("Is this OK?", "yes"),
    ];
    // What else a version of npm asks is answered by Enter.
    let mut asked = String::new();
    let began = Instant::now();
    while asked != "Is this OK?" {
        assert!(began.elapsed() < *PATIENCE, "after {asked:?}: {:#?}", npm.lines().await);
        let lines = npm.lines().await;
        let last = lines.last().map(String::as_str).unwrap_or_default();
        let Some(end) = last.find([':', '?']).filter(|end| !last.contains("npm") && last[..*end] != asked)
        else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let answer = answers.iter().find(|(question, _)| last.starts_with(question));
        npm.write(json!({"text": answer.map_or("", |(_, answer)| answer), "keys": ["Enter"]})).await;
        asked =
            if last.starts_with("Is this OK?") { "Is this OK?".to_owned() } else { last[..end].to_owned() };
    }
    assert_eq!(npm.ended().await["exitCode"], 0);
    let text = fs::read_to_string(desk.path("package.json")).expect("the file");
    let made: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        (&made["name"], &made["version"], &made["description"], &made["license"], &made["keywords"]),
        (
            &json!("made-by-keys"),
            &json!("2.0.0"),
            &json!("It is \"tested\""),
            &json!("MIT"),
            &json!(["a", "b"])
        )
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_answered_by_one_key() {
    require_program("python3");
    let desk = TerminalScope::new();
    let question = "import sys, tty\nprint('Go on? [y/n] ', end='', flush=True)\ntty.setcbreak(0)\n\
                    print(repr(sys.stdin.read(1)))\n";
    desk.write("asks.py", question);
    let asks = desk.start(&["python3", "asks.py"], json!(true)).await;
    asks.shows("Go on? [y/n]").await;
    asks.press(&["y"]).await;
    assert_eq!(asks.ended().await["exitCode"], 0);
    assert!(asks.printed().await.contains("'y'"), "{}", asks.printed().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_without_a_terminal_gets_bytes_and_the_end() {
    let desk = TerminalScope::new();
    let cat = desk.start(&["cat"], json!(false)).await;
    let written = cat.write(json!({"text": "one", "keys": ["Enter", "two", "Tab"]})).await;
    assert_eq!((&written["bytes"], &written["cursor"]), (&json!(8), &json!("0")));
    assert_eq!(cat.write(json!({"base64": "AP8K"})).await["bytes"], 3);
    let warned = cat.ask("process.write", json!({"keys": ["C-c"]}), json!({})).await;
    assert!(warned["warnings"][0].as_str().is_some_and(|text| text.contains("process.stop")), "{warned:#}");
    assert_eq!(cat.write(json!({"text": "end", "close": true})).await["closed"], true);
    assert_eq!(cat.ended().await["exitCode"], 0);
    let read = cat.ask("process.read", json!({}), json!({"stripAnsi": false})).await;
    assert_eq!(data(&read)["stdout"], "one\ntwo\t\u{0}\u{fffd}\n\u{3}end");
    for (input, rule) in [(json!({"text": "late"}), "has ended"), (json!({"close": true}), "has ended")] {
        let late = cat.ask("process.write", input, json!({})).await;
        assert_eq!(late["error"]["code"], "conflict", "{late:#}");
        assert!(late["error"]["message"].as_str().is_some_and(|text| text.contains(rule)), "{late:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn input_that_nobody_reads_is_refused_as_a_whole() {
    let desk = TerminalScope::new();
    let sleeper = desk.start(&["sleep", "1000"], json!(false)).await;
    let much = "x".repeat(60_000);
    let mut taken = 0;
    let refusal = loop {
        let answer = sleeper.ask("process.write", json!({"text": much}), json!({})).await;
        if answer["ok"] == false {
            break answer;
        }
        taken += 1;
        assert!(taken < 100, "a pipe does not take everything");
    };
    assert_eq!(refusal["error"]["code"], "conflict", "{refusal:#}");
    assert_eq!(refusal["error"]["details"]["rule"], "input-full");
    let closed = desk.start(&["cat"], json!(false)).await;
    closed.write(json!({"close": true})).await;
    closed.ended().await;
    let long = sleeper.ask("process.write", json!({"text": "x".repeat(70_000)}), json!({})).await;
    assert_eq!(long["error"]["code"], "invalid_request", "{long:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_input_only_its_size_is_in_the_history() {
    let desk = TerminalScope::new();
    let cat = desk.start(&["cat"], json!(true)).await;
    cat.write(json!({"text": "jabberwocky", "keys": ["Enter", "C-d"]})).await;
    cat.ended().await;
    let rows = desk.send(json!({"scope": "app", "op": "history.timeline", "options": {"limit": 50}})).await;
    let told = data(&rows).to_string();
    assert!(told.contains("process.write") && told.contains("13 bytes"), "{rows:#}");
    assert!(!told.contains("jabberwocky"), "{rows:#}");
}
