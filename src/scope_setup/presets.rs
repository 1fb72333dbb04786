//! What a scope is opened for, in a word.

use bailiwick_contract::Capability;

/// What a scope is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// Read, search and list files.
    ReadOnly,
    /// And change files, and use Git.
    Coding,
    /// And run common programs of projects, in a sandbox.
    Full,
}

impl Preset {
    /// Returns what the preset grants.
    pub fn capabilities(self) -> Vec<Capability> {
        use Capability::{FsRead, FsWrite, GitRead, GitWrite, HistoryRead, SearchRead};
        match self {
            Self::ReadOnly => vec![FsRead, SearchRead, HistoryRead],
            // Commands come with their rules, not as a capability alone; see `commands_setup`.
            Self::Coding | Self::Full => vec![FsRead, SearchRead, FsWrite, GitRead, GitWrite, HistoryRead],
        }
    }
}
