//! Each row catches its sample, and nothing ordinary is caught.

use std::collections::HashSet;

use serde_json::json;

use bailiwick_contract::CommandPlan;

use super::super::{Decision, Grant, Rules, care, reading::Reading, text};
use super::{Profile, RowEffect, all};

fn rules(policy: serde_json::Value) -> Rules {
    Rules::compile(&serde_json::from_value(policy).expect("a policy")).expect("the rules compile")
}

fn judge(rules: &Rules, line: &str) -> super::super::Verdict {
    let argv = text::words(line).expect("a sample is whole");
    rules.judge(&CommandPlan::of_argv(argv), Grant::Rules)
}

/// Rules that allow a program, and nothing in it by name.
fn allowing(profile: &Profile) -> serde_json::Value {
    let rules: Vec<String> = profile.names.iter().map(|name| format!("{name} *")).collect();
    json!({"allowedCommands": rules})
}

#[test]
fn every_row_catches_its_sample() {
    let mut problems = Vec::new();
    for profile in all() {
        for row in profile.rows {
            let argv = text::words(row.sample).expect("a sample is whole");
            let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
            let caught = care::care(&Reading::of(&argv));
            if !caught.iter().any(|care| std::ptr::eq(care.row, row)) {
                problems.push(format!("{}: `{}` is not caught", profile.name(), row.sample));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_rule_that_allows_the_whole_program_does_not_allow_what_a_row_refuses() {
    let mut problems = Vec::new();
    for profile in all() {
        let plain = rules(allowing(profile));
        let mut weak = allowing(profile);
        weak["sandbox"] = json!("partial");
        let weak = rules(weak);
        for row in profile.rows {
            // A rule that allows the program names it, which is what such a row wants.
            if matches!(row.what, super::RowPattern::Program) && row.then != RowEffect::Shell {
                continue;
            }
            let program = row.sample.split(' ').next().expect("a sample has a program");
            if !profile.names.contains(&program) {
                continue;
            }
            let (full, partial) = (judge(&plain, row.sample), judge(&weak, row.sample));
            let right = match row.then {
                RowEffect::Never | RowEffect::Refuse | RowEffect::Shell | RowEffect::ShellText => {
                    full.decision == Decision::Deny
                }
                RowEffect::Ask | RowEffect::AskAlways => full.decision >= Decision::Ask,
                RowEffect::Held => {
                    (full.decision >= Decision::Ask || full.must_be_full().is_some())
                        && partial.decision >= Decision::Ask
                }
                RowEffect::Code => full.implies().next().is_some(),
            };
            if !right {
                problems.push(format!("`{}`: {full:?}", row.sample));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_text_for_a_shell_runs_by_a_rule_that_is_the_whole_command_and_by_no_other() {
    let judged = |allowed: serde_json::Value, line: &str| {
        judge(&rules(json!({"allowedCommands": allowed, "sandbox": "none"})), line).decision
    };
    for line in ["bash -c 'make all'", "sh -ec id", "cmd /c echo hello", "cmd /C dir"] {
        assert_eq!(judged(json!([line]), line), Decision::Allow, "{line}");
        let program = line.split(' ').next().expect("a word");
        assert_eq!(judged(json!([format!("{program} *")]), line), Decision::Deny, "{line}");
        assert_eq!(judged(json!([line]), &format!("{line} more")), Decision::Deny, "{line}");
    }
    // A rule that leaves anything open says nothing of the text, and what reads its input has none.
    for (rule, line) in [
        (json!("bash -c *"), "bash -c id"),
        (json!("bash -c 'ls *.c'"), "bash -c 'ls *.c'"),
        (json!({"tokens": ["bash", "-c", ["id", "ls"]]}), "bash -c id"),
        (json!({"tokens": ["bash", "-c", {"not": "rm"}]}), "bash -c id"),
        (json!("bash"), "bash"),
        (json!("bash -s"), "bash -s"),
        (json!("bash -sc id"), "bash -sc id"),
        (json!("cmd"), "cmd"),
        (json!("cmd /c"), "cmd /c"),
        (json!("cmd /k dir"), "cmd /k dir"),
        (json!("cmd /q /c dir"), "cmd /q /c dir"),
        (json!("cmd /c echo %NAME%"), "cmd /c echo %NAME%"),
        (json!("cmd /v:on /c echo !NAME!"), "cmd /v:on /c echo !NAME!"),
        (json!("cmd /c cmd /v:on /c echo !NAME!"), "cmd /c cmd /v:on /c echo !NAME!"),
        (json!("pwsh -c id"), "pwsh -c id"),
    ] {
        assert_eq!(judged(json!([rule]), line), Decision::Deny, "{line}");
    }
    let denied =
        json!({"allowedCommands": ["bash -c 'rm -r x'"], "deniedCommands": ["rm *"], "sandbox": "none"});
    assert_eq!(judge(&rules(denied), "bash -c 'rm -r x'").decision, Decision::Deny);
}

#[test]
fn ordinary_commands_are_not_caught() {
    let mut problems = Vec::new();
    for profile in all() {
        let rules = rules(allowing(profile));
        for line in profile.ordinary {
            let verdict = judge(&rules, line);
            if verdict.decision != Decision::Allow || verdict.must_be_full().is_some() {
                problems.push(format!("`{line}`: {:?}", verdict.deciding().map(|(_, reason)| &reason.why)));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn no_name_is_in_two_profiles_and_no_subcommand_or_alias_twice() {
    let mut names = HashSet::new();
    let mut problems = Vec::new();
    for profile in all() {
        assert!(!profile.names.is_empty());
        for name in profile.names {
            if !names.insert(*name) || name.to_ascii_lowercase() != *name {
                problems.push(format!("the program `{name}`"));
            }
        }
        let mut subs = HashSet::new();
        for sub in profile.subcommands.iter().chain(profile.aliases.iter().map(|(alias, _)| alias)) {
            let both =
                profile.subcommands.contains(sub) && profile.aliases.iter().any(|(alias, _)| alias == sub);
            if !subs.insert(*sub) && !both {
                problems.push(format!("{}: `{sub}`", profile.name()));
            }
        }
        for (alias, full) in profile.aliases {
            if !profile.subcommands.contains(full) {
                problems.push(format!("{}: `{alias}` is an alias of what is not there", profile.name()));
            }
        }
    }
    assert!(problems.is_empty(), "twice: {}", problems.join("\n"));
}
