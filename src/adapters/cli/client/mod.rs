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
mod output;
mod print;
mod registry_file;
mod remove;
mod run;
mod undo;

pub use super::own_program::{on_path, own_program};
use crate::client_settings::{
    choice, entry, kind, places, plan, record, settings, settings_file, toml_settings,
};

pub use crate::client_settings::entry::Reach;
pub use crate::client_settings::kind::ClientKind;
pub use args::{CheckArgs, ClientCommand, ClientsAtSetup};
pub use connect_at_setup::Offer;
pub use edit::masked;
pub use list::{caller_of, look as look_at_clients};
#[cfg(feature = "schemas")]
pub use output::schemas;
pub use output::{ConnectionState, ListedClient};
pub use print::snippet;
pub use remove::{added_settings, remove_added};
pub use run::run;
pub use undo::open_changes;
