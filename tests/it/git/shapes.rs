//! Repositories of every shape, and a computer without Git.

use serde_json::json;

use super::scope::{GitScope, reads, written};
use crate::system::{Need, lacks};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_working_tree_beside_its_repository_works_if_both_are_in_the_scope() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("app/main");
    world.git("app/main", &["worktree", "add", "-q", "-b", "side", "../side"]);
    world.write("app/side/a.txt", "changed\n");
    let status = world.data(json!({"op": "git.status", "target": "side"})).await;
    assert_eq!(status["branch"]["name"], "side", "{status:#}");
    assert_eq!(status["text"], "## side\n M side/a.txt\n");
    world.data(json!({"op": "git.stage", "target": "side", "input": {"all": true}})).await;
    world
        .data(json!({"op": "git.commit", "target": "side", "input": {"message": "in the other tree"}}))
        .await;
    let log = world.data(json!({"op": "git.log", "target": "side", "options": {"maxResults": 1}})).await;
    assert_eq!(log["commits"][0]["subject"], "in the other tree");
    // The first tree is where it was.
    let log = world.data(json!({"op": "git.log", "target": "main", "options": {"maxResults": 1}})).await;
    assert_eq!(log["commits"][0]["subject"], "two");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_working_tree_whose_repository_lies_outside_is_refused() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("side", json!({}));
    world.repository("main");
    world.git("main", &["worktree", "add", "-q", "-b", "side", "../side"]);
    assert_eq!(world.code(json!({"op": "git.status"})).await, "path_out_of_scope");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shallow_clone_is_read_as_far_as_it_goes() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("source");
    let source = format!("file:///{}", written(&world.path("source")).trim_start_matches('/'));
    world.git("app", &["clone", "-q", "--depth=1", &source, "."]);
    let log = world.data(json!({"op": "git.log"})).await;
    assert_eq!(log["commits"].as_array().map(Vec::len), Some(1), "{log:#}");
    let show = world.data(json!({"op": "git.show"})).await;
    assert_eq!(show["counts"]["files"], 2, "{show:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submodule_is_one_entry_and_its_commits_are_seen() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("library");
    world.repository("app");
    let library = written(&world.path("library"));
    world.git("app", &["submodule", "--quiet", "add", &library, "library"]);
    world.git("app", &["commit", "-q", "-m", "with a submodule"]);
    world.git("app/library", &["commit", "-q", "--allow-empty", "-m", "further"]);
    let status = world.data(json!({"op": "git.status", "target": "library/.."})).await;
    let entry = status["entries"].as_array().expect("a list").iter().find(|it| it["path"] == "library");
    assert_eq!(entry.expect("the submodule is listed")["submodule"], true, "{status:#}");
    world.data(json!({"op": "git.stage", "input": {"paths": ["library"]}})).await;
    let diff = world.data(json!({"op": "git.diff", "input": {"staged": true}})).await;
    assert!(diff["patch"].as_str().is_some_and(|it| it.contains("+Subproject commit")), "{diff:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_that_several_users_share_stays_so() {
    use std::os::unix::fs::PermissionsExt;

    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("app");
    // No folder of objects is left that was made before.
    world.git("app", &["gc", "-q"]);
    world.git("app", &["config", "core.sharedRepository", "group"]);
    world.write("app/shared.txt", "shared\n");
    world.data(json!({"op": "git.stage", "input": {"paths": ["shared.txt"]}})).await;
    let made = world.data(json!({"op": "git.commit", "input": {"message": "shared"}})).await;
    let hash = made["commit"].as_str().expect("a hash");
    let folder = world.path("app/.git/objects").join(&hash[..2]);
    let mode = std::fs::metadata(folder).expect("the commit is stored there").permissions().mode();
    assert_eq!(mode & 0o2070, 0o2070, "{mode:o}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_is_the_one_that_git_itself_prints() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("app");
    world.write("app/deep/er/x.txt", "x\n");
    world.write("app/.gitignore", "*.log\n/ignored/\n!keep.log\n");
    world.write("app/y.log", "y\n");
    world.write("app/keep.log", "k\n");
    world.write("app/ignored/z.txt", "z\n");
    world.git("app", &["mv", "a.txt", "deep/a b.txt"]);
    for (untracked, option) in [("normal", "-unormal"), ("all", "-uall"), ("none", "-uno")] {
        let ours = world.data(json!({"op": "git.status", "options": {"untracked": untracked}})).await;
        let theirs = world.person_git("app", &["status", "--short", "--branch", "-z", option]);
        let mut theirs: Vec<String> = String::from_utf8_lossy(&theirs.stdout)
            .split('\0')
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect();
        // With `-z` the old name follows the new one.
        if let Some(at) = theirs.iter().position(|line| line.starts_with('R')) {
            let from = theirs.remove(at + 1);
            let (letters, to) = theirs[at].split_at(3);
            theirs[at] = format!("{letters}{from} -> {to}");
        }
        let mut ours: Vec<String> = ours["text"].as_str().expect("text").lines().map(str::to_owned).collect();
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{untracked}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_after_the_other_gives_the_whole_difference() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({"maxOutputBytes": 4000}));
    world.repository("app");
    for file in 0..40 {
        let lines: String =
            (0..file * 3).map(|line| format!("line {line} of file {file} — größer\n")).collect();
        world.write(&format!("app/many/f{file:02}.txt"), &lines);
    }
    world.git("app", &["add", "."]);
    let (mut patch, mut cursor, mut pages) = (String::new(), None::<String>, 0);
    loop {
        let mut ask = json!({"op": "git.diff", "input": {"staged": true}, "target": "many"});
        if let Some(cursor) = &cursor {
            ask["options"]["cursor"] = json!(cursor);
        }
        let page = world.data(ask).await;
        assert!(page.to_string().len() <= 4_000, "{} bytes", page.to_string().len());
        patch.push_str(page["patch"].as_str().expect("text"));
        pages += 1;
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    let whole = world.person_git("app", &["diff", "--cached", "--", "many"]);
    assert!(pages > 5, "{pages} pages");
    assert_eq!(patch, String::from_utf8_lossy(&whole.stdout));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_git_the_answer_says_what_is_missing() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({"searchPath": [std::env::temp_dir().join("nonexistent")]}));
    world.repository("app");
    for read in reads() {
        let answer = world.send(read.clone()).await;
        assert_eq!(answer["error"]["code"], "provider_unavailable", "{read}: {answer:#}");
        assert!(answer["error"]["hints"].to_string().contains("install Git"), "{answer:#}");
    }
}
