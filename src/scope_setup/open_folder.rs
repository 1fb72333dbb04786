//! Opening a folder as a scope: what `setup`, `here` and `scope add` have in common.
//!
//! Refuses what would open more than a project: the top of the file system, the home folder without a
//! word about it, and whatever holds Bailiwick's own files.

use std::path::{Path, PathBuf};

use bailiwick_config::{Config, ScopeConfig, ScopePolicy, is_scope_id};
use bailiwick_contract::{ErrorCode, Failure, ScopeType};
use bailiwick_platform::{dirs, machine, paths};
use bailiwick_policy::OwnFolders;

use super::grant_change::allow_hosts;
use super::presets::Preset;
use super::{commands_setup, registries};
use crate::installation::home::Home;

/// How a folder is opened.
#[derive(Debug, Clone, Default)]
pub struct FolderChoice {
    /// The scope's id; without one it comes from the folder's name.
    pub id: Option<String>,
    /// The scope's name for people.
    pub name: Option<String>,
    /// What clients may do there; without one `coding`, for a folder that is not open yet.
    pub preset: Option<Preset>,
    /// Whether clients run common programs of projects there.
    pub commands: bool,
    /// Whether commands reach the package registries that the user's tools are set up for.
    pub package_registries: bool,
}

impl FolderChoice {
    /// Returns whether clients are to run commands.
    fn wants_commands(&self) -> bool {
        self.commands || self.preset == Some(Preset::Full)
    }
}

/// What opening a folder did to the config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A scope was added.
    Added,
    /// The folder was open; its scope was changed.
    Changed,
    /// The folder was open, and nothing changed.
    Nothing,
}

/// Whether the home folder, or one that contains it, may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WholeHome {
    /// The user did not say so.
    Refused,
    /// The user said so.
    Meant,
}

impl From<bool> for WholeHome {
    fn from(meant: bool) -> Self {
        if meant { Self::Meant } else { Self::Refused }
    }
}

/// Finds the folder that a person named.
///
/// # Errors
/// `not_found` or `invalid_request`; `permission_denied` for folders that must not be opened.
pub fn find_folder(home: &Home, named: &Path, whole_home: WholeHome) -> Result<PathBuf, Failure> {
    let shown = named.display();
    let folder = paths::real(named).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::new(ErrorCode::NotFound, format!("there is no folder `{shown}`"))
                .hint("Name a folder that exists.")
        }
        _ => Failure::new(ErrorCode::OsPermissionRequired, format!("`{shown}`: {error}")),
    })?;
    if !folder.is_dir() {
        return Err(Failure::invalid("folder", format!("`{shown}` is a file, not a folder"))
            .hint("Name the folder that holds it."));
    }
    if folder.parent().is_none() {
        return Err(Failure::denied("whole-computer", "the whole file system is not opened as a scope")
            .hint("Name the folder of one project."));
    }
    if let Some(why) = paths::not_served(&folder) {
        return Err(Failure::denied("path-kind", format!("`{shown}` is not opened: {why}"))
            .hint("Name a folder of a drive of this computer."));
    }
    if paths::is_system_folder(&folder) {
        return Err(Failure::denied(
            "system-folder",
            format!("`{shown}` is a folder of the system or of all programs, or is in one"),
        )
        .hint("Name the folder of one project."));
    }
    let homes = machine::home_folder().into_iter().chain(dirs::settings_of_all());
    let holds_a_home = homes.filter_map(|path| paths::real(&path).ok()).any(|home| home.starts_with(&folder));
    if whole_home == WholeHome::Refused && holds_a_home {
        return Err(Failure::denied(
            "whole-home",
            format!("`{shown}` is your home folder or contains it: keys, mail and browsers are there"),
        )
        .hint("Name the folder of one project.")
        .hint("If you mean it, `bailiwick setup FOLDER --whole-home` opens it all the same."));
    }
    if OwnFolders::of(&home.dirs).touches(&folder) {
        return Err(Failure::denied(
            "own-folders",
            format!("`{shown}` contains Bailiwick's own config or state, or is inside it"),
        )
        .hint("Name a narrower folder, or move Bailiwick's own with BAILIWICK_HOME."));
    }
    Ok(folder)
}

/// Opens a folder in a config; an open one keeps its scope.
///
/// # Errors
/// `conflict` for an id that another folder has; `invalid_request` for one that cannot be an id.
pub fn open_folder(
    config: &mut Config,
    folder: &Path,
    how: &FolderChoice,
) -> Result<(String, Change), Failure> {
    if let Some(id) = how.id.as_deref().filter(|id| !is_scope_id(id)) {
        return Err(Failure::invalid("--id", format!("`{id}` cannot be the id of a scope"))
            .hint("Use letters, digits, `-`, `_` and `.`, at most 64 of them."));
    }
    let is_this = |scope: &&mut ScopeConfig| is_open(scope, folder, how.id.as_deref());
    if let Some(scope) = config.scopes.iter_mut().find(is_this) {
        let before = scope.clone();
        if let Some(preset) = how.preset {
            scope.capabilities = preset.capabilities();
        }
        if how.name.is_some() {
            scope.name.clone_from(&how.name);
        }
        if how.wants_commands() {
            commands_setup::turn_on(scope);
        }
        if how.package_registries {
            allow_hosts(scope, &registries::hosts())?;
        }
        let change = if *scope == before { Change::Nothing } else { Change::Changed };
        return Ok((scope.id.clone(), change));
    }
    let taken = |id: &str| config.scopes.iter().any(|scope| scope.id.eq_ignore_ascii_case(id));
    let id = match &how.id {
        Some(id) if taken(id) => {
            return Err(Failure::new(ErrorCode::Conflict, format!("another folder has the scope id `{id}`"))
                .hint(format!(
                    "Choose another --id, or remove that scope with `bailiwick scope remove {id}`."
                )));
        }
        Some(id) => id.clone(),
        None => {
            let base = id_from(folder);
            if taken(&base) {
                let numbered = (2..).map(|number| format!("{base}-{number}"));
                numbered.filter(|id| !taken(id)).find(|id| is_scope_id(id)).unwrap_or(base)
            } else {
                base
            }
        }
    };
    config.scopes.push(ScopeConfig {
        id: id.clone(),
        name: how.name.clone(),
        scope_type: ScopeType::Folder,
        roots: vec![folder.to_owned()],
        capabilities: how.preset.unwrap_or(Preset::Coding).capabilities(),
        ask: Vec::new(),
        deny: Vec::new(),
        policy: ScopePolicy::default(),
    });
    if let Some(scope) = config.scopes.last_mut().filter(|_| how.wants_commands()) {
        commands_setup::turn_on(scope);
    }
    if let Some(scope) = config.scopes.last_mut().filter(|_| how.package_registries) {
        allow_hosts(scope, &registries::hosts())?;
    }
    Ok((id, Change::Added))
}

/// Returns whether a scope is the one of a folder, and of an id if one is named.
pub fn is_open(scope: &ScopeConfig, folder: &Path, id: Option<&str>) -> bool {
    scope.scope_type == ScopeType::Folder
        && scope.roots.first().and_then(|root| paths::real(root).ok()).as_deref() == Some(folder)
        && id.is_none_or(|id| id == scope.id)
}

/// Creates an id out of a folder's name.
fn id_from(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let mut id = String::new();
    for it in name.chars() {
        if it.is_ascii_alphanumeric() || matches!(it, '_' | '.') {
            id.push(it);
        } else if !id.ends_with('-') {
            id.push('-');
        }
    }
    let id = id.trim_matches(['-', '.']);
    let id: String = id.chars().take(48).collect();
    if is_scope_id(&id) { id } else { "folder".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_from_the_folders_name() {
        for (folder, id) in [
            ("/srv/My App (old)", "my-app-old"),
            ("/srv/été", "t"),
            ("/srv/...", "folder"),
            ("/srv/bailiwick", "bailiwick"),
        ] {
            assert_eq!(id_from(Path::new(folder)), id);
        }
    }
}
