//! One installation of Bailiwick on this computer: its folders, config and tokens, and who works on it now.
//!
//! Below the adapters: nothing here knows a command line, a terminal or a transport.

#![expect(clippy::disallowed_methods, reason = "an installation's own paths are the user's own")]

pub mod bounded_run;
pub mod child;
pub mod editor;
pub mod home;
pub mod host;
pub mod jsonc;
pub mod earlier_configs;
pub mod known_token;
pub mod limit;
pub mod local_time;
pub mod log_file;
pub mod own_files;
pub mod own_program;
pub mod processes;
pub mod running;
pub mod runtime;
pub mod stdio_session;
pub mod steps;
pub mod text;
pub mod throwaway;
pub mod tokens;
pub mod zip;
