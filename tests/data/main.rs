//! The integration tests that run once for each case, fault, page or recorded log: `cargo test --test data`.
//!
//! Each is a trial with a name of its own, so that one can be run, timed and debugged: `cargo nextest run file.read`.
//! Listing them starts nothing.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    reason = "tests make files of their own, and fail by panicking"
)]
#![cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, unused_imports, reason = "only tests that are left out here use them")
)]

#[macro_use]
mod trials;
mod cases;
mod commands;
mod definitions;
mod digests;
// Faults are put in by modes, links, sockets and signals, and looked for on a terminal; X servers are started.
#[cfg(target_os = "linux")]
mod doctor;
mod documents;

use std::collections::BTreeSet;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The modules, with the trials of each.
const MODULES: &[(&str, fn() -> Vec<Trial>)] = &[
    ("cases", cases::trials),
    ("commands", commands::trials),
    ("definitions", definitions::trials),
    ("digests", digests::trials),
    #[cfg(target_os = "linux")]
    ("doctor", doctor::trials),
    ("documents", documents::trials),
];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    // Where each trial has a process of its own, the others are not even listed.
    let one = arguments.filter.as_deref().filter(|_| arguments.exact);
    let is_wanted =
        |module: &str| one.is_none_or(|name| name.split_once("::").is_some_and(|(of, _)| of == module));
    let modules = MODULES.iter().filter(|(module, _)| is_wanted(module));
    let trials: Vec<Trial> = modules.flat_map(|(_, trials)| trials()).collect();
    let mut names = BTreeSet::new();
    for trial in &trials {
        assert!(names.insert(trial.name()), "two trials are called {}", trial.name());
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
