//! The history under force: SIGKILL, several processes, no disk, secrets.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bailiwick::contract::{Caller, Envelope, Outcome, Transport, id, time};
use bailiwick::history::{EventDraft, Filter, HistoryHandle, HistorySettings, Phase, query, verify};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::patience::eventually_some;
use crate::temporary::TemporaryFolder;
use support::scope::TestScope;
use support::service::TestService;

/// Tells a child process of this test binary in which folder to write.
const CHILD_FOLDER: &str = "BAILIWICK_TEST_HISTORY_FOLDER";
/// Tells it how many rows to write; without it, until it is killed.
const CHILD_ROWS: &str = "BAILIWICK_TEST_HISTORY_ROWS";

fn start(folder: &Path) -> HistoryHandle {
    HistoryHandle::start(HistorySettings {
        folder: folder.to_owned(),
        machine_id: "01JD0000000000000000000000".to_owned(),
        max_age_days: 90,
        max_megabytes: 64,
    })
}

fn event(target: &str, phase: Phase, has_effect: bool) -> EventDraft {
    EventDraft {
        operation_id: id::new_id(),
        phase,
        at_ms: time::now_ms(),
        caller: "local".to_owned(),
        client: None,
        session: None,
        transport: Transport::Stdio,
        scope: Some("app".to_owned()),
        op: "file.read".to_owned(),
        target: Some(target.to_owned()),
        capability: None,
        stage: None,
        rule: None,
        code: None,
        duration_us: 100,
        bytes: 10,
        summary: String::new(),
        error: None,
        template: Value::Null,
        has_effect,
    }
}

/// Writes rows and says each id once it is acknowledged. Run on its own it writes a few; as the child of
/// another test it continues until it is killed.
#[test]
fn acknowledged_rows_are_in_the_history() {
    let given = std::env::var_os(CHILD_FOLDER).map(PathBuf::from);
    let rows = match (&given, std::env::var(CHILD_ROWS).ok().and_then(|rows| rows.parse().ok())) {
        (_, Some(rows)) => rows,
        (Some(_), None) => usize::MAX,
        (None, None) => 20,
    };
    // A child is killed before it could remove one of its own.
    let own = given.is_none().then(TemporaryFolder::new);
    let folder = given.unwrap_or_else(|| own.as_ref().expect("made above").path().join("state"));
    let history = start(&folder);
    let mut first = None;
    for at in 0..rows {
        let draft = event(&format!("file-{at}"), Phase::Finished, at % 3 == 0);
        let id = draft.operation_id.clone();
        history.append(draft).expect("written");
        // One write, so that a kill cannot cut a line that is read as whole.
        write_out(&format!("id {id}\n"));
        first.get_or_insert(id);
    }
    let page = query(&folder, &Filter { limit: 1_000, ..Filter::default() }).expect("readable");
    assert!(page.entries.iter().any(|entry| Some(&entry.operation_id) == first.as_ref()));
}

fn write_out(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).expect("somebody reads");
}

fn child(folder: &Path, rows: Option<usize>) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command
        .args(["--exact", "history::acknowledged_rows_are_in_the_history", "--nocapture"])
        .env(CHILD_FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if let Some(rows) = rows {
        command.env(CHILD_ROWS, rows.to_string());
    }
    command.spawn().expect("this binary starts")
}

#[test]
fn rows_acknowledged_before_sigkill_are_kept_and_the_store_opens() {
    let temporary = TemporaryFolder::new();
    let folder = temporary.path().join("state");
    let mut acknowledged = BTreeSet::new();
    for round in 0..8_u64 {
        let mut child = child(&folder, None);
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        // Killed at another moment each time, once some rows are there.
        for _ in 0..5 + round * 37 % 60 {
            line.clear();
            out.read_line(&mut line).expect("text");
            note(&line, &mut acknowledged);
        }
        std::thread::sleep(Duration::from_micros(round * 431));
        child.kill().expect("it runs");
        let mut rest = String::new();
        out.read_to_string(&mut rest).expect("text");
        child.wait().expect("it ended");
        rest.split_inclusive('\n').for_each(|line| note(line, &mut acknowledged));
    }
    assert!(acknowledged.len() > 80, "{}", acknowledged.len());
    let history = start(&folder);
    history.append(event("after", Phase::Finished, true)).expect("the store opens");
    assert_eq!(history.status().get("notices"), None, "nothing was damaged");
    let (mut kept, mut cursor) = (BTreeSet::new(), None);
    loop {
        let page = query(&folder, &Filter { cursor, limit: 1_000, ..Filter::default() }).expect("readable");
        kept.extend(page.entries.into_iter().map(|entry| entry.operation_id));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    let lost: Vec<_> = acknowledged.difference(&kept).collect();
    assert!(lost.is_empty(), "{} of {} were lost", lost.len(), acknowledged.len());
    let report = verify(&folder).expect("readable");
    assert!(report.ok, "{report:?}");
}

fn note(line: &str, acknowledged: &mut BTreeSet<String>) {
    // The harness writes the test's name before the first line.
    if let Some((_, id)) = line.split_once("id ")
        && let Some(id) = id.strip_suffix('\n')
        && id::is_id(id)
    {
        acknowledged.insert(id.to_owned());
    }
}

#[test]
fn two_processes_append_to_one_chain() {
    let temporary = TemporaryFolder::new();
    let folder = temporary.path().join("state");
    let mut children = [child(&folder, Some(300)), child(&folder, Some(300))];
    let history = start(&folder);
    for at in 0..100 {
        history.append(event(&format!("own/{at}"), Phase::Finished, false)).expect("written");
    }
    let outs: Vec<_> = children.iter_mut().map(|child| child.stdout.take().expect("piped")).collect();
    for out in outs {
        std::io::copy(&mut BufReader::new(out), &mut std::io::sink()).expect("read to the end");
    }
    for mut child in children {
        assert!(child.wait().expect("it ended").success());
    }
    let report = verify(&folder).expect("readable");
    assert_eq!((report.ok, report.rows), (true, 700), "{report:?}");
}

async fn call(host: &TestService, caller: &Caller, envelope: Value) -> Outcome {
    host.service.handle(caller, Envelope::from_value(envelope), &CancellationToken::new()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_history_effects_are_refused_and_reads_are_answered_with_a_warning() {
    let scope = TestScope::new();
    std::fs::create_dir_all(scope.dirs.state.parent().expect("it has one")).expect("made");
    std::fs::write(&scope.dirs.state, "a file where the folder should be").expect("written");
    let host = scope.host();
    let caller = Caller::local(Transport::Stdio);
    std::fs::write(host.path("a.txt"), "hello\n").expect("written");
    for envelope in [
        json!({"op": "file.mkdir", "target": "made"}),
        json!({"op": "file.write", "target": "a.txt", "input": {"content": "changed\n"}}),
        json!({"op": "file.delete", "target": "a.txt"}),
        json!({"op": "file.move", "target": "a.txt", "input": {"to": "b.txt"}}),
    ] {
        let failure = call(&host, &caller, envelope.clone()).await.result.expect_err("refused");
        assert_eq!(failure.rule(), Some("no-audit-no-effect"), "{envelope}: {failure}");
    }
    let names: Vec<_> = std::fs::read_dir(host.path("")).expect("listed").flatten().collect();
    assert_eq!(names.len(), 1);
    assert_eq!(std::fs::read_to_string(host.path("a.txt")).expect("kept"), "hello\n");
    let read = call(&host, &caller, json!({"op": "file.read", "target": "a.txt"})).await;
    assert!(read.result.is_ok());
    assert!(
        read.warnings.iter().any(|warning| warning.contains("not in the history")),
        "{:?}",
        read.warnings
    );

    // So does a failure: nobody probes unseen while nothing can be recorded.
    for envelope in
        [json!({"op": "file.read", "target": "missing.txt"}), json!({"scope": "other", "op": "file.read"})]
    {
        let reply = call(&host, &caller, envelope).await.into_reply().into_value();
        assert_eq!(reply["ok"], false, "{reply}");
        assert!(reply["warnings"][0].as_str().is_some_and(|it| it.contains("not in the history")), "{reply}");
    }

    // It heals on its own once the folder can be made.
    std::fs::remove_file(&host.dirs.state).expect("removed");
    eventually_some("changes are made again", async || {
        call(&host, &caller, json!({"op": "file.mkdir", "target": "made"})).await.result.ok()
    })
    .await;
}

/// Secrets, each with the text that holds it; in parts, so that scanners of repositories stay quiet.
fn secrets() -> Vec<(String, String)> {
    let rows: &[(&[&str], &str)] = &[
        (&["gh", "p_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"], "{}"),
        (&["github", "_pat_11ABCDE0000aaaaBBBBcccc_ddddEEEEffffGGGG"], "https://api.example/?q={}&x"),
        (&["glp", "at-a1B2c3D4e5F6g7H8i9J0"], "({})"),
        (&["AK", "IAQ3EGUSOMEFAKEKEY"], "key {}."),
        (&["wJalrXUtnFEMI", "K7MDENGbPxRfiCYzEXAMPLEKEY"], "aws_secret_access_key = {}"),
        (&["xo", "xb-2401234567-abcDEFghiJKL"], "{}"),
        (&["sk_", "live_51Hxyz0123456789abcdef"], "stripe {}"),
        (&["AI", "zaSyA1234567890abcdefghijklmnopqrstu"], "{}"),
        (&["sk", "-proj-abcDEF1234567890ghiJKL0987"], "OPENAI_API_KEY={}"),
        (&["sk", "-ant-api03-abcDEF1234567890ghiJKL-xyz"], "{}"),
        (&["np", "m_abcdefABCDEF0123456789abcdefABCDEF01"], "//registry/:_authToken={}"),
        (&["py", "pi-AgEIcHlwaS5vcmcCJDEyMzQ1Njc4OTAtYWJjZA"], "{}"),
        (&["bw", "l_4f8Kq2mXw91LzTnBvRc7"], "Bearer {}"),
        (&["eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiJib2IifQ.s5wNn1yq_3kQ"], "{}"),
        (&["tr0ub", "4dor&3"], "postgres://app:{}@db.example:5432/x"),
        (&["dXNlcjpw", "YXNzd29yZDEyMw=="], "Authorization: Basic {}"),
        (&["3f1b9c", "d2a7e84f"], "Cookie: theme=dark; sid={}"),
        (&["k3y-v4lue", "-of-mine"], "X-Api-Key: {}"),
        (&["correct-horse", "-battery"], "deploy --password {} --verbose"),
        (&["hunter", "2hunter"], "db_password: '{}'"),
        (&["z3bra!", "crossing"], r#"{"client_secret": "{}", "a": 1}"#),
        (&["JBSWY3", "DPEHPK3PXP"], "otpauth://totp/ACME:bob?secret={}&issuer=ACME"),
        (&["n3trc", "-pass"], "machine example.org login bob password {}"),
        (&["my5ql", "Pass"], "mysql -h db -u root -p{} app"),
        (&["curl", "Pa55"], "curl -u bob:{} https://example.org"),
        (&["MIIEvQIBADANBgkqhkiG9w0BAQEF", "AASCBKcwggSj"], "-----BEGIN PRIVATE KEY-----\n{}\n"),
        (&["q8Zr2LmX7vTn4Kw9", "PbYc3HsJ6dFg1RtE5aQ0"], "unknown kind {} of key"),
    ];
    rows.iter().map(|(parts, text)| (parts.concat(), text.replacen("{}", &parts.concat(), 1))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_reaches_the_disk_by_any_field() {
    let host = TestScope::new().host();
    let secrets = secrets();
    for (_, text) in &secrets {
        let caller = Caller {
            client: Some(format!("client {text}")),
            session: Some(text.clone()),
            ..Caller::local(Transport::Stdio)
        };
        for envelope in [
            json!({"op": "file.read", "target": text}),
            json!({"op": text, "target": "a"}),
            json!({"scope": text, "op": "file.read", "target": "a"}),
            json!({"op": "file.find", "input": {"pattern": text}}),
            json!({"op": "file.search", "input": {"query": text}, "options": {"glob": text}}),
            json!({"op": "file.write", "target": "a.txt", "input": {"content": text}}),
            json!({"op": "file.read", "target": "a.txt", "options": {text.as_str(): text}}),
            json!({"op": "history.timeline", "input": {"query": text}, "options": {"since": text}}),
            json!({text.as_str(): text}),
        ] {
            call(&host, &caller, envelope).await;
        }
    }
    // While the rows are in the log, and after they were written back.
    let state = host.dirs.state.clone();
    assert_no_secret(&state, &secrets);
    let folder = host.into_scope();
    assert_no_secret(&state, &secrets);
    let report = verify(&state).expect("readable");
    assert!(report.ok && report.rows > 200, "{report:?}");
    drop(folder);
}

fn assert_no_secret(folder: &Path, secrets: &[(String, String)]) {
    let mut searched = 0;
    for file in std::fs::read_dir(folder).expect("listed").flatten().filter(|file| file.path().is_file()) {
        let bytes = std::fs::read(file.path()).expect("read");
        searched += bytes.len();
        for (secret, text) in secrets {
            let found = memchr::memmem::find(&bytes, secret.as_bytes());
            assert!(found.is_none(), "a secret is in {}: {text}", file.path().display());
        }
    }
    assert!(searched > 10_000, "{searched} bytes were searched");
}
