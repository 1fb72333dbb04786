//! What is wrong with an installation, and how it is fixed: checks that fill [`finding::Findings`], and repairs that keep what
//! they replace.
//!
//! A check says `ok` only of what it checked. Nothing is printed here. Checks that need a running service, or what clients have
//! in their settings, are beside the command `doctor`.

#![expect(clippy::disallowed_methods, reason = "an installation's own paths are the user's own")]

pub mod backups;
pub mod computer;
pub mod config_text;
pub mod examine;
pub mod finding;
pub mod folders;
pub mod history;
pub mod output;
pub mod repair;
pub mod scopes;
pub mod screens;
pub mod tokens;
