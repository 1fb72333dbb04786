//! `client …`: Bailiwick in the settings of AI clients, put in, looked at, and taken out again.
//!
//! Writes into files that belong to other programs, and so with care: only its own entry, shown before
//! and backed up, everything else as it was to the byte. It never writes a token, and it never guesses:
//! a file that it cannot parse stays as it is.

mod args;
mod bundle;
mod connect_at_setup;
mod edit;
mod install;
mod kind_words;
mod list;
mod print;
mod remove;
mod run;
mod undo;

pub use args::{CheckArgs, ClientCommand, ClientsAtSetup};
pub use connect_at_setup::Offer;
pub use remove::remove_added;
pub use run::run;
