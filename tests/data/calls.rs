//! Calls as models write them, in `tests/data/calls`: each line says what operation is meant and how it ends.
//!
//! `OPERATION RESULT REQUEST`: the result is `ok`, `exit-N` for a command that ended with N, or an error code; `-` stands
//! for a request that names no operation, `<root>` in a request for the scope's folder. Files are put back before each call.
//! `tools` has the calls of other tools by their own schemas. `shell` runs under the preset's policy in the full sandbox.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bailiwick::config::Config;
use bailiwick::contract::{Caller, Envelope, Failure, Transport};
use bailiwick::platform::dirs::Dirs;
use bailiwick::platform::fs::modes::set_mode;
use bailiwick::platform::launch::Launcher;
use bailiwick::requests;
use bailiwick::service::{Service, ServiceSettings};
use libtest_mimic::Trial;
use serde_json::json;
use support::needs::{lacks_full_sandbox, require_program};
use support::scope::TestScope;
use support::source::repository;
use support::system::{Need, git_of_the_person, lacks};
use tokio_util::sync::CancellationToken;

use crate::trials::TrialFilter;

/// The files of the scope, before each call.
const FILES: &[(&str, &str)] = &[
    ("README.md", "first line\nsecond line\nthird line\n"),
    ("notes.txt", "a note\n"),
    ("with space.txt", "blue\n"),
    ("src/main.rs", "fn main() {\n    println!(\"hello\");\n}\n"),
    ("docs/guide.md", "# Guide\n"),
    (".env", "SECRET=1\n"),
    ("../outside.txt", "outside\n"),
];

/// A picture of one point.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";

/// What the project of the shell's calls has besides.
const PROJECT: &[(&str, &str)] = &[
    ("app/__init__.py", ""),
    ("app/calc.py", "def add(a, b):\n    return a + b\n\n\ndef old_name():\n    return 1\n"),
    ("app/cli.py", "import sys\n\nfrom app.calc import add\n\nprint(add(*map(int, sys.argv[1:3])))\n"),
    (
        "tests/test_calc.py",
        "import unittest\n\nfrom app.calc import add\n\n\nclass Sums(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(add(1, 2), 3)\n",
    ),
    ("tests/__init__.py", ""),
    ("src/hello.c", "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n"),
    ("Makefile", "all: hello\nhello: src/hello.c\n\tcc -o hello src/hello.c\ntest:\n\techo tested\n"),
    ("package.json", "{\"name\": \"shop\", \"scripts\": {\"test\": \"node --test\"}}\n"),
    ("data.csv", "name,kind,price\ntea,drink,3\nbread,food,4\nwater,drink,1\n"),
    ("logs/app.log", "INFO started\nERROR no such table\nINFO stopped\n"),
    ("scripts/hello.sh", "#!/bin/sh\necho \"hello $1\"\n"),
    (
        "scripts/serve.py",
        "import http.server\nimport os\n\nport = int(os.environ['PORT'])\nhttp.server.HTTPServer(('127.0.0.1', port), http.server.SimpleHTTPRequestHandler).serve_forever()\n",
    ),
    ("gradlew", "#!/bin/sh\necho \"gradle $*\"\n"),
    ("node_modules/.bin/eslint", "#!/bin/sh\necho \"linted $*\"\n"),
    (".venv/bin/python", "#!/bin/sh\nexec python3 \"$@\"\n"),
    (".venv/bin/pytest", "#!/bin/sh\nexec python3 -m unittest discover -s tests -t .\n"),
    (".venv/bin/activate", "PATH=\"$PWD/.venv/bin:$PATH\"\n"),
    (".gitignore", ".env\n.venv/\nnode_modules/\n"),
];

/// The files of calls.
const NAMES: [&str; 5] = ["files", "changes", "commands", "tools", "shell"];

/// The trials: a file of calls each.
pub fn trials(_: &TrialFilter) -> Vec<Trial> {
    let mut trials =
        trials![there_are_enough_calls, what_is_read_is_canonical_and_reading_it_again_changes_nothing];
    trials.extend(each![
        calls_mean_what_their_lines_say;
        NAMES.map(|name| (name.to_owned(), name))
    ]);
    trials
}

/// One line.
struct Line {
    op: String,
    result: String,
    request: String,
}

fn lines(name: &str) -> Vec<Line> {
    let text = fs::read_to_string(repository().join(format!("tests/data/calls/{name}.txt")))
        .expect("the file is there");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let mut parts = line.splitn(3, ' ').map(str::to_owned);
            let mut part = || parts.next().expect("three parts");
            Line { op: part(), result: part(), request: part() }
        })
        .collect()
}

fn there_are_enough_calls() {
    let all: Vec<Line> = NAMES.into_iter().flat_map(lines).collect();
    let refused = |line: &&Line| line.result != "ok" && !line.result.starts_with("exit-");
    assert!(all.iter().filter(|line| line.result == "ok").count() >= 300, "calls that work");
    assert!(all.iter().filter(refused).count() >= 100, "calls that are refused");
}

fn what_is_read_is_canonical_and_reading_it_again_changes_nothing() {
    for line in NAMES.into_iter().flat_map(lines) {
        let Ok(envelope) = requests::read_json(line.request.as_bytes()) else { continue };
        let Some(entry) = requests::operation(&envelope.op) else { continue };
        assert_eq!(entry.spec.name, envelope.op, "{}: the name is the canonical one", line.request);
        let again = serde_json::to_value(&envelope).expect("an envelope has a JSON form");
        assert_eq!(Envelope::from_value(again.clone()), Ok(envelope.clone()), "{}", line.request);
        assert_eq!(requests::read(again), Ok(envelope), "{}: reading it again changes nothing", line.request);
    }
}

fn calls_mean_what_their_lines_say(name: &&str) {
    let name = *name;
    let uses_git = matches!(name, "commands" | "tools" | "shell");
    if uses_git && (lacks(Need::Programs) || lacks(Need::Git)) {
        return;
    }
    let is_shell = name == "shell";
    if is_shell {
        if lacks_full_sandbox() {
            return;
        }
        ["curl", "make", "cc", "perl"].into_iter().for_each(require_program);
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let scope = TestScope::new();
    let root = scope.root();
    put_back(&root, is_shell);
    if uses_git {
        git(&root, &["init", "-q"]);
        git(&root, &["config", "user.name", "Ada"]);
        git(&root, &["config", "user.email", "ada@example.com"]);
        fs::write(root.join("README.md"), "as it was\n").expect("a file can be written");
        git(&root, &["add", "README.md", "notes.txt"]);
        git(&root, &["commit", "-q", "-m", "one"]);
    }
    let service = if is_shell { preset(&scope).boot() } else { service(scope.folder(), &root) };
    let mut wrong = Vec::new();
    for line in lines(name) {
        put_back(&root, is_shell);
        if uses_git {
            git(&root, &["reset", "-q"]);
            git(&root, &["add", "docs"]);
        }
        let shown = root.to_str().expect("temporary paths are UTF-8").replace('\\', "/");
        let request = line.request.replace("<root>", &shown);
        let envelope: Result<Envelope, Failure> = requests::read_json(request.as_bytes());
        let outcome = runtime.block_on(async {
            let gone = CancellationToken::new();
            service.handle(&Caller::local(Transport::Stdio), envelope, &gone).await
        });
        let op = if outcome.op.is_empty() { "-" } else { &outcome.op };
        let exit = outcome.result.as_ref().ok().and_then(|data| data.to_value()["exitCode"].as_i64());
        let result = match (&outcome.result, exit) {
            (Ok(_), None | Some(0)) => "ok".to_owned(),
            (Ok(_), Some(code)) => format!("exit-{code}"),
            (Err(failure), _) => failure.code.as_str().to_owned(),
        };
        // Whatever a call becomes, it shows and changes nothing that is closed or outside.
        let text = outcome.result.as_ref().map_or("", |data| data.text());
        let outside = fs::read_to_string(root.join("../outside.txt")).expect("it is there");
        assert!(!text.contains("SECRET=1") && !text.contains("outside\\n"), "{}: {text}", line.request);
        assert_eq!(outside, "outside\n", "{}", line.request);
        if (op, &result) != (line.op.as_str(), &line.result) {
            let why = match &outcome.result {
                Ok(data) => data.text().to_owned(),
                Err(failure) => format!("{} {:?}", failure.message, failure.hints),
            };
            wrong.push(format!("{op} {result} instead of {} {}: {request}\n  {why}", line.op, line.result));
        }
    }
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
}

/// Sets what `bailiwick setup --preset full` sets.
fn preset(scope: &TestScope) -> TestScope {
    let text = fs::read_to_string(repository().join("tests/commands/natural.md")).expect("it is there");
    let (_, block) = text.split_once("```policy coding\n").expect("the file has the policy");
    let (block, _) = block.split_once("\n```").expect("the block is closed");
    let capabilities = [
        "fs:read",
        "fs:write",
        "search:read",
        "git:read",
        "git:write",
        "command:run",
        "process:manage",
        "package:run",
    ];
    scope.clone().with_capabilities(&capabilities).with_policy(serde_json::from_str(block).expect("JSON"))
}

fn service(folder: &Path, root: &Path) -> Arc<Service> {
    let config = json!({
        "machineId": "01JD0000000000000000000000",
        "machineName": "test-computer",
        // A second scope of another type: it is none in which any of these calls could be meant.
        "scopes": [{"id": "screen", "type": "computer", "capabilities": ["screen:capture"]}, {
            "id": "app",
            "roots": [root],
            "capabilities": [
                "fs:read", "fs:write", "search:read", "history:read", "command:run", "process:manage",
                "git:read", "git:write",
            ],
            "policy": {
                "sandbox": "none",
                "processLifetime": "service",
                "allowedCommands": ["printf *", "cat", "cat *"],
            },
        }],
    });
    let config: Config = serde_json::from_value(config).expect("a config");
    let settings = ServiceSettings { config, dirs: Dirs::below(folder.join("home")) };
    Service::boot_with(settings, Launcher::with_program(env!("CARGO_BIN_EXE_bailiwick").into()))
        .expect("it starts")
}

fn put_back(root: &Path, has_project: bool) {
    for entry in fs::read_dir(root).expect("the folder can be read").flatten() {
        let path = entry.path();
        if path.ends_with(".git") {
            continue;
        }
        let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.expect("what a call left can be removed");
    }
    let project = if has_project { PROJECT } else { &[] };
    for (name, content) in FILES.iter().chain(project) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        fs::write(&path, content).expect("a file can be written");
        if content.starts_with("#!") {
            set_mode(&path, 0o755).expect("it is ours");
        }
    }
    fs::write(root.join("dot.png"), PICTURE).expect("a file can be written");
}

fn git(root: &Path, words: &[&str]) {
    let mut command: Command = git_of_the_person();
    let status = command
        .args(["-c", "init.defaultBranch=main", "-c", "user.name=Ada", "-c", "user.email=ada@example.com"])
        .args(words)
        .current_dir(root)
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .status();
    assert!(status.expect("git starts").success());
}
