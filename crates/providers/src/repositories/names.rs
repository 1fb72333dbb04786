//! Which names of a repository decide what Git runs, and where else it looks: they stay as they are while a command
//! runs, whether they exist or not.

#![expect(
    clippy::disallowed_methods,
    reason = "Git's own folders are checked by their real path; what is found is held, and no content is shown"
)]

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use bailiwick_platform::launch::{PathGrant, ProtectedPath, StandIn};
use bailiwick_platform::names::OsStrExt;

/// How many of Git's own folders are held name by name; each takes a few mounts and placeholders. Further ones are
/// read-only as a whole.
const MAX_BY_NAME: usize = 24;
/// How many folders are checked for the repositories of submodules.
const MAX_MODULE_FOLDERS: usize = 2_000;
/// The longest `.git` file or `commondir` that is read.
const MAX_POINTER_BYTES: u64 = 16_384;

/// The content of a placeholder for missing settings. Git reads a comment.
const NO_SETTINGS: &[u8] = b"# Stands for a missing file while a command runs in Bailiwick.\n";
/// The content of a placeholder for a missing `commondir`: the folder itself. Git takes an empty one for an error.
pub(super) const SAME_FOLDER: &[u8] = b"./.\n";

/// The names in the repositories below some roots that stay as they are.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The names.
    pub protected: Vec<ProtectedPath>,
    /// Files among them that name programs, which only a person changes.
    pub settings: Vec<PathBuf>,
}

/// Collects the names of the repositories in these folders. Those around the working folder come first.
pub(super) fn names(
    roots: &[PathGrant],
    repositories: &BTreeSet<PathBuf>,
    unreadable: BTreeSet<PathBuf>,
    cwd: &Path,
) -> Names {
    let mut collector = Collector { roots, names: Names::default(), git_dirs: Vec::new() };
    for folder in repositories {
        collector.add_repository(folder);
    }
    let Collector { mut names, mut git_dirs, .. } = collector;
    git_dirs.sort_by_key(|git_dir| {
        let around = git_dir.path.parent().is_some_and(|folder| cwd.starts_with(folder));
        (!around, git_dir.path.as_os_str().len(), git_dir.path.clone())
    });
    git_dirs.dedup_by(|later, earlier| later.path == earlier.path);
    let mut whole: Vec<&PathBuf> = Vec::new();
    for (position, git_dir) in git_dirs.iter().enumerate() {
        // Nothing can stand for `commondir` there: Git would take the folder for that of a linked working tree, with
        // refs of its own.
        let has_reftable = !git_dir.is_linked && is_folder(&git_dir.path.join("reftable"));
        if position < MAX_BY_NAME && !has_reftable {
            git_dir.add_names(&mut names, CommonDir::Held);
        } else {
            whole.push(&git_dir.path);
        }
    }
    names.protected.retain(|name| !whole.iter().any(|folder| name.path.starts_with(folder)));
    names.protected.extend(whole.into_iter().cloned().chain(unreadable).map(existing));
    names
}

/// Returns the names in these folders of Git's own that stay as they are while Git itself works there: what it runs.
/// It names no other folder on its own.
pub(crate) fn names_of(git_dirs: [&PathBuf; 2]) -> Vec<ProtectedPath> {
    let mut names = Names::default();
    let mut known = BTreeSet::new();
    for path in git_dirs.into_iter().filter(|path| known.insert(*path)) {
        GitDir::new(path.clone()).add_names(&mut names, CommonDir::Open);
    }
    names.protected
}

/// One of Git's own folders.
#[derive(Debug)]
struct GitDir {
    path: PathBuf,
    /// Whether it is that of a linked working tree: its settings are elsewhere.
    is_linked: bool,
}

/// Whether `commondir` may be made where it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommonDir {
    Held,
    Open,
}

struct Collector<'a> {
    roots: &'a [PathGrant],
    names: Names,
    git_dirs: Vec<GitDir>,
}

impl Collector<'_> {
    /// Adds what a folder has: a `.git` folder or file, or the layout of a bare repository.
    fn add_repository(&mut self, folder: &Path) {
        let git = folder.join(".git");
        match fs::symlink_metadata(&git) {
            Ok(facts) if facts.is_dir() => self.add_git_dir(git),
            Ok(facts) => {
                self.names.protected.push(existing(git.clone()));
                if facts.is_file()
                    && let Some(leads_to) = pointer(&git, b"gitdir:")
                {
                    self.add_elsewhere(&folder.join(leads_to));
                }
            }
            Err(_) if is_git_dir(folder) => {
                self.add_git_dir(folder.to_owned());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // What cannot be looked into stays as it is.
            Err(_) => self.names.protected.push(existing(folder.to_owned())),
        }
    }

    /// Adds a folder that a file names, if a command could write there.
    fn add_elsewhere(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        if self.roots.iter().any(|root| real.starts_with(&root.path))
            && self.git_dirs.iter().all(|known| known.path != real)
        {
            self.add_git_dir(real);
        }
    }

    fn add_git_dir(&mut self, path: PathBuf) {
        let common = pointer(&path.join("commondir"), b"").map(|leads_to| path.join(leads_to));
        self.git_dirs.push(GitDir::new(path.clone()));
        if let Some(common) = common {
            self.add_elsewhere(&common);
        }
        for worktree in self.folders(&path.join("worktrees")) {
            self.git_dirs.push(GitDir::new(worktree));
        }
        self.add_modules(&path.join("modules"));
    }

    /// Returns the folders in a folder, links not among them. One that cannot be read stays as it is.
    fn folders(&mut self, folder: &Path) -> Vec<PathBuf> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    self.names.protected.push(existing(folder.to_owned()));
                }
                return Vec::new();
            }
        };
        let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(|entry| entry.path()).collect()
    }

    /// Adds the repositories of submodules, whose names may have several parts.
    fn add_modules(&mut self, modules: &Path) {
        let mut pending = self.folders(modules);
        let mut looked_at = 0;
        while let Some(folder) = pending.pop() {
            looked_at += 1;
            if looked_at > MAX_MODULE_FOLDERS {
                self.names.protected.push(existing(modules.to_owned()));
                return;
            }
            if is_git_dir(&folder) {
                self.git_dirs.push(GitDir::new(folder.clone()));
                pending.extend(self.folders(&folder.join("modules")));
            } else {
                pending.extend(self.folders(&folder));
            }
        }
    }
}

impl GitDir {
    fn new(path: PathBuf) -> Self {
        let is_linked = path.parent().and_then(Path::file_name) == Some(OsStr::new("worktrees"));
        Self { path, is_linked }
    }

    /// Adds every name in it that can name a program or another folder.
    ///
    /// # Source
    /// gitrepository-layout(5). Alternates name objects only, which run nothing.
    fn add_names(&self, names: &mut Names, common_dir: CommonDir) {
        let file = |name: &str, content: &'static [u8]| ProtectedPath {
            path: self.path.join(name),
            stand_in: StandIn::File(Cow::Borrowed(content)),
        };
        names.protected.push(file("config.worktree", NO_SETTINGS));
        names.settings.push(self.path.join("config.worktree"));
        if self.is_linked {
            names.protected.push(existing(self.path.join("gitdir")));
            names.protected.push(file("commondir", b"../..\n"));
        } else {
            let hooks = self.path.join("hooks");
            names.protected.push(ProtectedPath { path: hooks, stand_in: StandIn::Folder });
            names.protected.push(file("config", NO_SETTINGS));
            if common_dir == CommonDir::Held {
                names.protected.push(file("commondir", SAME_FOLDER));
            }
            names.settings.push(self.path.join("config"));
        }
    }
}

fn existing(path: PathBuf) -> ProtectedPath {
    ProtectedPath { path, stand_in: StandIn::File(Cow::Borrowed(b"")) }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir())
}

/// Returns whether a folder is one of Git's own. A command can remove its `HEAD`, and put it back, but not its settings.
fn is_git_dir(folder: &Path) -> bool {
    ["HEAD", "config"].iter().any(|name| fs::symlink_metadata(folder.join(name)).is_ok())
}

/// Reads the path in a `.git` file or a `commondir`.
fn pointer(file: &Path, begins_with: &[u8]) -> Option<PathBuf> {
    let mut text = Vec::new();
    // A pipe would be waited for.
    if !fs::symlink_metadata(file).ok()?.is_file() {
        return None;
    }
    fs::File::open(file).ok()?.take(MAX_POINTER_BYTES).read_to_end(&mut text).ok()?;
    let path = text.strip_prefix(begins_with)?.trim_ascii();
    let is_plain = !path.is_empty() && !path.contains(&0);
    is_plain
        .then(|| Path::new(OsStr::from_bytes(path)).components().collect::<PathBuf>())
        .filter(|path| path.components().all(|part| !matches!(part, Component::Prefix(_))))
}
