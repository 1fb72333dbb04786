//! The one integration binary: `cargo test --test it`. Each module is a kind of test.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    reason = "tests make files of their own, and fail by panicking"
)]

mod adapters;
mod architecture;
mod bundle;
mod cases;
mod cli;
mod code;
mod codex;
mod command;
mod command_rules;
mod command_spelling;
mod commands;
mod containment;
mod digests;
mod doctor;
mod documents;
mod edits;
mod git;
mod history;
mod installation;
mod launch;
mod hostile_paths;
mod known_attacks;
mod policy;
mod process;
mod reference;
mod screen;
mod search;
mod snapshot;
mod service_unit;
mod source;
mod temporary;
mod terminal;
mod transcripts;
mod wait;
