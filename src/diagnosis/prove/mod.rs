//! The proof: each class of operation, done for real in a throw-away installation, and what was seen of it.
//!
//! Must not touch the user's config, history or folders, and never says `ok` of what was not done: a step that
//! cannot be done here is `skipped`, with its reason. Every wait has an end, and Ctrl-C ends all of them.

mod clients;
mod code;
mod desktop;
mod files;
mod git;
mod installation;
mod handshakes;
mod commands;
mod over_http;
mod processes;
mod refusals;
mod run;
mod running;
mod screens;
mod undo;

pub use run::{ProveOutput, prove};
