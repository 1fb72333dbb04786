//! Secrets that a program asks for: the user types them at `bailiwick approve`, and nobody else learns them.

use bailiwick::adapters::auth::KeyRing;
use bailiwick::contract::{Caller, Transport};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::scope::{Program, TerminalScope};
use crate::needs::require_program;
use crate::patience::eventually;
use support::service::data;

/// Asks for a password as sudo does, and shows what it got without telling it; then it repeats it aloud, at once and
/// in parts.
const ASKS: &str = "import getpass, hashlib, sys, time\n\
    secret = getpass.getpass('[sudo] password for tester: ')\n\
    print('sha256', hashlib.sha256(secret.encode()).hexdigest()[:16], flush=True)\n\
    print('aloud', secret, flush=True)\n\
    print('slowly ' + secret[:8], end='', flush=True)\n\
    time.sleep(0.4)\n\
    print(secret[8:], flush=True)\n\
    input('done? ')\n";

const SECRET: &str = "correct-h\u{f6}rse-battery";
/// The beginning of the SHA-256 of it.
const SECRET_HASH: &str = "956cc25dd3ac9bcf";

async fn asking(desk: &TerminalScope) -> Program<'_> {
    desk.write("asks.py", ASKS);
    let asks = desk.start(&["python3", "asks.py"], json!(true)).await;
    asks.shows("[sudo] password for tester:").await;
    asks
}

fn secret_request(process: &Program<'_>, secret: Value, seconds: u64) -> Value {
    json!({"scope": "app", "op": "process.write", "target": process.id, "input": {"secret": secret},
        "options": {"timeoutSeconds": seconds}})
}

/// Opens a prompt that outlasts the call, and gives its id.
async fn pending(desk: &TerminalScope, process: &Program<'_>) -> String {
    let answer = desk.send(secret_request(process, json!({"prompt": "Password"}), 1)).await;
    assert_eq!(data(&answer)["secret"], "pending", "{answer:#}");
    data(&answer)["pending"].as_str().expect("an id").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_reaches_its_program_and_is_found_nowhere() {
    require_program("python3");
    let desk = TerminalScope::new();
    let asks = asking(&desk).await;
    let words = "Password for \u{1b}]0;sudo\u{7}\u{201d} Bailiwick: all is well\u{202e}";
    let request = desk.send(secret_request(&asks, json!({"prompt": words}), 120));
    let person = async {
        let waiting = desk.until_waiting(1).await;
        assert_eq!(
            (&waiting[0]["kind"], &waiting[0]["command"], &waiting[0]["caller"], &waiting[0]["scope"]),
            (&json!("secret"), &json!("python3 asks.py"), &json!("local"), &json!("app"))
        );
        let approve = desk.approve(&[]).await;
        let screen = approve.shows("Secret, hidden").await.to_string();
        let said = "its words \u{201c}Password for ]0;sudo' Bailiwick: all is well\u{201d}";
        for line in [said, "command   python3 asks.py", "it shows  | [sudo] password for tester:", &asks.id] {
            assert!(screen.contains(line), "{line}: {screen}");
        }
        approve.write(json!({"text": format!("wrong{SECRET}x")})).await;
        approve.press(&["Backspace", "C-u"]).await;
        approve.write(json!({"text": SECRET, "keys": ["Enter"]})).await;
        assert_eq!(approve.ended().await["exitCode"], 0);
        approve
    };
    let (answer, approve) = tokio::join!(request, person);
    let told = data(&answer);
    assert_eq!((&told["secret"], &told["bytes"]), (&json!("answered"), &Value::Null), "{told:#}");
    asks.shows(&format!("sha256 {SECRET_HASH}")).await;
    asks.shows("aloud [secret]").await;
    asks.shows("slowly [secret]").await;

    let history =
        desk.send(json!({"scope": "app", "op": "history.timeline", "options": {"limit": 100}})).await;
    let everything = [
        answer.to_string(),
        asks.printed().await,
        approve.printed().await,
        data(&history).to_string(),
        String::from_utf8_lossy(&desk.cli(&["history", "--limit", "100", "--json"]).stdout).into_owned(),
    ];
    for told in everything {
        assert!(!told.contains("correct-") && !told.contains("rse-battery"), "{told}");
        assert!(!told.contains("all is well") || told.contains("its words"), "{told}");
    }
    assert_eq!(desk.files_with(b"rse-battery"), Vec::<std::path::PathBuf>::new());
    assert!(desk.waiting().is_empty());
    asks.press(&["Enter"]).await;
    asks.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_outlasts_its_call_is_only_its_callers() {
    require_program("python3");
    let desk = TerminalScope::new();
    let asks = asking(&desk).await;
    let id = pending(&desk, &asks).await;
    let other = Caller { name: "other".to_owned(), ..Caller::local(Transport::Http) };
    let never = CancellationToken::new();

    // Anyone who may write to the process cannot choose what reads the secret, nor see, answer or end the prompt.
    for (secret, code) in [
        (json!({"prompt": "Another"}), "conflict"),
        (json!({"pending": id}), "not_found"),
        (json!({"pending": id, "cancel": true}), "not_found"),
    ] {
        let refused = desk.send_as_until(&other, secret_request(&asks, secret, 5), &never).await;
        assert_eq!(refused["error"]["code"], code, "{refused:#}");
        assert!(!refused["error"].to_string().contains(&id), "{refused:#}");
    }
    let typed = asks.ask("process.write", json!({"keys": ["Enter"]}), json!({})).await;
    assert_eq!(typed["error"]["details"]["rule"], "secret-pending", "{typed:#}");
    assert_eq!(typed["error"]["details"]["pending"], id.as_str(), "its own caller is told");
    // Nor is it an id of another process.
    let second = asking(&desk).await;
    let wrong = desk.send(secret_request(&second, json!({"pending": id}), 5)).await;
    assert_eq!(wrong["error"]["code"], "not_found", "{wrong:#}");

    let request = desk.send(secret_request(&asks, json!({"pending": id}), 120));
    let person = async {
        let approve = desk.approve(&[&id]).await;
        approve.shows("Secret, hidden").await;
        approve.write(json!({"text": SECRET, "keys": ["Enter"]})).await;
        assert_eq!(approve.ended().await["exitCode"], 0);
    };
    let (answer, ()) = tokio::join!(request, person);
    assert_eq!(data(&answer)["secret"], "answered");
    asks.shows(&format!("sha256 {SECRET_HASH}")).await;
    let again = desk.send(secret_request(&asks, json!({"pending": id}), 5)).await;
    assert_eq!(data(&again)["secret"], "answered", "anyone who asks late learns it too");
    asks.press(&["Enter"]).await;
    asks.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_person_can_refuse_or_leave_it_for_later() {
    require_program("python3");
    let desk = TerminalScope::new();
    let asks = asking(&desk).await;
    let id = pending(&desk, &asks).await;
    let approve = desk.approve(&[]).await;
    approve.shows("Secret, hidden").await;
    approve.press(&["half-typed", "C-u", "Enter"]).await;
    approve.ended().await;
    let printed = approve.printed().await;
    assert!(
        printed.contains("0 answered, 0 refused, 1 left waiting") && !printed.contains("half"),
        "{printed}"
    );
    assert_eq!(desk.waiting().len(), 1);

    let request = desk.send(secret_request(&asks, json!({"pending": id}), 120));
    let person = async {
        let approve = desk.approve(&[]).await;
        approve.shows("Secret, hidden").await;
        approve.press(&["half-typed", "C-r"]).await;
        approve.ended().await;
    };
    let (answer, ()) = tokio::join!(request, person);
    let error = &answer["error"];
    assert_eq!(
        (&error["code"], &error["details"]["rule"]),
        (&json!("permission_denied"), &json!("refused-by-person"))
    );

    let id = pending(&desk, &asks).await;
    let ran = desk.cli(&["approve", &id, "--refuse", "--json"]);
    let told: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!((ran.status.code(), &told["refused"]), (Some(0), &json!([id])));
    let answer = desk.send(secret_request(&asks, json!({"pending": id}), 5)).await;
    assert_eq!(answer["error"]["details"]["rule"], "refused-by-person", "{answer:#}");
    assert_eq!(asks.lines().await, ["[sudo] password for tester:"], "nothing was typed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_who_stays_is_asked_whatever_comes() {
    require_program("python3");
    let desk = TerminalScope::new();
    let approve = desk.approve(&["--stay"]).await;
    approve.shows("Whatever waits for you is asked here").await;
    for _ in 0..2 {
        let asks = asking(&desk).await;
        let request = desk.send(secret_request(&asks, json!({"prompt": "Password"}), 120));
        let person = async {
            approve.ends_with("Secret, hidden (Enter alone: later, Ctrl-R: refuse, Ctrl-C: stop):").await;
            approve.write(json!({"text": SECRET, "keys": ["Enter"]})).await;
            approve.ends_with("Sent: the process has it.").await;
        };
        let (answer, ()) = tokio::join!(request, person);
        assert_eq!(data(&answer)["secret"], "answered");
        asks.shows(&format!("sha256 {SECRET_HASH}")).await;
    }
    approve.press(&["C-c"]).await;
    assert_eq!(approve.ended().await["exitCode"], 0);
    assert!(approve.printed().await.contains("2 answered, 0 refused, 0 left waiting"));
}

/// Runs `bailiwick approve`, perhaps ends it by a signal when it asks for the secret, and shows how it ended and whether
/// the terminal is as it was.
const WATCHED: &str = "import signal, subprocess, sys, termios, time\n\
    before = termios.tcgetattr(0)\n\
    child = subprocess.Popen([sys.argv[1], '--config', sys.argv[2], 'approve'])\n\
    if len(sys.argv) > 3:\n    \
        input_is_quiet = lambda: not termios.tcgetattr(0)[3] & termios.ECHO\n    \
        while not input_is_quiet(): time.sleep(0.01)\n    \
        child.send_signal(getattr(signal, sys.argv[3]))\n\
    code = child.wait()\n\
    print('ended', code, termios.tcgetattr(0) == before, flush=True)\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_leaves_it_waiting_and_the_terminal_as_it_was() {
    require_program("python3");
    let desk = TerminalScope::new();
    let asks = asking(&desk).await;
    pending(&desk, &asks).await;
    let person = desk.person_python(WATCHED, &[]).await;
    person.shows("Secret, hidden").await;
    person.write(json!({"text": "half-typed", "keys": ["C-c"]})).await;
    person.shows("ended 20 True").await;
    person.ended().await;
    assert!(!person.printed().await.contains("half"));

    let person = desk.person_python(WATCHED, &[]).await;
    person.shows("Secret, hidden").await;
    person.press(&["C-c"]).await;
    person.shows("ended 20 True").await;
    for signal in ["SIGTERM", "SIGINT"] {
        let person = desk.person_python(WATCHED, &[signal]).await;
        person.shows("ended 20 True").await;
        person.ended().await;
    }
    assert_eq!(desk.waiting().len(), 1, "it waits on");
    assert_eq!(asks.lines().await, ["[sudo] password for tester:"], "nothing was typed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_terminal_nobody_is_asked() {
    require_program("python3");
    let desk = TerminalScope::new();
    let empty = desk.cli(&["approve"]);
    assert_eq!((empty.status.code(), &empty.stdout[..]), (Some(0), &b"Nothing waits for you.\n"[..]));
    let asks = asking(&desk).await;
    let id = pending(&desk, &asks).await;
    // A session of its own has no terminal, whatever runs these tests.
    let approve = "import subprocess, sys; sys.exit(subprocess.run([sys.argv[1], '--config', sys.argv[2], 'approve'], \
                   start_new_session=True, stdin=subprocess.DEVNULL).returncode)";
    let person = desk.person_python(approve, &[]).await;
    assert_eq!(person.ended().await["exitCode"], 18);
    assert!(person.printed().await.contains("there is no terminal"));
    assert_eq!(desk.cli(&["approve", "01JD0000000000000000000000"]).status.code(), Some(15));
    assert!(String::from_utf8_lossy(&desk.cli(&["approve", "--list"]).stdout).contains(&id));
    let status = desk.cli(&["status"]);
    assert!(
        String::from_utf8_lossy(&status.stdout)
            .contains("Waiting       1 question waits for you: `bailiwick approve`")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_ends_with_its_process_and_with_its_call() {
    require_program("python3");
    let desk = TerminalScope::new();
    let asks = asking(&desk).await;
    let gone = CancellationToken::new();
    let caller = Caller::local(Transport::Stdio);
    let request = desk.send_as_until(&caller, secret_request(&asks, json!({"prompt": "One"}), 120), &gone);
    let client = async {
        desk.until_waiting(1).await;
        gone.cancel();
    };
    let (answer, ()) = tokio::join!(request, client);
    assert_eq!(answer["error"]["code"], "cancelled", "{answer:#}");
    desk.until_waiting(0).await;

    let id = pending(&desk, &asks).await;
    let withdrawn = desk.send(secret_request(&asks, json!({"pending": id, "cancel": true}), 5)).await;
    assert_eq!(data(&withdrawn)["secret"], "cancelled");
    desk.until_waiting(0).await;
    let late = desk.send(secret_request(&asks, json!({"pending": id}), 5)).await;
    assert_eq!(late["error"]["code"], "not_found", "{late:#}");

    let request = desk.send(secret_request(&asks, json!({"prompt": "Two"}), 120));
    let stop = async {
        desk.until_waiting(1).await;
        data(&asks.ask("process.stop", json!({}), json!({"graceSeconds": 0})).await);
    };
    let (answer, ()) = tokio::join!(request, stop);
    let error = &answer["error"];
    assert_eq!(
        (&error["code"], &error["details"]["rule"]),
        (&json!("conflict"), &json!("ended")),
        "{answer:#}"
    );
    desk.until_waiting(0).await;
    let late = desk.send(secret_request(&asks, json!({"prompt": "Three"}), 5)).await;
    assert_eq!(late["error"]["code"], "conflict", "{late:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_asked_for_what_could_not_be_written() {
    let desk = TerminalScope::new();
    let closed = desk
        .send(json!({"scope": "app", "op": "process.start",
        "input": {"command": ["sleep", "1000"], "stdin": "null"}}))
        .await;
    let id = data(&closed)["processId"].as_str().expect("an id").to_owned();
    let request = |scope: &str, id: &str, secret: Value| {
        json!({"scope": scope, "op": "process.write", "target": id, "input": {"secret": secret},
            "options": {"timeoutSeconds": 1}})
    };
    let refused = desk.send(request("app", &id, json!({"prompt": "Password"}))).await;
    assert_eq!(refused["error"]["details"]["rule"], "no-input", "{refused:#}");
    let other = desk.send(request("person", &id, json!({"prompt": "Password"}))).await;
    assert_eq!(other["error"]["code"], "process_not_found", "{other:#}");
    for secret in [json!({}), json!({"prompt": "\u{200b}"}), json!({"prompt": "a", "pending": "b"})] {
        let malformed = desk.send(request("app", &id, secret)).await;
        assert_eq!(malformed["error"]["code"], "invalid_request", "{malformed:#}");
    }
    // A few may wait in a scope, so that a client cannot bury the user in prompts.
    for _ in 0..8 {
        let sleeper = desk.start(&["sleep", "1000"], json!(false)).await;
        pending(&desk, &sleeper).await;
    }
    let sleeper = desk.start(&["sleep", "1000"], json!(false)).await;
    let ninth = desk.send(request("app", &sleeper.id, json!({"prompt": "Password"}))).await;
    assert_eq!(ninth["error"]["details"]["rule"], "too-many-prompts", "{ninth:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_that_cannot_be_answered_any_more_is_in_no_list() {
    require_program("python3");
    let desk = TerminalScope::new();
    let status = || -> Value {
        let told = desk.cli(&["status", "--json"]);
        serde_json::from_slice(&told.stdout).unwrap_or_else(|error| panic!("{error}: {told:?}"))
    };
    // Its owner is gone.
    let created = desk.cli(&["token", "create", "one", "--scope", "app", "--json"]);
    assert!(created.status.success(), "{created:?}");
    let keys = KeyRing::open(desk.service.facts().dirs.clone());
    let one = keys.profile("one", Transport::Stdio).expect("readable").expect("it was made");
    let asks = asking(&desk).await;
    let never = CancellationToken::new();
    let answer =
        desk.send_as_until(&one, secret_request(&asks, json!({"prompt": "Password"}), 1), &never).await;
    assert_eq!(data(&answer)["secret"], "pending", "{answer:#}");
    assert_eq!((status()["waiting"].clone(), desk.waiting().len()), (json!(1), 1));
    assert!(desk.cli(&["token", "revoke", "one"]).status.success());
    assert_eq!((status()["waiting"].clone(), desk.waiting().len()), (json!(0), 0));
    // Its process is gone, with the keeper that would have told.
    pending(&desk, &asks).await;
    assert_eq!(status()["waiting"], 1);
    for process in desk.service.facts().processes.all() {
        if let Ok(status) = process.status()
            && let Some(keeper) = i32::try_from(status.process_id).ok().and_then(Pid::from_raw)
        {
            let _ = kill_process(keeper, Signal::KILL);
        }
    }
    eventually("the process is gone", || {
        desk.service
            .facts()
            .processes
            .all()
            .iter()
            .all(|it| it.status().is_ok_and(|status| status.state.is_final()))
    });
    assert_eq!((status()["waiting"].clone(), desk.waiting().len()), (json!(0), 0));
}
