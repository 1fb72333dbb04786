//! What is wrong with an installation, and how it is fixed: checks that fill [`finding::Findings`], and repairs that keep what
//! they replace.
//!
//! A check says `ok` only of what it checked, a proof only of what was done for real in a throw-away installation. Nothing is
//! printed here, and the running service is asked by a function that the caller gives.

#![expect(clippy::disallowed_methods, reason = "an installation's own paths are the user's own")]

pub mod backups;
pub mod clients;
pub mod command_steps;
pub mod computer;
pub mod config;
pub mod config_files;
pub mod config_fixes;
pub mod examine;
pub mod finding;
pub mod folders;
pub mod history;
pub mod known_values;
pub mod live_clients;
pub mod look;
pub mod output;
pub mod prove;
pub mod repair;
pub mod report;
pub mod report_parts;
pub mod scopes;
pub mod screen_status;
pub mod screens;
pub mod service;
pub mod status;
pub mod tokens;
pub mod trial;
pub mod uninstall;
pub mod vision_model;
