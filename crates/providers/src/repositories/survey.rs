//! Looking at the roots of a scope before and after a command.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_platform::fs::FileId;
use bailiwick_platform::launch::{PathGrant, Protected};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::Scope;

use super::finder::{Finder, RepositoryList};
use super::names;
use super::review::Review;

/// The repositories below the roots that commands have run in, kept up to date.
#[derive(Debug, Default)]
pub struct Repositories {
    roots: Mutex<HashMap<FileId, Arc<Mutex<Finder>>>>,
}

/// What a command that is about to start must leave as it is.
#[derive(Debug)]
pub struct ProtectedNames {
    /// Names that stay as they are.
    pub protected: Vec<Protected>,
    /// Whether some may be missing: not every folder could be looked at.
    pub lacks_protected: bool,
    /// Tells afterwards what the command has made.
    pub review: Review,
}

/// What is below all roots of a scope.
pub(super) struct FolderLists {
    /// The folders with repositories.
    pub repositories: BTreeSet<PathBuf>,
    /// The folders of this user that cannot be read.
    pub closed: BTreeSet<PathBuf>,
    /// Whether every other folder was looked at.
    pub is_complete: bool,
}

impl Repositories {
    /// Looks at the roots of a scope, which are at these places, before a command starts in a folder.
    pub fn survey(self: &Arc<Self>, scope: &Arc<Scope>, roots: &[PathGrant], cwd: &Path) -> ProtectedNames {
        let FolderLists { repositories, closed, is_complete } = self.find(scope, roots);
        let names = names::names(roots, &repositories, closed, cwd);
        let review = Review::new(Arc::clone(self), Arc::clone(scope), roots, repositories, &names.settings);
        ProtectedNames { protected: names.protected, lacks_protected: !is_complete, review }
    }

    /// Looks at the roots of a scope.
    pub(super) fn find(&self, scope: &Scope, roots: &[PathGrant]) -> FolderLists {
        let mut lists =
            FolderLists { repositories: BTreeSet::new(), closed: BTreeSet::new(), is_complete: true };
        for root in scope.roots().iter().filter_map(|root| root.door.as_ref().ok()) {
            let Some(path) = roots.iter().find(|place| place.identity == root.id()).map(|place| &place.path)
            else {
                continue;
            };
            let finder = {
                let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
                Arc::clone(roots.entry(root.id()).or_default())
            };
            let found = finder.lock().unwrap_or_else(PoisonError::into_inner).find(root);
            let RepositoryList { folders, closed, is_complete } = found;
            let whole = |folder: Vec<u8>| match folder.as_slice() {
                b"" => path.clone(),
                folder => path.join(OsStr::from_bytes(folder)),
            };
            lists.is_complete &= is_complete;
            lists.repositories.extend(folders.into_iter().map(whole));
            lists.closed.extend(closed.into_iter().map(whole));
        }
        lists
    }
}
