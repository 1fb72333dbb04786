//! Where Bailiwick keeps its own files.

use std::env;
use std::path::PathBuf;

/// The folders of one installation. Neither may be inside a scope, nor a scope inside them.
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
    /// Returns `None` where the user has no home folder.
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

/// The variable below which the folders lie.
pub const BASE: &str = if cfg!(windows) { "LOCALAPPDATA" } else { "HOME" };

/// Returns the folders that hold the settings, keys and sessions of all programs of this user, beside the home folder
/// itself: on Windows alone they have a place of their own that can be outside it.
pub fn settings_of_all() -> Vec<PathBuf> {
    if cfg!(windows) {
        ["APPDATA", "LOCALAPPDATA"].into_iter().filter_map(absolute).collect()
    } else {
        Vec::new()
    }
}

/// A system whose folders are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl System {
    /// The system that this program was built for.
    pub const THIS: Self = if cfg!(target_os = "macos") {
        Self::MacOs
    } else if cfg!(windows) {
        Self::Windows
    } else {
        Self::Linux
    };
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
    /// Where Windows keeps what packaged programs take for `%APPDATA%` and the like: `%LOCALAPPDATA%\Packages`.
    pub packages: Option<PathBuf>,
}

impl UserFolders {
    /// Finds the folders. Returns `None` where the user has no home folder.
    pub fn find() -> Option<Self> {
        Self::of(System::THIS, absolute)
    }

    /// Finds the folders of a user of a system by absolute paths that variables hold.
    ///
    /// # Source
    /// As for [`Dirs::find`]. On macOS no program asks for `XDG_CONFIG_HOME` unless it says so.
    pub fn of(system: System, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<Self> {
        match system {
            System::Windows => {
                let home = variable("USERPROFILE")?;
                let settings = variable("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming"));
                let local = variable("LOCALAPPDATA").unwrap_or_else(|| home.join("AppData").join("Local"));
                Some(Self {
                    home,
                    application_settings: settings.clone(),
                    terminal_settings: settings,
                    packages: Some(local.join("Packages")),
                })
            }
            System::MacOs | System::Linux => {
                let home = variable("HOME")?;
                let config = home.join(".config");
                let (application_settings, terminal_settings) = if system == System::MacOs {
                    (home.join("Library/Application Support"), config)
                } else {
                    let settings = variable("XDG_CONFIG_HOME").unwrap_or(config);
                    (settings.clone(), settings)
                };
                Some(Self { home, application_settings, terminal_settings, packages: None })
            }
        }
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

/// Returns the absolute path that a variable holds, if it does.
pub fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
