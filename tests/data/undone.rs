//! Commands that destroy, and what comes back of it: everything, byte for byte, with kinds, modes, links and the names that
//! files share. `tests/undo/commands.txt` has the commands.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use bailiwick::platform::fs::modes::{MetadataExt, PermissionsExt, set_mode, symlink};
use bailiwick::platform::machine::user_id;
use bailiwick::providers::file::sha256_hex;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use support::access::ReadAccess;
use support::needs::lacks_full_sandbox;
use support::scope::TestScope;
use support::service::{TestService, call, data};
use support::temporary::TemporaryFolder;

use crate::trials::TrialFilter;

/// Below what is kept of a file, and above what other parts of the product hold in memory.
const BIG: usize = 9 << 20;
/// The objects of a repository: what was added to them stays.
const OBJECTS: &str = ".git/objects/";

/// The trials: each command.
pub fn trials(_: &TrialFilter) -> Vec<Trial> {
    let mut trials = trials![there_are_sixty_commands];
    trials.extend(each![stress::commands_come_back_in_a_tree_of_fifty_thousand_files; stress::parts()]);
    trials.extend(each![what_a_command_destroys_comes_back; commands()]);
    trials
}

/// Reads the commands: their names and scripts.
pub fn commands() -> Vec<(String, String)> {
    let text = include_str!("../undo/commands.txt");
    let blocks = text.split("\n== ").skip(1);
    blocks
        .map(|block| block.split_once('\n').expect("a name and a script"))
        .map(|(name, script)| (name.to_owned(), script.trim().to_owned()))
        .collect()
}

fn there_are_sixty_commands() {
    assert!(commands().len() >= 60, "{}", commands().len());
}

/// What is known of an entry: kind, mode, the time of the last change of a file, content or target, and the first of the
/// names that share its content.
pub type Facts = (char, u32, Option<SystemTime>, Vec<u8>, Option<PathBuf>);

/// Describes everything below a folder.
pub fn all_below(folder: &Path) -> BTreeMap<PathBuf, Facts> {
    let mut found = BTreeMap::new();
    let mut names: BTreeMap<u64, PathBuf> = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    let mut entries = BTreeMap::new();
    let mut access = ReadAccess::default();
    while let Some(at) = todo.pop() {
        access.open(&at);
        for entry in fs::read_dir(&at).expect("it can be read") {
            let path = entry.expect("it can be read").path();
            let facts = fs::symlink_metadata(&path).expect("it is there");
            if facts.is_dir() {
                todo.push(path.clone());
            }
            entries.insert(path, facts);
        }
    }
    for (path, facts) in entries {
        let mode = facts.permissions().mode() & 0o7777;
        let below = path.strip_prefix(folder).expect("it is below").to_owned();
        let described = if facts.is_symlink() {
            let target = fs::read_link(&path).expect("it is a link");
            ('l', 0, None, target.as_os_str().as_bytes().to_vec(), None)
        } else if facts.is_dir() {
            ('d', mode, None, Vec::new(), None)
        } else if facts.is_file() {
            let first = facts.ino();
            let first = names.entry(first).or_insert_with(|| below.clone()).clone();
            access.open(&path);
            let content = fs::read(&path).expect("it can be read");
            // Git marks objects as used by their time.
            let modified = facts.modified().ok().filter(|_| !below.starts_with(OBJECTS));
            ('f', mode, modified, content, (facts.nlink() > 1).then_some(first))
        } else {
            ('o', mode, None, Vec::new(), None)
        };
        found.insert(below, described);
    }
    found
}

/// Fails if two states differ: each is named, not shown whole.
pub fn assert_same(now: &BTreeMap<PathBuf, Facts>, then: &BTreeMap<PathBuf, Facts>, what: &str) {
    let mut differences = Vec::new();
    for path in now.keys().chain(then.keys()).collect::<std::collections::BTreeSet<_>>() {
        let is_object = path.starts_with(OBJECTS);
        match (now.get(path), then.get(path)) {
            (now, then) if now == then => {}
            (Some(_), None) if is_object => {}
            (now, then) => {
                let short = |facts: Option<&Facts>| {
                    facts.map(|(kind, mode, modified, content, group)| {
                        let text = String::from_utf8_lossy(&content[..content.len().min(60)]).into_owned();
                        format!("{kind} {mode:o} {modified:?} {} {text:?} {group:?}", content.len())
                    })
                };
                differences.push(format!("{path:?}: {:?}, then {:?}", short(now), short(then)));
            }
        }
    }
    assert!(differences.is_empty(), "{what}:\n{}", differences.join("\n"));
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("it is below the root")).expect("the scope can be written");
    fs::write(path, content).expect("the scope can be written");
}

fn git(folder: &Path, words: &str) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(words.split(' ')).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.output().expect("git runs");
    assert!(output.status.success(), "git {words}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Makes the repository of such a folder: two branches, a stash, and a staged change.
fn make_repository(at: &Path) {
    git(at, "init -q -b main");
    for setting in ["user.name A", "user.email a@example.test", "gc.auto 0", "commit.gpgsign false"] {
        git(at, &format!("config {setting}"));
    }
    write(&at.join("README.md"), "# A project\n\nSome text here.\n");
    write(&at.join("tracked/a"), "one\n");
    write(&at.join(".gitignore"), "ignored\n*.log\n");
    git(at, "add -A");
    git(at, "commit -q -m first");
    git(at, "tag first");
    git(at, "branch other");
    write(&at.join("tracked/b"), "two\n");
    git(at, "add -A");
    git(at, "commit -q -m second");
    git(at, "checkout -q other");
    write(&at.join("tracked/c"), "three\n");
    git(at, "add -A");
    git(at, "commit -q -m third");
    git(at, "checkout -q main");
    write(&at.join("tracked/a"), "stashed\n");
    git(at, "stash -q");
    write(&at.join("tracked/a"), "staged\n");
    git(at, "add tracked/a");
}

/// Returns a repository to copy, which the first trial makes: it takes twenty starts of Git, and 240 trials need one. Another
/// version of this file has another one.
fn repository() -> PathBuf {
    let parent = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let version = sha256_hex(include_bytes!("undone.rs"));
    let made = parent.join(format!("repository-{}", &version[..16]));
    if !made.exists() {
        let new = TemporaryFolder::below(parent);
        let repository = new.path().join("repository");
        fs::create_dir(&repository).expect("made");
        make_repository(&repository);
        // Another trial may have been sooner.
        let renamed = fs::rename(&repository, &made);
        assert!(renamed.is_ok() || made.exists(), "{renamed:?}");
    }
    made
}

/// Makes a folder with a little of everything.
pub fn make_folder(at: &Path) {
    let copied = Command::new("cp").arg("-r").arg(repository().join(".")).arg(at).status().expect("cp runs");
    assert!(copied.success(), "{copied}");
    // So that Git knows the files as those that it wrote.
    git(at, "update-index -q --refresh");
    write(&at.join("tracked/a"), "changed\n");
    write(&at.join("ignored"), "nobody has a copy\n");
    write(&at.join("trace.log"), "a log\n");
    write(&at.join("src/a.txt"), "some lines\nof text\n");
    write(&at.join("src/b.txt"), "other lines\n");
    write(&at.join("src/deep/er/c.txt"), "deep\n");
    write(&at.join("docs/page.txt"), "a page\n");
    write(&at.join(".hidden"), "hidden\n");
    write(&at.join(".env-sample"), "A=1\n");
    write(&at.join("name with blanks"), "blanks\n");
    write(&at.join("line\nbreak"), "line break\n");
    write(&at.join("-dash"), "dash\n");
    write(&at.join("*"), "star\n");
    write(&at.join(OsStr::from_bytes(b"\xff\xfe")), "no text\n");
    write(&at.join("empty-file"), "");
    write(&at.join("big.bin"), vec![7; BIG]);
    fs::create_dir_all(at.join("empty/within")).expect("made");
    fs::create_dir_all(at.join("links")).expect("made");
    symlink("../src/a.txt", at.join("links/to-file")).expect("made");
    symlink("../src", at.join("links/to-folder")).expect("made");
    symlink("nowhere", at.join("links/broken")).expect("made");
    symlink("/etc/passwd", at.join("links/outside")).expect("made");
    write(&at.join("hard/one"), "shared\n");
    fs::hard_link(at.join("hard/one"), at.join("hard/two")).expect("linked");
    fs::hard_link(at.join("hard/one"), at.join("src/three")).expect("linked");
    write(&at.join("script.sh"), "#!/bin/sh\n");
    set_mode(&at.join("script.sh"), 0o750).expect("own file");
    write(&at.join("readonly/file"), "kept\n");
    set_mode(&at.join("readonly/file"), 0o444).expect("own file");
    set_mode(&at.join("readonly"), 0o555).expect("own folder");
    set_mode(&at.join("empty"), 0o700).expect("own folder");
}

/// Starts a service whose scope runs any program, and takes back what commands change.
fn host() -> TestService {
    let policy = json!({"sandbox": "full", "shell": "sandboxed", "undo": "commands"});
    let capabilities = ["fs:read", "fs:write", "command:run", "history:read"];
    TestScope::new().with_capabilities(&capabilities).with_policy(policy).host()
}

/// As long as a computer may take that does much else.
fn in_time() -> Value {
    json!({"timeoutSeconds": 1_800})
}

fn undo(host: &TestService, operation: &Value) -> Value {
    let input = json!({"operation": operation});
    let request = json!({"scope": "app", "op": "history.undo", "input": input, "options": in_time()});
    let answer = call(&host.service, request);
    data(&answer);
    answer
}

#[expect(clippy::ptr_arg, reason = "trials take their item by reference")]
fn what_a_command_destroys_comes_back(script: &String) {
    if lacks_full_sandbox() {
        return;
    }
    let host = host();
    make_folder(&host.root());
    let (after, undone) = run_and_undo(&host, script);
    let before = all_below(&host.root());
    git(&host.root(), "fsck --full --strict");
    let redone = undo(&host, &undone["operationId"]);
    assert_same(&all_below(&host.root()), &after, "after the undo of the undo");
    undo(&host, &redone["operationId"]);
    assert_same(&all_below(&host.root()), &before, "after all three");
}

/// Runs a script and takes back what it changed. Returns the state between, and the answer of the undo.
fn run_and_undo(host: &TestService, script: &str) -> (BTreeMap<PathBuf, Facts>, Value) {
    let before = all_below(&host.root());
    let input = json!({"command": ["bash", "-c", script]});
    let request = json!({"scope": "app", "op": "command.run", "input": input, "options": in_time()});
    let answer = call(&host.service, request);
    let ran = data(&answer);
    assert_eq!(ran["exitCode"], 0, "{ran:#}");
    let after = all_below(&host.root());
    assert!(before != after, "the command changes something: {ran:#}");
    assert!(ran["changes"]["created"].is_u64(), "{ran:#}");
    // What is in a folder that only root may read is not known.
    let unread = after.iter().filter(|(_, facts)| facts.0 == 'd' && facts.1 & 0o500 != 0o500);
    let unread: Vec<_> = unread.map(|(path, _)| path).filter(|_| user_id() != 0).collect();
    let expected = (!unread.is_empty()).then(|| json!(unread));
    assert_eq!(ran["changes"].get("notCovered"), expected.as_ref(), "{ran:#}");
    let undone = undo(host, &answer["operationId"]);
    assert_same(&all_below(&host.root()), &before, &format!("after the undo of `{script}`"));
    (after, undone)
}

mod stress {
    use super::{commands, fs, host, lacks_full_sandbox, make_folder, run_and_undo, write};

    const FILES: usize = 50_000;
    const IN_A_FOLDER: usize = 100;

    /// How many commands share a tree.
    const IN_A_TREE: usize = 8;

    /// Returns all commands in parts: the name of each, and its scripts.
    pub fn parts() -> Vec<(String, Vec<String>)> {
        let scripts: Vec<String> = commands().into_iter().map(|(_, script)| script).collect();
        let parts = scripts.chunks(IN_A_TREE).enumerate();
        parts.map(|(at, part)| (format!("stress::fifty_thousand_files_{at}"), part.to_vec())).collect()
    }

    /// One after the other.
    pub fn commands_come_back_in_a_tree_of_fifty_thousand_files(scripts: &Vec<String>) {
        if lacks_full_sandbox() {
            return;
        }
        let host = host();
        make_folder(&host.root());
        // Git would make an object of each.
        write(&host.path(".git/info/exclude"), "thousands\n");
        for number in 0..FILES {
            let folder = host.path("thousands").join((number / IN_A_FOLDER).to_string());
            if number % IN_A_FOLDER == 0 {
                fs::create_dir_all(&folder).expect("made");
            }
            fs::write(folder.join(number.to_string()), format!("file {number}\n")).expect("written");
        }
        for script in scripts {
            run_and_undo(&host, script);
        }
    }
}
