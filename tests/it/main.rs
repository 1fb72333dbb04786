//! The integration tests that are functions: `cargo test --test it`. Each module is a kind of test.
//!
//! Those that run once for each file, case or page are in `tests/data`, what both need in `tests/support`.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    reason = "tests make files of their own, and fail by panicking"
)]
#![cfg_attr(
    not(target_os = "linux"),
    expect(unused_imports, reason = "only tests that are left out here use them")
)]
#![cfg_attr(windows, expect(dead_code, reason = "only tests that are left out here use it"))]

mod adapters;
// Commands that wait for approval, at whatever level there is.
#[cfg(target_os = "linux")]
mod approvals;
mod architecture;
mod bundle;
mod cli;
mod code;
// A stand-in for Codex is a script, which is started as commands are.
#[cfg(target_os = "linux")]
mod codex;
// Programs of Unix at every level of the sandbox, and their trees of processes read from /proc.
#[cfg(target_os = "linux")]
mod command;
mod command_rules;
// The real Git and the wrappers of GNU are asked what they would start.
#[cfg(target_os = "linux")]
mod command_spelling;
mod containment;
// Drills are shell scripts.
#[cfg(unix)]
mod drills;
mod edits;
mod fixtures;
mod git;
mod glossary;
mod history;
// The launcher itself: namespaces, Landlock, seccomp, control groups and signals.
#[cfg(target_os = "linux")]
mod launch;
mod hostile_contents;
mod hostile_paths;
mod known_attacks;
mod large_files;
mod left_out;
mod listings;
mod named_commands;
// A session's bus and a desktop on it.
#[cfg(target_os = "linux")]
mod notifications;
// wine has no rustc.
#[cfg(unix)]
// Another user is started by setpriv.
#[cfg(target_os = "linux")]
mod ordinary_user;
mod permits;
mod policy;
mod policy_history;
// Lasting processes are programs of Unix.
#[cfg(target_os = "linux")]
mod process;
mod reference;
// Displays are X servers that the tests start.
#[cfg(target_os = "linux")]
mod screen;
mod search;
// Commands that are given secrets, at whatever level there is.
#[cfg(target_os = "linux")]
mod secret_handles;
mod snapshot;
// The system says which folders are listed.
#[cfg(target_os = "linux")]
mod stores;
// A user manager of systemd, and units for one.
#[cfg(target_os = "linux")]
mod service;
// Terminals are those of Linux, with its programs in them.
#[cfg(target_os = "linux")]
mod terminal;
// The program is run on a terminal of Linux.
#[cfg(target_os = "linux")]
mod transcripts;
// Commands that reach the network, and processes of Unix.
#[cfg(target_os = "linux")]
mod untrusted;
// What is waited for is what programs of Unix do.
#[cfg(target_os = "linux")]
mod wait;

use support::{installation, needs, patience, ports, source, system, temporary};
