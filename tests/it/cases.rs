//! Runs every case file `tests/operations/<family>/<verb>.md` against a real service.
//!
//! CONTRIBUTING.md describes the format. `UPDATE=1` rewrites the expected blocks, `CASE=file/read`
//! limits the run to one file.

mod audit;
mod diff;
// Only for the X server is there a harness.
#[cfg(target_os = "linux")]
mod display;
// There is no display that a test could start.
#[cfg(not(target_os = "linux"))]
#[path = "cases/no_display.rs"]
mod display;
mod file;
mod mask;
mod run;
mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use bailiwick::operations::FAMILIES;

use file::{Case, CaseFile, Kind};

use crate::system::{Need, tell};

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

/// Which needs of a case are missing here.
#[derive(Debug, Default)]
struct Missing {
    /// Those that its blocks have: it cannot be run.
    of_blocks: BTreeSet<Need>,
    /// Those that it declares: it is run, and must not end as it says.
    declared: BTreeSet<Need>,
    /// Whether its operation is for other systems.
    is_for_others: bool,
}

impl Missing {
    /// # Errors
    /// The line, and a sentence, about a word in a block `needs` that is none.
    fn of(operation: &str, case: &Case) -> Result<Self, (usize, String)> {
        let missing = |needs: BTreeSet<Need>| needs.into_iter().filter(|need| !need.is_there()).collect();
        let mut entries = FAMILIES.iter().flat_map(|family| family.operations);
        let spec = entries.find(|entry| entry.spec.name == operation).map(|entry| entry.spec);
        Ok(Self {
            of_blocks: missing(case.needs_of_blocks()),
            declared: missing(case.declared_needs()?),
            is_for_others: spec.is_some_and(|spec| !spec.supports_platform(std::env::consts::OS)),
        })
    }

    /// Runs a case, if it can be. Gives what is missing, and what differs that should not.
    async fn run(self, case: &mut Case, update: bool) -> (BTreeSet<Need>, Vec<run::Problem>) {
        let mut missing: BTreeSet<Need> = self.of_blocks.union(&self.declared).copied().collect();
        if !self.of_blocks.is_empty() {
            return (missing, Vec::new());
        }
        let found = run::run(case, update && missing.is_empty() && !self.is_for_others).await;
        if self.is_for_others && found.iter().any(|(_, problem)| problem.contains("unsupported_platform")) {
            missing.insert(Need::Platform);
            return (missing, Vec::new());
        }
        if self.declared.is_empty() {
            return (missing, found);
        }
        if found.is_empty() {
            let problem = "it needs nothing that is missing here: it ends as it says".to_owned();
            return (missing, vec![(0, problem)]);
        }
        (missing, Vec::new())
    }
}

/// Counts what was shown and what was not.
#[derive(Debug, Default)]
struct Figures {
    ran: usize,
    /// By what was missing: `git`, or `links, modes`.
    left_out: BTreeMap<String, usize>,
}

impl Figures {
    fn count(&mut self, missing: &BTreeSet<Need>) {
        if missing.is_empty() {
            self.ran += 1;
        } else {
            let words: Vec<&str> = missing.iter().map(|need| need.as_str()).collect();
            *self.left_out.entry(words.join(", ")).or_default() += 1;
        }
    }

    fn line(&self, differ: usize) -> String {
        let all = self.ran + self.left_out.values().sum::<usize>();
        let mut line = format!("cases: {} of {all} ran, {differ} differ", self.ran);
        for (missing, count) in &self.left_out {
            line.push_str(&format!("; {count} need {missing}"));
        }
        line
    }
}

/// Those that start Git take as long as all others together, and can run beside them.
#[test]
fn of_git() {
    run_cases(|operation| operation.starts_with("git."));
}

#[test]
fn of_all_others() {
    run_cases(|operation| !operation.starts_with("git."));
}

/// Runs the cases of some operations; with `CASE`, those of one file, if it is among them.
fn run_cases(is_one: impl Fn(&str) -> bool) {
    let mut files = case_files();
    if let Ok(wanted) = std::env::var("CASE") {
        let wanted = wanted.replace('/', ".");
        files.retain(|operation, _| *operation == wanted);
        assert!(!files.is_empty(), "there is no case file for {wanted}; is CASE misspelt?");
    }
    files.retain(|operation, _| is_one(operation));
    if files.is_empty() {
        return;
    }
    let update = std::env::var("UPDATE").is_ok_and(|value| value == "1");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let mut problems = Vec::new();
    let mut figures = Figures::default();
    let mut differ = 0;
    for (operation, path) in files {
        let shown = format!("tests/operations/{}.md", operation.replacen('.', "/", 1));
        let text = fs::read_to_string(&path).expect("a case file can be read");
        let mut file = match CaseFile::parse(&text) {
            Ok(file) => file,
            Err(problem) => {
                problems.push(format!("{shown}: {problem}"));
                continue;
            }
        };
        // Cases wait for the disk most of the time; those of one file run side by side.
        let running: Vec<_> = std::mem::take(&mut file.cases)
            .into_iter()
            .map(|mut case| {
                let operation = operation.clone();
                runtime.spawn(async move {
                    let missing = match Missing::of(&operation, &case) {
                        Ok(missing) => missing,
                        Err(problem) => return (case, BTreeSet::new(), vec![problem]),
                    };
                    let (missing, found) = missing.run(&mut case, update).await;
                    (case, missing, found)
                })
            })
            .collect();
        for case in running {
            let (case, missing, found) = runtime.block_on(case).expect("a case runs to its end");
            figures.count(&missing);
            differ += usize::from(!found.is_empty());
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
    tell(&figures.line(differ));
    assert!(figures.ran > 0, "no case was run");
    assert!(
        problems.is_empty(),
        "{differ} of {} cases differ. If the new outcome is right: UPDATE=1 cargo test --test it cases, and read the diff.\n\n{}",
        figures.ran,
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
