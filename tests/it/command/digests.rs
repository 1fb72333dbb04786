//! Digests in answers: long output of tools by default, the output itself a call away, and all of it on request.

use serde_json::{Value, json};
use support::logs::{Log, logs};
use support::service::TestService;

fn log(name: &str) -> Log {
    logs().into_iter().find(|log| log.name == name).expect("it is recorded")
}

/// A project whose `make test` prints a log, and ends as that did.
fn project(log: &Log) -> TestService {
    let host = TestService::for_commands(json!({"sandbox": "none", "allowedCommands": ["make *", "cat *"]}));
    host.write("out.log", String::from_utf8(log.stdout.clone()).expect("text"));
    host.write("err.log", String::from_utf8(log.stderr.clone()).expect("text"));
    let code = log.known.exit_code;
    host.write("Makefile", format!("test:\n\t@cat out.log; cat err.log >&2; exit {code}\n"));
    host
}

async fn read(host: &TestService, id: &Value, options: Value) -> Value {
    let envelope = json!({"scope": "app", "op": "process.read", "target": id, "options": options});
    host.send(envelope).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_output_of_a_tool_comes_as_a_digest_with_the_output_a_call_away() {
    let log = log("pytest/many-failures");
    let host = project(&log);
    let data = host.run(json!(["make", "test"])).await;
    assert_eq!(data["digest"]["tool"], "pytest, make", "{data:#}");
    assert_eq!(data["digest"]["counts"]["failed"], 90);
    assert_eq!(
        (&data["stdout"], &data["stderr"], &data["truncated"]),
        (&json!(""), &json!(""), &json!(true))
    );
    assert_eq!(data["rawOutput"]["stdoutBytes"], log.stdout.len());

    // Who may run commands may read what they printed, without process:manage.
    let id = &data["rawOutput"]["processId"];
    let (mut text, mut options) = (String::new(), json!({"stream": "stdout"}));
    loop {
        let answer = read(&host, id, options).await;
        let part = &answer["data"];
        text.push_str(part["stdout"].as_str().unwrap_or_else(|| panic!("{answer:#}")));
        if part["truncated"] == false {
            break;
        }
        options = json!({"stream": "stdout", "cursor": part["nextCursor"]});
    }
    assert_eq!(text.as_bytes(), log.stdout);
    let again = read(&host, id, json!({"view": "digest"})).await;
    assert_eq!(again["data"]["digest"], data["digest"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_detail_gives_the_output_as_it_is() {
    let log = log("mocha/failing");
    let host = project(&log);
    let answer = host.answer(json!(["make", "test"]), json!({"detail": "full"})).await;
    assert_eq!(answer["data"]["stdout"].as_str().expect("text").as_bytes(), log.stdout);
    assert_eq!(answer["data"].get("digest"), None);
    assert_eq!(answer["data"].get("rawOutput"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fits_and_is_of_no_known_form_is_given_whole_and_what_does_not_fit_is_folded() {
    let host = TestService::for_commands(json!({"sandbox": "none", "allowedCommands": ["make *"]}));
    host.write("Makefile", "some:\n\t@seq 1 2000\nmany:\n\t@echo begin; seq 1 100000; echo end\n");
    let some = host.run(json!(["make", "some"])).await;
    assert_eq!(some["stdout"].as_str().expect("text").lines().count(), 2_000);
    assert_eq!((some.get("digest"), &some["truncated"]), (None, &json!(false)));
    let many = host.run(json!(["make", "many"])).await;
    assert_eq!(many["digest"]["tool"], "text", "{many:#}");
    assert_eq!(many["digest"]["text"], "begin\n1\n2\n[… 99998 lines like it …]\nend\n");
    assert!(many["rawOutput"]["processId"].is_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_with_short_output_leaves_nothing_behind() {
    let host = TestService::for_commands(json!({"sandbox": "none", "allowedCommands": ["make *"]}));
    host.write("Makefile", "all:\n\t@seq 1 100; exit 1\n");
    let data = host.run(json!(["make", "all"])).await;
    assert_eq!((data.get("rawOutput"), &data["exitCode"]), (None, &json!(2)));
    let processes = host.dirs.state.join("processes");
    let left = std::fs::read_dir(&processes).map(Iterator::count).unwrap_or(0);
    assert_eq!(left, 0, "{}", processes.display());
}
