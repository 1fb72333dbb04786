//! Looking at the roots of a scope before and after a command.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bailiwick_contract::Failure;
use bailiwick_platform::fs::{FileId, RelPath};
use bailiwick_platform::launch::{HiddenPath, PathGrant, ProtectedPath};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::{PathRules, Scope};

use super::closed::{self, ClosedFile};
use super::finder::{Finder, RootContents};
use super::names;
use super::review::{RepositoriesBefore, Review};

/// How many sets of rules a root is checked by: those of two scopes with the same folder, or of one whose rules were
/// changed.
const MAX_RULES: usize = 2;

/// What is below the roots that commands have run in, kept up to date.
#[derive(Debug, Default)]
pub struct Repositories {
    /// The finders of each root, the last used one first.
    roots: Mutex<HashMap<FileId, Vec<RulesFinder>>>,
}

/// A finder, and whose files it finds.
#[derive(Debug)]
struct RulesFinder {
    rules: [u8; 32],
    finder: Arc<Mutex<Finder>>,
}

/// What a command that is about to start must leave as it is.
#[derive(Debug)]
pub struct ProtectedNames {
    /// Names that stay as they are.
    pub protected: Vec<ProtectedPath>,
    /// Whether none is missing: every folder could be checked.
    pub is_complete: bool,
    /// The files and folders that the scope closes to commands.
    pub closed: Vec<HiddenPath>,
    /// Tells afterwards what the command has made.
    pub review: Review,
}

/// What is below all roots of a scope.
pub(super) struct FolderLists {
    /// The folders with repositories.
    pub repositories: BTreeSet<PathBuf>,
    /// The folders of this user that cannot be read.
    pub unreadable: BTreeSet<PathBuf>,
    /// What the scope closes to commands.
    pub closed: Vec<ClosedFile>,
    /// Whether every other folder was checked.
    pub is_complete: bool,
}

impl Repositories {
    /// Looks at the roots of a scope, which are at these places, before a command starts in a folder. Closed files are
    /// looked at only where they are hidden from it.
    ///
    /// # Errors
    /// `permission_denied` where too many files are closed to commands.
    pub fn survey(
        self: &Arc<Self>,
        scope: &Arc<Scope>,
        roots: &[PathGrant],
        cwd: &Path,
        hides_files: bool,
    ) -> Result<ProtectedNames, Failure> {
        let FolderLists { repositories, unreadable, closed, is_complete } = self.find(scope, roots);
        let closed = if hides_files { closed } else { Vec::new() };
        closed::check_count(&closed, scope.path_rules())?;
        let names = names::names(roots, &repositories, unreadable, cwd);
        let left = RepositoriesBefore::new(
            Arc::clone(self),
            Arc::clone(scope),
            roots,
            repositories,
            &names.settings,
        );
        let mut review = Review::new(left);
        review.warn_of_failure(closed::warning(&closed, cwd, scope.path_rules()));
        Ok(ProtectedNames {
            protected: names.protected,
            is_complete,
            closed: closed
                .into_iter()
                .map(|file| HiddenPath { path: file.path, reads_blank: file.reads_blank })
                .collect(),
            review,
        })
    }

    /// Looks at the roots of a scope.
    pub(super) fn find(&self, scope: &Scope, roots: &[PathGrant]) -> FolderLists {
        let mut lists = FolderLists {
            repositories: BTreeSet::new(),
            unreadable: BTreeSet::new(),
            closed: Vec::new(),
            is_complete: true,
        };
        for root in scope.root_paths() {
            let Ok((root, _)) = root.open_dir() else {
                lists.is_complete = false;
                continue;
            };
            let Some(path) = roots.iter().find(|place| place.identity == root.id()).map(|place| &place.path)
            else {
                continue;
            };
            let finder = self.finder(root.id(), scope.path_rules());
            let found = finder.lock().unwrap_or_else(PoisonError::into_inner).find(&root);
            let RootContents { repositories, unreadable, closed, is_complete } = found;
            let whole = |folder: Vec<u8>| match folder.as_slice() {
                b"" => path.clone(),
                folder => path.join(OsStr::from_bytes(folder)),
            };
            lists.is_complete &= is_complete;
            lists.unreadable.extend(unreadable.into_iter().map(whole));
            for file in closed {
                match RelPath::parse(&file) {
                    Ok(rel) => {
                        let is_in_repository = repositories.iter().any(|it| is_in(&file, it));
                        let reads_blank =
                            closed::reads_blank(&root, &rel, is_in_repository, scope.path_rules());
                        lists.closed.push(ClosedFile { path: whole(file), rel, reads_blank });
                    }
                    Err(_) => lists.is_complete = false,
                }
            }
            lists.repositories.extend(repositories.into_iter().map(whole));
        }
        // A root can be inside another one.
        lists.closed.sort_by(|a, b| a.path.cmp(&b.path));
        lists.closed.dedup_by(|later, earlier| {
            let is_same = later.path == earlier.path;
            earlier.reads_blank &= later.reads_blank || !is_same;
            is_same
        });
        lists
    }

    /// Returns the finder of what these rules close below a root.
    fn finder(&self, root: FileId, rules: &Arc<PathRules>) -> Arc<Mutex<Finder>> {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        let finders = roots.entry(root).or_default();
        let known = finders.iter().position(|known| known.rules == rules.fingerprint());
        let found = known.map(|at| finders.remove(at)).unwrap_or_else(|| RulesFinder {
            rules: rules.fingerprint(),
            finder: Arc::new(Mutex::new(Finder::new(Arc::clone(rules)))),
        });
        let finder = Arc::clone(&found.finder);
        finders.insert(0, found);
        // The watches of the others end with them.
        finders.truncate(MAX_RULES);
        finder
    }
}

/// Returns whether a path beneath a root is in a folder of the same root.
fn is_in(path: &[u8], folder: &[u8]) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"))
}
