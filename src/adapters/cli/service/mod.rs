//! `service …`: Bailiwick as a service of the person's own session, which starts with it and is started again if it fails.
//!
//! Works for systemd's user manager. Writes one file of its own and changes no other; never needs root, and never says
//! that a service runs without having asked it.

mod install;
mod manager;
mod output;
mod remove;
mod run;
mod status;
mod unit;

pub use output::{DoneOutput, InstallOutput, RemoveOutput, StatusOutput};
pub use run::run;
