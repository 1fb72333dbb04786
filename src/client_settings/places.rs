//! Where the settings of clients lie, and by what it is seen that a client is on this computer.

use std::fs;
use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::dirs::{System, UserFolders, absolute};
use bailiwick_platform::machine::HOME;
use bailiwick_platform::paths;

use super::choice::SettingsChoice;
use super::kind::ClientKind;
use crate::installation::own_program::on_path;

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
    pub fn find(kind: ClientKind, place: &SettingsChoice) -> Result<Self, Failure> {
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
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("{HOME} is not set, so no settings can be found"),
            )
            .hint(format!("Set {HOME}, or name the file with --settings."))
        })?;
        let pointer = |file: &Path| fs::read_to_string(file).ok();
        let file = user_file(kind, System::THIS, &folders, absolute, |folder| folder.is_dir(), pointer);
        let file = file.ok_or_else(|| {
            Failure::invalid("CLIENT", "it is not known where other clients keep their settings")
                .hint("Name the file with --settings, or see `bailiwick client print generic`.")
        })?;
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
        let folder = paths::real(folder).ok().filter(|it| it.is_dir()).ok_or_else(|| {
            Failure::invalid("--project", format!("there is no folder `{}`", folder.display()))
                .hint("Name the project's folder.")
        })?;
        Ok(Self { file: folder.join(name), is_projects: true })
    }
}

/// Returns the file in which a client keeps the settings of a user, where it is known.
///
/// # Source
/// Claude Desktop: modelcontextprotocol.io/docs/develop/connect-local-servers; as a package of Windows it finds its own
/// copy of `%APPDATA%` (learn.microsoft.com/windows/msix/desktop/desktop-to-uwp-behind-the-scenes, and issue 26073 of
/// anthropics/claude-code). Claude Code: code.claude.com/docs/en/settings. Codex:
/// developers.openai.com/codex/config-reference. VS Code: code.visualstudio.com/docs/configure/settings, "settings file
/// locations", beside which `mcp.json` lies. Cursor: cursor.com/docs/context/mcp. Windsurf:
/// docs.windsurf.com/windsurf/cascade/mcp. Zed: zed.dev/docs/configuring-zed. Gemini CLI:
/// geminicli.com/docs/reference/configuration. The others: as [`ClientKind::facts`] names them. Where they name `~`, it is `%USERPROFILE%` on Windows.
fn user_file(
    kind: ClientKind,
    system: System,
    folders: &UserFolders,
    variable: impl Fn(&str) -> Option<PathBuf>,
    is_folder: impl Fn(&Path) -> bool,
    content: impl Fn(&Path) -> Option<String>,
) -> Option<PathBuf> {
    /// The package of Claude Desktop: its name, and what Windows makes of its publisher's.
    const CLAUDE_PACKAGE: &str = "Claude_pzs8sxrjxfjjc";
    let home = |below: &[&str]| below.iter().fold(folders.home.clone(), |path, name| path.join(name));
    Some(match kind {
        ClientKind::ClaudeDesktop => {
            let packaged = folders.packages.as_ref().map(|packages| packages.join(CLAUDE_PACKAGE));
            let settings = match packaged.filter(|package| is_folder(package)) {
                Some(package) => package.join("LocalCache").join("Roaming"),
                None => folders.application_settings.clone(),
            };
            settings.join("Claude").join("claude_desktop_config.json")
        }
        ClientKind::ClaudeCode => {
            variable("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home(&[])).join(".claude.json")
        }
        ClientKind::Codex => variable("CODEX_HOME").unwrap_or_else(|| home(&[".codex"])).join("config.toml"),
        ClientKind::VsCode => folders.application_settings.join("Code").join("User").join("mcp.json"),
        ClientKind::Cursor => home(&[".cursor", "mcp.json"]),
        ClientKind::Windsurf => home(&[".codeium", "windsurf", "mcp_config.json"]),
        ClientKind::Zed => {
            let name = if system == System::Windows { "Zed" } else { "zed" };
            folders.terminal_settings.join(name).join("settings.json")
        }
        ClientKind::Gemini => home(&[".gemini", "settings.json"]),
        ClientKind::Qwen => home(&[".qwen", "settings.json"]),
        // By XDG's rules on every system.
        ClientKind::OpenCode => variable("XDG_CONFIG_HOME")
            .unwrap_or_else(|| home(&[".config"]))
            .join("opencode")
            .join("opencode.json"),
        ClientKind::Continue => home(&[".continue", "mcpServers", "bailiwick.json"]),
        ClientKind::ContinueCli => home(&[".continue", "config.yaml"]),
        ClientKind::Goose => match system {
            System::Windows => folders.application_settings.join("Block").join("goose").join("config"),
            _ => variable("XDG_CONFIG_HOME").unwrap_or_else(|| home(&[".config"])).join("goose"),
        }
        .join("config.yaml"),
        ClientKind::Cline => {
            let data = variable("CLINE_DATA_DIR")
                .unwrap_or_else(|| variable("CLINE_DIR").unwrap_or_else(|| home(&[".cline"])).join("data"));
            // Where it was until 2026. A newer Cline takes over what is there when it first starts.
            let extension = folders
                .application_settings
                .join("Code")
                .join("User")
                .join("globalStorage")
                .join("saoudrizwan.claude-dev");
            let folder = if is_folder(&extension) && !is_folder(&data) { extension } else { data };
            variable("CLINE_MCP_SETTINGS_PATH")
                .unwrap_or_else(|| folder.join("settings").join("cline_mcp_settings.json"))
        }
        ClientKind::Junie => home(&[".junie", "mcp", "mcp.json"]),
        // It writes down where its folder is; one of its first versions is in the cache folder.
        ClientKind::LmStudio => {
            let cached = home(&[".cache", "lm-studio"]);
            match content(&home(&[".lmstudio-home-pointer"])) {
                Some(path) if Path::new(path.trim()).is_absolute() => PathBuf::from(path.trim()),
                _ if is_folder(&cached) => cached,
                _ => home(&[".lmstudio"]),
            }
            .join("mcp.json")
        }
        ClientKind::Generic => return None,
    })
}

/// Returns the name of a client's settings in a project's folder, where it has such.
pub fn project_file(kind: ClientKind) -> Option<&'static str> {
    match kind {
        ClientKind::ClaudeCode => Some(".mcp.json"),
        ClientKind::Codex => Some(".codex/config.toml"),
        ClientKind::VsCode => Some(".vscode/mcp.json"),
        ClientKind::Cursor => Some(".cursor/mcp.json"),
        ClientKind::Zed => Some(".zed/settings.json"),
        ClientKind::Gemini => Some(".gemini/settings.json"),
        ClientKind::Qwen => Some(".qwen/settings.json"),
        ClientKind::OpenCode => Some("opencode.json"),
        ClientKind::Continue => Some(".continue/mcpServers/bailiwick.json"),
        ClientKind::Junie => Some(".junie/mcp/mcp.json"),
        ClientKind::ClaudeDesktop
        | ClientKind::Windsurf
        | ClientKind::ContinueCli
        | ClientKind::Goose
        | ClientKind::Cline
        | ClientKind::LmStudio
        | ClientKind::Generic => None,
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
        // Its folder is that of Continue in an editor.
        ClientKind::ContinueCli => return None,
        // The file is in a folder within it.
        ClientKind::VsCode | ClientKind::Continue | ClientKind::Cline | ClientKind::Junie => {
            file.parent()?.parent()?.to_owned()
        }
        _ => file.parent()?.to_owned(),
    };
    own.is_dir().then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns where each client keeps its settings, by variables and folders that are there.
    fn files(system: System, variables: &[(&str, &str)], there: &[&str]) -> Vec<String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, path)| PathBuf::from(path))
        };
        let folders = UserFolders::of(system, variable).expect("there is a home folder");
        let known = ClientKind::all().iter().filter(|kind| **kind != ClientKind::Generic);
        let file = |kind: &ClientKind| {
            let is_there = |folder: &Path| there.contains(&plain(folder).as_str());
            let nothing = |_: &Path| None;
            plain(&user_file(*kind, system, &folders, variable, is_there, nothing).expect("it is known"))
        };
        known.map(file).collect()
    }

    /// Systems write separators differently; both are the same path here.
    fn plain(path: &Path) -> String {
        path.display().to_string().replace('\\', "/")
    }

    #[test]
    fn each_client_is_found_on_linux() {
        let usual = files(System::Linux, &[("HOME", "/home/me")], &[]);
        assert_eq!(
            usual,
            [
                "/home/me/.config/Claude/claude_desktop_config.json",
                "/home/me/.claude.json",
                "/home/me/.codex/config.toml",
                "/home/me/.config/Code/User/mcp.json",
                "/home/me/.cursor/mcp.json",
                "/home/me/.codeium/windsurf/mcp_config.json",
                "/home/me/.config/zed/settings.json",
                "/home/me/.gemini/settings.json",
                "/home/me/.qwen/settings.json",
                "/home/me/.config/opencode/opencode.json",
                "/home/me/.continue/mcpServers/bailiwick.json",
                "/home/me/.continue/config.yaml",
                "/home/me/.config/goose/config.yaml",
                "/home/me/.cline/data/settings/cline_mcp_settings.json",
                "/home/me/.junie/mcp/mcp.json",
                "/home/me/.lmstudio/mcp.json",
            ]
        );
        let moved = [
            ("HOME", "/home/me"),
            ("XDG_CONFIG_HOME", "/c"),
            ("CODEX_HOME", "/x"),
            ("CLAUDE_CONFIG_DIR", "/y"),
        ];
        let moved = files(System::Linux, &moved, &[]);
        assert_eq!(moved[1..4], ["/y/.claude.json", "/x/config.toml", "/c/Code/User/mcp.json"]);
        assert_eq!(moved[6], "/c/zed/settings.json");
    }

    #[test]
    fn each_client_is_found_on_macos() {
        let found = files(System::MacOs, &[("HOME", "/Users/me"), ("XDG_CONFIG_HOME", "/c")], &[]);
        assert_eq!(
            found,
            [
                "/Users/me/Library/Application Support/Claude/claude_desktop_config.json",
                "/Users/me/.claude.json",
                "/Users/me/.codex/config.toml",
                "/Users/me/Library/Application Support/Code/User/mcp.json",
                "/Users/me/.cursor/mcp.json",
                "/Users/me/.codeium/windsurf/mcp_config.json",
                "/Users/me/.config/zed/settings.json",
                "/Users/me/.gemini/settings.json",
                "/Users/me/.qwen/settings.json",
                "/c/opencode/opencode.json",
                "/Users/me/.continue/mcpServers/bailiwick.json",
                "/Users/me/.continue/config.yaml",
                "/c/goose/config.yaml",
                "/Users/me/.cline/data/settings/cline_mcp_settings.json",
                "/Users/me/.junie/mcp/mcp.json",
                "/Users/me/.lmstudio/mcp.json",
            ]
        );
    }

    #[test]
    fn each_client_is_found_on_windows() {
        let roaming = "C:/Users/me/AppData/Roaming";
        let usual = files(System::Windows, &[("USERPROFILE", "C:/Users/me")], &[]);
        assert_eq!(
            usual,
            [
                format!("{roaming}/Claude/claude_desktop_config.json"),
                "C:/Users/me/.claude.json".to_owned(),
                "C:/Users/me/.codex/config.toml".to_owned(),
                format!("{roaming}/Code/User/mcp.json"),
                "C:/Users/me/.cursor/mcp.json".to_owned(),
                "C:/Users/me/.codeium/windsurf/mcp_config.json".to_owned(),
                format!("{roaming}/Zed/settings.json"),
                "C:/Users/me/.gemini/settings.json".to_owned(),
                "C:/Users/me/.qwen/settings.json".to_owned(),
                "C:/Users/me/.config/opencode/opencode.json".to_owned(),
                "C:/Users/me/.continue/mcpServers/bailiwick.json".to_owned(),
                "C:/Users/me/.continue/config.yaml".to_owned(),
                format!("{roaming}/Block/goose/config/config.yaml"),
                "C:/Users/me/.cline/data/settings/cline_mcp_settings.json".to_owned(),
                "C:/Users/me/.junie/mcp/mcp.json".to_owned(),
                "C:/Users/me/.lmstudio/mcp.json".to_owned(),
            ]
        );
        let moved = [
            ("USERPROFILE", "C:/Users/me"),
            ("APPDATA", "D:/Roaming"),
            ("LOCALAPPDATA", "D:/Local"),
            ("CODEX_HOME", "D:/codex"),
        ];
        let package = "D:/Local/Packages/Claude_pzs8sxrjxfjjc";
        assert_eq!(
            files(System::Windows, &moved, &[package])[..4],
            [
                format!("{package}/LocalCache/Roaming/Claude/claude_desktop_config.json"),
                "C:/Users/me/.claude.json".to_owned(),
                "D:/codex/config.toml".to_owned(),
                "D:/Roaming/Code/User/mcp.json".to_owned(),
            ]
        );
        assert_eq!(files(System::Windows, &moved, &[])[0], "D:/Roaming/Claude/claude_desktop_config.json");
    }
    #[test]
    fn older_places_are_used_where_a_client_still_uses_them() {
        let me = [("HOME", "/home/me")];
        let extension = "/home/me/.config/Code/User/globalStorage/saoudrizwan.claude-dev";
        let cline =
            |variables: &[(&str, &str)], there: &[&str]| files(System::Linux, variables, there)[13].clone();
        assert_eq!(cline(&me, &[extension]), format!("{extension}/settings/cline_mcp_settings.json"));
        let both = [extension, "/home/me/.cline/data"];
        assert_eq!(cline(&me, &both), "/home/me/.cline/data/settings/cline_mcp_settings.json");
        for (name, value, expected) in [
            ("CLINE_DIR", "/c", "/c/data/settings/cline_mcp_settings.json"),
            ("CLINE_DATA_DIR", "/d", "/d/settings/cline_mcp_settings.json"),
            ("CLINE_MCP_SETTINGS_PATH", "/m.json", "/m.json"),
        ] {
            assert_eq!(cline(&[me[0], (name, value)], &[]), expected, "{name}");
        }

        let folders =
            UserFolders::of(System::Linux, |name| (name == "HOME").then(|| PathBuf::from("/home/me")))
                .expect("there is a home folder");
        let lm_studio = |is_cached: bool, pointer: Option<&str>| {
            let content = |_: &Path| pointer.map(str::to_owned);
            let file =
                user_file(ClientKind::LmStudio, System::Linux, &folders, |_| None, |_| is_cached, content);
            plain(&file.expect("it is known"))
        };
        assert_eq!(lm_studio(false, None), "/home/me/.lmstudio/mcp.json");
        assert_eq!(lm_studio(true, None), "/home/me/.cache/lm-studio/mcp.json");
        assert_eq!(lm_studio(true, Some("/big/lmstudio\n")), "/big/lmstudio/mcp.json");
        assert_eq!(lm_studio(false, Some("lmstudio")), "/home/me/.lmstudio/mcp.json");
    }
}
