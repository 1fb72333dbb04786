//! Repositories in odd states and formats, and such as change while they are read.

use std::ffi::OsStr;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bailiwick::platform::fs::modes::set_mode;
use bailiwick::platform::fs::remove_tree;
use bailiwick::platform::names::OsStrExt;
use serde_json::{Value, json};

use super::scope::{GitScope, reads, written};
use crate::needs::{lacks_full_sandbox, lacks_root, report_left_out};
use crate::system::{Need, lacks};
use crate::temporary::TemporaryFolder;

/// Who owns nothing else on most computers.
#[cfg(unix)]
const NOBODY: u32 = 65_534;

#[cfg(unix)]
fn give_away(path: &Path) -> bool {
    use std::os::unix::fs::chown;
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).all(|path| path.is_symlink() || !path.is_dir() || give_away(&path))
        && fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .all(|entry| chown(entry.path(), Some(NOBODY), None).is_ok())
        && chown(path, Some(NOBODY), None).is_ok()
}

fn entry<'a>(answer: &'a Value, path: &str) -> &'a Value {
    let entries = answer["entries"].as_array().expect("a list");
    entries.iter().find(|entry| entry["path"] == path).unwrap_or_else(|| panic!("{path} in {answer:#}"))
}

// Root of Unix gives files away.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_of_another_user_is_data_in_the_scope_and_refused_above_it() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("whole/part", json!({}));
    world.repository("whole/part");
    let program = world.program("evil");
    world.git("whole/part", &["config", "core.fsmonitor", &program]);
    if !give_away(&world.path("whole/part")) {
        // Only root can give files away.
        assert!(lacks_root());
        return;
    }
    for read in reads() {
        world.data(read.clone()).await;
        assert!(!world.ran(), "{read} ran a program of another user's repository");
    }
    remove_tree(&world.path("whole/part/.git")).expect("it is there");
    world.repository("whole");
    assert!(give_away(&world.path("whole/.git")));
    for read in reads() {
        let answer = world.send(read.clone()).await;
        assert_eq!(answer["error"]["details"]["rule"], "repository-owner", "{read}: {answer:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scope_that_is_a_bare_repository_has_none() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("source");
    world.git(".", &["clone", "-q", "--bare", "source", "app"]);
    for read in reads() {
        let code = world.code(read.clone()).await;
        assert!(["not_found", "permission_denied"].contains(&code.as_str()), "{read}: {code}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merge_in_conflict_is_shown_resolved_and_concluded() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("app");
    world.git("app", &["commit", "-q", "-a", "-m", "ours"]);
    world.git("app", &["checkout", "-q", "-b", "side", "HEAD~1"]);
    world.write("app/a.txt", "theirs\n");
    world.write("app/b.txt", "theirs\n");
    world.git("app", &["commit", "-q", "-a", "-m", "theirs"]);
    assert!(!world.person_git("app", &["merge", "-q", "main"]).status.success());
    for read in reads() {
        world.data(read).await;
    }
    let status = world.data(json!({"op": "git.status"})).await;
    assert_eq!(status["inProgress"], "merge", "{status:#}");
    assert_eq!(entry(&status, "a.txt")["conflict"], "bothModified");
    let commit = json!({"op": "git.commit", "input": {"message": "both"}});
    assert_eq!(world.code(commit.clone()).await, "conflict");
    world.write("app/a.txt", "both\n");
    world.write("app/b.txt", "both\n");
    world.data(json!({"op": "git.stage", "input": {"paths": ["a.txt", "b.txt"]}})).await;
    let made = world.data(commit).await;
    assert_eq!(made["parents"].as_array().map(Vec::len), Some(2), "{made:#}");
    let status = world.data(json!({"op": "git.status"})).await;
    assert_eq!(status.get("inProgress").unwrap_or(&Value::Null), &Value::Null, "{status:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conflict_markers_are_warned_of_and_a_conflict_stays_in_the_index() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("app");
    world.git("app", &["commit", "-q", "-a", "-m", "ours"]);
    world.git("app", &["checkout", "-q", "-b", "side", "HEAD~1"]);
    world.write("app/a.txt", "theirs\n");
    world.write("app/b.txt", "theirs\n");
    world.git("app", &["commit", "-q", "-a", "-m", "theirs"]);
    assert!(!world.person_git("app", &["merge", "-q", "main"]).status.success());
    let stages = || {
        let printed = world.person_git("app", &["ls-files", "-u"]).stdout;
        String::from_utf8_lossy(&printed).into_owned()
    };
    let before = stages();
    assert!(before.contains(" 3\ta.txt"), "{before}");

    // Unstaging: by name, and of all that is there. The versions of both sides stay.
    for input in [json!({"paths": ["a.txt"]}), json!({"all": true})] {
        let answer = world.send(json!({"op": "git.unstage", "input": input})).await;
        assert_eq!(answer["error"]["details"]["rule"], "unmerged", "{answer:#}");
        assert_eq!(stages(), before);
    }
    world.write("app/c.txt", "new\n");
    world.git("app", &["add", "c.txt"]);
    let answer = world.send(json!({"op": "git.unstage", "input": {"all": true}})).await;
    assert_eq!(answer["data"]["unstaged"][0]["path"], "c.txt", "{answer:#}");
    assert!(answer["warnings"].to_string().contains("in conflict"), "{answer:#}");
    assert_eq!(stages(), before);

    // Staging what has markers, as a dry run and in earnest; trailing blanks are no markers.
    let stage = |dry: bool| json!({"op": "git.stage", "input": {"paths": ["a.txt", "c.txt"]}, "options": {"dryRun": dry}});
    world.write("app/c.txt", "blanks  \n");
    for dry in [true, false] {
        let answer = world.send(stage(dry)).await;
        let warnings = answer["warnings"].to_string();
        assert_eq!(answer["ok"], true, "{answer:#}");
        assert!(warnings.contains("`a.txt` has conflict markers, the first at line 1"), "{warnings}");
        assert!(!warnings.contains("c.txt"), "{warnings}");
    }
    assert!(!stages().contains("a.txt"), "it is staged");
    world.write("app/a.txt", "both\n");
    let answer = world.send(stage(false)).await;
    assert_eq!(answer["warnings"], json!([]), "it is resolved: {answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rebase_a_cherry_pick_and_a_revert_in_progress_make_their_commits_themselves() {
    if lacks(Need::Git) {
        return;
    }
    for (words, name) in [
        (["rebase", "-q", "main"], "rebase"),
        (["cherry-pick", "-x", "main"], "cherryPick"),
        (["revert", "--no-edit", "main"], "revert"),
    ] {
        let world = GitScope::new("app", json!({}));
        world.repository("app");
        world.git("app", &["commit", "-q", "-a", "-m", "ours"]);
        world.git("app", &["checkout", "-q", "-b", "side", "HEAD~1"]);
        world.write("app/a.txt", "theirs\n");
        world.git("app", &["commit", "-q", "-a", "-m", "theirs"]);
        assert!(!world.person_git("app", &words).status.success(), "{words:?}");
        let status = world.data(json!({"op": "git.status"})).await;
        assert_eq!(status["inProgress"], name, "{status:#}");
        for read in reads().into_iter().filter(|read| !read.to_string().contains('~')) {
            world.data(read).await;
        }
        let commit = json!({"op": "git.commit", "input": {"message": "x"}});
        assert_eq!(world.code(commit).await, "conflict", "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_renamed_and_edited_is_shown_as_both() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("app");
    let lines: String = (0..40).map(|line| format!("line {line}\n")).collect();
    world.write("app/long.txt", &lines);
    world.git("app", &["add", "."]);
    world.git("app", &["commit", "-q", "-m", "long"]);
    world.git("app", &["mv", "long.txt", "moved.txt"]);
    world.write("app/moved.txt", &lines.replace("line 7\n", "seven\n"));
    let status = world.data(json!({"op": "git.status"})).await;
    let moved = entry(&status, "moved.txt");
    assert_eq!((&moved["index"], &moved["workTree"]), (&json!("renamed"), &json!("modified")), "{status:#}");
    assert_eq!(moved["from"], "long.txt");
    world.data(json!({"op": "git.stage", "input": {"all": true}})).await;
    let diff = world.data(json!({"op": "git.diff", "input": {"staged": true}})).await;
    let patch = diff["patch"].as_str().expect("text");
    assert!(patch.contains("rename from long.txt") && patch.contains("+seven"), "{patch}");
    world.data(json!({"op": "git.commit", "input": {"message": "moved"}})).await;
    let blame = world.data(json!({"op": "git.blame", "target": "moved.txt"})).await;
    assert!(blame.to_string().contains("seven"), "{blame:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submodule_that_is_dirty_inside_is_told_by_itself_only() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("library");
    world.repository("app");
    let library = written(&world.path("library"));
    world.git("app", &["submodule", "--quiet", "add", &library, "library"]);
    world.git("app", &["commit", "-q", "-a", "-m", "with a submodule"]);
    world.write("app/library/a.txt", "dirty\n");
    world.write("app/library/new.txt", "new\n");
    let status = world.data(json!({"op": "git.status"})).await;
    assert!(!status.to_string().contains("library"), "{status:#}");
    let inside = world.data(json!({"op": "git.status", "target": "library"})).await;
    assert_eq!(entry(&inside, "library/a.txt")["workTree"], "modified");
    assert_eq!(entry(&inside, "library/new.txt")["workTree"], "untracked");
    let code = world.code(json!({"op": "git.stage", "input": {"paths": ["library/a.txt"]}})).await;
    assert_eq!(code, "not_found", "it is staged in the submodule, by that as target");
    world.data(json!({"op": "git.stage", "target": "library", "input": {"all": true}})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_are_not_utf8_go_through_every_operation() {
    if lacks(Need::Git) || lacks(Need::Names) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("app");
    let (raw, shown) = (OsStr::from_bytes(b"caf\xe9 -\xff.txt"), r"caf\xe9 -\xff.txt");
    fs::write(world.path("app").join(raw), "one\n").expect("a file is written");
    let status = world.data(json!({"op": "git.status"})).await;
    assert_eq!(entry(&status, shown)["workTree"], "untracked");
    let stage = json!({"op": "git.stage", "input": {"paths": [shown]}});
    assert_eq!(world.data(stage.clone()).await["staged"][0]["path"], shown);
    world.data(json!({"op": "git.unstage", "input": {"paths": [shown]}})).await;
    world.data(stage).await;
    let commit = world.data(json!({"op": "git.commit", "input": {"message": "odd"}})).await;
    assert!(commit["files"].to_string().contains(r"caf\\xe9 -\\xff.txt"), "{commit:#}");
    fs::write(world.path("app").join(raw), "two\n").expect("a file is written");
    for (read, has) in [
        (json!({"op": "git.status", "target": shown}), "modified"),
        (json!({"op": "git.changes", "target": shown}), "modified"),
        (json!({"op": "git.diff", "target": shown}), "+two"),
        (json!({"op": "git.log", "target": shown}), "odd"),
        (json!({"op": "git.blame", "target": shown}), "two"),
        (json!({"op": "git.show", "target": shown, "options": {"content": true}}), "one"),
    ] {
        let answer = world.data(read.clone()).await;
        assert!(answer.to_string().contains(has), "{read}: {answer:#}");
    }
    let tree = json!({"op": "git.worktree_create", "input": {"path": r"tr\xfee", "branch": "odd"}});
    assert_eq!(world.data(tree).await["path"], r"tr\xfee");
    let list = world.data(json!({"op": "git.worktree_list"})).await;
    assert_eq!(list["worktrees"][1]["path"], r"tr\xfee", "{list:#}");
    world.data(json!({"op": "git.worktree_remove", "input": {"path": r"tr\xfee"}})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_difference_of_100_megabytes_comes_in_bounded_pages() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({"maxOutputBytes": 20_000}));
    world.repository("app");
    let content = |letter: &str| format!("{}\n", letter.repeat(99)).repeat(10_000);
    for file in 0..50 {
        world.write(&format!("app/many/f{file:02}.txt"), &content("a"));
    }
    world.git("app", &["add", "."]);
    for file in 0..50 {
        world.write(&format!("app/many/f{file:02}.txt"), &content("b"));
    }
    let ask =
        |cursor: Option<&str>| json!({"op": "git.diff", "target": "many", "options": {"cursor": cursor}});
    let first = world.data(json!({"op": "git.diff", "target": "many"})).await;
    assert!(first.to_string().len() <= 20_000, "{}", first.to_string().len());
    assert_eq!(first["counts"]["insertions"], 500_000, "{}", first["counts"]);
    let second = world.data(ask(first["nextCursor"].as_str())).await;
    assert!(second.to_string().len() <= 20_000, "{}", second.to_string().len());
    let patch = |page: &Value| page["patch"].as_str().expect("text").to_owned();
    let whole = world.person_git("app", &["diff", "--", "many/f00.txt"]);
    let both = patch(&first) + &patch(&second);
    assert!(both.len() > 30_000 && String::from_utf8_lossy(&whole.stdout).starts_with(&both));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lock_that_was_left_over_stops_changes_and_no_reads() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("app");
    world.write("app/.git/index.lock", "");
    for read in reads() {
        world.data(read).await;
    }
    for change in [
        json!({"op": "git.stage", "input": {"all": true}}),
        json!({"op": "git.unstage", "input": {"all": true}}),
        json!({"op": "git.commit", "input": {"message": "x"}}),
    ] {
        let answer = world.send(change.clone()).await;
        assert_eq!(answer["error"]["code"], "conflict", "{change}: {answer:#}");
        assert!(answer["error"]["hints"].to_string().contains("index.lock"), "{change}: {answer:#}");
    }
    fs::remove_file(world.path("app/.git/index.lock")).expect("it was left there");
    world.write("app/.git/HEAD.lock", "");
    world.write("app/new.txt", "new\n");
    world.data(json!({"op": "git.stage", "input": {"all": true}})).await;
    let answer = world.send(json!({"op": "git.commit", "input": {"message": "x"}})).await;
    assert_eq!(answer["error"]["code"], "conflict", "{answer:#}");
    assert!(answer["error"]["hints"].to_string().contains("HEAD.lock"), "{answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_that_changes_is_read_as_it_was_at_some_moment() {
    if lacks(Need::Git) {
        return;
    }
    let world = Arc::new(GitScope::new("app", json!({})));
    world.repository("app");
    let stop = Arc::new(AtomicBool::new(false));
    let changing = std::thread::spawn({
        let (world, stop) = (Arc::clone(&world), Arc::clone(&stop));
        move || {
            let mut round = 0;
            while !stop.load(Ordering::Relaxed) {
                round += 1;
                world.write("app/a.txt", &format!("round {round}\n"));
                world.write(&format!("app/new{}.txt", round % 3), "new\n");
                world.git("app", &["add", "."]);
                world.git("app", &["commit", "-q", "--allow-empty", "-m", &format!("round {round}")]);
                world.git("app", &["rm", "-q", "-f", "--ignore-unmatch", "new0.txt", "new1.txt"]);
                world.git("app", &["gc", "-q", "--prune=now"]);
            }
            round
        }
    });
    for _ in 0..6 {
        for read in reads() {
            let answer = world.send(read.clone()).await;
            let code = answer["error"]["code"].as_str().unwrap_or("ok").to_owned();
            // Objects may be packed and files go while Git looks at them; it then says so.
            assert!(
                ["ok", "execution_failed", "conflict", "not_found"].contains(&code.as_str()),
                "{answer:#}"
            );
            let panicked = answer.to_string().contains("panic");
            assert!(!panicked, "{read}: {answer:#}");
        }
        let log = world.data(json!({"op": "git.log", "options": {"maxResults": 3}})).await;
        assert!(log["commits"].as_array().is_some_and(|commits| !commits.is_empty()), "{log:#}");
    }
    stop.store(true, Ordering::Relaxed);
    assert!(changing.join().expect("it continues to the end") > 0);
    for read in reads() {
        world.data(read).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repositories_of_newer_formats_are_read_and_changed() {
    if lacks(Need::Git) {
        return;
    }
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let world = GitScope::new("app", json!({}));
        fs::create_dir_all(world.path("app")).expect("a folder is made");
        let init = world.person_git("app", &["init", "-q", format]);
        let said = String::from_utf8_lossy(&init.stderr);
        // Before 2.45 it has no reftable.
        if said.contains("unknown option") {
            report_left_out(&format!("a Git with {format}"));
            continue;
        }
        assert!(init.status.success(), "{format}: {said}");
        world.repository("app");
        for read in reads() {
            world.data(read).await;
        }
        world.data(json!({"op": "git.stage", "input": {"all": true}})).await;
        let commit = world.data(json!({"op": "git.commit", "input": {"message": "three"}})).await;
        let digits = commit["commit"].as_str().map(str::len);
        assert_eq!(digits, Some(if format.contains("sha256") { 64 } else { 40 }), "{commit:#}");
        let create = json!({"op": "git.worktree_create", "input": {"path": "trees/fix", "branch": "fix"}});
        assert_eq!(world.data(create).await["commit"], commit["commit"]);
        let status = world.data(json!({"op": "git.status", "target": "trees/fix"})).await;
        assert_eq!(status["text"], "## fix\n", "{status:#}");
        world.data(json!({"op": "git.worktree_remove", "input": {"path": "trees/fix"}})).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_reaches_no_network_and_writes_only_what_the_operation_is_for() {
    if lacks_full_sandbox() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.set_nonblocking(true).expect("a listener takes options");
    let port = listener.local_addr().expect("it has an address").port();
    let folder = TemporaryFolder::new();
    let world = GitScope::new("app", json!({"searchPath": [folder.path()]}));
    world.repository("app");
    // A Git that tries what none of these needs, and then does its work. The user's shell shows that the tries are real.
    let root = world.path("app").display().to_string();
    let tries = format!(
        "for name in evil a.txt .git/config .git/hooks/post-checkout; do echo x >> {root}/$name; done\n\
         echo x > /dev/tcp/127.0.0.1/{port}\n"
    );
    let program = folder.path().join("git");
    fs::write(&program, format!("#!/bin/bash\n{{\n{tries}}} 2>/dev/null\nexec /usr/bin/git \"$@\"\n"))
        .expect("written");
    set_mode(&program, 0o755).expect("a mode is set");
    let untouched = |path: &str| fs::read_to_string(world.path(&format!("app/{path}"))).ok();
    let paths = ["evil", "a.txt", ".git/config", ".git/hooks/post-checkout"];
    let before = paths.map(untouched);
    let git_folder = || {
        let mut names = files_below(&world.path("app/.git"));
        names.sort();
        names
    };
    let names = git_folder();
    for read in reads() {
        let answer = world.send(read.clone()).await;
        assert_eq!(answer["ok"], true, "{read}: {answer:#}");
        assert_eq!((paths.map(untouched), git_folder()), (before.clone(), names.clone()), "{read}");
    }
    for change in [
        json!({"op": "git.stage", "input": {"paths": ["c.txt"]}}),
        json!({"op": "git.commit", "input": {"message": "three"}}),
    ] {
        let answer = world.send(change.clone()).await;
        assert_eq!(answer["ok"], true, "{change}: {answer:#}");
        assert_eq!(paths.map(untouched), before, "{change}");
    }
    let heard = listener.accept().map(|_| ()).map_err(|error| error.kind());
    assert_eq!(heard, Err(std::io::ErrorKind::WouldBlock), "nothing reached the computer's own network");
    // Outside the sandbox the same lines do all of it.
    let ran = Command::new("/bin/bash").args(["-c", &tries]).status().expect("bash runs");
    assert!(ran.success() && paths.map(untouched) != before && listener.accept().is_ok());
}

/// Returns every file below a folder with its content.
fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                let content = fs::read(&path).expect("a file");
                vec![(path, content)]
            }
        })
        .collect()
}
