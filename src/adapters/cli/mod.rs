//! The command line: what a person types. Parses, calls, renders; judges nothing itself.
//!
//! The only place that changes the config and the tokens. Errors are [`Failure`]s, whose code gives the
//! exit code; a person's mistake never shows a stack trace.

#![expect(clippy::disallowed_methods, reason = "a person's commands deal with the user's own paths")]

mod approve;
mod approve_phone;
mod args;
mod ask;
mod bundle;
mod call;
mod client;
mod command_line;
mod command_policy;
mod completions;
mod config;
mod connect;
mod connect_wait;
mod definition;
mod described;
mod doctor;
mod examples;
mod history;
mod live;
mod man;
mod mcp;
mod policy;
mod policy_args;
mod policy_learn;
mod policy_replay;
mod policy_untrusted;
mod policy_why;
mod preset_words;
mod printer;
mod processes;
mod run;
mod schemas;
mod scope;
mod screen;
mod service;
mod setup;
mod step_lines;
mod start;
mod status;
mod token;
mod tools;
mod topics;
mod try_folder;
mod tunnel;
mod tunnel_args;
mod undo;
mod uninstall;
mod url_check;

pub use command_line::{CommandLineError, check_command_line};
pub use definition::definition;
pub use run::main;
pub use schemas::{CommandSchema, SCHEMAS};
