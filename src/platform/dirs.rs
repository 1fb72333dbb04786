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
    /// XDG Base Directory Specification 0.8 for Linux; Apple's File System Programming Guide for macOS; "Known folders"
    /// of Microsoft's documentation for Windows.
    pub fn find() -> Option<Self> {
        if let Some(home) = absolute("BAILIWICK_HOME") {
            return Some(Self::below(home));
        }
        if cfg!(windows) {
            // The settings of this computer alone: a history and a socket are nothing to roam with.
            return Some(Self::below(absolute("LOCALAPPDATA")?.join("Bailiwick")));
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

/// The folders in which programs of this user keep their settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFolders {
    /// The home folder.
    pub home: PathBuf,
    /// Where programs with windows keep them: `~/.config`, `~/Library/Application Support` on macOS, `%APPDATA%` on
    /// Windows.
    pub application_settings: PathBuf,
    /// Where programs of the terminal keep them: `~/.config`, on macOS too; `%APPDATA%` on Windows.
    pub terminal_settings: PathBuf,
}

impl UserFolders {
    /// Finds the folders. Gives `None` where the user has no home folder.
    ///
    /// # Source
    /// As for [`Dirs::find`].
    pub fn find() -> Option<Self> {
        let home = absolute(if cfg!(windows) { "USERPROFILE" } else { "HOME" })?;
        if cfg!(windows) {
            let settings = absolute("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming"));
            return Some(Self { home, application_settings: settings.clone(), terminal_settings: settings });
        }
        let terminal_settings = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let application_settings = if cfg!(target_os = "macos") {
            home.join("Library/Application Support")
        } else {
            terminal_settings.clone()
        };
        Some(Self { home, application_settings, terminal_settings })
    }
}

/// The name that bundles of programs have for this system.
///
/// # Source
/// `process.platform` of Node, which the manifests of MCP bundles name.
pub const BUNDLE_PLATFORM: &str = if cfg!(target_os = "macos") {
    "darwin"
} else if cfg!(windows) {
    "win32"
} else {
    "linux"
};

fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
