//! What a held command could leave behind for the Git of the user, who runs it later and outside the sandbox.
//!
//! After each attack the user's Git works in every repository. A program that it is made to run leaves a mark.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::needs::lacks_full_sandbox;
use crate::ordinary_user::OrdinaryUser;
use support::service::TestService;

/// A repository `one`, and `two` with a submodule, a linked working tree and a repository below it; `apart`, whose
/// `.git` is a file; a bare one; and a folder `plain` without any.
fn host() -> TestService {
    let host = TestService::for_commands(
        json!({"sandbox": "full", "shell": "sandboxed", "allowedCommands": ["true", "git *"]}),
    );
    let top = host.path("");
    for name in ["one", "two", "lib", "below"] {
        person(&top, &["init", "-q", name]);
        host.write(format!("{name}/file"), "a line\n");
        person(&top.join(name), &["add", "file"]);
        person(&top.join(name), &["commit", "-qm", "first"]);
    }
    let two = top.join("two");
    let library = top.join("lib").to_string_lossy().into_owned();
    person(&two, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", &library, "parts/lib"]);
    person(&two, &["config", "extensions.worktreeConfig", "true"]);
    person(&two, &["worktree", "add", "-q", "../tree"]);
    fs::rename(top.join("below"), two.join("below")).expect("moved");
    person(&two, &["-c", "advice.addEmbeddedRepo=false", "add", "."]);
    person(&two, &["commit", "-qm", "second"]);
    person(&top, &["init", "-q", "--separate-git-dir", "apart.dir", "apart"]);
    person(&top, &["clone", "-q", "--bare", "one", "bare"]);
    fs::create_dir(top.join("plain")).expect("made");
    host
}

/// Runs Git as the user does, in a terminal. Whether it succeeds makes no difference.
fn person(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .args(words)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for (name, value) in [
        ("HOME", "/nonexistent"),
        ("GIT_AUTHOR_NAME", "a"),
        ("GIT_AUTHOR_EMAIL", "a@example.test"),
        ("GIT_COMMITTER_NAME", "a"),
        ("GIT_COMMITTER_EMAIL", "a@example.test"),
    ] {
        command.env(name, value);
    }
    let output = command.output().expect("Git runs");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Does in every repository what a person does.
fn use_git(host: &TestService) {
    for folder in ["one", "two", "two/parts/lib", "two/below", "tree", "apart", "bare", "plain", "plain/new"]
    {
        let folder = host.path(folder);
        if folder.is_dir() {
            for words in [&["status"][..], &["commit", "--allow-empty", "-qm", "more"], &["log", "-1"]] {
                person(&folder, words);
            }
        }
    }
}

/// The lines that a script begins with: `$mark` makes Git run a program that leaves a mark, `evil DIR` makes a
/// folder of Git's own whose settings and hooks do.
fn script(host: &TestService, lines: &str) -> String {
    // The words of a text that name a closed file are refused, and it is the sandbox that is tried here.
    let lines = lines.replace("/config", "/$c");
    let mark = host.path("mark").to_string_lossy().into_owned();
    format!(
        "cd {top}; c=config\n\
         setting() {{ printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = \"touch {mark}; false #\"\\n'; }}\n\
         hook() {{ mkdir -p \"$1\"; printf '#!/bin/sh\\ntouch {mark}\\n' > \"$1/pre-commit\"; chmod +x \"$1/pre-commit\"; }}\n\
         evil() {{ mkdir -p \"$1/objects\" \"$1/refs\"; echo 'ref: refs/heads/master' > \"$1/HEAD\"; \
           setting > \"$1/config\"; hook \"$1/hooks\"; }}\n\
         {lines}\n",
        top = host.path("").display(),
    )
}

async fn attack(host: &TestService, target: &str, lines: &str) -> Value {
    let script = script(host, lines);
    let request =
        json!({"scope": "app", "op": "command.run", "target": target, "input": {"command": script}});
    let answer = host.send(request).await;
    assert_eq!(answer["ok"], true, "{lines}: {answer:#}");
    answer
}

/// Ways to change what the Git of the user runs in a repository that is there. Where a command runs makes no
/// difference.
const IN_PLACE: &[(&str, &str)] = &[
    ("settings", "setting >> one/.git/config"),
    ("hook", "hook one/.git/hooks"),
    ("hooks are renamed", "mv one/.git/hooks one/.git/away; hook one/.git/hooks"),
    ("settings are replaced", "setting > one/.git/new; mv -f one/.git/new one/.git/config"),
    ("settings are removed", "rm -f one/.git/config; setting > one/.git/config"),
    (".git is renamed", "mv one/.git one/away; cp -r one/away one/.git; setting >> one/.git/config"),
    (
        "the repository is renamed",
        "mv two/below two/away; cp -r two/away two/below; setting >> two/below/.git/config",
    ),
    ("a common folder", "evil one/.git/evil; echo evil > one/.git/commondir"),
    ("a common folder by a link", "evil one/.git/evil; ln -sfn evil one/.git/commondir"),
    ("settings of a working tree", "setting > two/.git/config.worktree"),
    ("settings of a repository below another", "setting >> two/below/.git/config"),
    ("a common folder below another", "evil two/below/.git/evil; echo evil > two/below/.git/commondir"),
    ("settings of a submodule", "setting >> two/.git/modules/parts/lib/config"),
    ("hook of a submodule", "hook two/.git/modules/parts/lib/hooks"),
    (
        "a common folder of a submodule",
        "evil x; echo ../../../../../x > two/.git/modules/parts/lib/commondir",
    ),
    (
        "the submodule's folder is renamed",
        "cd two/.git; mv modules m; cp -r m modules; setting >> modules/parts/lib/config",
    ),
    (
        "the .git file of a submodule",
        "evil x; rm -f two/parts/lib/.git; echo 'gitdir: ../../../x' > two/parts/lib/.git",
    ),
    ("a common folder of a working tree", "evil x; echo ../../../../x > two/.git/worktrees/tree/commondir"),
    ("own settings of a working tree", "setting > two/.git/worktrees/tree/config.worktree"),
    ("the .git file of a working tree", "evil x; echo 'gitdir: ../x' > tree/.git"),
    (
        "working trees are renamed",
        "cd two/.git; mv worktrees w; cp -r w worktrees; setting > worktrees/tree/config.worktree",
    ),
    ("settings of a folder that a .git file names", "setting >> apart.dir/config"),
    ("hook of a folder that a .git file names", "hook apart.dir/hooks"),
    ("hook of a bare repository", "hook bare/hooks; setting >> bare/config"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_git_runs_later_is_changed_in_any_repository_below_the_roots() {
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    let before = settings(&host);
    use_git(&host);
    assert!(!host.path("mark").exists(), "the repositories are harmless");
    for target in [".", "two"] {
        for (name, lines) in IN_PLACE {
            attack(&host, target, lines).await;
            use_git(&host);
            assert!(!host.path("mark").exists(), "{target}: {name}");
            assert_eq!(settings(&host), before, "{target}: {name}");
            for left in ["x", "one/.git/evil", "two/below/.git/evil", "one/away", "two/away"] {
                let _ = fs::remove_dir_all(host.path(left));
            }
        }
    }
}

/// Everything in the repositories that names a program, but hooks.
fn settings(host: &TestService) -> Vec<(&'static str, Option<String>)> {
    let names = [
        "one/.git/config",
        "one/.git/commondir",
        "two/.git/config",
        "two/.git/config.worktree",
        "two/below/.git/config",
        "two/.git/modules/parts/lib/config",
        "two/.git/modules/parts/lib/commondir",
        "two/.git/worktrees/tree/commondir",
        "two/.git/worktrees/tree/config.worktree",
        "two/parts/lib/.git",
        "tree/.git",
        "apart/.git",
        "apart.dir/config",
        "bare/config",
    ];
    names.into_iter().map(|name| (name, fs::read_to_string(host.path(name)).ok())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_that_a_command_makes_is_reported_with_what_names_programs_in_it() {
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    for (folder, lines, named) in [
        ("plain/new", "evil plain/new/.git", "core.fsmonitor"),
        ("plain", "evil plain/.git", "hooks/pre-commit"),
        (
            "plain/new",
            "evil x; mkdir -p plain/new; echo 'gitdir: ../../x' > plain/new/.git",
            "leads to another folder",
        ),
        ("plain/new", "evil plain/new; git config -f plain/new/config core.worktree ..", "core.worktree"),
        ("plain/new", "mkdir -p plain/new; ln -s ../../one/.git plain/new/.git", "leads to another folder"),
        (
            "plain/new",
            "git init -q plain/tmp; mv plain/tmp plain/new; setting >> plain/new/.git/config",
            "core.fsmonitor",
        ),
        ("one/new", "cd one; git init -q new; setting >> new/.git/config; git add new", "core.fsmonitor"),
    ] {
        let answer = attack(&host, ".", lines).await;
        let warnings = answer["warnings"].to_string();
        assert!(warnings.contains(&format!("`{folder}`")) && warnings.contains(named), "{lines}: {answer:#}");
        assert!(warnings.contains("For the user"), "{lines}: {answer:#}");
        for left in ["plain", "x", "one/new"] {
            let _ = fs::remove_dir_all(host.path(left));
        }
        fs::create_dir(host.path("plain")).expect("made");
    }
    let answer = attack(&host, ".", "git init -q plain/new").await;
    assert!(answer["warnings"].to_string().contains("names a program"), "{answer:#}");
    // What was there before is not told again.
    let answer = attack(&host, ".", "true").await;
    assert_eq!(answer["warnings"], json!([]), "{answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_changes_in_settings_while_a_command_runs_is_reported() {
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    let running = attack(
        &host,
        "one",
        "touch begun; while [ ! -e go ]; do sleep 0.01; done; setting >> one/.git/config",
    );
    let change = async {
        crate::patience::eventually_async("it runs", || host.path("begun").exists()).await;
        person(&host.path("one"), &["config", "user.name", "b"]);
        fs::write(host.path("go"), "").expect("written");
    };
    let (answer, ()) = tokio::join!(running, change);
    assert!(answer["warnings"].to_string().contains("`one/.git/config` was changed"), "{answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_itself_works_in_a_command_and_beside_it_and_nothing_stands_in_afterwards() {
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    let identity =
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
    for (target, folder) in
        [("one", "one"), ("tree", "tree"), (".", "two"), ("two", "two/parts/lib"), (".", "apart")]
    {
        let lines = format!(
            "{identity}; cd {folder}; date +%N > file; git add file && git commit -qm changed && git tag -f t && git gc -q \
             && git checkout -q -b new && git checkout -q - && git branch -D new && git stash list && echo done"
        );
        let answer = attack(&host, target, &lines).await;
        let printed = answer["data"]["stdout"].as_str().unwrap_or_default();
        assert!(printed.ends_with("done\n"), "{folder}: {answer:#}");
        assert_eq!(answer["warnings"], json!([]), "{folder}: {answer:#}");
    }
    // While a command runs, the user's own Git does what it always does.
    let running = attack(&host, "one", "touch begun; while [ ! -e go ]; do sleep 0.01; done");
    let beside = async {
        crate::patience::eventually_async("it runs", || host.path("begun").exists()).await;
        let one = host.path("one");
        for words in [
            &["status"][..],
            &["commit", "--allow-empty", "-qm", "beside"],
            &["worktree", "add", "-q", "../beside"],
            &["worktree", "list"],
            &["sparse-checkout", "set", "--skip-checks", "parts"],
            &["gc", "-q"],
            &["fsck"],
        ] {
            let said = person(&one, words);
            assert!(!said.contains("fatal") && !said.contains("error"), "{words:?}: {said}");
        }
        fs::write(one.join(".git/hooks/post-commit"), "#!/bin/sh\n").expect("the user writes a hook");
        fs::write(host.path("go"), "").expect("written");
    };
    let _ = tokio::join!(running, beside);
    for (name, is_there) in [
        ("one/.git/commondir", false),
        ("two/.git/commondir", false),
        ("two/.git/config.worktree", true),
        ("one/.git/hooks/post-commit", true),
    ] {
        // `git worktree add` with the extension keeps settings for each working tree.
        if name != "two/.git/config.worktree" {
            assert_eq!(host.path(name).exists(), is_there, "{name}");
        }
    }
    let left: Vec<_> =
        fs::read_dir(host.path("one/.git")).expect("listed").flatten().map(|it| it.file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".bailiwick")), "{left:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repositories_beyond_those_that_are_held_by_name_are_read_only() {
    if lacks_full_sandbox() {
        return;
    }
    let host = TestService::for_commands(
        json!({"sandbox": "full", "shell": "sandboxed", "allowedCommands": ["true", "git *"]}),
    );
    for number in 0..40 {
        person(&host.path(""), &["init", "-q", &format!("r{number}")]);
    }
    // Git keeps its refs there in a form for which nothing can be in. Git before 2.45 makes and reads none.
    let said = person(&host.path(""), &["init", "-q", "--ref-format=reftable", "r40"]);
    if !host.path("r40").exists() {
        assert!(said.contains("unknown option"), "{said}");
        person(&host.path(""), &["init", "-q", "r40"]);
        let config =
            "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\trefstorage = reftable\n";
        host.write("r40/.git/config", config);
        host.write("r40/.git/HEAD", "ref: refs/heads/.invalid\n");
        fs::remove_dir_all(host.path("r40/.git/refs")).expect("removed");
        host.write("r40/.git/refs/heads", "this repository uses the reftable format\n");
        host.write("r40/.git/reftable/tables.list", "");
    }
    let lines = "for r in r*; do setting >> $r/.git/config; hook $r/.git/hooks; evil $r/.git/evil; \
                 echo evil > $r/.git/commondir; done 2>/dev/null; touch r39/file; cd r39; git add file; \
                 git -c user.name=a -c user.email=a@b commit -qm x && echo done";
    let answer = attack(&host, "r39", lines).await;
    assert_eq!(answer["data"]["stdout"], "done\n", "{answer:#}");
    for number in 0..41 {
        person(&host.path(format!("r{number}")), &["status"]);
        person(&host.path(format!("r{number}")), &["commit", "--allow-empty", "-qm", "x"]);
    }
    assert!(!host.path("mark").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_that_a_command_has_made_look_like_none_is_held_all_the_same() {
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    let before = settings(&host);
    let library = "two/.git/modules/parts/lib";
    attack(
        &host,
        ".",
        &format!("mkdir away; mv {library}/HEAD away/lib; mv bare/HEAD bare/objects bare/refs away"),
    )
    .await;
    let lines = format!(
        "for d in {library} bare; do setting >> $d/config; hook $d/hooks; done; mv away/lib {library}/HEAD; \
         mv away/HEAD away/objects away/refs bare"
    );
    attack(&host, ".", &lines).await;
    assert!(
        host.path("bare/objects").exists() && host.path(library).join("HEAD").exists(),
        "they are whole again"
    );
    use_git(&host);
    assert!(!host.path("mark").exists());
    assert_eq!(settings(&host), before);
}

/// As root everything can be read; so this is done by an ordinary user.
#[test]
fn a_repository_that_a_command_has_made_unreadable_is_held_all_the_same() {
    if lacks_full_sandbox() {
        return;
    }
    let user = OrdinaryUser::new();
    let run = |words: &[&str]| user.run(words);
    let names = ["unread", "closed", "unsearched"];
    for name in names {
        run(&["git", "init", "-q", &format!("app/{name}")]);
    }
    run(&[
        "sh",
        "-c",
        "printf 'hide:\n\tchmod 300 unread; chmod 000 closed; chmod 600 unsearched\nevil:\n\t-chmod 755 *\n\tfor r in unread \
         closed unsearched; do echo evil >> $$r/.git/config; done\n' > app/Makefile",
    ]);
    let open = || run(&["chmod", "755", "app/unread", "app/closed", "app/unsearched"]);
    let read = || {
        names.map(|name| fs::read_to_string(user.path(format!("app/{name}/.git/config"))).expect("readable"))
    };
    let said = run(&["./bailiwick", "setup", "app", "--yes", "--id", "app", "--preset", "full"]);
    assert!(user.path("home").exists(), "{said}");
    let before = read();
    // Each command with a service of its own.
    for target in ["hide", "evil"] {
        let said = run(&["./bailiwick", "call", "command.run", "--command", &format!("make {target}")]);
        assert!(said.contains("chmod"), "{said}");
    }
    open();
    assert_eq!(read(), before);
    // Both with one, which has seen the repositories before.
    let mut service = user
        .command(&["./bailiwick", "mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut input = service.stdin.take().expect("piped");
    let mut lines = BufReader::new(service.stdout.take().expect("piped")).lines();
    let mut ask = |message: Value| {
        writeln!(input, "{message}").expect("it listens");
        if message["id"].is_null() { String::new() } else { lines.next().expect("an answer").expect("text") }
    };
    let about = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}));
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for (id, target) in [(1, "hide"), (2, "evil")] {
        let envelope = json!({"scope": "app", "op": "command.run", "input": {"command": ["make", target]}});
        let call = json!({"name": "computer_operation", "arguments": envelope});
        let said = ask(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}));
        assert!(said.contains("chmod"), "{said}");
    }
    drop(input);
    service.wait().expect("it ends");
    open();
    assert_eq!(read(), before);
}
