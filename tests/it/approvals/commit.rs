//! Where the scope says so, an approval takes over exactly what a command has changed in its preview, and the command does not run again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Instant, SystemTime};

use bailiwick::contract::{Caller, Transport};
use serde_json::{Value, json};
use support::needs::lacks_full_sandbox;
use support::patience::eventually_some;
use support::pty::Pty;
use support::scope::TestScope;
use support::service::{TestService, data};
use support::stdio_client::{StdioClient, outcome};

use super::{approve, ticket};

/// Starts a service whose scope asks about every command, and has the changes of previews taken over.
fn takes_over() -> TestService {
    takes_over_in(json!({}))
}

fn takes_over_in(more: Value) -> TestService {
    let mut policy =
        json!({"sandbox": "full", "shell": "sandboxed", "network": "loopback", "preview": "commit"});
    policy.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    TestScope::new()
        .with_capabilities(&["fs:read", "fs:write", "history:read", "process:manage"])
        .with_field("ask", json!(["command:run"]))
        .with_policy(policy)
        .save()
        .host()
}

fn bash(text: &str) -> Value {
    json!({"op": "command.run", "input": {"command": ["bash", "-c", text]}})
}

/// Asks for a command, and returns its ticket once its changes can be taken over.
async fn ready(host: &TestService, text: &str) -> String {
    let id = ticket(&host.send(bash(text)).await);
    let preview = host.preview(&id).await;
    assert_eq!(preview["commit"]["state"], "ready", "{preview:#}");
    id
}

/// As [`ready`], and approves them.
async fn approved(host: &TestService, text: &str) -> String {
    let id = ready(host, text).await;
    approve(host, &[&id, "--once"]);
    id
}

/// Kind and mode, content or target, and the time of a file.
type Facts = (char, u32, Vec<u8>, Option<SystemTime>);

/// Describes all that is below a folder.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Facts> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(at) = todo.pop() {
        for entry in fs::read_dir(&at).expect("it can be read") {
            let path = entry.expect("an entry").path();
            let facts = fs::symlink_metadata(&path).expect("it is there");
            let mode = facts.permissions().mode() & 0o7777;
            let described = if facts.is_symlink() {
                let target = fs::read_link(&path).expect("a link");
                ('l', 0, target.to_string_lossy().into_owned().into_bytes(), None)
            } else if facts.is_dir() {
                todo.push(path.clone());
                ('d', mode, Vec::new(), None)
            } else {
                ('f', mode, fs::read(&path).expect("a file"), facts.modified().ok())
            };
            found.insert(path.strip_prefix(folder).expect("below it").to_owned(), described);
        }
    }
    found
}

/// As [`tree`], without times.
fn timeless(folder: &Path) -> BTreeMap<PathBuf, Facts> {
    tree(folder)
        .into_iter()
        .map(|(path, (kind, mode, content, _))| (path, (kind, mode, content, None)))
        .collect()
}

/// Returns the files with changes of previews.
fn records(host: &TestService) -> Vec<PathBuf> {
    let entries = fs::read_dir(host.dirs.state.join("approvals")).expect("the folder of approvals");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|it| it == "changes")).collect()
}

fn make_folder(host: &TestService) {
    host.write("notes.txt", "one\ntwo\nthree\n");
    host.write("script.sh", "#!/bin/sh\n");
    host.write("old/gone.txt", "gone\n");
    host.write("old/deep/er/file", "deep\n");
    host.write("src/a.txt", "a\n");
    host.write("src/b/c.txt", "c\n");
    symlink("src/a.txt", host.path("link")).expect("made");
}

/// Commands, each of which is taken over and taken back.
const COMMANDS: [&str; 16] = [
    "echo fresh > new.txt",
    "mkdir -p made/within && chmod 700 made",
    "echo more >> notes.txt",
    "sed -i s/two/2/ notes.txt",
    "rm notes.txt",
    "rm -rf old",
    "chmod 755 script.sh && chmod 500 old",
    "ln -s src/b into && ln -sfn notes.txt link",
    "mv src moved",
    "mv notes.txt src/notes.md",
    "rm -r src && echo x > src",
    "rm notes.txt && mkdir notes.txt && echo x > notes.txt/x",
    "rm -rf src && mkdir src && echo other > src/a.txt",
    "for i in $(seq 60); do mkdir -p many/$i; head -c 5000 /dev/zero > many/$i/file; done",
    "echo a > one && ln one two && rm link",
    "printf 'said\\n'; printf 'loud\\n' >&2; truncate -s 0 src/a.txt; exit 7",
];

#[tokio::test(flavor = "multi_thread")]
async fn over_stdio_each_command_leaves_the_tree_of_its_preview_and_its_undo_the_one_before() {
    if lacks_full_sandbox() {
        return;
    }
    let host = takes_over();
    make_folder(&host);
    let mut program = host.mcp();
    let mut client = StdioClient::of(&mut program.0);
    client.initialize("2025-06-18").await;
    let mut call = async |request: Value| outcome(&client.call("computer_operation", request).await);
    for text in COMMANDS {
        let before = tree(&host.root());
        // The same command for real, in a copy.
        let copy = host.beside("copy");
        let run = |command: &mut Command| command.stderr(Stdio::null()).output().expect("it runs");
        assert!(run(Command::new("cp").arg("-a").arg(host.root()).arg(&copy)).status.success());
        let ran = run(Command::new("bash").args(["-c", text]).current_dir(&copy));
        let expected = timeless(&copy);
        assert!(run(Command::new("chmod").args(["-R", "u+rwX"]).arg(&copy)).status.success());
        fs::remove_dir_all(&copy).expect("removed");

        let id = ticket(&call(bash(text)).await);
        let shown = host.preview(&id).await;
        assert_eq!(shown["commit"]["state"], "ready", "{text}: {shown:#}");
        assert_eq!(tree(&host.root()), before, "{text}: nothing has changed");
        approve(&host, &[&id, "--once"]);
        let answer = call(bash(text)).await;
        let result = data(&answer);
        assert_eq!(result["committed"], true, "{text}: {result:#}");
        assert_eq!(result["exitCode"], json!(ran.status.code()), "{text}: {result:#}");
        assert_eq!(result["stdout"], String::from_utf8_lossy(&ran.stdout).as_ref(), "{text}");
        for count in ["created", "changed", "removed"] {
            assert_eq!(result["changes"][count], shown[count], "{text}: {result:#}");
        }
        assert_eq!(timeless(&host.root()), expected, "{text}");
        assert_eq!(records(&host), Vec::<PathBuf>::new(), "{text}: what was used is gone");
        let undo = json!({"op": "history.undo", "input": {"operation": answer["operationId"]}});
        data(&call(undo).await);
        assert_eq!(tree(&host.root()), before, "{text}: undone");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_in_a_repository_is_taken_over() {
    if lacks_full_sandbox() {
        return;
    }
    let host = takes_over();
    host.write("notes.txt", "one\n");
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.args(words).current_dir(host.root());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.env("GIT_OPTIONAL_LOCKS", "0");
        let output = command.output().expect("git runs");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    git(&["init", "-q", "-b", "main"]);
    for (name, value) in [("user.name", "A"), ("user.email", "a@example.test"), ("gc.auto", "0")] {
        git(&["config", name, value]);
    }
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "first"]);
    let first = git(&["rev-parse", "HEAD"]);
    let text = "echo two >> notes.txt && git add -A && git commit -q -m second && git tag done";
    approved(&host, text).await;
    let answer = host.send(bash(text)).await;
    assert_eq!((&data(&answer)["committed"], &data(&answer)["exitCode"]), (&json!(true), &json!(0)));
    git(&["fsck", "--full", "--strict"]);
    assert_eq!(git(&["log", "--format=%s"]), "second\nfirst\n");
    assert_eq!(git(&["status", "--short"]), "");
    let undo = json!({"op": "history.undo", "input": {"operation": answer["operationId"]}});
    data(&host.send(undo).await);
    assert_eq!(git(&["rev-parse", "HEAD"]), first);
    assert_eq!(git(&["tag"]), "");
    assert_eq!(fs::read_to_string(host.path("notes.txt")).expect("read"), "one\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_changed_since_the_preview_is_a_conflict_and_nothing_is_touched() {
    if lacks_full_sandbox() {
        return;
    }
    let text = "echo new > made.txt; sed -i s/two/2/ notes.txt; rm -r old; echo b > src/b/c.txt";
    let outside = |host: &TestService| host.beside("outside");
    type Meddle = fn(&TestService);
    let meddles: [(&str, Meddle); 7] = [
        ("notes.txt", |host| host.write("notes.txt", "one\ntwo\nthree, by the user\n")),
        ("notes.txt", |host| {
            fs::remove_file(host.path("notes.txt")).expect("removed");
            host.write("notes.txt", "one\n2\nthree\n");
        }),
        ("made.txt", |host| host.write("made.txt", "by the user\n")),
        ("old/kept.txt", |host| host.write("old/kept.txt", "by the user\n")),
        ("src/b/c.txt", |host| fs::remove_file(host.path("src/b/c.txt")).expect("removed")),
        // A link that leads out, where a folder was.
        ("src/b/c.txt", |host| {
            fs::remove_dir_all(host.path("src/b")).expect("removed");
            symlink(host.beside("outside"), host.path("src/b")).expect("made");
        }),
        ("notes.txt", |host| {
            fs::set_permissions(host.path("notes.txt"), fs::Permissions::from_mode(0o600)).expect("set");
        }),
    ];
    for (path, meddle) in meddles {
        let host = takes_over();
        make_folder(&host);
        fs::create_dir(outside(&host)).expect("made");
        fs::write(outside(&host).join("c.txt"), "c\n").expect("written");
        approved(&host, text).await;
        meddle(&host);
        let before = tree(&host.root());
        let answer = host.send(bash(text)).await;
        assert_eq!(answer["error"]["code"], "conflict", "{path}: {answer:#}");
        assert_eq!(answer["error"]["details"]["rule"], "changed-since-preview", "{answer:#}");
        assert_eq!(answer["error"]["details"]["path"], path, "{answer:#}");
        assert!(answer["error"]["hints"].to_string().contains("a new preview"), "{answer:#}");
        assert_eq!(tree(&host.root()), before, "{path}");
        assert_eq!(fs::read_to_string(outside(&host).join("c.txt")).expect("read"), "c\n");
        assert_eq!(records(&host), Vec::<PathBuf>::new());
        // It asks again, with a preview of the folder as it is.
        ticket(&host.send(bash(text)).await);
    }
}

/// Returns the process that sleeps for a time.
fn sleeping(time: &str) -> Option<String> {
    let words = format!("sleep\0{time}\0");
    let processes = fs::read_dir("/proc").expect("the processes").flatten();
    let mut ids = processes.filter_map(|entry| entry.file_name().into_string().ok());
    ids.find(|id| fs::read(format!("/proc/{id}/cmdline")).is_ok_and(|it| it == words.as_bytes()))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_changes_while_the_preview_runs_is_never_overwritten() {
    if lacks_full_sandbox() {
        return;
    }
    let host = takes_over();
    make_folder(&host);
    // It has written, and waits until it is woken.
    let time = format!("1000.{}", std::process::id());
    let id = ticket(&host.send(bash(&format!("echo more >> notes.txt; sleep {time}; true"))).await);
    let sleeper = eventually_some("it has written", async || sleeping(&time)).await;
    host.write("notes.txt", "by the user\n");
    assert!(Command::new("kill").arg(sleeper).status().expect("it runs").success());
    let preview = host.preview(&id).await;
    assert_eq!(preview["commit"]["state"], "unavailable", "{preview:#}");
    let why = preview["commit"]["why"].as_str().expect("a reason");
    assert!(why.contains("`notes.txt` was changed while the preview ran"), "{why}");
    assert_eq!(records(&host), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_preview_may_bring_is_named_before_it_is_approved() {
    if lacks_full_sandbox() {
        return;
    }
    let host = takes_over_in(json!({"closedFiles": ["private/**"]}));
    make_folder(&host);
    host.write("hard-one", "x\n");
    fs::hard_link(host.path("hard-one"), host.path("hard-two")).expect("linked");
    for (text, why) in [
        ("ln -s /etc/passwd out", "leads out"),
        ("ln -s ../../x src/out", "leads out"),
        ("git init -q sub", "may not write"),
        ("git init -q --bare bare", "which Git runs"),
        ("mkfifo fifo", "no file, folder or link"),
        ("mkdir private; echo x > private/x", "may not write"),
        ("echo x >> hard-one", "several names"),
        ("ln notes.txt further", "further name"),
        ("rm hard-one", "further name"),
        ("chmod 711 .", "the scope's folder"),
        ("mkdir sticky; chmod 1777 sticky", "sticky"),
        ("head -c 70000000 /dev/zero > large", "more than 64 MiB"),
        ("for i in $(seq 10001); do : > f$i; done", "more than 10000 paths"),
    ] {
        let before = tree(&host.root());
        let id = ticket(&host.send(bash(text)).await);
        let preview = host.preview(&id).await;
        assert_eq!(preview["commit"]["state"], "unavailable", "{text}: {preview:#}");
        assert!(preview["commit"]["why"].as_str().is_some_and(|it| it.contains(why)), "{text}: {preview:#}");
        assert_eq!(records(&host), Vec::<PathBuf>::new(), "{text}");
        assert_eq!(tree(&host.root()), before, "{text}");
        approve(&host, &["--deny", &id]);
    }
    // An approval of it says that the command runs for real, and it does.
    let text = "mkfifo fifo";
    let host = takes_over();
    let id = ticket(&host.send(bash(text)).await);
    host.preview(&id).await;
    approve(&host, &[&id, "--once"]);
    let answer = host.send(bash(text)).await;
    assert_eq!(data(&answer).get("committed"), None, "{answer:#}");
    assert!(host.path("fifo").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_that_were_altered_on_the_disk_are_refused() {
    if lacks_full_sandbox() {
        return;
    }
    let text = "echo taken-over > made.txt; rm notes.txt";
    type Alter = fn(&Path);
    let alterations: [Alter; 6] = [
        |path| {
            let text = String::from_utf8_lossy(&fs::read(path).expect("read")).contains("taken-over");
            assert!(text, "the contents are in it");
            let mut bytes = fs::read(path).expect("read");
            bytes[0] ^= 1;
            fs::write(path, bytes).expect("written");
        },
        |path| {
            let mut bytes = fs::read(path).expect("read");
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            fs::write(path, bytes).expect("written");
        },
        |path| {
            let bytes = fs::read(path).expect("read");
            fs::write(path, &bytes[..bytes.len() / 2]).expect("written");
        },
        |path| fs::write(path, "").expect("written"),
        |path| fs::remove_file(path).expect("removed"),
        |path| {
            let other = path.with_extension("other");
            fs::rename(path, &other).expect("renamed");
            symlink(other, path).expect("made");
        },
    ];
    for (at, alter) in alterations.into_iter().enumerate() {
        let host = takes_over();
        make_folder(&host);
        approved(&host, text).await;
        let record = records(&host).pop().expect("it is kept");
        assert_eq!(fs::metadata(&record).expect("facts").permissions().mode() & 0o777, 0o600);
        alter(&record);
        let before = tree(&host.root());
        let answer = host.send(bash(text)).await;
        assert_eq!(answer["error"]["details"]["rule"], "changes-not-kept", "{at}: {answer:#}");
        assert_eq!(tree(&host.root()), before, "{at}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_of_changes_is_for_one_caller_and_one_use_and_survives_a_restart() {
    if lacks_full_sandbox() {
        return;
    }
    let mut host = takes_over();
    make_folder(&host);
    let text = "echo $RANDOM$RANDOM > made.txt";
    let id = ready(&host, text).await;
    host.restart();
    approve(&host, &[&id, "--once"]);
    host.restart();
    let foreign =
        Caller { token: Some("01JD0000000000000000000001".to_owned()), ..Caller::local(Transport::Http) };
    let other = ticket(&host.send_as(&foreign, bash(text)).await);
    assert_ne!(other, id);
    assert!(!host.path("made.txt").exists());
    assert_eq!(data(&host.send(bash(text)).await)["committed"], true);
    fs::remove_file(host.path("made.txt")).expect("it is there");
    let again = ticket(&host.send(bash(text)).await);
    assert_ne!(again, id, "a replay is a question of its own");
    assert!(!host.path("made.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_go_with_their_ticket() {
    if lacks_full_sandbox() {
        return;
    }
    let mut host = takes_over();
    let id = ready(&host, "echo one > one").await;
    assert_eq!(records(&host).len(), 1);
    approve(&host, &["--deny", &id]);
    assert_eq!(records(&host), Vec::<PathBuf>::new(), "refused");
    let id = ready(&host, "echo two > two").await;
    approve(&host, &[&id, "--for", "1m"]);
    assert_eq!(records(&host), Vec::<PathBuf>::new(), "approved to run for real");
    let answer = host.send(bash("echo two > two")).await;
    assert_eq!(data(&answer).get("committed"), None, "{answer:#}");
    // What a killed service has left, and what belongs to no ticket.
    let id = ready(&host, "echo three > three").await;
    let folder = host.dirs.state.join("approvals");
    let left = folder.join("01JD0000000000000000000001.changes");
    fs::write(&left, "x").expect("written");
    let other = ticket(&host.send(bash("mkfifo fifo")).await);
    host.preview(&other).await;
    let cut_off = folder.join(format!("{other}.changes"));
    fs::write(&cut_off, "x").expect("written");
    host.restart();
    assert_eq!(host.waiting().len(), 2);
    assert_eq!(records(&host), [folder.join(format!("{id}.changes"))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_is_approved_before_its_changes_are_known() {
    if lacks_full_sandbox() {
        return;
    }
    let host = takes_over();
    // Of one caller one preview runs at a time.
    let first = ticket(&host.send(bash("sleep 1000")).await);
    let text = "echo made > made.txt";
    let id = ticket(&host.send(bash(text)).await);
    let early = host.cli(&["approve", &id, "--once"]);
    assert_eq!(early["error"]["code"], "conflict", "{early:#}");
    assert!(early["error"]["message"].as_str().is_some_and(|it| it.contains("has not ended")), "{early:#}");
    ticket(&host.send(bash(text)).await);
    approve(&host, &["--deny", &first]);
    host.preview(&id).await;
    approve(&host, &[&id, "--once"]);
    assert_eq!(data(&host.send(bash(text)).await)["committed"], true);
    assert_eq!(fs::read_to_string(host.path("made.txt")).expect("read"), "made\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_terminal_says_what_a_yes_does() {
    if lacks_full_sandbox() {
        return;
    }
    let host = takes_over();
    let id = ready(&host, "echo fresh > new.txt").await;
    let mut terminal = Pty::start(&host.command(&["approve", &id]), 40, 100);
    terminal.answer("later > ", "y\r");
    let (_, printed) = terminal.ended();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    for line in [
        "approval  takes over exactly these changes",
        "y: take over these changes",
        "to take over the changes",
    ] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
    assert_eq!(data(&host.send(bash("echo fresh > new.txt")).await)["committed"], true);
    let log = host.cli(&["log", "--limit", "20"]).to_string();
    assert!(log.contains("taken over from its preview"), "{log}");
    let id = ticket(&host.send(bash("mkfifo fifo")).await);
    host.preview(&id).await;
    let mut terminal = Pty::start(&host.command(&["approve", &id]), 40, 100);
    terminal.answer("later > ", "n\r");
    let (_, printed) = terminal.ended();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    assert!(printed.contains("runs the command for real, since"), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_that_were_narrowed_since_count() {
    if lacks_full_sandbox() {
        return;
    }
    let host = takes_over();
    host.write("docs/page.txt", "a page\n");
    let text = "f=docs; echo more >> $f/page.txt";
    approved(&host, text).await;
    let done = host.cli(&["scope", "allow", "app", "--files", "docs/**", "--ask"]);
    assert_eq!(done["ok"], true, "{done:#}");
    // By another service, which has read the new rules.
    let input = json!({"command": ["bash", "-c", text]}).to_string();
    let answer = host.cli(&["call", "command.run", "--scope", "app", "--input", &input]);
    assert_eq!(answer["error"]["code"], "permission_denied", "{answer:#}");
    assert_eq!(fs::read_to_string(host.path("docs/page.txt")).expect("read"), "a page\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_is_killed_leaves_all_of_it_or_nothing() {
    const FILES: usize = 200;
    const KILLS: u32 = 5;
    if lacks_full_sandbox() {
        return;
    }
    let host = takes_over();
    for number in 0..FILES {
        host.write(format!("dir/{}/{number}", number % 7), format!("{number}\n"));
    }
    host.write("changed", "before\n");
    let before = tree(&host.root());
    let text = |kill: u32| {
        format!(
            "rm -r dir; echo after >> changed; mkdir new; for i in $(seq 200); do echo $i > new/$i; done; : {kill}"
        )
    };
    let begin = |kill: u32| {
        let input = json!({"command": ["bash", "-c", text(kill)]}).to_string();
        let mut command = host.command(&["call", "command.run", "--scope", "app", "--input", &input]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
    };
    let undo = || {
        let undone = host.cli(&["undo", "--yes"]);
        assert_eq!(undone["ok"], true, "{undone:#}");
        assert_eq!(tree(&host.root()), before);
    };
    approved(&host, &text(KILLS)).await;
    let began = Instant::now();
    assert!(begin(KILLS).wait().expect("it ends").success());
    let whole = began.elapsed();
    let after = timeless(&host.root());
    undo();
    for kill in 0..KILLS {
        approved(&host, &text(kill)).await;
        let mut child = begin(kill);
        std::thread::sleep(whole * (kill + 1) / (KILLS + 1));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let look = host.cli(&["call", "file.stat", "changed"]);
        assert_eq!(look["ok"], true, "{look}");
        let is_before = tree(&host.root()) == before;
        assert!(is_before || timeless(&host.root()) == after, "kill {kill}");
        if !is_before {
            undo();
        }
        // Where it was killed before it had used the approval, another request may.
        let again = host.send(bash(&text(kill))).await;
        if again["ok"] == true {
            assert_eq!(data(&again)["committed"], true, "{again:#}");
            undo();
        } else {
            ticket(&again);
        }
    }
}
