//! Repositories of every shape, and a computer without Git.

use serde_json::json;

use super::scope::{GitScope, reads, written};
use crate::system::{Need, lacks};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_working_tree_beside_its_repository_works_if_both_are_in_the_scope() {
    if lacks(Need::Git) {
        return;
    }
    let ground = GitScope::new("app", json!({}));
    ground.repository("app/main");
    ground.git("app/main", &["worktree", "add", "-q", "-b", "side", "../side"]);
    ground.write("app/side/a.txt", "changed\n");
    let status = ground.data(json!({"op": "git.status", "target": "side"})).await;
    assert_eq!(status["branch"]["name"], "side", "{status:#}");
    assert_eq!(status["text"], "## side\n M side/a.txt\n");
    ground.data(json!({"op": "git.stage", "target": "side", "input": {"all": true}})).await;
    ground
        .data(json!({"op": "git.commit", "target": "side", "input": {"message": "in the other tree"}}))
        .await;
    let log = ground.data(json!({"op": "git.log", "target": "side", "options": {"maxResults": 1}})).await;
    assert_eq!(log["commits"][0]["subject"], "in the other tree");
    // The first tree is where it was.
    let log = ground.data(json!({"op": "git.log", "target": "main", "options": {"maxResults": 1}})).await;
    assert_eq!(log["commits"][0]["subject"], "two");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_working_tree_whose_repository_lies_outside_is_refused() {
    if lacks(Need::Git) {
        return;
    }
    let ground = GitScope::new("side", json!({}));
    ground.repository("main");
    ground.git("main", &["worktree", "add", "-q", "-b", "side", "../side"]);
    assert_eq!(ground.code(json!({"op": "git.status"})).await, "path_out_of_scope");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shallow_clone_is_read_as_far_as_it_goes() {
    if lacks(Need::Git) {
        return;
    }
    let ground = GitScope::new("app", json!({}));
    ground.repository("source");
    let source = format!("file:///{}", written(&ground.path("source")).trim_start_matches('/'));
    ground.git("app", &["clone", "-q", "--depth=1", &source, "."]);
    let log = ground.data(json!({"op": "git.log"})).await;
    assert_eq!(log["commits"].as_array().map(Vec::len), Some(1), "{log:#}");
    let show = ground.data(json!({"op": "git.show"})).await;
    assert_eq!(show["counts"]["files"], 2, "{show:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submodule_is_one_entry_and_its_commits_are_seen() {
    if lacks(Need::Git) {
        return;
    }
    let ground = GitScope::new("app", json!({}));
    ground.repository("library");
    ground.repository("app");
    let library = written(&ground.path("library"));
    ground.git("app", &["submodule", "--quiet", "add", &library, "library"]);
    ground.git("app", &["commit", "-q", "-m", "with a submodule"]);
    ground.git("app/library", &["commit", "-q", "--allow-empty", "-m", "further"]);
    let status = ground.data(json!({"op": "git.status", "target": "library/.."})).await;
    let entry = status["entries"].as_array().expect("a list").iter().find(|it| it["path"] == "library");
    assert_eq!(entry.expect("the submodule is listed")["submodule"], true, "{status:#}");
    ground.data(json!({"op": "git.stage", "input": {"paths": ["library"]}})).await;
    let diff = ground.data(json!({"op": "git.diff", "input": {"staged": true}})).await;
    assert!(diff["patch"].as_str().is_some_and(|it| it.contains("+Subproject commit")), "{diff:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_that_several_users_share_stays_so() {
    use std::os::unix::fs::PermissionsExt;

    if lacks(Need::Git) {
        return;
    }
    let ground = GitScope::new("app", json!({}));
    ground.repository("app");
    // No folder of objects is left that was made before.
    ground.git("app", &["gc", "-q"]);
    ground.git("app", &["config", "core.sharedRepository", "group"]);
    ground.write("app/shared.txt", "shared\n");
    ground.data(json!({"op": "git.stage", "input": {"paths": ["shared.txt"]}})).await;
    let made = ground.data(json!({"op": "git.commit", "input": {"message": "shared"}})).await;
    let hash = made["commit"].as_str().expect("a hash");
    let folder = ground.path("app/.git/objects").join(&hash[..2]);
    let mode = std::fs::metadata(folder).expect("the commit is stored there").permissions().mode();
    assert_eq!(mode & 0o2070, 0o2070, "{mode:o}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_status_is_the_one_that_git_itself_prints() {
    if lacks(Need::Git) {
        return;
    }
    let ground = GitScope::new("app", json!({}));
    ground.repository("app");
    ground.write("app/deep/er/x.txt", "x\n");
    ground.write("app/.gitignore", "*.log\n/ignored/\n!keep.log\n");
    ground.write("app/y.log", "y\n");
    ground.write("app/keep.log", "k\n");
    ground.write("app/ignored/z.txt", "z\n");
    ground.git("app", &["mv", "a.txt", "deep/a b.txt"]);
    for (untracked, option) in [("normal", "-unormal"), ("all", "-uall"), ("none", "-uno")] {
        let ours = ground.data(json!({"op": "git.status", "options": {"untracked": untracked}})).await;
        let theirs =
            super::scope::person_git(&ground.path("app"), &["status", "--short", "--branch", "-z", option]);
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
    let ground = GitScope::new("app", json!({"maxOutputBytes": 4000}));
    ground.repository("app");
    for file in 0..40 {
        let lines: String =
            (0..file * 3).map(|line| format!("line {line} of file {file} — größer\n")).collect();
        ground.write(&format!("app/many/f{file:02}.txt"), &lines);
    }
    ground.git("app", &["add", "."]);
    let (mut patch, mut cursor, mut pages) = (String::new(), None::<String>, 0);
    loop {
        let mut ask = json!({"op": "git.diff", "input": {"staged": true}, "target": "many"});
        if let Some(cursor) = &cursor {
            ask["options"]["cursor"] = json!(cursor);
        }
        let page = ground.data(ask).await;
        assert!(page.to_string().len() <= 4_000, "{} bytes", page.to_string().len());
        patch.push_str(page["patch"].as_str().expect("text"));
        pages += 1;
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    let whole = super::scope::person_git(&ground.path("app"), &["diff", "--cached", "--", "many"]);
    assert!(pages > 5, "{pages} pages");
    assert_eq!(patch, String::from_utf8_lossy(&whole.stdout));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_git_the_answer_says_what_is_missing() {
    if lacks(Need::Git) {
        return;
    }
    let ground = GitScope::new("app", json!({"searchPath": [std::env::temp_dir().join("nonexistent")]}));
    ground.repository("app");
    for read in reads() {
        let answer = ground.send(read.clone()).await;
        assert_eq!(answer["error"]["code"], "provider_unavailable", "{read}: {answer:#}");
        assert!(answer["error"]["hints"].to_string().contains("install Git"), "{answer:#}");
    }
}
