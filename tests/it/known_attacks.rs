//! Every row of `docs/concepts/known-attacks.md` names a test that exists.

use std::collections::BTreeSet;
use std::fs;

use regex::Regex;

use crate::source::{files, repository, rust_files, shown_path};

/// What the last column may name.
struct Guards {
    /// Functions under `#[test]`, or inside `proptest!`, and those that trials call.
    functions: BTreeSet<String>,
    /// Cases, as `family.verb: title`.
    cases: BTreeSet<String>,
    /// The text of the client tests, and of those on other systems.
    checks: String,
}

impl Guards {
    fn find() -> Self {
        let test =
            Regex::new(r"#\[(?:tokio::)?test(?:\([^\]]*\))?\]\s*(?:#\[[^\]]*\]\s*)*(?:async )?fn (\w+)")
                .expect("a good pattern");
        let trials = Regex::new(r"\b(?:trials|each)!\s*\[([^;\]]*)").expect("a good pattern");
        let functions = ["src", "crates", "tests"]
            .into_iter()
            .flat_map(rust_files)
            .flat_map(|file| {
                let tests = test.captures_iter(file.code()).map(|found| found[1].to_owned());
                let paths = trials.captures_iter(file.code()).flat_map(|found| {
                    found[1].split(',').map(|path| path.trim().to_owned()).collect::<Vec<_>>()
                });
                let called = paths.map(|path| path.rsplit("::").next().unwrap_or_default().to_owned());
                tests.chain(called).collect::<Vec<_>>()
            })
            .collect();
        let mut cases = BTreeSet::new();
        for path in files("tests/operations") {
            let text = fs::read_to_string(&path).expect("a case file can be read");
            let operation = text.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
            let titles = text.lines().filter_map(|line| line.strip_prefix("## "));
            cases.extend(
                titles.filter_map(|title| Some(format!("{operation}: {}", title.split_once(": ")?.1))),
            );
        }
        let checks = ["tests/clients", "tests/platforms"]
            .into_iter()
            .flat_map(files)
            .filter(|path| path.extension().is_some_and(|it| it == "py"))
            .filter_map(|path| fs::read_to_string(path).ok())
            .collect();
        Self { functions, cases, checks }
    }

    fn has(&self, name: &str) -> bool {
        self.functions.contains(name)
            || self.cases.contains(name)
            || (name.contains(' ') && self.checks.contains(name))
    }
}

#[test]
fn every_known_attack_names_a_test_that_exists() {
    let path = "docs/concepts/known-attacks.md";
    let text = fs::read_to_string(repository().join(path)).expect("the page exists");
    let quoted = Regex::new("`([^`]+)`").expect("a good pattern");
    let guards = Guards::find();
    let mut problems = Vec::new();
    let mut rows = 0;
    for (number, line) in text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        if !line.starts_with('|') || line.starts_with("| attack |") || line.starts_with("| --- |") {
            continue;
        }
        rows += 1;
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [_, _, guarding] = cells.as_slice() else {
            problems.push(format!("{path}:{number}: a row has three cells"));
            continue;
        };
        let names: Vec<&str> =
            quoted.captures_iter(guarding).filter_map(|found| found.get(1)).map(|it| it.as_str()).collect();
        if names.is_empty() {
            problems.push(format!("{path}:{number}: no test guards this"));
        }
        for name in names.iter().filter(|name| !guards.has(name)) {
            problems.push(format!("{path}:{number}: there is no test `{name}`"));
        }
    }
    assert!(rows > 10, "the table was not read");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Joins words that are apart by line breaks in one text and by blanks in another.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The sentences of "What is protected" in the README, and the controls that SECURITY.md calls boundaries.
fn promises() -> Vec<(&'static str, String)> {
    let read = |path: &str| fs::read_to_string(repository().join(path)).expect("the page exists");
    let read_me = read("README.md");
    let section =
        read_me.split("## What is protected").nth(1).and_then(|it| it.split("![").next()).expect("there");
    let bullets =
        section.split("\n- ").skip(1).map(on_one_line).filter(|it| !it.starts_with("Bailiwick does not"));
    let mut all: Vec<(&str, String)> = Vec::new();
    for bullet in bullets {
        let sentences = bullet.trim_end_matches('.').split(". ");
        all.extend(sentences.map(|sentence| ("README.md", format!("{sentence}."))));
    }
    for line in read("SECURITY.md").lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if cells.get(1).is_some_and(|cell| cell.starts_with("yes")) {
            all.push((
                "SECURITY.md",
                cells[0].split(": a process without").next().unwrap_or_default().to_owned(),
            ));
        }
    }
    all
}

/// Pages on which "never" is said of what is not ours to keep: lists of attacks, and of promises.
const OTHER_PAGES: [&str; 2] = ["docs/concepts/known-attacks.md", "docs/concepts/promises.md"];
/// Sentences with "never" that promise nothing.
const NO_PROMISES: [&str; 5] = [
    "| hint | decides | never |",
    "may never have read them",
    "was never asked: both are `denied`",
    "**macOS and Windows** were never run on",
    "`remove_dir_all` of Rust's standard library never ends",
];

/// Finds what a page says of "never" that no promise is about.
fn unlisted(promised: &BTreeSet<(String, String)>) -> Vec<String> {
    let pages = ["docs/concepts", "docs/guides"].into_iter().flat_map(files);
    let pages = pages.map(|path| shown_path(&path));
    let pages = pages.chain(["README.md", "SECURITY.md"].map(str::to_owned));
    let never = Regex::new(r"\b[Nn]ever\b").expect("a good pattern");
    let mut problems = Vec::new();
    for page in pages.filter(|page| page.ends_with(".md") && !OTHER_PAGES.contains(&page.as_str())) {
        let text = on_one_line(&fs::read_to_string(repository().join(&page)).expect("the page exists"));
        let kept: Vec<_> = promised
            .iter()
            .filter(|(place, _)| *place == page)
            .flat_map(|(_, promise)| text.match_indices(promise.as_str()))
            .map(|(at, promise)| at..at + promise.len())
            .collect();
        for found in never.find_iter(&text) {
            // From the end of the sentence or the row before to its own.
            let start = text[..found.start()].rfind(". ").map_or(0, |at| at + 2);
            let end = text[found.end()..].find(". ").map_or(text.len(), |at| found.end() + at + 1);
            let is_kept = kept.iter().any(|range| range.start < end && start < range.end);
            if !is_kept && !NO_PROMISES.iter().any(|other| text[start..end].contains(other)) {
                problems.push(format!("docs/concepts/promises.md lacks, of {page}: {}", &text[start..end]));
            }
        }
    }
    problems
}

#[test]
fn every_promise_of_protection_stands_where_it_is_said_and_names_a_test_that_exists() {
    let path = "docs/concepts/promises.md";
    let text = fs::read_to_string(repository().join(path)).expect("the page exists");
    let quoted = Regex::new("`([^`]+)`").expect("a good pattern");
    let guards = Guards::find();
    let (mut problems, mut promised) = (Vec::new(), BTreeSet::new());
    for line in text.lines().filter(|line| line.starts_with("| ")).skip(2) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [promise, place, guarding] = cells.as_slice() else {
            problems.push(format!("a row has three cells: {line}"));
            continue;
        };
        let said = fs::read_to_string(repository().join(place)).unwrap_or_default();
        // A text in source may continue behind a backslash.
        let said = on_one_line(&said.replace("\\\n", " ").replace("\\n", " "));
        if !said.contains(promise) {
            problems.push(format!("{place} does not say: {promise}"));
        }
        promised.insert(((*place).to_owned(), (*promise).to_owned()));
        let names: Vec<&str> =
            quoted.captures_iter(guarding).filter_map(|found| found.get(1)).map(|it| it.as_str()).collect();
        if names.is_empty() {
            problems.push(format!("no test guards: {promise}"));
        }
        problems.extend(
            names.iter().filter(|name| !guards.has(name)).map(|name| format!("there is no test `{name}`")),
        );
    }
    problems.extend(unlisted(&promised));
    let all = promises();
    assert!(all.len() > 30, "the promises were not read: {all:?}");
    for (place, promise) in all {
        if !promised.contains(&(place.to_owned(), promise.clone())) {
            problems.push(format!("{path} lacks, of {place}: {promise}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
