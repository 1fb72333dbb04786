//! What the real bash starts is what was read.
//!
//! `BAILIWICK_FUZZ_STRINGS=100000` and `BAILIWICK_FUZZ_SEED=2` compare more random strings.

mod bash;

use bailiwick::contract::CommandInput;
use bailiwick::policy::command::recognise;
use libtest_mimic::Trial;
use support::generator::{self, Numbers};

use bash::Bash;

use super::corpus::{CommandFile, Section};
use super::{assert_none, read};
use crate::trials::TrialFilter;

/// How many random strings a usual run compares.
const STRINGS: usize = 2_000;
/// How many trials share them.
const PARTS: usize = 2;

/// The trials: each heading of the files, and random strings.
pub fn trials(wanted: &TrialFilter) -> Vec<Trial> {
    let mut trials = trials![no_builtin_and_no_keyword_of_bash_is_taken_for_a_program];
    trials.extend(each![bash_starts_what_was_read_in_the_case_files; CommandFile::sections(wanted)]);
    let parts = (0..PARTS as u64).map(|part| (format!("random_strings_{part}"), part));
    trials.extend(each![bash_starts_what_was_read_in_random_strings; parts]);
    trials
}

fn bash_starts_what_was_read_in_the_case_files(section: &Section) {
    let mut bash = Bash::new();
    let mut problems = Vec::new();
    let file = section.file();
    for case in file.cases.iter().filter(|case| section.has(case)) {
        let CommandInput::Line(line) = &case.input else { continue };
        let Ok(plan) = recognise::plan(&case.input) else { continue };
        if let Some(difference) = bash.difference(line, &plan) {
            problems.push(format!("{}: {line:?}\n{difference}", file.place(case)));
        }
    }
    assert_none(&problems);
}

fn bash_starts_what_was_read_in_random_strings(part: &u64) {
    let strings = std::env::var("BAILIWICK_FUZZ_STRINGS").ok().and_then(|count| count.parse().ok());
    let seed = std::env::var("BAILIWICK_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let strings = strings.unwrap_or(STRINGS) / PARTS;
    let mut numbers = Numbers::new(seed * 100 + part);
    let mut bash = Bash::new();
    let mut problems = Vec::new();
    let mut taken = 0;
    for _ in 0..strings {
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
    assert!(taken > strings / 5, "the generator makes too few strings that are taken: {taken}");
    assert_none(&problems[..problems.len().min(20)]);
}

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
