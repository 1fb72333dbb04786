//! Denied commands in random spellings, against the real programs: whatever starts it, the rules saw it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use bailiwick::config::ScopePolicy;
use bailiwick::contract::CommandPlan;
use bailiwick::policy::command::{Decision, Grant, Rules};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use crate::temporary::TemporaryFolder;

/// What may be between `git` and its subcommand, and what only looks so.
const GIT_WORDS: &[&str] = &[
    "-C",
    ".",
    "-c",
    "a.b=c",
    "-ca.b=c",
    "--no-pager",
    "-p",
    "-P",
    "--git-dir=.git",
    "--git-dir",
    ".git",
    "--work-tree",
    "--work-tree=.",
    "--namespace",
    "log",
    "--namespace=log",
    "--literal-pathspecs",
    "--no-optional-locks",
    "--no-replace-objects",
    "--exec-path",
    "--bare",
    "--config-env=a.b=HOME",
    "--config-env",
    "a.b=HOME",
    "--attr-source=HEAD",
    "--icase-pathspecs",
    "--no-lazy-fetch",
    "--super-prefix=x",
    "--",
    "-v",
    "--version",
    "--help",
    "log",
    "status",
    "-1",
    "--oneline",
    "HEAD",
];

/// What may be between a wrapper and the program that it starts.
const WRAPPER_WORDS: &[&str] = &[
    "env",
    "timeout",
    "nice",
    "nohup",
    "setsid",
    "stdbuf",
    "-i",
    "-u",
    "A",
    "A=b",
    "B=c d",
    "-n",
    "5",
    "-n5",
    "--adjustment=3",
    "-s",
    "KILL",
    "--signal=TERM",
    "-k",
    "1",
    "--foreground",
    "-oL",
    "-e0",
    "--output=L",
    "-w",
    "--wait",
    "-c",
    "-f",
    "--",
    "-S",
    "-vS",
    "victim one",
    "A=b victim one",
    "-S victim one",
    "--split-string=victim one",
    "victim",
    "one",
    "-C",
    ".",
    "--chdir=.",
];

fn denies(rule: &str, argv: &[String]) -> bool {
    let policy = json!({"allowedCommands": ["*"], "deniedCommands": [rule]});
    let rules = Rules::compile(&serde_json::from_value::<ScopePolicy>(policy).expect("a policy"));
    let verdict = rules.expect("the rules compile").judge(&CommandPlan::of_argv(argv.to_vec()), Grant::Rules);
    verdict.decision == Decision::Deny
        && verdict.commands[0].reasons.iter().any(|reason| reason.source.name() == "deniedCommands[0]")
}

fn command(folder: &Path, argv: &[String]) -> Command {
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).current_dir(folder).env_clear().stdin(Stdio::null());
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display())).env("HOME", folder);
    command
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_subcommand_that_git_starts_is_one_that_the_rules_saw(
        words in proptest::collection::vec(select(GIT_WORDS), 0..5), last in select(&["log", "-1", "status"][..]),
    ) {
        let folder = TemporaryFolder::new();
        let init = ["git", "init", "-q"].map(str::to_owned);
        let Ok(status) = command(folder.path(), &init).status() else { return Ok(()) };
        prop_assert!(status.success());
        let argv: Vec<String> =
            ["git"].into_iter().chain(words).chain([last]).map(str::to_owned).collect();
        let output = command(folder.path(), &argv).env("GIT_TRACE", "1").output().expect("git runs");
        let traced = String::from_utf8_lossy(&output.stderr).into_owned();
        if traced.lines().any(|line| line.contains("built-in: git log")) {
            prop_assert!(denies("git log *", &argv), "{:?}", argv);
        }
    }

    #[test]
    fn the_program_that_a_wrapper_starts_is_one_that_the_rules_saw(
        first in select(&["env", "timeout", "nice", "nohup", "setsid", "stdbuf"][..]),
        words in proptest::collection::vec(select(WRAPPER_WORDS), 0..6),
        last in select(&["victim", "victim one", "one"][..]),
    ) {
        let folder = TemporaryFolder::new();
        let victim = folder.path().join("victim");
        fs::write(&victim, format!("#!/bin/sh\n/usr/bin/touch '{}'\n", folder.path().join("started").display()))
            .expect("the temporary folder can be written");
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o755)).expect("a mode is set");
        let argv: Vec<String> =
            [first].into_iter().chain(words).chain([last]).map(str::to_owned).collect();
        let Ok(mut child) = command(folder.path(), &argv).stdout(Stdio::null()).stderr(Stdio::null()).spawn() else {
            return Ok(());
        };
        child.wait().expect("it ends");
        if folder.path().join("started").exists() {
            prop_assert!(denies("victim *", &argv), "{:?}", argv);
        }
    }
}
