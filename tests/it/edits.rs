//! Edits that land, or say exactly why not: a corpus of real changes, random patches, many callers, kills.

// Git is asked for every merge.
#[cfg(unix)]
mod against_git;
mod batches;
mod callers;
// Modes, links, and commands in sandboxes, as Linux has them.
#[cfg(target_os = "linux")]
mod commands;
// Git is asked thousands of times for the form of a change, minutes under wine; there random patches and the case files land.
#[cfg(unix)]
mod corpus;
mod fuzz;
mod history;
mod merges;
mod rules;
mod samples;
mod sources;
mod stress;
mod syntax;
// Modes, links and holes as POSIX has them.
#[cfg(unix)]
mod undo;
// What the corpus is made of.
#[cfg(unix)]
mod variants;
mod writers;

/// Returns a flag for searches that may take as long as they need.
fn endless() -> bailiwick::contract::Cancel {
    bailiwick::contract::Cancel::after(std::time::Duration::from_secs(24 * 3_600))
}
