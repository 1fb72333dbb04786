//! A service in a temporary folder, and the Git of the user beside it.

use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use bailiwick::platform::fs::modes::set_mode;
use bailiwick::platform::paths::for_programs;
use serde_json::{Value, json};
use support::scope::TestScope;
use support::service::TestService;

use crate::needs::lacks_full_sandbox;
use crate::system::{git_of_the_person, has_sandbox};

/// Every operation that reads, with a request that works in a repository with two commits and a file `a.txt`.
pub fn reads() -> Vec<Value> {
    vec![
        json!({"op": "git.status"}),
        json!({"op": "git.status", "options": {"untracked": "all"}}),
        json!({"op": "git.changes"}),
        json!({"op": "git.changes", "input": {"since": "HEAD~1"}}),
        json!({"op": "git.diff"}),
        json!({"op": "git.diff", "input": {"staged": true}}),
        json!({"op": "git.diff", "input": {"from": "HEAD~1"}}),
        json!({"op": "git.diff", "input": {"from": "HEAD~1", "to": "HEAD"}}),
        json!({"op": "git.log", "options": {"detail": "full"}}),
        json!({"op": "git.log", "target": "a.txt"}),
        json!({"op": "git.blame", "target": "a.txt"}),
        json!({"op": "git.branch_list", "options": {"remotes": true}}),
        json!({"op": "git.worktree_list"}),
        json!({"op": "git.show"}),
        json!({"op": "git.show", "input": {"revision": "HEAD~1"}}),
        json!({"op": "git.show", "target": "a.txt", "options": {"content": true}}),
    ]
}

/// A service whose scope is `app` or a folder in it. Its paths are those of the folder around.
pub struct GitScope {
    service: TestService,
}

impl Deref for GitScope {
    type Target = TestService;

    fn deref(&self) -> &TestService {
        &self.service
    }
}

impl GitScope {
    /// Creates a scope at `root` with this policy.
    pub fn new(root: &str, mut policy: Value) -> Self {
        if !has_sandbox() && policy.get("sandbox").is_none() {
            policy["sandbox"] = json!("none");
        }
        let capabilities = ["fs:read", "fs:write", "git:write"];
        let scope = TestScope::new().with_roots(&[root]).with_capabilities(&capabilities).with_policy(policy);
        Self { service: scope.host() }
    }

    /// Returns a path beside the scopes.
    pub fn path(&self, path: &str) -> PathBuf {
        self.beside(path)
    }

    /// Writes a file.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder is made");
        fs::write(path, text).expect("a file is written");
    }

    /// Does with Git what the user did before.
    pub fn git(&self, folder: &str, words: &[&str]) {
        let output = self.person_git(folder, words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs Git as [`person_git`] does, with a home of its own beside the scope.
    pub fn person_git(&self, folder: &str, words: &[&str]) -> std::process::Output {
        person_git(&self.path("canary-home"), &self.path(folder), words)
    }

    /// Makes a repository with two commits, something staged and something changed.
    pub fn repository(&self, folder: &str) {
        fs::create_dir_all(self.path(folder)).expect("a folder is made");
        self.git(folder, &["init", "-q"]);
        // Whatever Git's installer was told.
        self.git(folder, &["config", "core.autocrlf", "false"]);
        self.git(folder, &["config", "user.name", "Ada"]);
        self.git(folder, &["config", "user.email", "ada@example.com"]);
        self.write(&format!("{folder}/a.txt"), "one\n");
        self.write(&format!("{folder}/b.txt"), "b\n");
        self.git(folder, &["add", "."]);
        self.git(folder, &["commit", "-q", "-m", "one"]);
        self.write(&format!("{folder}/a.txt"), "two\n");
        self.git(folder, &["commit", "-q", "-a", "-m", "two"]);
        self.write(&format!("{folder}/b.txt"), "staged\n");
        self.git(folder, &["add", "b.txt"]);
        self.write(&format!("{folder}/a.txt"), "three\n");
        self.write(&format!("{folder}/c.txt"), "new\n");
    }

    /// Writes a program that leaves a mark wherever it can: beside the scope, and in the home that it is given.
    pub fn program(&self, path: &str) -> String {
        let canary = self.path("canary");
        self.write(path, &format!("#!/bin/sh\n: > {}\n: > \"$HOME/canary\"\ncat\n", written(&canary)));
        let path = self.path(path);
        set_mode(&path, 0o755).expect("a mode is set");
        written(&path)
    }

    /// Returns whether such a program ran, and takes its marks away.
    pub fn ran(&self) -> bool {
        let marks =
            [self.path("canary"), self.path("home/state/homes/git/canary"), self.path("canary-home/canary")];
        marks.iter().filter(|mark| fs::remove_file(mark).is_ok()).count() > 0
    }
}

/// Returns those levels of these words that this computer has: on Linux all, or all but `full`; where there is no sandbox
/// `none`.
pub fn sandboxes<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let all = has_sandbox();
    assert!(all || !cfg!(target_os = "linux"), "the tests are run where the sandbox is whole");
    let has = |word: &&str| match *word {
        "none" => true,
        "full" => all && !lacks_full_sandbox(),
        _ => all,
    };
    words.iter().copied().filter(has).collect()
}

/// Writes a path as Git takes it everywhere.
pub fn written(path: &Path) -> String {
    for_programs(path).display().to_string()
}

/// Runs Git as a person does, without their settings. `home` is made where it is missing.
pub fn person_git(home: &Path, folder: &Path, words: &[&str]) -> std::process::Output {
    fs::create_dir_all(home).expect("a folder is made");
    git_of_the_person()
        .args(["-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"])
        .args(words)
        .current_dir(folder)
        .env("HOME", home)
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_EDITOR", "true")])
        .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.com")])
        .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@example.com")])
        .output()
        .expect("git starts")
}
