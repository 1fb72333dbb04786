//! Nothing that a repository names is run, whatever it writes into its configuration.

use std::fs;

use bailiwick::platform::fs::modes::set_mode;
use bailiwick::platform::paths::HAS_DRIVES;
use serde_json::json;

use super::scope::{GitScope, reads, sandboxes, written};
use crate::system::{Need, lacks};

/// Settings that make Git run a program, `PROGRAM` in their values.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "PROGRAM"),
    ("core.pager", "PROGRAM"),
    ("core.editor", "PROGRAM"),
    ("core.sshCommand", "PROGRAM"),
    ("core.askPass", "PROGRAM"),
    ("core.gitProxy", "PROGRAM"),
    ("core.alternateRefsCommand", "PROGRAM"),
    ("pager.log", "PROGRAM"),
    ("diff.external", "PROGRAM"),
    ("diff.x.textconv", "PROGRAM"),
    ("diff.x.command", "PROGRAM"),
    ("diff.x.cachetextconv", "true"),
    ("merge.x.driver", "PROGRAM"),
    ("filter.x.clean", "PROGRAM"),
    ("filter.x.smudge", "PROGRAM"),
    ("filter.x.required", "true"),
    ("filter.p=.q.process", "PROGRAM"),
    ("filter.p=.q.required", "true"),
    ("gpg.program", "PROGRAM"),
    ("gpg.ssh.program", "PROGRAM"),
    ("commit.gpgSign", "true"),
    ("log.showSignature", "true"),
    ("credential.helper", "!PROGRAM"),
    ("alias.status", "!PROGRAM"),
    ("alias.ls-files", "!PROGRAM"),
    ("interactive.diffFilter", "PROGRAM"),
    ("sequence.editor", "PROGRAM"),
    ("status.submoduleSummary", "true"),
    ("diff.submodule", "log"),
    ("submodule.recurse", "true"),
    // From Git 2.54 on.
    ("hook.a.b.command", "PROGRAM"),
    ("hook.a.b.event", "reference-transaction"),
    ("hook.index.command", "PROGRAM"),
    ("hook.index.event", "post-index-change"),
    ("hook.commit.command", "PROGRAM"),
    ("hook.commit.event", "pre-commit"),
    ("hook.checkout.command", "PROGRAM"),
    ("hook.checkout.event", "post-checkout"),
];
const HOOKS: &[&str] = &[
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-index-change",
    "reference-transaction",
    "post-checkout",
    "fsmonitor-watchman",
];

fn hostile(world: &GitScope) {
    world.repository("app");
    let program = world.program("app/evil");
    for (name, value) in SETTINGS {
        world.git("app", &["config", name, &value.replace("PROGRAM", &program)]);
    }
    // One more filter by way of a file of the working tree. Where such a file could be on another computer, a
    // repository that includes one is not opened.
    if !HAS_DRIVES {
        let settings = format!("[filter \"y\"]\n\tclean = {program}\n\trequired = true\n");
        world.write("app/more-settings", &settings);
        world.git("app", &["config", "include.path", "../more-settings"]);
    }
    for hook in HOOKS {
        world.program(&format!("app/.git/hooks/{hook}"));
        world.program(&format!("app/.husky/{hook}"));
    }
    world.git("app", &["config", "core.hooksPath", ".husky"]);
    world.write(
        "app/.gitattributes",
        "a.txt filter=x diff=x merge=x\nb.txt filter=y diff=x\n*.q filter=p=.q\n",
    );
    world.write("app/.git/info/attributes", "c.txt diff=x\n");
    // Content that Git has to look at again.
    world.write("app/a.txt", "four\n");
    world.write("app/b.txt", "staged and more\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_read_runs_a_program_that_a_repository_names() {
    if lacks(Need::Git) {
        return;
    }
    for sandbox in sandboxes(&["auto", "none"]) {
        let world = GitScope::new("app", json!({"sandbox": sandbox}));
        hostile(&world);
        // That the marks would be seen: the same repository, read by Git as it is.
        world.person_git("app", &["status"]);
        assert!(world.ran(), "plain Git runs nothing of this repository, so the test would prove nothing");
        // Git is asked by code.context, too, which reads manifests and scripts besides.
        world.write("app/Makefile", "X := $(shell touch ../canary)\nall:\n\ttouch ../canary\n");
        world.write(
            "app/package.json",
            r#"{"scripts": {"preinstall": "touch ../canary", "test": "touch ../canary"}}"#,
        );
        for read in
            reads().into_iter().chain([json!({"op": "code.context"}), json!({"op": "package.scripts"})])
        {
            world.data(read.clone()).await;
            assert!(!world.ran(), "{read} ran a program of the repository, sandbox {sandbox}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn staging_and_committing_run_no_program_that_a_repository_names() {
    if lacks(Need::Git) {
        return;
    }
    for sandbox in sandboxes(&["full", "partial", "none"]) {
        stage_and_commit(&GitScope::new("app", json!({"sandbox": sandbox}))).await;
    }
}

async fn stage_and_commit(world: &GitScope) {
    hostile(world);
    let stage = |path: &str| json!({"op": "git.stage", "input": {"paths": [path]}});
    for filtered in ["a.txt", "b.txt"] {
        let answer = world.send(stage(filtered)).await;
        assert_eq!(answer["error"]["details"]["rule"], "git-filter", "{answer:#}");
    }
    world.data(stage("c.txt")).await;
    assert!(!world.ran(), "git.stage ran a program");
    world.data(json!({"op": "git.unstage", "input": {"paths": ["c.txt"]}})).await;
    assert!(!world.ran(), "git.unstage ran a program");
    world.data(stage("c.txt")).await;
    world.data(json!({"op": "git.commit", "input": {"message": "three"}})).await;
    assert!(!world.ran(), "git.commit ran a program");
    let subject =
        world.person_git("app", &["-c", "core.pager=cat", "log", "-1", "--format=%s", "--no-show-signature"]);
    assert_eq!(String::from_utf8_lossy(&subject.stdout).trim(), "three");
}

// `git submodule` is a script, which needs many programs of Unix.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submodule_runs_nothing_either() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({"sandbox": "none"}));
    world.repository("library");
    world.repository("app");
    let library = written(&world.path("library"));
    world.git("app", &["submodule", "--quiet", "add", &library, "library"]);
    world.git("app", &["commit", "-q", "-m", "with a submodule"]);
    let program = world.program("evil");
    for (name, value) in SETTINGS {
        world.git("app/library", &["config", name, &value.replace("PROGRAM", &program)]);
    }
    world.write("app/library/.gitattributes", "* filter=x diff=x\n");
    world.write("app/library/a.txt", "changed in the submodule\n");
    world.person_git("app", &["status"]);
    assert!(world.ran(), "plain Git runs nothing of this submodule, so the test would prove nothing");
    for read in reads() {
        world.data(read.clone()).await;
        assert!(!world.ran(), "{read} ran a program of the submodule");
    }
    let status = world.data(json!({"op": "git.status", "target": "library"})).await;
    assert_eq!(status["repository"], "library", "{status:#}");
    assert!(!world.ran(), "git.status in the submodule ran a program of it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_missing_is_not_fetched_by_a_program() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({"sandbox": "none"}));
    world.repository("app");
    let program = world.program("evil");
    // It ends at once: Git waits for what it never says.
    let script = fs::read_to_string(&program).expect("it was written").replace("cat\n", "exec >&- <&-\n");
    fs::write(&program, script).expect("it is ours");
    for (name, value) in [
        ("core.repositoryformatversion", "1".to_owned()),
        ("extensions.partialClone", "origin".to_owned()),
        ("remote.origin.promisor", "true".to_owned()),
        ("remote.origin.url", format!("ext::{program} %S")),
        ("protocol.ext.allow", "always".to_owned()),
        ("protocol.allow", "always".to_owned()),
    ] {
        world.git("app", &["config", name, &value]);
    }
    // The first commit's content is gone.
    let blob = world.person_git("app", &["rev-parse", "HEAD~1:a.txt"]);
    let blob = String::from_utf8_lossy(&blob.stdout).trim().to_owned();
    let object = world.path(&format!("app/.git/objects/{}/{}", &blob[..2], &blob[2..]));
    // Git makes it read-only, which keeps it there on some systems.
    set_mode(&object, 0o644).expect("the object is there");
    fs::remove_file(object).expect("it is ours");
    let show = json!({"op": "git.diff", "input": {"from": "HEAD~1", "to": "HEAD"}});
    world.person_git("app", &["-c", "core.pager=cat", "diff", "HEAD~1", "HEAD"]);
    assert!(world.ran(), "plain Git fetches nothing here, so the test would prove nothing");
    assert_eq!(world.code(show).await, "execution_failed");
    assert!(!world.ran(), "a missing object was fetched by a program of the repository");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scope_that_writes_files_gets_no_right_to_run_by_git() {
    if lacks(Need::Git) {
        return;
    }
    let world = GitScope::new("app", json!({"sandbox": "none"}));
    world.repository("app");
    world.program("app/evil");
    let hostile = "[core]\n\tfsmonitor = ./evil\n";
    for path in [".git/config", ".git/hooks/pre-commit", ".git/info/attributes", "b/.git", "b/.git/config"] {
        let write = json!({"op": "file.write", "target": path, "input": {"content": hostile}, "options": {"createParents": true}});
        assert_eq!(world.code(write).await, "permission_denied", "{path}");
    }
    // What it can write is attributes, and they name no program without a configuration.
    world.data(json!({"op": "file.write", "target": ".gitattributes", "input": {"content": "* filter=evil diff=evil\n"}})).await;
    for read in reads() {
        world.data(read.clone()).await;
        assert!(!world.ran(), "{read}");
    }
}
