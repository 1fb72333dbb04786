//! Runs every case file `tests/operations/<family>/<verb>.md` against a real service.
//!
//! CONTRIBUTING.md describes the format. `UPDATE=1` rewrites the expected blocks, `CASE=file/read`
//! limits the run to one file.

mod audit;
mod diff;
mod display;
mod file;
mod mask;
mod run;
mod schema;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bailiwick::operations::FAMILIES;

use file::{CaseFile, Kind};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/operations")
}

/// Gives the case files by the operation that their path names (`file.read`).
fn case_files() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for family in fs::read_dir(folder()).expect("tests/operations exists") {
        let family = family.expect("tests/operations can be read");
        for case in fs::read_dir(family.path()).expect("a folder for each family") {
            let path = case.expect("the family's folder can be read").path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            assert_eq!(path.extension().unwrap_or_default(), "md", "{} is no case file", path.display());
            found.insert(format!("{}.{stem}", family.file_name().to_string_lossy()), path);
        }
    }
    found
}

#[test]
fn cases() {
    let wanted = std::env::var("CASE").ok().map(|name| name.replace('/', "."));
    let update = std::env::var("UPDATE").is_ok_and(|value| value == "1");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let mut problems = Vec::new();
    let mut ran = 0;
    for (operation, path) in case_files() {
        if wanted.as_ref().is_some_and(|wanted| *wanted != operation) {
            continue;
        }
        let shown = format!("tests/operations/{}.md", operation.replacen('.', "/", 1));
        let text = fs::read_to_string(&path).expect("a case file can be read");
        let mut file = match CaseFile::parse(&text) {
            Ok(file) => file,
            Err(problem) => {
                problems.push(format!("{shown}: {problem}"));
                continue;
            }
        };
        ran += file.cases.len();
        // Cases wait for the disk most of the time; those of one file run side by side.
        let running: Vec<_> = std::mem::take(&mut file.cases)
            .into_iter()
            .map(|mut case| {
                runtime.spawn(async move {
                    let found = run::run(&mut case, update).await;
                    (case, found)
                })
            })
            .collect();
        for case in running {
            let (case, found) = runtime.block_on(case).expect("a case runs to its end");
            problems.extend(
                found.into_iter().map(|(line, problem)| {
                    format!("{shown}:{line}: {} ({operation})\n{problem}", case.title)
                }),
            );
            file.cases.push(case);
        }
        if update && file.text() != text {
            fs::write(&path, file.text()).expect("a case file can be written");
        }
    }
    assert!(ran > 0, "no case was run; is CASE misspelt?");
    assert!(
        problems.is_empty(),
        "{} of {ran} cases differ. If the new outcome is right: UPDATE=1 cargo test --test it cases, and read the diff.\n\n{}",
        problems.len(),
        problems.join("\n")
    );
}

#[test]
fn every_operation_has_a_case_file_and_every_case_file_an_operation() {
    let files = case_files();
    let names: Vec<&str> =
        FAMILIES.iter().flat_map(|family| family.operations).map(|entry| entry.spec.name).collect();
    let mut problems = Vec::new();
    for name in &names {
        if !files.contains_key(*name) {
            problems
                .push(format!("{name} has no case file tests/operations/{}.md", name.replacen('.', "/", 1)));
        }
    }
    for name in files.keys() {
        if !names.contains(&name.as_str()) {
            problems
                .push(format!("tests/operations/{}.md belongs to no operation", name.replacen('.', "/", 1)));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_case_file_shows_what_works_what_is_denied_and_what_is_malformed() {
    let mut problems = Vec::new();
    for (operation, path) in case_files() {
        let text = fs::read_to_string(&path).expect("a case file can be read");
        let file = match CaseFile::parse(&text) {
            Ok(file) => file,
            Err(problem) => {
                problems.push(format!("{operation}: {problem}"));
                continue;
            }
        };
        if file.operation != operation {
            problems.push(format!("{operation}: the first line says `# {}`", file.operation));
        }
        let needs_nothing = FAMILIES
            .iter()
            .flat_map(|family| family.operations)
            .any(|entry| entry.spec.name == operation && entry.spec.capabilities.is_empty());
        for kind in [Kind::Works, Kind::Denied, Kind::Malformed] {
            if kind == Kind::Denied && needs_nothing {
                continue;
            }
            if !file.cases.iter().any(|case| case.kind == kind) {
                problems.push(format!("{operation} has no case `## {}: …`", kind.as_str()));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
