//! What is chosen about an entry: whose rights it has, how it connects, and in which file it is.

use std::path::PathBuf;

/// How Bailiwick is in a client's settings.
#[derive(Debug, Clone, Default)]
pub struct EntryOptions {
    /// The scopes that the client may use; none for all.
    pub scope: Vec<String>,
    /// The token whose rights it has.
    pub caller: Option<String>,
    /// Whether it connects over HTTP.
    pub http: bool,
    /// Where the entry is.
    pub place: SettingsChoice,
}

/// Which settings, and the entry's name there.
#[derive(Debug, Clone, Default)]
pub struct SettingsChoice {
    /// The project whose settings they are, instead of the user's.
    pub project: Option<PathBuf>,
    /// A settings file, instead of the usual one.
    pub settings: Option<PathBuf>,
    /// The entry's name.
    pub name: String,
}
