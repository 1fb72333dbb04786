//! Where Bailiwick keeps its own files.

use std::env;
use std::path::PathBuf;

/// The folders of one installation. Neither may lie inside a scope, nor a scope inside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dirs {
    /// `config.json` and `tokens.json`.
    pub config: PathBuf,
    /// History, locks, logs.
    pub state: PathBuf,
    /// The local socket.
    pub runtime: PathBuf,
}

impl Dirs {
    /// Finds the folders: all below `BAILIWICK_HOME` when it is set, else the platform's own.
    ///
    /// Gives `None` where the user has no home folder.
    ///
    /// # Source
    /// XDG Base Directory Specification 0.8 for Linux; Apple's File System Programming Guide for macOS.
    pub fn find() -> Option<Self> {
        if let Some(home) = absolute("BAILIWICK_HOME") {
            return Some(Self::below(home));
        }
        let home = absolute("HOME")?;
        if cfg!(target_os = "macos") {
            return Some(Self::below(home.join("Library/Application Support/Bailiwick")));
        }
        let state = absolute("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state")).join("bailiwick");
        Some(Self {
            config: absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("bailiwick"),
            runtime: absolute("XDG_RUNTIME_DIR")
                .map_or_else(|| state.join("run"), |dir| dir.join("bailiwick")),
            state,
        })
    }

    /// Puts everything below one folder.
    pub fn below(home: PathBuf) -> Self {
        Self { config: home.join("config"), state: home.join("state"), runtime: home.join("run") }
    }
}

fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
