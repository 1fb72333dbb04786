//! The integration tests that run once for each case, fault, page or recorded log: `cargo test --test data`.
//!
//! Each is a trial with a name of its own, so that one can be run, timed and debugged: `cargo nextest run file.read`.
//! Listing them starts nothing.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    reason = "tests make files of their own, and fail by panicking"
)]

#[macro_use]
mod trials;
mod calls;
mod cases;
mod commands;
mod definitions;
mod digests;
// Faults are put in by modes, links, sockets and signals, and looked for on a terminal; X servers are started.
#[cfg(target_os = "linux")]
mod doctor;
mod documents;
// Only Linux has overlays.
#[cfg(target_os = "linux")]
mod previewed;
// Modes, links and names that are any bytes.
#[cfg(target_os = "linux")]
mod undone;

use std::collections::BTreeSet;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use trials::TrialFilter;

/// Creates the trials of a module.
type Trials = fn(&TrialFilter) -> Vec<Trial>;

/// The modules, with the trials of each.
const MODULES: &[(&str, Trials)] = &[
    ("calls", calls::trials),
    ("cases", cases::trials),
    ("commands", commands::trials),
    ("definitions", definitions::trials),
    ("digests", digests::trials),
    #[cfg(target_os = "linux")]
    ("doctor", doctor::trials),
    ("documents", documents::trials),
    #[cfg(target_os = "linux")]
    ("documents::manual", documents::manual::trials),
    #[cfg(target_os = "linux")]
    ("documents::shown", documents::shown::trials),
    #[cfg(target_os = "linux")]
    ("previewed", previewed::trials),
    #[cfg(target_os = "linux")]
    ("undone", undone::trials),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let wanted = TrialFilter { name: arguments.filter.clone().filter(|_| arguments.exact) };
    let modules = MODULES.iter().filter(|(module, _)| wanted.may_be_in(module));
    let trials: Vec<Trial> = modules.flat_map(|(_, trials)| trials(&wanted)).collect();
    let mut names = BTreeSet::new();
    for trial in &trials {
        assert!(names.insert(trial.name()), "two trials are called {}", trial.name());
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
