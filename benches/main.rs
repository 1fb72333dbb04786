//! Measures what Bailiwick costs: `cargo bench --bench measure NAME`, and for some names further words, which cargo wants
//! behind `--`: `cargo bench --bench measure NAME -- WORD`.
//!
//! The names are those of the modules, each of which says more: batch, code, command, context, coverage, desktop, git,
//! history, launch, patch, process, run, screen, search, transport and wait. Without one it prints what each measures.
//! They are one program, which is linked once. A process measures one of them, so that none changes what another finds.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "benches make files of their own, run what they measure, and print it"
)]

mod client;
mod fixture;
mod batch;
mod code;
mod command;
mod context;
mod coverage;
// Desktops are X servers with programs that are started.
#[cfg(target_os = "linux")]
mod desktop;
mod git;
mod history;
// The launcher itself, and what /proc says of its processes.
#[cfg(target_os = "linux")]
mod launch;
mod patch;
mod process;
mod run;
// An X server.
#[cfg(target_os = "linux")]
mod screen;
mod search;
mod transport;
mod wait;

use std::process::ExitCode;

/// A name, what is measured, and what measures it, with the words behind the name.
type Bench = (&'static str, &'static str, fn(&[String]) -> ExitCode);

const BENCHES: &[Bench] = &[
    ("batch", "ten reads in one round trip", batch::run),
    ("code", "code.search_symbols over 25,000 files, or over FOLDER", code::run),
    ("command", "judging commands", command::run),
    ("context", "code.context (needs git)", context::run),
    ("coverage", "undo of commands, and of a folder of 10,000 files", coverage::run),
    #[cfg(target_os = "linux")]
    ("desktop", "the desktop, or what of it contains WORD (needs Xvfb, openbox, chromium …)", desktop::run),
    ("git", "git.* beside git", git::run),
    ("history", "the history, to 1,000,000 rows", history::run),
    #[cfg(target_os = "linux")]
    ("launch", "the launcher, at every level", launch::run),
    ("patch", "file.patch on a file of 5,000 lines", patch::run),
    ("process", "started processes", process::run),
    ("run", "running a command", run::run),
    #[cfg(target_os = "linux")]
    ("screen", "captures of a display (needs Xvfb; scrot to compare with it)", screen::run),
    ("search", "file.search beside rg, for a literal or for WORD", search::run),
    ("transport", "the transports beside a bare server", transport::run),
    ("wait", "from a line that is printed to the answer of its wait (needs python3)", wait::run),
];

fn main() -> ExitCode {
    // `cargo bench` passes `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let bench = words.first().and_then(|name| BENCHES.iter().find(|bench| bench.0 == name));
    if let Some((_, _, run)) = bench {
        return run(&words[1..]);
    }
    eprintln!("cargo bench --bench measure NAME, where NAME is one of these, or NAME -- WORD:");
    for (name, what, _) in BENCHES {
        eprintln!("    {name:<10} {what}");
    }
    if words.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(2) }
}
