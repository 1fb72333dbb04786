//! `doctor`: looks at everything that Bailiwick needs, says what is wrong and how to fix it, and fixes what is safe to fix.
//!
//! A check says `ok` only of what it looked at. A repair never guesses what the user meant, is shown as a diff, and
//! keeps what was there, so that `--undo` can take it back.

mod clients;
mod config;
mod prove;
mod run;
mod service;

use crate::diagnosis::{
    backups, computer, config_text, finding, folders, history, output, repair, scopes, screens, tokens,
};

pub use crate::diagnosis::output::{DoctorOutput, UndoOutput};
pub use crate::diagnosis::scopes::not_run;
pub use clients::{ConfiguredClients, configured};
pub use prove::{ProveOutput, run as prove};
pub use run::{found, run};
