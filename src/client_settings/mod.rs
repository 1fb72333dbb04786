//! Bailiwick in the settings of AI clients: what an entry is, where it is, and how a file is changed around it.
//!
//! Plans changes and keeps what they replace; asks nothing and prints nothing. Only an entry of Bailiwick's own is changed, and
//! everything else stays as it was to the byte: a file that cannot be parsed is left alone.

#![expect(clippy::disallowed_methods, reason = "settings are the user's own files")]

pub mod choice;
pub mod connection;
pub mod entry;
pub mod extension_bundle;
mod json_settings;
pub mod kind;
pub mod look;
pub mod output;
pub mod places;
pub mod plan;
pub mod record;
pub mod registry_file;
pub mod rights;
pub mod settings;
pub mod settings_file;
pub mod snippets;
pub mod toml_settings;
pub mod write;
mod yaml_settings;
