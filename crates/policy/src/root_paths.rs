//! How the paths of the config lead to folders, where what runs in a scope could have put a link in the way.
//!
//! A command may do in a root what it likes: it can replace a folder in it by a link to anywhere. Where that folder is
//! the root of another scope, or another root of the same one, that scope would be whatever the link leads to. So a
//! link is followed only where it is above every root, and so is the user's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bailiwick_config::ScopeConfig;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::{FileError, FileId, PathLink, ResolvedPath};

/// The paths of all roots of a config, resolved and judged together.
#[derive(Debug, Clone, Default)]
pub struct RootPaths(BTreeMap<PathBuf, Result<PathBuf, Failure>>);

/// A root whose path goes through links.
struct LinkedRoot<'a> {
    path: &'a Path,
    resolved: ResolvedPath,
    identity: Option<FileId>,
}

impl RootPaths {
    /// Resolves the paths of the roots of scopes: of all that the config has.
    pub fn new(scopes: &[ScopeConfig]) -> Self {
        let mut judged: BTreeMap<PathBuf, Result<PathBuf, Failure>> = BTreeMap::new();
        let mut roots: Vec<(&Path, Option<FileId>)> = Vec::new();
        let mut linked: Vec<LinkedRoot<'_>> = Vec::new();
        for path in scopes.iter().flat_map(|scope| &scope.roots).filter(|path| path.is_absolute()) {
            if roots.iter().any(|(root, _)| root == path) {
                continue;
            }
            let resolved = ResolvedPath::new(path);
            let identity = resolved.as_ref().ok().and_then(|resolved| FileId::of(&resolved.path));
            roots.push((path, identity));
            match resolved {
                Ok(resolved) if resolved.links.is_empty() => {
                    judged.insert(path.clone(), Ok(resolved.path));
                }
                Ok(resolved) => linked.push(LinkedRoot { path, resolved, identity }),
                Err(error) => {
                    judged.insert(path.clone(), Err(unreachable(&error)));
                }
            }
        }
        // First what is certain: a root that no link leads to is where its path says, and so is what is below the path
        // of another root. Only those that are left can be in each other's way.
        let certain: Vec<FileId> = roots
            .iter()
            .filter(|(path, _)| !linked.iter().any(|linked| linked.path == *path))
            .filter_map(|(_, identity)| *identity)
            .collect();
        let is_below_a_path = |linked: &LinkedRoot<'_>, link: &PathLink| {
            roots
                .iter()
                .any(|(root, _)| *root != linked.path && *root != link.shown && link.shown.starts_with(root))
        };
        let mut left = Vec::new();
        for linked in linked {
            match linked
                .resolved
                .links
                .iter()
                .find(|link| is_below_a_path(&linked, link) || is_below(&link.folder, &certain))
            {
                Some(link) => {
                    judged.insert(linked.path.to_owned(), Err(replaced(link)));
                }
                None => left.push(linked),
            }
        }
        for linked in &left {
            let others: Vec<FileId> = left
                .iter()
                .filter(|other| other.path != linked.path)
                .filter_map(|other| other.identity)
                .collect();
            let link = linked.resolved.links.iter().find(|link| is_below(&link.folder, &others));
            let judgement = match link {
                Some(link) => Err(replaced(link)),
                None => Ok(linked.resolved.path.clone()),
            };
            judged.insert(linked.path.to_owned(), judgement);
        }
        Self(judged)
    }

    /// Returns the path of a root without links.
    ///
    /// # Errors
    /// `permission_denied` where what runs in a scope could have made a link on the way, and `provider_unavailable`
    /// where the path leads nowhere.
    pub(super) fn resolved(&self, root: &Path) -> Result<PathBuf, Failure> {
        match self.0.get(root) {
            Some(judgement) => judgement.clone(),
            None => {
                ResolvedPath::new(root).map(|resolved| resolved.path).map_err(|error| unreachable(&error))
            }
        }
    }
}

/// Returns the link in a resolved path of the config that is in one of the roots, if there is one.
pub(super) fn link_in_roots<'a>(path: &'a ResolvedPath, roots: &[FileId]) -> Option<&'a Path> {
    path.links.iter().find(|link| is_below(&link.folder, roots)).map(|link| link.shown.as_path())
}

/// Returns whether a folder is one of others, or is in one: by identity, whatever leads there.
pub(super) fn is_below(folder: &Path, others: &[FileId]) -> bool {
    folder.ancestors().filter_map(FileId::of).any(|id| others.contains(&id))
}

/// Returns why a folder of the config cannot be opened.
pub(super) fn unreachable(error: &FileError) -> Failure {
    match error {
        FileError::Symlink => replaced_by_a_link("a part of its path"),
        error => Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("the scope's folder cannot be opened: {error}"),
        )
        .hint("For the user: check that the folder exists and can be read, then start the service again."),
    }
}

fn replaced(link: &PathLink) -> Failure {
    replaced_by_a_link(&format!("`{}`", link.shown.display()))
}

fn replaced_by_a_link(what: &str) -> Failure {
    Failure::denied(
        "root-link",
        format!(
            "the scope's folder is not opened: {what} was replaced by a link, in a folder that commands of a scope can change"
        ),
    )
    .hint("For the user: remove the link and put the folder back, then restart the service.")
    .hint("For the user: if the link is yours, name the folder it leads to: `bailiwick scope add FOLDER`.")
}
