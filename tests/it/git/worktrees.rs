//! Working trees: nothing that a repository names is run, and nothing outside the scope is told, made or removed.

use std::fs;

use bailiwick::platform::fs::modes::symlink;
use bailiwick::platform::fs::remove_tree;
use serde_json::{Value, json};

use super::scope::{GitScope, sandboxes, written};
use crate::system::{Need, lacks};

fn create(path: &str) -> Value {
    json!({"op": "git.worktree_create", "target": "main", "input": {"path": path, "branch": path}})
}

fn remove(path: &str, force: bool) -> Value {
    json!({"op": "git.worktree_remove", "target": "main", "input": {"path": path}, "options": {"force": force}})
}

/// The repository `app/main`, all committed.
fn committed(world: &GitScope) {
    world.repository("app/main");
    world.git("app/main", &["add", "."]);
    world.git("app/main", &["commit", "-q", "-m", "three"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn making_and_removing_a_working_tree_runs_nothing_of_the_repository() {
    if lacks(Need::Git) {
        return;
    }
    for sandbox in sandboxes(&["auto", "none"]) {
        let world = GitScope::new("app", json!({"sandbox": sandbox}));
        committed(&world);
        let program = world.program("evil");
        world.write("app/main/.gitattributes", "*.txt filter=x merge=x diff=x\n");
        world.git("app/main", &["add", "."]);
        world.git("app/main", &["commit", "-q", "-m", "attributes"]);
        for (name, value) in [
            ("filter.x.smudge", program.as_str()),
            ("filter.x.clean", &program),
            ("filter.x.process", &program),
            ("filter.x.required", "true"),
            ("core.fsmonitor", &program),
            ("checkout.workers", "4"),
            ("extensions.worktreeConfig", "true"),
            ("core.hooksPath", &written(&world.path("hooks"))),
        ] {
            world.git("app/main", &["config", name, value]);
        }
        for hook in ["post-checkout", "reference-transaction", "post-index-change"] {
            world.program(&format!("hooks/{hook}"));
            world.program(&format!("app/main/.git/hooks/{hook}"));
        }
        world.person_git("app/main", &["worktree", "add", "-q", "--detach", "../plain"]);
        assert!(world.ran(), "plain Git runs nothing here, so the test would prove nothing");
        let made = world.send(create("side")).await;
        assert_eq!(made["ok"], true, "{made:#}");
        assert!(!world.ran(), "git.worktree_create ran a program, sandbox {sandbox}");
        assert!(made["warnings"].to_string().contains("filter program"), "{made:#}");
        assert_eq!(fs::read_to_string(world.path("app/side/a.txt")).expect("it is there"), "three\n");
        // One that only the other working tree's own configuration names.
        let own = world.path("app/main/.git/worktrees/side/config.worktree");
        let settings = format!(
            "[filter \"y\"]\n\tclean = {program}\n\trequired = true\n[core]\n\tfsmonitor = {program}\n"
        );
        fs::write(own, settings).expect("a file is written");
        world.write("app/side/.gitattributes", "*.txt filter=y\n");
        world.write("app/side/a.txt", "changed\n");
        assert_eq!(world.code(remove("side", false)).await, "conflict");
        assert!(!world.ran(), "git.worktree_remove ran a program, sandbox {sandbox}");
        world.data(remove("side", true)).await;
        assert!(!world.ran(), "git.worktree_remove ran a program, sandbox {sandbox}");
        assert!(!world.path("app/side").exists() && !world.path("app/main/.git/worktrees/side").exists());
        assert!(world.path("app/main/a.txt").exists(), "the main one stays");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scope_in_a_repository_gets_no_working_tree_of_the_rest() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("whole/part", json!({}));
    world.repository("whole");
    world.write("whole/part/x.txt", "x\n");
    world.git("whole", &["add", "."]);
    world.git("whole", &["commit", "-q", "-m", "three"]);
    world.git("whole", &["worktree", "add", "-q", "--detach", "../outside-tree"]);
    let mut ask = create("side");
    ask["target"] = json!(".");
    let answer = world.send(ask).await;
    assert_eq!(answer["error"]["details"]["rule"], "repository", "{answer:#}");
    let list = world.data(json!({"op": "git.worktree_list"})).await;
    assert_eq!(list, json!({"worktrees": [], "outside": 2, "truncated": false}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_working_tree_that_git_was_made_to_believe_in_is_not_removed() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    committed(&world);
    world.git("app/main", &["worktree", "add", "-q", "--detach", "../side"]);
    world.write("app/precious/a.txt", "not of any repository\n");
    world.repository("app/other");
    world.git("app/other", &["add", "."]);
    world.git("app/other", &["commit", "-q", "-m", "three"]);
    world.git("app/other", &["worktree", "add", "-q", "--detach", "../of-other"]);
    world.write("outside/a.txt", "outside\n");
    // What Git has noted of `side` now names other folders.
    let note = world.path("app/main/.git/worktrees/side/gitdir");
    for (folder, asked) in [
        ("app/precious", "precious"),
        ("app/other", "other"),
        ("app/of-other", "of-other"),
        ("outside", "../outside"),
        ("app/main", "main"),
    ] {
        fs::write(&note, format!("{}/.git\n", written(&world.path(folder)))).expect("a file is written");
        let answer = world.send(remove(asked, true)).await;
        assert_eq!(answer["ok"], false, "{folder}: {answer:#}");
        assert!(world.path(folder).join("a.txt").exists(), "{folder}: {answer:#}");
    }
    assert!(world.path("app/main/.git/HEAD").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_working_tree_whose_folder_is_gone_can_be_forgotten() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    committed(&world);
    world.git("app/main", &["worktree", "add", "-q", "-b", "side", "../side"]);
    remove_tree(&world.path("app/side")).expect("it is there");
    let list = world.data(json!({"op": "git.worktree_list", "target": "main"})).await;
    assert_eq!(list["worktrees"][1]["missing"], true, "{list:#}");
    world.data(remove("side", false)).await;
    let list = world.data(json!({"op": "git.worktree_list", "target": "main"})).await;
    assert_eq!(list["worktrees"].as_array().map(Vec::len), Some(1), "{list:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submodule_with_its_work_is_not_lost_without_force() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    world.repository("library");
    committed(&world);
    let library = written(&world.path("library"));
    world.git("app/main", &["submodule", "--quiet", "add", &library, "library"]);
    world.git("app/main", &["commit", "-q", "-a", "-m", "with a submodule"]);
    world.data(create("side")).await;
    // As long as it is empty there is nothing to lose.
    let dry = json!({"op": "git.worktree_remove", "target": "main", "input": {"path": "side"}, "options": {"dryRun": true}});
    assert_eq!(world.data(dry).await["counts"]["submodules"], 0);
    world.git("app/side", &["submodule", "--quiet", "update", "--init"]);
    world.write("app/side/library/a.txt", "work\n");
    let answer = world.send(remove("side", false)).await;
    assert_eq!(answer["error"]["details"]["rule"], "worktree-dirty", "{answer:#}");
    world.data(remove("side", true)).await;
    assert!(!world.path("app/side").exists());
}

// Undo covers commands on Linux alone.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_in_a_removed_working_tree_comes_back_where_undo_covers_commands() {
    let world = GitScope::new("app", json!({"undo": "commands"}));
    committed(&world);
    world.data(create("side")).await;
    world.write("app/side/a.txt", "nowhere else\n");
    world.write("app/side/new/deep.txt", "new\n");
    let removed = world.send(remove("side", true)).await;
    assert_eq!(removed["data"]["changes"]["removed"], 6, "{removed:#}");
    assert_eq!(
        removed["data"]["changes"]["notCovered"],
        json!(["main/.git/worktrees", "side/.git"]),
        "{removed:#}"
    );
    assert!(removed["warnings"].to_string().contains("brings the files back"), "{removed:#}");
    assert!(!world.path("app/side").exists());
    let input = json!({"operation": removed["operationId"]});
    world.data(json!({"op": "history.undo", "input": input})).await;
    let read = |path: &str| fs::read_to_string(world.path(path)).expect("it is there");
    assert_eq!(read("app/side/a.txt"), "nowhere else\n");
    assert_eq!(read("app/side/b.txt"), "staged\n");
    assert_eq!(read("app/side/new/deep.txt"), "new\n");
    assert!(!world.path("app/side/.git").exists(), "what leads Git elsewhere is never written");
    let list = world.data(json!({"op": "git.worktree_list", "target": "main"})).await;
    assert_eq!(list["worktrees"].as_array().map(Vec::len), Some(1), "{list:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_working_tree_that_cannot_be_made_leaves_nothing() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({}));
    committed(&world);
    world.write("app/taken/x.txt", "x\n");
    let mut paths = vec!["taken", "main"];
    if Need::Links.is_there() {
        symlink(world.path("outside"), world.path("app/link")).expect("a link is made");
        paths.extend(["link", "link/side"]);
    }
    for path in paths {
        let mut ask = create("fix");
        ask["input"]["path"] = json!(path);
        let code = world.code(ask).await;
        assert!(["conflict", "path_out_of_scope", "not_found"].contains(&code.as_str()), "{path}: {code}");
    }
    let branches = world.person_git("app/main", &["branch", "--list", "fix"]);
    assert!(branches.stdout.is_empty(), "a branch was left");
    assert!(!world.path("outside").exists());
    // The branch that is checked out in the main working tree.
    let mut ask = create("main");
    ask["input"]["path"] = json!("again");
    assert_eq!(world.code(ask).await, "conflict");
    assert!(!world.path("app/again").exists(), "an empty folder was left");
}
