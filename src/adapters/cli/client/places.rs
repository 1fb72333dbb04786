//! Where the settings of clients lie, and by what it is seen that a client is on this computer.

use std::env;
use std::path::{Path, PathBuf};

use crate::contract::{ErrorCode, Failure};
use crate::platform::dirs::UserFolders;

use super::args::Place;
use super::kind::ClientKind;

/// Where the entry of a client is put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsPlace {
    /// The settings file, which need not exist.
    pub file: PathBuf,
    /// Whether the file is a project's, and so is shared with others.
    pub is_projects: bool,
}

impl SettingsPlace {
    /// Finds the file that the flags name.
    ///
    /// # Errors
    /// `unsupported_platform` for a client without such settings; `invalid_request` for a folder that is none.
    pub fn find(kind: ClientKind, place: &Place) -> Result<Self, Failure> {
        if let Some(file) = &place.settings {
            let file = std::path::absolute(file)
                .map_err(|error| Failure::invalid("--settings", format!("`{}`: {error}", file.display())))?;
            return Ok(Self { file, is_projects: false });
        }
        match &place.project {
            Some(folder) => Self::of_project(kind, folder),
            None => Self::of_user(kind),
        }
    }

    /// Finds the settings of the user.
    ///
    /// # Errors
    /// As [`SettingsPlace::find`]; `provider_unavailable` without a home folder.
    pub fn of_user(kind: ClientKind) -> Result<Self, Failure> {
        let folders = UserFolders::find().ok_or_else(|| {
            Failure::new(ErrorCode::ProviderUnavailable, "HOME is not set, so no settings can be found")
                .hint("Set HOME, or name the file with --settings.")
        })?;
        let own = |variable: &str, usual: &str| {
            let moved = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            moved.unwrap_or_else(|| folders.home.join(usual))
        };
        let file = match kind {
            ClientKind::ClaudeDesktop => {
                folders.application_settings.join("Claude/claude_desktop_config.json")
            }
            ClientKind::ClaudeCode => own("CLAUDE_CONFIG_DIR", "").join(".claude.json"),
            ClientKind::Codex => own("CODEX_HOME", ".codex").join("config.toml"),
            ClientKind::VsCode => folders.application_settings.join("Code/User/mcp.json"),
            ClientKind::Cursor => folders.home.join(".cursor/mcp.json"),
            ClientKind::Windsurf => folders.home.join(".codeium/windsurf/mcp_config.json"),
            ClientKind::Zed => folders.terminal_settings.join("zed/settings.json"),
            ClientKind::Gemini => folders.home.join(".gemini/settings.json"),
            ClientKind::Generic => {
                return Err(Failure::invalid(
                    "CLIENT",
                    "it is not known where other clients keep their settings",
                )
                .hint("Name the file with --settings, or see `bailiwick client print generic`."));
            }
        };
        Ok(Self { file, is_projects: false })
    }

    /// Finds the settings of a project.
    ///
    /// # Errors
    /// As [`SettingsPlace::find`].
    pub fn of_project(kind: ClientKind, folder: &Path) -> Result<Self, Failure> {
        let name = project_file(kind).ok_or_else(|| {
            Failure::new(
                ErrorCode::UnsupportedPlatform,
                format!("{} has no settings of a project", kind.facts().title),
            )
            .hint("Leave out --project, or name a file with --settings.")
        })?;
        let folder = folder.canonicalize().ok().filter(|it| it.is_dir()).ok_or_else(|| {
            Failure::invalid("--project", format!("there is no folder `{}`", folder.display()))
                .hint("Name the project's folder.")
        })?;
        Ok(Self { file: folder.join(name), is_projects: true })
    }
}

/// Gives the name of a client's settings in a project's folder, where it has such.
pub fn project_file(kind: ClientKind) -> Option<&'static str> {
    match kind {
        ClientKind::ClaudeCode => Some(".mcp.json"),
        ClientKind::Codex => Some(".codex/config.toml"),
        ClientKind::VsCode => Some(".vscode/mcp.json"),
        ClientKind::Cursor => Some(".cursor/mcp.json"),
        ClientKind::Zed => Some(".zed/settings.json"),
        ClientKind::Gemini => Some(".gemini/settings.json"),
        ClientKind::ClaudeDesktop | ClientKind::Windsurf | ClientKind::Generic => None,
    }
}

/// Finds by what a client is seen to be on this computer: its program, or its settings.
pub fn evidence(kind: ClientKind) -> Option<PathBuf> {
    if let Some(program) = kind.facts().programs.iter().find_map(|name| on_path(name)) {
        return Some(program);
    }
    let file = SettingsPlace::of_user(kind).ok()?.file;
    if file.exists() {
        return Some(file);
    }
    // The folder of its own, which it makes when it first runs.
    let own = match kind {
        ClientKind::ClaudeCode => {
            return UserFolders::find().map(|it| it.home.join(".claude")).filter(|it| it.is_dir());
        }
        ClientKind::VsCode => file.parent()?.parent()?.to_owned(),
        _ => file.parent()?.to_owned(),
    };
    own.is_dir().then_some(own)
}

/// Gives the program that clients are to start: by the name under which the person has it, which stays the same
/// when a new version replaces it.
pub fn own_program(running: &Path) -> PathBuf {
    let is_running = |found: &PathBuf| found.canonicalize().ok().as_deref() == Some(running);
    let name = running.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    on_path(name).filter(is_running).unwrap_or_else(|| running.to_owned())
}

fn on_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let mut files = env::split_paths(&folders).filter(|it| it.is_absolute()).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}
