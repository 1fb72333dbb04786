//! What these tests leave out on systems other than Linux: each with its reason, and counted.

use std::collections::BTreeMap;

use regex::Regex;

use crate::source::{SourceFile, rust_files};
use crate::system::tell;

/// A module or a test that is built for some systems alone.
struct LeftOut {
    /// `tests/it/main.rs: git`.
    place: String,
    /// The comment above it.
    reason: String,
    /// How many tests it has.
    tests: usize,
    /// Whether it is left out here.
    here: bool,
}

/// Returns how many tests a file has. A function that runs once for each item counts as one.
fn tests(file: &SourceFile) -> usize {
    let test = Regex::new(r"#\[(?:tokio::)?test(?:\([^\]]*\))?\]").expect("a good pattern");
    let trials = Regex::new(r"\b(?:trials|each)!\s*\[([^;\]]*)").expect("a good pattern");
    let functions = trials.captures_iter(file.code()).map(|found| {
        let names = found[1].split(',').filter(|name| !name.trim().is_empty());
        names.count()
    });
    test.find_iter(file.code()).count() + functions.sum::<usize>()
}

/// Returns how many tests a module of a file has, with the modules below it.
fn tests_of_module(all: &[SourceFile], file: &SourceFile, name: &str) -> usize {
    let folder = match file.path.rsplit_once('/') {
        Some((folder, "main.rs" | "mod.rs")) => folder.to_owned(),
        _ => file.path.trim_end_matches(".rs").to_owned(),
    };
    let (one, below) = (format!("{folder}/{name}.rs"), format!("{folder}/{name}/"));
    all.iter().filter(|it| it.path == one || it.path.starts_with(&below)).map(tests).sum()
}

fn find(all: &[SourceFile], problems: &mut Vec<String>) -> Vec<LeftOut> {
    let module = Regex::new(r"^\s*(?:pub(?:\([a-z]+\))? )?mod (\w+);").expect("a good pattern");
    let function = Regex::new(r"fn (\w+)\(").expect("a good pattern");
    let mut found = Vec::new();
    for file in all {
        let lines: Vec<&str> = file.text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let is_here = match line.trim() {
                r#"#[cfg(target_os = "linux")]"# => cfg!(target_os = "linux"),
                "#[cfg(unix)]" => cfg!(unix),
                _ => continue,
            };
            let mut rest = lines[at + 1..].iter().take_while(|line| !line.trim().is_empty());
            let is_test =
                rest.clone().take(2).any(|line| line.contains("#[test]") || line.contains("#[tokio::test"));
            let (name, tests) = match rest.next().and_then(|line| module.captures(line)) {
                Some(module) => (module[1].to_owned(), tests_of_module(all, file, &module[1])),
                None if is_test => {
                    let name = rest.find_map(|line| Some(function.captures(line)?[1].to_owned()));
                    (name.unwrap_or_default(), 1)
                }
                None => continue,
            };
            let above = at.checked_sub(1).map_or("", |above| lines[above].trim());
            let place = format!("{}: {name}", file.path);
            match above.strip_prefix("// ") {
                Some(reason) => {
                    found.push(LeftOut { place, reason: reason.to_owned(), tests, here: !is_here });
                }
                None => problems.push(format!("{place} says not why it is left out on other systems")),
            }
        }
    }
    found
}

#[test]
fn every_test_that_is_left_out_on_other_systems_says_why() {
    let all = [rust_files("tests/it"), rust_files("tests/data")].concat();
    let mut problems = Vec::new();
    let found = find(&all, &mut problems);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(
        found.iter().any(|it| it.place == "tests/it/main.rs: command" && it.tests > 10),
        "none was found"
    );
    assert!(
        found.iter().any(|it| it.place == "tests/data/main.rs: doctor" && it.tests > 10),
        "no trial was found"
    );

    let every: usize = all.iter().map(tests).sum();
    let left_out: usize = found.iter().filter(|it| it.here).map(|it| it.tests).sum();
    tell(&format!("integration tests: {} of {every} are built for this system", every - left_out));
    let mut by_reason: BTreeMap<&str, (usize, Vec<&str>)> = BTreeMap::new();
    for it in found.iter().filter(|it| it.here) {
        let entry = by_reason.entry(&it.reason).or_default();
        entry.0 += it.tests;
        entry.1.push(it.place.strip_prefix("tests/").unwrap_or(&it.place));
    }
    for (reason, (tests, places)) in by_reason {
        tell(&format!("left out: {tests} tests ({}): {reason}", places.join(", ")));
    }
}
