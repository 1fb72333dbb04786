//! What a command would do is shown before it is approved, and nothing of it stays.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use support::needs::lacks_full_sandbox;
use support::patience::eventually_some;
use support::pty::Pty;
use support::scope::TestScope;
use support::service::{TestService, data};

use super::{approve, ticket};

/// Starts a service whose scope runs any text for bash in a full sandbox, and asks about all of them.
fn asks_about_everything(network: &str) -> TestService {
    TestScope::new()
        .with_capabilities(&["fs:read", "fs:write", "process:manage", "history:read"])
        .with_field("ask", json!(["command:run"]))
        .with_policy(json!({"sandbox": "full", "shell": "sandboxed", "network": network}))
        .save()
        .host()
}

fn bash(text: &str) -> Value {
    json!({"op": "command.run", "input": {"command": ["bash", "-c", text]}})
}

/// Asks for a command, and returns its ticket and what its preview has shown.
async fn preview_of(host: &TestService, text: &str) -> (String, Value) {
    preview_of_request(host, bash(text)).await
}

async fn preview_of_request(host: &TestService, request: Value) -> (String, Value) {
    let id = ticket(&host.send(request).await);
    let preview = host.preview(&id).await;
    (id, preview)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_ticket_shows_what_the_command_would_do_and_nothing_of_it_stays() {
    if lacks_full_sandbox() {
        return;
    }
    let host = asks_about_everything("none");
    host.write("notes.txt", "one\ntwo\nthree\n");
    host.write("old/gone.txt", "gone\n");
    let text = "sed -i s/two/2/ notes.txt; rm -r old; mkdir new; echo fresh > new/a.txt; echo kept > ~/mark; \
                echo said; echo loud >&2; exit 3";
    let (id, preview) = preview_of(&host, text).await;
    assert_eq!(preview["state"], "done", "{preview:#}");
    assert_eq!(preview["exitCode"], 3);
    let counts = ["created", "changed", "removed"].map(|name| preview[name].as_u64().expect("a count"));
    assert_eq!(counts, [2, 1, 2], "{preview:#}");
    let paths: Vec<String> = preview["paths"]
        .as_array()
        .expect("paths")
        .iter()
        .map(|it| {
            format!("{} {}", it["change"].as_str().expect("a word"), it["path"].as_str().expect("a path"))
        })
        .collect();
    assert_eq!(
        paths,
        ["created new/", "created new/a.txt", "changed notes.txt", "removed old/", "removed old/gone.txt"]
    );
    let diff = preview["diff"].as_str().expect("a diff");
    for line in ["-two", "+2", "+fresh", "-gone"] {
        assert!(diff.lines().any(|it| it == line), "{line}: {diff}");
    }
    assert_eq!(preview["output"], "said\nloud\n");
    assert_eq!(fs::read_to_string(host.path("notes.txt")).expect("read"), "one\ntwo\nthree\n");
    assert!(host.path("old/gone.txt").exists() && !host.path("new").exists());

    approve(&host, &[&id, "--once"]);
    let answer = host.send(bash(text)).await;
    let ran = data(&answer);
    assert_eq!(ran["exitCode"], 3, "{ran:#}");
    assert_eq!(fs::read_to_string(host.path("new/a.txt")).expect("read"), "fresh\n");
    assert!(!host.path("old").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_command_makes_passes_for_a_stand_in() {
    if lacks_full_sandbox() {
        return;
    }
    let host = asks_about_everything("none");
    host.write("build.sh", "make\n");
    host.write("folder/a.txt", "a\n");
    // The time by which stand-ins for protected names are marked.
    let text = "echo evil > build.sh; echo evil > new.sh; echo evil > folder/a.txt; touch -d @946684806 build.sh new.sh folder";
    let (_, preview) = preview_of(&host, text).await;
    assert_eq!(preview["exitCode"], 0, "{preview:#}");
    let paths = preview["paths"].to_string();
    for name in ["build.sh", "new.sh", "folder/a.txt"] {
        assert!(paths.contains(name), "{name}: {preview:#}");
    }
    assert!(!paths.contains(".git"), "stand-ins are not shown: {preview:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_terminal_shows_the_preview_before_it_asks() {
    if lacks_full_sandbox() {
        return;
    }
    let host = asks_about_everything("none");
    let text = "echo fresh > new.txt; printf '\\033[2Jsaid\\n'; printf '\\033[2J\\n' > odd.txt; exit 3";
    let (id, _) = preview_of(&host, text).await;
    let mut terminal = Pty::start(&host.command(&["approve", &id]), 40, 100);
    terminal.answer("later > ", "n\r");
    let (_, printed) = terminal.ended();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let screen = printed.split("later > ").next().expect("what is before the question");
    for line in [
        "preview   exit 3, 2 created, 0 changed, 0 removed",
        "paths     created new.txt",
        "| +fresh",
        "prints    | said",
    ] {
        assert!(screen.contains(line), "{line}: {screen}");
    }
    assert!(!screen.contains("\x1b[2J"), "{screen:?}");
    assert!(!host.path("new.txt").exists() && host.waiting().is_empty());
}

/// A script that tries to leave something behind in every way that a command has, and prints what worked outside.
const LEAVES: &str = r#"
echo changed > notes.txt; echo more >> hard-one; chmod 777 notes.txt; touch -d 2001-01-01 other.txt
mv folder moved; ln -s /etc/passwd link; mkfifo fifo; ln other.txt third-name
python3 - <<'END'
import mmap, os
with open('mapped.bin', 'r+b') as file:
    with mmap.mmap(file.fileno(), 0) as view:
        view[0:4] = b'MAP!'
        view.flush()
for path in ['.git/hooks/post-checkout', '.git/config']:
    try:
        open(path, 'a').write('x')
    except OSError:
        pass
for call in [lambda: os.mknod('device', 0o20600, os.makedev(1, 3)),
             lambda: os.setxattr('notes.txt', 'user.x', b'y'),
             lambda: os.setxattr('.', 'user.overlay.opaque', b'y')]:
    try:
        call()
    except OSError:
        pass
END
echo mark > ~/mark; echo mark > /tmp/mark; echo mark > /dev/shm/mark
(sleep 1000 &) ; setsid sleep 1000 &
exit 0
"#;

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_a_preview_stays() {
    if lacks_full_sandbox() {
        return;
    }
    let host = asks_about_everything("none");
    for name in ["notes.txt", "other.txt", "mapped.bin", "hard-one", "folder/within.txt"] {
        host.write(name, "as it was\n");
    }
    fs::create_dir_all(host.path(".git/hooks")).expect("made");
    host.write(".git/config", "[core]\n");
    host.write(".git/HEAD", "ref: refs/heads/main\n");
    fs::hard_link(host.path("hard-one"), host.path("hard-two")).expect("linked");
    let before = everything_below(&host.root());
    let (_, preview) = preview_of(&host, LEAVES).await;
    assert_eq!((&preview["state"], &preview["exitCode"]), (&json!("done"), &json!(0)), "{preview:#}");
    assert!(preview["changed"].as_u64() > Some(2), "{preview:#}");
    assert_eq!(everything_below(&host.root()), before);
    let home = host.dirs.state.join("homes/scope-app");
    assert!(!home.join("mark").exists(), "the private home stays as it was, too");
}

/// Returns all that is below a folder, with modes, times and contents.
fn everything_below(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(at) = todo.pop() {
        for entry in fs::read_dir(&at).expect("read") {
            let path = entry.expect("an entry").path();
            let facts = fs::symlink_metadata(&path).expect("it is there");
            let content = if facts.is_file() { fs::read(&path).expect("read") } else { Vec::new() };
            let modified = facts.modified().expect("a time");
            let kind = (facts.file_type(), facts.permissions().mode(), facts.nlink());
            found.insert(path.clone(), format!("{kind:?} {modified:?} {content:?}"));
            if facts.is_dir() {
                todo.push(path);
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_reaches_nothing_outside() {
    if lacks_full_sandbox() {
        return;
    }
    let host = TestScope::new()
        .with_capabilities(&["fs:read", "fs:write", "command:run"])
        .with_policy(json!({
            "sandbox": "full", "network": "full", "allowedCommands": ["python3 *"], "askCommands": ["python3 *"],
        }))
        .save()
        .host();
    let path = host.path("socket");
    let by_path = UnixListener::bind(&path).expect("bound");
    let name = format!("bailiwick-preview-{}", host.dirs.state.display());
    let address = SocketAddr::from_abstract_name(name.as_bytes()).expect("a name");
    let by_name = UnixListener::bind_addr(&address).expect("bound");
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let port = tcp.local_addr().expect("an address").port();
    make_fifo(&host.path("fifo"));
    let (fifo, _writer) = read_and_write(&host.path("fifo"));
    let text = format!(
        r"import os, socket
def tries(what, call):
    try:
        call()
        print('reached', what)
    except OSError:
        pass
def connect(family, address):
    socket.socket(family, socket.SOCK_STREAM).connect(address)
tries('path', lambda: connect(socket.AF_UNIX, 'socket'))
tries('name', lambda: connect(socket.AF_UNIX, '\0{name}'))
tries('tcp', lambda: connect(socket.AF_INET, ('127.0.0.1', {port})))
tries('fifo', lambda: os.write(os.open('fifo', os.O_WRONLY | os.O_NONBLOCK), b'x'))
"
    );
    let request = json!({"op": "command.run", "input": {"command": ["python3", "-c", text]}});
    let (_, preview) = preview_of_request(&host, request).await;
    assert_eq!((&preview["exitCode"], &preview["output"]), (&json!(0), &json!("")), "{preview:#}");
    for listener in [&by_path, &by_name] {
        listener.set_nonblocking(true).expect("set");
        assert_eq!(listener.accept().expect_err("nobody").kind(), ErrorKind::WouldBlock);
    }
    tcp.set_nonblocking(true).expect("set");
    assert_eq!(tcp.accept().expect_err("nobody").kind(), ErrorKind::WouldBlock);
    let mut said = [0; 1];
    assert_eq!((&fifo).read(&mut said).expect_err("nothing").kind(), ErrorKind::WouldBlock);
    assert!(preview["notes"].to_string().contains("without a network"), "{preview:#}");
}

fn make_fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo runs").success());
}

/// Opens both ends of a named pipe, of which reading does not wait.
fn read_and_write(path: &Path) -> (File, File) {
    let open = || OpenOptions::new().read(true).write(true).custom_flags(0o4000).open(path).expect("opened");
    (open(), open())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_preview_shows_is_for_the_user_alone_and_without_secrets() {
    if lacks_full_sandbox() {
        return;
    }
    let host = asks_about_everything("none");
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    host.write("part.txt", "seen-by-nobody\n");
    host.write(".env", "PASSWORD=closed-to-all\n");
    let text = "cat part.txt; cat .env; printf '\\033[2J\\007'; echo gone > part.txt; tr b-z a-y < token; \
                tr b-z a-y < token > new.txt; exit $((40 + 7))";
    // Shifted by a letter, so that the words of the command hold no secret.
    let shifted: String = secret
        .chars()
        .map(|it| if it.is_ascii_lowercase() { char::from(it as u8 + 1) } else { it })
        .collect();
    host.write("token", format!("{shifted}\n"));
    let answer = host.send(bash(text)).await;
    let id = ticket(&answer);
    let shown = |words: &[&str]| {
        let output = host.command(words).output().expect("it runs");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    eventually_some("the preview ends", async || {
        shown(&["approve", "--list", "--json"]).contains("\"done\"").then_some(())
    })
    .await;
    let listed = shown(&["approve", "--list", "--json"]);
    assert!(listed.contains("seen-by-nobody") && listed.contains("\"exitCode\":47"), "{listed}");
    assert!(
        !listed.contains(secret) && !listed.contains("closed-to-all") && !listed.contains('\x1b'),
        "{listed}"
    );
    let stored = super::stored(&host, "preview");
    assert!(!fs::read_to_string(stored).expect("read").contains(secret));
    let rows = [
        json!({"op": "history.timeline", "options": {"limit": 100}}),
        json!({"op": "history.last"}),
        json!({"op": "history.sessions"}),
        json!({"op": "process.list"}),
        bash(text),
    ];
    for request in rows {
        let said = host.send(request).await.to_string();
        assert!(!said.contains("seen-by-nobody") && !said.contains("exit 47"), "{said}");
    }
    let log = shown(&["log", "--json"]);
    assert!(log.contains("preview of command.run"), "{log}");
    assert!(!log.contains("seen-by-nobody") && !log.contains("exit 47"), "{log}");
    approve(&host, &["--deny", &id]);
    assert_eq!(fs::read_to_string(host.path("part.txt")).expect("read"), "seen-by-nobody\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preview_ends_with_its_ticket_and_at_its_limits() {
    if lacks_full_sandbox() {
        return;
    }
    let host = asks_about_everything("none");
    let waits = ticket(&host.send(bash("sleep 1000")).await);
    let running = || {
        let listed = host.waiting().into_iter().find(|it| it["id"] == waits.as_str());
        listed.is_some_and(|it| it["preview"]["state"] == "running")
    };
    eventually_some("the preview runs", async || running().then_some(())).await;
    // Of one caller one runs at a time: this one comes once the other has ended with its ticket.
    let next = ticket(&host.send(bash("echo next")).await);
    approve(&host, &["--deny", &waits]);
    let preview = eventually_some("the next one runs", async || {
        let listed = host.waiting().into_iter().find(|it| it["id"] == next.as_str())?;
        (listed["preview"]["state"] == "done").then(|| listed["preview"].clone())
    });
    assert_eq!(preview.await["output"], "next\n");

    let mut short = bash("echo begun; sleep 1000");
    short["options"] = json!({"timeoutSeconds": 1});
    let id = ticket(&host.send(short).await);
    let preview = eventually_some("the preview is ended", async || {
        let listed = host.waiting().into_iter().find(|it| it["id"] == id.as_str())?;
        (listed["preview"]["state"] == "done").then(|| listed["preview"].clone())
    });
    let preview = preview.await;
    assert!(
        preview["output"] == "begun\n" && preview["notes"].to_string().contains("ended after"),
        "{preview:#}"
    );
    assert_ne!(preview["exitCode"], 0);

    let (_, much) = preview_of(&host, "head -c 3000000000 /dev/zero > much.bin; echo $?").await;
    assert!(!host.path("much.bin").exists());
    assert_ne!(much["output"], "0\n", "what it writes is bounded: {much:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_overlay_or_where_it_is_off_nothing_is_guessed() {
    if lacks_full_sandbox() {
        return;
    }
    let ask = |policy: Value| {
        TestScope::new()
            .with_capabilities(&["fs:read", "fs:write", "command:run"])
            .with_policy(policy)
            .save()
            .host()
    };
    let touch = || json!({"op": "command.run", "input": {"command": ["touch", "made"]}});
    let partial =
        ask(json!({"sandbox": "partial", "allowedCommands": ["touch *"], "askCommands": ["touch *"]}));
    let id = ticket(&partial.send(touch()).await);
    let preview = eventually_some("it is known", async || {
        let preview = partial.waiting()[0]["preview"].clone();
        (preview.is_object() && preview["state"] != "running").then_some(preview)
    })
    .await;
    assert_eq!(preview["state"], "unavailable", "{preview:#}");
    assert!(preview["why"].as_str().is_some_and(|why| why.contains("full sandbox")), "{preview:#}");
    let asked = partial.command(&["approve", &id, "--list"]).output().expect("it runs");
    assert!(asked.status.success());
    let off = ask(
        json!({"sandbox": "full", "allowedCommands": ["touch *"], "askCommands": ["touch *"], "preview": "off"}),
    );
    ticket(&off.send(touch()).await);
    assert_eq!(off.waiting()[0]["preview"], Value::Null);
    assert!(!partial.path("made").exists() && !off.path("made").exists());
    assert!(
        fs::read_dir(off.dirs.state.join("approvals"))
            .expect("read")
            .all(|entry| { entry.expect("an entry").path().extension().is_none_or(|end| end != "preview") })
    );
}
