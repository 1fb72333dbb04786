//! `doctor`: looks at everything that Bailiwick needs, says what is wrong and how to fix it, and fixes what is safe to fix.
//!
//! A check says `ok` only of what it looked at. A repair never guesses what the user meant, is shown as a diff, and
//! keeps what was there, so that `--undo` can take it back.

mod backups;
mod clients;
mod computer;
mod config;
mod config_text;
mod finding;
mod folders;
mod history;
mod output;
mod prove;
mod repair;
mod run;
mod scopes;
mod screens;
mod service;
mod tokens;

pub use clients::{ConfiguredClients, configured};
pub use output::{DoctorOutput, UndoOutput};
pub use prove::{ProveOutput, run as prove};
pub use run::{found, run};
pub use scopes::not_run;
