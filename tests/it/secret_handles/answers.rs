//! No operation that answers with the content of files or the output of programs shows a secret.

use bailiwick::operations::FAMILIES;
use bailiwick::registry::Registry;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;

/// What every file of the sweep holds: a known form, a named value, and a value that is known by then alone.
fn token() -> String {
    ["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat()
}

const NAMED: &str = "correct-horse-battery-77";

fn source() -> String {
    format!("def connect():\n    password = \"{NAMED}\"\n    return password\n\n\nTOKEN = \"{}\"\n", token())
}

async fn prepared(secrets: &str) -> TestService {
    let host = TestScope::new()
        .with_capabilities(&[
            "fs:read",
            "fs:write",
            "search:read",
            "git:read",
            "git:write",
            "command:run",
            "package:run",
            "process:manage",
            "history:read",
        ])
        .with_policy(json!({
            "secrets": secrets,
            "allowedCommands": ["git *", "cat *", "printf *", "make *", "sh *"],
            "network": "loopback",
        }))
        .save()
        .host();
    host.write("app.py", source());
    host.write("README.md", format!("# App\n\nThe token is {}\n", token()));
    host.write("Makefile", format!("# {}\nshow:\n\t@cat app.py\n", token()));
    host.write("report.pdf", document());
    for words in [
        &["init", "-q", "."][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@example.com"],
    ] {
        git(&host.root(), words);
    }
    host.write("old.py", source());
    git(&host.root(), &["add", "old.py"]);
    git(&host.root(), &["commit", "-q", "-m", &format!("Add the token {}", token())]);
    host.data(json!({"op": "git.stage", "input": {"paths": ["app.py"]}})).await;
    host
}

fn git(folder: &std::path::Path, words: &[&str]) {
    let done =
        std::process::Command::new("git").arg("-C").arg(folder).args(words).output().expect("Git runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Returns a PDF whose text has a secret.
fn document() -> Vec<u8> {
    let page = format!("BT /F1 12 Tf 20 100 Td (password = {NAMED}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{page}\nendstream", page.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let (mut bytes, mut places) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (at, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes += &format!("{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let table = bytes.len();
    bytes += &format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        bytes += &format!("{place:010} 00000 n \n");
    }
    bytes += &format!("trailer << /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1);
    bytes.into_bytes()
}

/// Requests whose answers hold what is in the files.
fn requests() -> Vec<Value> {
    vec![
        json!({"op": "file.read", "target": "app.py"}),
        json!({"op": "file.read", "target": "app.py", "options": {"startLine": 2, "endLine": 2}}),
        json!({"op": "file.read", "target": "app.py", "options": {"lineNumbers": true}}),
        json!({"op": "file.read", "target": "app.py", "options": {"anchors": true}}),
        json!({"op": "file.read_many", "input": {"paths": ["app.py", "README.md"]}}),
        json!({"op": "file.search", "input": {"query": "password"}, "options": {"after": 2}}),
        json!({"op": "file.search", "input": {"query": "correct-horse"}}),
        json!({"op": "git.diff", "options": {"staged": true}}),
        json!({"op": "git.status"}),
        json!({"op": "git.show"}),
        json!({"op": "git.show", "target": "old.py", "options": {"content": true}}),
        json!({"op": "git.show", "target": "old.py", "options": {"content": true, "base64": true}}),
        json!({"op": "git.show", "target": "old.py", "options": {"content": true, "base64": "true"}}),
        json!({"op": "git.log"}),
        json!({"op": "git.blame", "target": "old.py"}),
        json!({"op": "git.changes"}),
        json!({"op": "git.commit", "input": {"message": format!("The token is {}", token())}, "options": {"dryRun": true}}),
        json!({"op": "file.read", "target": "report.pdf"}),
        json!({"op": "file.read", "target": "app.py", "options": {"encoding": "base64"}}),
        json!({"op": "file.read_many", "input": {"paths": ["app.py"]}, "options": {"encoding": "base64"}}),
        json!({"op": "code.context"}),
        json!({"op": "code.outline", "target": "app.py"}),
        json!({"op": "code.read_symbol", "input": {"symbol": "connect"}}),
        json!({"op": "code.search_symbols", "input": {"query": "connect"}}),
        json!({"op": "code.references", "input": {"symbol": "password"}}),
        json!({"op": "package.scripts"}),
        json!({"op": "package.run", "input": {"script": "show"}}),
        json!({"op": "command.run", "input": {"command": ["cat", "app.py", "README.md"]}}),
        json!({"op": "command.run", "input": {"command": ["printf", "%s", NAMED]}}),
        json!({"op": "command.run", "input": {"command": ["cat", "app.py"]}, "options": {"detail": "full"}}),
        json!({"op": "batch.run", "input": {"steps": [{"op": "file.read", "target": "app.py"}]}}),
        json!({"op": "file.patch", "target": "app.py", "options": {"dryRun": true},
            "input": {"edits": [{"old": "return password", "new": "return password + ''"}]}}),
        json!({"op": "file.patch", "target": "app.py",
            "input": {"edits": [{"old": "    password = 'wrong'\n    return password", "new": "x"}]}}),
        json!({"op": "file.write", "target": "bad.py", "input": {"content": format!("def f(:\n    x = '{NAMED}'\n")}}),
        json!({"op": "file.list"}),
        json!({"op": "file.tree"}),
        json!({"op": "file.find", "input": {"pattern": "*.py"}}),
        json!({"op": "file.stat", "target": "app.py"}),
        json!({"op": "git.branch_list"}),
        json!({"op": "git.worktree_list"}),
        json!({"op": "history.sessions"}),
        json!({"op": "history.connections"}),
        json!({"op": "history.timeline"}),
        json!({"op": "history.last"}),
        json!({"op": "file.history", "target": "app.py"}),
    ]
}

async fn shows_no_secret_anywhere(secrets: &str, stands_for: &str) {
    let host = prepared(secrets).await;
    let mut shown = 0;
    let process = host.start(json!(["cat", "app.py", "README.md"])).await;
    host.over(&process).await;
    let mut requests = requests();
    requests.push(json!({"op": "process.read", "target": process}));
    requests.push(json!({"op": "process.list"}));
    requests.push(json!({"op": "process.wait", "input": {"processId": process, "until": "exit"}}));
    requests.push(
        json!({"op": "process.wait", "input": {"processId": process, "until": "text", "text": "password"}}),
    );
    for request in requests {
        let answer = host.send(request.clone()).await.to_string();
        let bytes = STANDARD.encode(source());
        let forms = [NAMED, &token(), &bytes[..bytes.len() - 4]];
        assert!(forms.iter().all(|it| !answer.contains(it)), "{request}: {answer}");
        shown += usize::from(answer.contains(stands_for));
    }
    assert!(shown >= 18, "only {shown} answers had a secret");
}

/// Operations that answer with names, counts and ids, or with what one of the sweep answers.
const WITHOUT_CONTENT: &[&str] = &[
    "command.start",
    "file.copy",
    "file.create",
    "file.delete",
    "file.mkdir",
    "file.move",
    "file.restore",
    "git.stage",
    "git.unstage",
    "git.worktree_create",
    "git.worktree_remove",
    "history.failed_replay",
    "history.get",
    "history.undo",
    "package.start",
    "process.resize",
    "process.start",
    "process.stop",
    "process.write",
];

#[test]
fn the_sweep_has_every_operation_that_answers_with_content_of_files_and_programs() {
    let swept = requests();
    let later = ["process.read", "process.list", "process.wait"];
    let families = ["batch.", "code.", "command.", "file.", "git.", "history.", "package.", "process."];
    let registry = Registry::new(FAMILIES);
    let missing: Vec<&str> = registry
        .operations()
        .filter(|entry| entry.alias_of.is_none())
        .map(|entry| entry.spec.name)
        .filter(|name| families.iter().any(|family| name.starts_with(family)))
        .filter(|name| !WITHOUT_CONTENT.contains(name) && !later.contains(name))
        .filter(|name| !swept.iter().any(|request| request["op"] == *name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_shows_a_secret_where_handles_stand_for_them() {
    if support::needs::lacks_full_sandbox() {
        return support::needs::report_left_out("a full sandbox");
    }
    shows_no_secret_anywhere("handles", "{{secret:").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_shows_a_secret_where_they_are_redacted() {
    if support::needs::lacks_full_sandbox() {
        return support::needs::report_left_out("a full sandbox");
    }
    shows_no_secret_anywhere("redact", "[redacted:secret:").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_says_nothing_shows_what_there_is() {
    let host = TestScope::new().save().host();
    host.write("app.py", source());
    let answer = host.data(json!({"op": "file.read", "target": "app.py"})).await;
    assert_eq!(answer["content"], source());
    let literal = "x = {{secret:db#12345678}}\n";
    host.data(json!({"op": "file.write", "target": "a.txt", "input": {"content": literal}})).await;
    assert_eq!(fs::read_to_string(host.path("a.txt")).expect("a file"), literal);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_that_the_config_gives_to_commands_is_shown_by_its_handle() {
    let host = TestScope::new()
        .with_policy(json!({"secrets": "handles", "environment": {"DEPLOY_TOKEN": "configured-value-1"}}))
        .save()
        .host();
    host.write("notes.txt", "it is configured-value-1, says the log\n");
    let answer = host.data(json!({"op": "file.read", "target": "notes.txt"})).await;
    let content = answer["content"].as_str().expect("text");
    assert!(content.starts_with("it is {{secret:deploy_token#"), "{content}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_scope_says_what_its_answers_show() {
    let host = TestScope::new().save();
    host.save_config();
    for (words, shown) in [
        (vec!["scope", "edit", "app", "--secrets", "handles"], "with your approval only"),
        (vec!["scope", "edit", "app", "--secret-commands", "allow"], "in the commands that they run"),
        (vec!["scope", "edit", "app", "--secrets", "redact"], "marks in their place"),
    ] {
        let done = host.command(&words).output().expect("it runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let show = host.command(&["scope", "show", "app"]).output().expect("it runs");
        let show = String::from_utf8_lossy(&show.stdout).into_owned();
        assert!(show.contains(shown), "{shown}: {show}");
    }
}
