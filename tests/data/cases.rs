//! Runs every case of the files `tests/operations/<family>/<verb>.md` against a real service.
//!
//! CONTRIBUTING.md describes the format. Each case is a trial, named `cases::file.read::works::reads_a_text_file`;
//! `UPDATE=1` rewrites its expected blocks.

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
use std::path::PathBuf;

use bailiwick::operations::FAMILIES;
use libtest_mimic::{Completion, Failed, Trial};
use support::source::{repository, shown_path};
use support::system::{Need, tell};
use support::update::{is_updating, update};

use file::{Case, CaseFile, Kind};

use crate::trials::{TrialFilter, slug, trial_name};

fn folder() -> PathBuf {
    repository().join("tests/operations")
}

/// Returns the case files by the operation that their path names (`file.read`).
fn case_files() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for family in fs::read_dir(folder()).expect("tests/operations exists") {
        let family = family.expect("tests/operations can be read");
        for case in fs::read_dir(family.path()).expect("a folder for each family") {
            let path = case.expect("the family's folder can be read").path();
            // A file that is just being updated.
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
                continue;
            }
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            assert_eq!(path.extension().unwrap_or_default(), "md", "{} is no case file", path.display());
            found.insert(format!("{}.{stem}", family.file_name().to_string_lossy()), path);
        }
    }
    found
}

/// Which needs of a case are missing here.
#[derive(Debug, Default)]
struct MissingBlocks {
    /// Those that its blocks have: it cannot be run.
    of_blocks: BTreeSet<Need>,
    /// Those that it declares: it is run, and must not end as it says.
    declared: BTreeSet<Need>,
    /// Whether its operation is for other systems.
    is_for_others: bool,
}

impl MissingBlocks {
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

    /// Returns everything that is missing, as far as is known before the case runs.
    fn all(&self) -> BTreeSet<Need> {
        let platform = self.is_for_others.then_some(Need::Platform);
        self.of_blocks.iter().chain(&self.declared).copied().chain(platform).collect()
    }

    /// Runs a case, if it can be run. Returns what is missing, and what differs that should not.
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

/// A case, by its place in its file.
#[derive(Debug)]
struct CasePlace {
    operation: String,
    path: PathBuf,
    /// How many cases come before it.
    index: usize,
    /// The name of its trial.
    name: String,
}

/// Lists all cases. Files that cannot be parsed have none: another trial fails because of them.
fn case_places(wanted: &TrialFilter) -> Vec<CasePlace> {
    let mut places = Vec::new();
    for (operation, path) in case_files() {
        if !wanted.may_be_in(&operation) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a case file can be read");
        let Ok(file) = CaseFile::parse(&text) else { continue };
        places.extend(file.cases.iter().enumerate().map(|(index, case)| {
            let name = format!("{operation}::{}::{}", case.kind.as_str(), slug(case.claim()));
            let name = trial_name(module_path!(), &name);
            CasePlace { operation: operation.clone(), path: path.clone(), index, name }
        }));
    }
    places
}

/// The trials: each case, and what all case files have to have.
pub fn trials(wanted: &TrialFilter) -> Vec<Trial> {
    let mut trials = trials![
        every_operation_has_a_case_file_and_every_case_file_an_operation,
        every_case_file_shows_what_works_what_is_denied_and_what_is_malformed,
        some_cases_can_run_here,
        file::a_case_file_is_written_back_as_it_was_read,
        schema::every_example_is_of_the_published_form,
        schema::an_answer_that_contradicts_its_schema_is_found,
    ];
    let cases = case_places(wanted).into_iter();
    trials.extend(cases.map(|place| Trial::ignorable_test(place.name.clone(), move || run_case(&place))));
    trials
}

/// Runs a case. A case that cannot run here is ignored.
fn run_case(place: &CasePlace) -> Result<Completion, Failed> {
    let text = fs::read_to_string(&place.path)?;
    let mut case = CaseFile::parse(&text)?.cases.swap_remove(place.index);
    let shown = shown_path(&place.path);
    let missing = MissingBlocks::of(&place.operation, &case)
        .map_err(|(line, problem)| format!("{shown}:{line}: {problem}"))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be made");
    let running = runtime.spawn(async move {
        let (missing, problems) = missing.run(&mut case, is_updating()).await;
        (case, missing, problems)
    });
    let (case, missing, problems) = runtime.block_on(running).expect("a case runs to its end");
    if !problems.is_empty() {
        let list: Vec<String> =
            problems.into_iter().map(|(line, problem)| format!("{shown}:{line}: {problem}")).collect();
        return Err(Failed::from(format!(
            "{} ({})\n{}\nIf the new outcome is right: UPDATE=1 cargo test --test data {}, and read the diff.",
            case.title,
            place.operation,
            list.join("\n"),
            place.name
        )));
    }
    if !missing.is_empty() {
        return Ok(Completion::ignored_with(format!("needs {}", words(&missing))));
    }
    if is_updating() {
        update(&place.path, |text| {
            let mut file = CaseFile::parse(text).expect("it was parsed before");
            file.cases[place.index] = case;
            file.text()
        });
    }
    Ok(Completion::Completed)
}

fn words(missing: &BTreeSet<Need>) -> String {
    let words: Vec<&str> = missing.iter().map(|need| need.as_str()).collect();
    words.join(", ")
}

fn some_cases_can_run_here() {
    let mut can_run = 0;
    // By what is missing: `git`, or `links, modes`.
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    for (operation, path) in case_files() {
        let text = fs::read_to_string(&path).expect("a case file can be read");
        for case in CaseFile::parse(&text).into_iter().flat_map(|file| file.cases) {
            let missing = MissingBlocks::of(&operation, &case).unwrap_or_default().all();
            if missing.is_empty() {
                can_run += 1;
            } else {
                *left_out.entry(words(&missing)).or_default() += 1;
            }
        }
    }
    let all = can_run + left_out.values().sum::<usize>();
    let mut line = format!("cases: {can_run} of {all} can run here");
    for (missing, count) in &left_out {
        line.push_str(&format!("; {count} need {missing}"));
    }
    tell(&line);
    assert!(can_run > 0, "no case can run here");
}

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
