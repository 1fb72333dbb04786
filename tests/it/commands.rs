//! Commands: what is read in a string, held to what the real bash would start.
//!
//! `tests/commands/*.md` hold the strings and arrays; `UPDATE=1 cargo test --test it commands` rewrites
//! their plans. `BAILIWICK_FUZZ_STRINGS=100000` makes the random comparison as long as one likes.

// The real bash is asked what it would start.
#[cfg(target_os = "linux")]
mod bash;
mod corpus;
pub mod generator;

use std::collections::BTreeMap;
use std::fmt::Write;

use bailiwick::config::ScopePolicy;
use bailiwick::contract::{CommandInput, CommandPlan, Failure};
use bailiwick::policy::command::{Commands, Grant, recognise};
use serde_json::Value;

#[cfg(target_os = "linux")]
use bash::Bash;
use corpus::{CommandFile, Found, written};
#[cfg(target_os = "linux")]
use generator::Numbers;

/// How many random strings a usual run compares.
#[cfg(target_os = "linux")]
const STRINGS: usize = 2_000;

fn read(line: &str) -> Result<CommandPlan, Failure> {
    recognise::plan(&CommandInput::Line(line.to_owned()))
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// Reads and judges a case.
fn find(case: &corpus::Case, policies: &BTreeMap<String, Commands>) -> Found {
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
        Err(_) => BTreeMap::new(),
    };
    Found { plan: written(&plan), verdicts }
}

#[test]
fn the_commands_of_the_case_files_are_read_and_judged_as_the_files_say() {
    let update = std::env::var("UPDATE").is_ok_and(|value| value == "1");
    let mut problems = Vec::new();
    let (mut cases, mut taken, mut allowed) = (0, 0, 0);
    for file in CommandFile::all() {
        let compile = |policy: &Value| {
            let policy: ScopePolicy = serde_json::from_value(policy.clone()).expect("a good policy");
            Commands::compile(&policy).expect("good rules")
        };
        let policies = file.policies.iter().map(|(name, policy)| (name.clone(), compile(policy))).collect();
        let found: Vec<Found> = file.cases.iter().map(|case| find(case, &policies)).collect();
        for (case, found) in file.cases.iter().zip(&found) {
            cases += 1;
            taken += usize::from(found.plan.starts_with('['));
            allowed += usize::from(found.verdicts.values().any(|verdict| verdict.starts_with("allow")));
            if update {
                continue;
            }
            if case.plan.as_ref() != Some(&found.plan) {
                let expected = case.plan.as_deref().unwrap_or("nothing");
                problems.push(format!("{}: expected {expected}\n  found {}", file.place(case), found.plan));
            }
            for (name, verdict) in &found.verdicts {
                let expected = case.verdicts.get(name).map_or("nothing", String::as_str);
                if expected != *verdict {
                    problems
                        .push(format!("{}: {name}: expected {expected}, found {verdict}", file.place(case)));
                }
            }
            for name in case.verdicts.keys().filter(|name| !found.verdicts.contains_key(*name)) {
                problems.push(format!("{}: nothing is judged under {name}", file.place(case)));
            }
        }
        if update {
            file.update(&found);
        }
    }
    assert_none(&problems);
    assert!(cases >= 250 && taken >= 60, "{cases} commands, {taken} of them taken");
    assert!(allowed >= 60, "{allowed} of them are allowed");
}

#[test]
fn the_page_on_commands_names_every_construct_that_is_refused() {
    let page = crate::source::repository().join("docs/concepts/commands.md");
    let page = std::fs::read_to_string(page).expect("the page exists").to_lowercase();
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

// Only there is bash.
#[cfg(target_os = "linux")]
#[test]
fn bash_starts_what_was_read_in_the_case_files() {
    let mut bash = Bash::new();
    let mut problems = Vec::new();
    for file in CommandFile::all() {
        for case in &file.cases {
            let CommandInput::Line(line) = &case.input else { continue };
            let Ok(plan) = recognise::plan(&case.input) else { continue };
            if let Some(difference) = bash.difference(line, &plan) {
                problems.push(format!("{}: {line:?}\n{difference}", file.place(case)));
            }
        }
    }
    assert_none(&problems);
}

// Only there is bash.
#[cfg(target_os = "linux")]
#[test]
fn bash_starts_what_was_read_in_random_strings() {
    let strings = std::env::var("BAILIWICK_FUZZ_STRINGS").ok().and_then(|count| count.parse().ok());
    let seed = std::env::var("BAILIWICK_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let strings: usize = strings.unwrap_or(STRINGS);
    let threads = 2;
    let problems = std::thread::scope(|scope| {
        let compare = |thread: u64| {
            let mut numbers = Numbers::new(seed * 100 + thread);
            let mut bash = Bash::new();
            let mut problems = Vec::new();
            let mut taken = 0;
            for _ in 0..strings / threads {
                let line = generator::string(&mut numbers);
                match read(&line) {
                    Ok(plan) => {
                        taken += 1;
                        if let Some(difference) = bash.difference(&line, &plan) {
                            problems.push(format!("{line:?}\n{difference}"));
                        }
                    }
                    Err(failure) => {
                        if failure.details.get("construct").is_some_and(|name| name == "ambiguous text") {
                            problems.push(format!("{line:?}: only one of two readers takes it"));
                        }
                    }
                }
            }
            assert!(
                taken > strings / threads / 5,
                "the generator makes too few strings that are taken: {taken}"
            );
            problems
        };
        let running: Vec<_> =
            (0..threads as u64).map(|thread| scope.spawn(move || compare(thread))).collect();
        running
            .into_iter()
            .flat_map(|thread| thread.join().expect("no string makes it panic"))
            .collect::<Vec<_>>()
    });
    assert_none(&problems[..problems.len().min(20)]);
}

// Only there is bash.
#[cfg(target_os = "linux")]
#[test]
fn no_builtin_and_no_keyword_of_bash_is_taken_for_a_program() {
    let bash = Bash::new();
    let programs_too = ["echo", "false", "kill", "printf", "pwd", "test", "true"];
    let words = bash.ask("compgen -b; compgen -k");
    assert!(words.lines().count() > 70, "bash names its builtins and keywords");
    for word in words.lines() {
        let taken = read(word).is_ok();
        assert_eq!(taken, programs_too.contains(&word), "{word}");
    }
}

#[test]
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
    for opener in openers {
        for prefix in ["", "git ", "git \"", "git 'a' "] {
            let mut line = prefix.to_owned();
            while line.len() + opener.len() <= recognise::MAX_LINE_BYTES {
                line.push_str(opener);
            }
            let plan = std::thread::Builder::new()
                .stack_size(512 * 1024)
                .spawn(move || read(&line))
                .expect("a thread starts")
                .join()
                .expect("no string makes it panic");
            if let Ok(plan) = plan {
                assert!(plan.commands().count() > 0);
            }
        }
    }
}

#[test]
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

#[test]
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

#[test]
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
