//! Files that a scope closes as sensitive: in a full sandbox no program reads them, whatever it does.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::needs::{at_every_level, lacks_full_sandbox};
use crate::temporary::TemporaryFolder;
use support::access::ReadAccess;
use support::scope::TestScope;
use support::service::TestService;

/// What the closed files hold.
const SECRET: &str = "CLOSED-SECRET";

/// The closed files of the scope.
const CLOSED: &[&str] = &[
    ".env",
    "sub/deep/.ENV.production",
    "sub/deep/server.pem",
    "sub/.ssh/config",
    "private/notes.txt",
    "tests/x.key",
];

fn policy() -> Value {
    json!({
        "sandbox": "full",
        "shell": "sandboxed",
        "allowedCommands": ["true", "git *"],
        "closedFiles": ["private/**"],
        "openSensitive": ["open/**"],
    })
}

fn world() -> TestService {
    let world = TestService::for_commands(policy());
    for path in CLOSED {
        world.write(path, format!("{SECRET}\n"));
    }
    for path in
        ["open/.env", "open/a/b.pem", ".env.example", "sub/plain", "node_modules/a/credentials/index.js"]
    {
        world.write(path, "open\n");
    }
    world
}

async fn shell(world: &TestService, target: &str, script: &str) -> Value {
    let request = json!({"scope": "app", "op": "command.run", "target": target, "input": {"command": format!("true\n{{ {script}\n}}")}});
    let answer = world.send(request).await;
    assert_eq!(answer["ok"], true, "{script}: {answer:#}");
    answer
}

/// Returns the files below a folder that hold the secret.
fn with_secret(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // A copy of what hides a closed file has its mode, 000.
    let mut access = ReadAccess::default();
    access.open(folder);
    for entry in fs::read_dir(folder).expect("listed").flatten() {
        let path = entry.path();
        let kind = entry.file_type().expect("known");
        if kind.is_dir() {
            found.extend(with_secret(&path));
        } else if !kind.is_symlink() {
            access.open(&path);
            if fs::read(&path).expect("read").windows(SECRET.len()).any(|it| it == SECRET.as_bytes()) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Ways to what a closed file holds. The names are put together, since words of a command that name one are refused.
const ATTACKS: &[(&str, &str)] = &[
    (
        "read",
        "e=.en; cat ${e}v sub/deep/s*.pem sub/.s*/config private/n* sub/deep/.E* tests/*.k*; cat ./*/*/* .* */.*",
    ),
    ("shell", "e=.en; while read -r line; do echo $line; done < ${e}v; echo $(< ${e}v)"),
    (
        "python",
        "python3 -c 'import glob,os\nfor r,d,f in os.walk(\".\"):\n for n in f:\n  print(open(r+\"/\"+n,\"rb\").read())'",
    ),
    ("perl", "perl -e 'for (glob(\".e* sub/*/* sub/.*/*\")) { open(F,$_); print <F>; }'"),
    ("copy", "cp -r . /tmp/all; cp -a sub copy; cp .e* copy-of; cat /tmp/all/.e* copy/deep/* copy-of"),
    (
        "mode",
        "chmod 644 .e* sub/deep/*; chmod -R u+rwX sub private; chown 0:0 .e*; cat .e* sub/deep/* private/*",
    ),
    ("rename the file", "mv .e* x; mv sub/deep/server.p* y; cat x y"),
    ("replace the file", "echo z > z; mv -f z .e*; cp -f z .e*; rm -f .e*; ln -f .e* z; cat .e*"),
    (
        "rename the folder above",
        "mv sub away; cat away/deep/*; mv sub/deep sub/x; cat sub/x/*; mv private p; cat p/*",
    ),
    (
        "move a folder to where its files are open",
        "mkdir -p node_modules .git; mv sub node_modules/sub; mv sub/deep open/deep; mv sub/deep .git/deep; \
         mv tests node_modules; cat node_modules/*/*/* open/*/* .git/*/*",
    ),
    (
        "exchange folders",
        "mkdir e; python3 -c 'import ctypes; print(ctypes.CDLL(None).renameat2(-100, b\"sub\", -100, b\"e\", 2))'; cat e/*/*",
    ),
    ("hard link", "ln .e* hard; ln sub/deep/server.p* hard2; cat hard hard2"),
    ("symbolic link", "ln -s .e* soft; ln -s sub s; cat soft s/deep/* s/.s*/*"),
    ("archive", "tar cf t.tar .; tar cf - sub private | cat; tar xOf t.tar"),
    (
        "other ways to the root",
        "cat /proc/self/cwd/.e* /proc/self/root$PWD/.e* /proc/1/root$PWD/.e* /proc/$$/root$PWD/.e* /.*/*/.e*",
    ),
    ("descriptor", "exec 9< .; cat /proc/self/fd/9/.e*; cd sub; cat ../.e* ../sub/deep/*"),
    (
        "unmount",
        "umount .e*; umount -l sub/deep/server.p*; unshare -Urm sh -c 'umount .e*; cat .e*'; cat .e*",
    ),
    (
        "mount",
        "mkdir m; mount --bind . m; cat m/.e*; unshare -Urm sh -c 'mount --bind . m; cat m/.e* m/sub/deep/*'",
    ),
    ("block device", "cat /dev/[a-z]d* /dev/vd* | head -c 100000 | grep -a CLOSED"),
    (
        "Git",
        "git init -q .; git add -f .e*; git hash-object -w .e*; git add -A; git diff --no-index /dev/null .e*; git grep --no-index CLOSED",
    ),
    ("search", "grep -r CLOSED . ; find . -type f -exec cat {} +"),
    (
        "write",
        "echo more >> .e*; : > .e*; truncate -s 0 sub/deep/*; rm -rf private sub tests .e*; rmdir sub/deep",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_program_in_a_full_sandbox_reads_a_closed_file() {
    if lacks_full_sandbox() {
        return;
    }
    for (name, script) in ATTACKS {
        let world = world();
        let mut closed: Vec<PathBuf> = CLOSED.iter().map(|path| world.path(path)).collect();
        closed.sort();
        for target in [".", "sub"] {
            let script = format!("cd {}; {script}", world.path("").display());
            let answer = shell(&world, target, &script).await;
            assert!(!answer["data"].to_string().contains(SECRET), "{name}: {answer:#}");
            assert_eq!(with_secret(&world.path("")), closed, "{name}: {answer:#}");
            // What the attack has left does not open anything to the next command either.
            let answer =
                shell(&world, target, &format!("cd {}; grep -r . .; cat ./*/*/*", world.path("").display()))
                    .await;
            assert!(!answer["data"].to_string().contains(SECRET), "after {name}: {answer:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_open_stays_readable_and_files_move_freely_between_folders() {
    if lacks_full_sandbox() {
        return;
    }
    let world = world();
    let script = "cat open/.env open/a/b.pem .env.ex* node_modules/a/cred*/index.js && python3 -c '
import os
os.rename(\"sub/plain\", \"plain\"); os.rename(\"plain\", \"sub/deep/plain\"); os.link(\"sub/deep/plain\", \"tests/linked\")
' && cat tests/linked && mv open opened && echo done";
    let answer = shell(&world, ".", script).await;
    assert_eq!(answer["data"]["stdout"], "open\nopen\nopen\nopen\nopen\ndone\n", "{answer:#}");
    assert_eq!(answer["data"]["exitCode"], 0);
    assert_eq!(answer["warnings"], json!([]), "what succeeds needs no hint: {answer:#}");
    assert!(!answer["data"]["sandbox"]["open"].to_string().contains("closedFiles"), "{answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_command_names_closed_files_below_its_folder_and_what_opens_them() {
    if lacks_full_sandbox() {
        return;
    }
    let world = world();
    let answer = shell(&world, "sub", "false").await;
    let warnings = answer["warnings"].to_string();
    for part in [
        "`sub/.ssh`, `sub/deep/.ENV.production`, `sub/deep/server.pem`",
        "bailiwick scope allow app --files sub/.ssh --files sub/deep/.ENV.production --files sub/deep/server.pem",
    ] {
        assert!(warnings.contains(part), "{part}: {answer:#}");
    }
    let warnings = shell(&world, ".", "false").await["warnings"].to_string();
    assert!(warnings.contains("and 3 more"), "{warnings}");
    // One that `closedFiles` closes is not opened by `--files`.
    let warnings = shell(&world, "private", "false").await["warnings"].to_string();
    assert!(warnings.contains("private/notes.txt") && !warnings.contains("--files"), "{warnings}");
    assert_eq!(shell(&world, "open", "false").await["warnings"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_file_that_appears_between_commands_is_closed_to_the_next() {
    if lacks_full_sandbox() {
        return;
    }
    let world = world();
    assert_eq!(shell(&world, ".", "true").await["data"]["exitCode"], 0);
    let outside = TemporaryFolder::new();
    for step in [
        "made",
        "moved in with a folder",
        "made again",
        "its folder is renamed",
        "its folder gets another name that closes it",
    ] {
        let app = world.path("");
        match step {
            "made" => world.write("new/.env", SECRET),
            "moved in with a folder" => {
                fs::create_dir_all(outside.path().join("in/deep")).expect("made");
                fs::write(outside.path().join("in/deep/id_rsa"), SECRET).expect("written");
                fs::rename(outside.path().join("in"), app.join("in")).expect("moved");
            }
            "made again" => {
                fs::remove_file(app.join("new/.env")).expect("removed");
                assert_eq!(shell(&world, ".", "ls -A new").await["data"]["stdout"], "");
                world.write("new/.env", SECRET);
            }
            "its folder is renamed" => fs::rename(app.join("in"), app.join("other")).expect("moved"),
            _ => {
                world.write("settings/pip.conf", SECRET);
                assert_eq!(
                    shell(&world, ".", "cat settings/p*").await["data"]["stdout"],
                    SECRET,
                    "open until then"
                );
                fs::rename(app.join("settings"), app.join("pip")).expect("moved");
            }
        }
        let answer = shell(&world, ".", "grep -r . .; cat ./*/.e* ./*/*/id* pip/*").await;
        assert!(!answer["data"].to_string().contains(SECRET), "{step}: {answer:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_file_is_closed_in_every_root_and_in_a_root_inside_another() {
    if lacks_full_sandbox() {
        return;
    }
    let scope = TestScope::new();
    for path in ["one/inner/.env", "two/a/.env", "one/.env"] {
        let path = scope.beside(path);
        fs::create_dir_all(path.parent().expect("below")).expect("made");
        fs::write(path, SECRET).expect("written");
    }
    for roots in [&["one", "two"][..], &["one/inner", "one", "two/a"], &["one", "one/inner", "two"]] {
        let host = scope
            .clone()
            .with_roots(roots)
            .with_capabilities(&["fs:read", "fs:write", "command:run"])
            .with_policy(json!({"sandbox": "full", "shell": "sandboxed", "allowedCommands": ["true"], "readPaths": [scope.folder()]}))
            .host();
        let script = format!(
            "true; cd {}; grep -r . one two; cat */.e* */*/.e*; mv two/a two/b; mv one/inner/ one/i; cat */*/.e*",
            scope.folder().display()
        );
        let answer = host.answer(json!(format!("true\n{{ {script}\n}}")), json!({})).await;
        assert_eq!(answer["ok"], true, "{answer:#}");
        assert!(!answer["data"].to_string().contains(SECRET), "{roots:?}: {answer:#}");
        for path in ["one/inner/.env", "two/a/.env", "one/.env"] {
            assert!(scope.beside(path).exists(), "{roots:?}: {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_runs_where_more_files_are_closed_than_can_be_hidden() {
    if lacks_full_sandbox() {
        return;
    }
    let world = TestService::for_commands(policy());
    for number in 0..512 {
        world.write(format!("certs/{number}.pem"), SECRET);
    }
    let answer = shell(&world, ".", "cat certs/*; echo done").await;
    assert_eq!(answer["data"]["stdout"], "done\n", "{answer:#}");
    world.write("certs/last.pem", SECRET);
    let answer = world.answer(json!(["true"]), json!({})).await;
    assert_eq!(answer["error"]["code"], "permission_denied", "{answer:#}");
    assert_eq!(answer["error"]["details"]["rule"], "too-many-closed-files", "{answer:#}");
    let hints = answer["error"]["hints"].to_string();
    assert!(hints.contains("bailiwick scope allow app --files 'certs/**'"), "{answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn weaker_levels_say_that_closed_files_are_open_to_commands() {
    at_every_level(|level| async move {
        let world = TestService::for_commands(json!({"sandbox": level, "allowedCommands": ["true"]}));
        let data = world.run(json!(["true"])).await;
        let is_open = data["sandbox"]["open"].to_string().contains("closedFiles");
        assert_eq!(is_open, level < bailiwick::contract::Containment::Full, "{data:#}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_and_a_package_script_read_no_closed_file() {
    if lacks_full_sandbox() {
        return;
    }
    let host = TestScope::new()
        .with_capabilities(&["fs:read", "fs:write", "command:run", "package:run", "process:manage"])
        .with_policy(json!({"sandbox": "full", "allowedCommands": ["make *"]}))
        .host();
    host.write("server.pem", SECRET);
    host.write("Makefile", "look:\n\t@cat *.pem\n");
    let send = async |request: Value| host.send(request).await;
    let started =
        send(json!({"scope": "app", "op": "process.start", "input": {"command": ["make", "look"]}})).await;
    let id = started["data"]["processId"].as_str().unwrap_or_else(|| panic!("{started:#}")).to_owned();
    let until = json!({"any": [{"until": "exit", "process": id}]});
    let waited = send(
        json!({"scope": "app", "op": "process.wait", "input": until, "options": {"timeoutSeconds": 600}}),
    )
    .await;
    let read = send(json!({"scope": "app", "op": "process.read", "target": id})).await;
    assert_eq!(read["data"]["exitCode"], 2, "{read:#}");
    let said = format!("{waited:#}{read:#}");
    assert!(!said.contains(SECRET) && said.contains("cannot read `server.pem`"), "{said}");
    let ran = send(json!({"scope": "app", "op": "package.run", "input": {"script": "look"}})).await;
    assert_eq!(ran["data"]["exitCode"], 2, "{ran:#}");
    assert!(
        !ran.to_string().contains(SECRET) && ran["warnings"].to_string().contains("`server.pem`"),
        "{ran:#}"
    );
}

/// Runs Git as the user does, in a terminal.
fn git(folder: &Path, words: &[&str]) -> String {
    let output = Command::new("git")
        .args(words)
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs([("HOME", "/nonexistent"), ("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@example.test")])
        .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@example.test")])
        .output()
        .expect("Git runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A repository in which closed files are tracked, changed long before it was made.
fn repository() -> TestService {
    let world = world();
    let long_ago = SystemTime::now() - Duration::from_hours(1);
    for path in CLOSED.iter().copied().chain(["sub/plain"]) {
        let file = fs::File::options().write(true).open(world.path(path)).expect("opened");
        file.set_modified(long_ago).expect("set");
    }
    let app = world.path("");
    // Git itself gives up at a tracked folder that it may not enter.
    fs::remove_dir_all(world.path("sub/.ssh")).expect("removed");
    git(&app, &["init", "-q", "."]);
    git(&app, &["add", "-Af", "."]);
    git(&app, &["commit", "-qm", "first"]);
    world
}

const IDENTITY: &str =
    "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_takes_tracked_closed_files_for_unchanged() {
    if lacks_full_sandbox() {
        return;
    }
    let world = repository();
    let app = world.path("");
    let answer = shell(&world, ".", "git status --short && git diff --stat && echo clean").await;
    assert_eq!(answer["data"]["stdout"], "clean\n", "{answer:#}");
    for commit in [
        "git add -A && git commit -qm x",
        "git commit -qam x",
        "git stash -q && git stash pop -q && git commit -qam x",
    ] {
        let script = format!("{IDENTITY}; date +%N > sub/plain; {commit} && git status --short && echo done");
        let answer = shell(&world, ".", &script).await;
        assert_eq!(answer["data"]["stdout"], "done\n", "{commit}: {answer:#}");
        assert_eq!(git(&app, &["show", "--format=", "--name-only"]), "sub/plain\n", "{commit}");
        assert_eq!(git(&app, &["status", "--short"]), "", "{commit}");
    }
    let answer = shell(
        &world,
        ".",
        "git checkout -q -b other && git reset -q --hard HEAD~1 && git checkout -q - && echo done",
    )
    .await;
    assert_eq!(answer["data"]["stdout"], "done\n", "{answer:#}");
    for path in CLOSED.iter().filter(|path| !path.contains(".ssh")) {
        assert_eq!(git(&app, &["show", &format!("HEAD:{path}")]), format!("{SECRET}\n"), "{path}");
        assert_eq!(fs::read_to_string(world.path(path)).expect("there"), format!("{SECRET}\n"), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_never_commits_a_changed_closed_file_as_empty_or_gone() {
    if lacks_full_sandbox() {
        return;
    }
    let world = repository();
    let app = world.path("");
    // Changed by the user, and one that is not tracked yet.
    world.write(".env", format!("{SECRET} of today\n"));
    world.write("sub/new.pem", format!("{SECRET}\n"));
    let head = git(&app, &["rev-parse", "HEAD"]);
    for words in [
        "add -A",
        "commit -qam x",
        "add .",
        "stash",
        "rm -qrf sub",
        "checkout -q -f HEAD",
        "clean -fdxq",
        "mv sub away",
    ] {
        let answer = shell(&world, ".", &format!("{IDENTITY}; git {words}")).await;
        assert_ne!(answer["data"]["exitCode"], 0, "{words}: {answer:#}");
        assert!(answer["warnings"].to_string().contains("`.env`"), "{words}: {answer:#}");
        assert_eq!(git(&app, &["rev-parse", "HEAD"]), head, "{words}");
        assert_eq!(
            git(&app, &["diff", "--cached", "--name-only", "--", ".env", "sub/new.pem"]),
            "",
            "{words}"
        );
        assert_eq!(
            fs::read_to_string(world.path(".env")).expect("there"),
            format!("{SECRET} of today\n"),
            "{words}"
        );
        assert_eq!(
            fs::metadata(world.path("sub/new.pem")).expect("there").size(),
            SECRET.len() as u64 + 1,
            "{words}"
        );
        git(&app, &["reset", "-q"]);
        git(&app, &["checkout", "-q", "HEAD", "--", "sub", "open", "tests", "private", "node_modules"]);
    }
    // Other files are committed as ever.
    let script = format!("{IDENTITY}; date +%N > sub/plain; git commit -qm x sub/plain && echo done");
    let answer = shell(&world, ".", &script).await;
    assert_eq!(answer["data"]["stdout"], "done\n", "{answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_of_variables_reads_blank_where_git_would_not_add_it() {
    if lacks_full_sandbox() {
        return;
    }
    let world = world();
    let app = world.path("");
    let length = SECRET.len() + 1;
    let read = "f=.en; f=${f}v; head -c 1 sub/deep/s*.pem || echo no key; cat $f > /dev/null || echo closed; \
                [ -r $f ] && [ -z \"$(cat $f)\" ] && wc -c < $f; (echo x >> $f) || echo kept";
    // What loads variables continues without them; a key is another matter.
    let blank = format!("no key\n{length}\nkept\n");
    let closed = "no key\nclosed\nkept\n";
    assert_eq!(shell(&world, ".", read).await["data"]["stdout"], blank, "no repository");
    git(&app, &["init", "-q", "."]);
    assert_eq!(shell(&world, ".", read).await["data"]["stdout"], closed, "Git could add it");
    for rules in ["*.log\n.env\n", "# all\n/.e*\n!.env.example\n"] {
        world.write(".gitignore", rules);
        assert_eq!(shell(&world, ".", read).await["data"]["stdout"], blank, "{rules}");
    }
    world.write(".gitignore", "*.env\n.env\n!.env\n");
    assert_eq!(shell(&world, ".", read).await["data"]["stdout"], closed, "it is taken out of the rules");
    fs::remove_file(world.path(".gitignore")).expect("removed");
    fs::write(world.path(".git/info/exclude"), "/.env\n").expect("written");
    assert_eq!(shell(&world, ".", read).await["data"]["stdout"], blank, "an exclude of this repository");
    // A folder that is ignored, with the file in it.
    world.write("sub/deep/.env", format!("{SECRET}\n"));
    assert_eq!(
        shell(&world, ".", "cd sub/deep; cat .en[v] || echo closed").await["data"]["stdout"],
        closed[7..14]
    );
    world.write("sub/.gitignore", "deep/\n");
    let answer = shell(&world, ".", "cd sub/deep; cat .en[v] | wc -l").await;
    assert_eq!(answer["data"]["stdout"], format!("{length}\n"), "{answer:#}");
    let answer =
        shell(&world, ".", &format!("{IDENTITY}; git add . 2>/dev/null; git ls-files | grep -c .en[v]$"))
            .await;
    assert_eq!(answer["data"]["stdout"], "0\n", "{answer:#}");
}
