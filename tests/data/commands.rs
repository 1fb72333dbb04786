//! Commands: what is read in a string, held to what the real bash would start.
//!
//! `tests/commands/*.md` hold the strings and arrays. Each heading is a trial, named `commands::quoting::single_quotes`,
//! and another one, `commands::in_bash::quoting::single_quotes`, compares with bash. `UPDATE=1` rewrites the plans.

mod corpus;
// The real bash is asked what it would start.
#[cfg(target_os = "linux")]
mod in_bash;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::sync::Arc;

use bailiwick::config::ScopePolicy;
use bailiwick::contract::{CommandInput, CommandPlan, Failure};
use bailiwick::policy::command::{Commands, Grant, recognise};
use libtest_mimic::Trial;
use serde_json::Value;
use support::source::repository;
use support::update::{is_updating, update};

use corpus::{CommandFile, CommandResult, Section, written};

use crate::trials::TrialFilter;

/// The trials: each heading of the files, and what is not in files.
pub fn trials(wanted: &TrialFilter) -> Vec<Trial> {
    let mut trials = trials![
        most_kinds_of_commands_are_in_the_files,
        the_page_on_commands_names_every_construct_that_is_refused,
        hostile_nesting_is_refused_and_never_aborts,
        what_is_larger_than_any_command_is_refused,
        every_part_of_a_long_chain_is_in_the_plan,
        a_refusal_names_the_construct_and_where_it_stands_but_repeats_nothing,
        corpus::text_in_backquotes_is_read_as_it_was_written,
    ];
    trials.extend(each![
        the_commands_of_the_case_files_are_read_and_judged_as_the_files_say;
        CommandFile::sections(wanted)
    ]);
    #[cfg(target_os = "linux")]
    trials.extend(in_bash::trials(wanted));
    trials
}

fn read(line: &str) -> Result<CommandPlan, Failure> {
    recognise::plan(&CommandInput::Line(line.to_owned()))
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// Reads and judges a case.
fn find(case: &corpus::Case, policies: &BTreeMap<String, Commands>) -> CommandResult {
    let plan = recognise::plan(&case.input);
    let verdict = |commands: &Commands| match commands.judge(&case.input, Grant::Rules) {
        Ok(judged) => match (judged.verdict.decision.as_str(), judged.permitted.must_be_full()) {
            ("allow", Some(_)) => "allow in full only",
            ("ask", Some(_)) => "ask in full only",
            (decision, _) => decision,
        },
        Err(_) => "deny",
    };
    let verdicts = match plan {
        Ok(_) => policies.iter().map(|(name, commands)| (name.clone(), verdict(commands))).collect(),
        // What is more than literal words is judged where a scope hands it to bash.
        Err(_) => policies
            .iter()
            .filter(|(_, commands)| commands.runs_any_program())
            .map(|(name, commands)| (name.clone(), verdict(commands)))
            .collect(),
    };
    CommandResult { plan: written(&plan), verdicts }
}

/// Compiles the policies that a file names.
fn compile(file: &CommandFile) -> BTreeMap<String, Commands> {
    let compile = |policy: &Value| {
        let policy: ScopePolicy = serde_json::from_value(policy.clone()).expect("a good policy");
        Commands::compile("app", &policy).expect("good rules")
    };
    file.policies.iter().map(|(name, policy)| (name.clone(), compile(policy))).collect()
}

fn the_commands_of_the_case_files_are_read_and_judged_as_the_files_say(section: &Section) {
    let file = section.file();
    let policies = compile(&file);
    if is_updating() {
        update(&section.path, |text| {
            let file = CommandFile::parse(&section.path, text).unwrap_or_else(|problem| panic!("{problem}"));
            let found = file.cases.iter().map(|case| section.has(case).then(|| find(case, &policies)));
            file.updated(&found.collect::<Vec<_>>())
        });
        return;
    }
    let mut problems = Vec::new();
    for case in file.cases.iter().filter(|case| section.has(case)) {
        let found = find(case, &policies);
        if case.plan.as_ref() != Some(&found.plan) {
            let expected = case.plan.as_deref().unwrap_or("nothing");
            problems.push(format!("{}: expected {expected}\n  found {}", file.place(case), found.plan));
        }
        for (name, verdict) in &found.verdicts {
            let expected = case.verdicts.get(name).map_or("nothing", String::as_str);
            if expected != *verdict {
                problems.push(format!("{}: {name}: expected {expected}, found {verdict}", file.place(case)));
            }
        }
        for name in case.verdicts.keys().filter(|name| !found.verdicts.contains_key(*name)) {
            problems.push(format!("{}: nothing is judged under {name}", file.place(case)));
        }
    }
    assert_none(&problems);
}

fn most_kinds_of_commands_are_in_the_files() {
    let (mut cases, mut taken, mut allowed) = (0, 0, 0);
    for file in CommandFile::all() {
        let policies = compile(&file);
        for case in &file.cases {
            let found = find(case, &policies);
            cases += 1;
            taken += usize::from(found.plan.starts_with('['));
            allowed += usize::from(found.verdicts.values().any(|verdict| verdict.starts_with("allow")));
        }
    }
    assert!(cases >= 250 && taken >= 60, "{cases} commands, {taken} of them taken");
    assert!(allowed >= 60, "{allowed} of them are allowed");
}

fn the_page_on_commands_names_every_construct_that_is_refused() {
    let page = repository().join("docs/concepts/commands.md");
    let page = fs::read_to_string(page).expect("the page exists").to_lowercase();
    let mut names = std::collections::BTreeSet::new();
    for file in CommandFile::all() {
        for case in file.cases {
            let plan = written(&recognise::plan(&case.input));
            names.extend(plan.strip_prefix("refused: ").map(str::to_lowercase));
        }
    }
    assert!(names.len() > 80, "the case files have every construct: {names:?}");
    let (builtins, constructs): (Vec<_>, Vec<_>) =
        names.iter().partition(|name| name.starts_with("builtin "));
    assert!(builtins.len() > 50, "{builtins:?}");
    let missing: Vec<_> = constructs
        .into_iter()
        .filter(|name| !page.contains(name.as_str()) && name.as_str() != "program word")
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn hostile_nesting_is_refused_and_never_aborts() {
    let openers = [
        "(",
        "((",
        "{ ",
        "{",
        "[",
        "[[ ",
        "$(",
        "$((",
        "${",
        "${x:-",
        "`",
        "\\`",
        "\"$(",
        "<(",
        ">(",
        "<<",
        "<<<",
        "if ",
        "while ",
        "case x in x) ",
        "for x in ",
        "! ",
        "time ",
        "coproc ",
        "f() ",
        "function f ",
        "\"",
        "'",
        "\\",
        "@(",
        "!(",
        "{a,",
        "{1..",
        "~",
        "a=(",
        "a[",
        "$[",
        "&",
        "|",
        ";",
        "\n",
        ">",
        "<",
        "2>&1 ",
        ">/dev/null ",
        "a|",
        "a;",
        "a&&",
        "a\n",
        "'a'",
        "\"a\"",
        "\\a",
        "a{",
        "}",
        "a ",
    ];
    let policy = serde_json::json!({"shell": "sandboxed", "askCommands": ["git push *"]});
    let sandboxed = Commands::compile("app", &serde_json::from_value(policy).expect("a policy"))
        .map(Arc::new)
        .expect("good rules");
    for opener in openers {
        for prefix in ["", "git ", "git \"", "git 'a' "] {
            let mut line = prefix.to_owned();
            while line.len() + opener.len() <= recognise::MAX_LINE_BYTES {
                line.push_str(opener);
            }
            let sandboxed = Arc::clone(&sandboxed);
            let plan = std::thread::Builder::new()
                .stack_size(512 * 1024)
                .spawn(move || {
                    let _ = sandboxed.judge(&CommandInput::Line(line.clone()), Grant::Rules);
                    read(&line)
                })
                .expect("a thread starts")
                .join()
                .expect("no string makes it panic");
            if let Ok(plan) = plan {
                assert!(plan.commands().count() > 0);
            }
        }
    }
}

fn what_is_larger_than_any_command_is_refused() {
    let longest = format!("a {}", "b".repeat(recognise::MAX_LINE_BYTES - 2));
    assert!(read(&longest).is_ok());
    assert!(read(&"a".repeat(recognise::MAX_LINE_BYTES + 1)).is_err());
    let argv = |words: usize, length: usize| {
        let mut argv = vec!["git".to_owned()];
        argv.resize(words, "a".repeat(length));
        recognise::plan(&CommandInput::Argv(argv))
    };
    assert!(argv(recognise::MAX_ARGV_WORDS, 1).is_ok());
    assert!(argv(recognise::MAX_ARGV_WORDS + 1, 1).is_err());
    assert!(argv(2, recognise::MAX_ARGV_BYTES - 5).is_ok());
    assert!(argv(2, recognise::MAX_ARGV_BYTES).is_err());
}

fn every_part_of_a_long_chain_is_in_the_plan() {
    for parts in [60, 500] {
        let mut line = String::new();
        for part in 0..parts {
            let joiner = if part == 0 { "" } else { [" && ", "; ", " || ", "\n"][part % 4] };
            write!(line, "{joiner}git log {part}").expect("a string can be written");
        }
        let plan = read(&line).expect("a chain of simple commands");
        let last: Vec<_> = plan.commands().map(|command| command.argv[2].clone()).collect();
        assert_eq!(last, (0..parts).map(|part| part.to_string()).collect::<Vec<_>>());
    }
}

fn a_refusal_names_the_construct_and_where_it_stands_but_repeats_nothing() {
    let failure = read("git log --author=\"secret é $HOME\"").expect_err("an expansion is refused");
    assert_eq!(failure.code.as_str(), "permission_denied");
    assert_eq!((failure.stage(), failure.rule()), (Some("command"), Some("not-literal")));
    assert_eq!(failure.details["construct"], "parameter expansion");
    assert_eq!(failure.details["character"], 28);
    assert!(failure.hints.iter().any(|hint| hint.contains("array")), "{:?}", failure.hints);
    assert!(!format!("{failure:?}").contains("secret"));
    let failure = read("git log 'open").expect_err("a quote is open");
    assert_eq!(failure.code.as_str(), "invalid_request");
    assert_eq!(failure.details["field"], "input.command");
    let failure = read("cd web && npm test").expect_err("there is no shell to change the folder of");
    assert!(failure.hints.iter().any(|hint| hint.contains("`target`")), "{:?}", failure.hints);
}
