//! What a scope is given when a folder is opened, what it comes to, and what a change of it means in plain words.
//!
//! Below the adapters: the command line asks and prints.

#![expect(clippy::disallowed_methods, reason = "tools and registries are found in the user's own folders")]

pub mod command_verdicts;
pub mod commands_setup;
pub mod desktops;
pub mod difference;
pub mod effective;
pub mod explanation;
pub mod grant_change;
pub mod grants;
pub mod offer;
pub mod open_folder;
pub mod output;
pub mod plan;
pub mod presets;
pub mod registries;
pub mod scope_edit;
pub mod scope_words;
pub mod setup_output;
