//! Which repository a path belongs to, and which part of it the scope sees.
//!
//! Git's own folder is looked for by hand, so that nothing that the content says can lead elsewhere: a link or a
//! `gitdir:` that leaves the scope is refused, and a bare repository among the files is none.

#![expect(
    clippy::disallowed_methods,
    reason = "Git's own folders are checked by their real path, and the program that opens them is held"
)]

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use bailiwick_contract::{Access, ErrorCode, FOR_USER, Failure, SCOPE, StageName};
use bailiwick_platform::fs::{FileError, FileKind, Ownership, RelPath, Root};
use bailiwick_platform::launch::PathGrant;
use bailiwick_platform::names::OsStrExt;
use bailiwick_platform::paths::{HAS_DRIVES, for_programs, may_be_remote};
use bailiwick_policy::{PermittedPath, Scope};

/// The longest `.git` file, `commondir` or `alternates` that is read.
const MAX_POINTER_BYTES: u64 = 16_384;
/// How many bytes Git's list of files has where there are some 200,000.
const LARGE_INDEX_BYTES: u64 = 16 << 20;
/// How deep alternates may lead to further ones.
const MAX_ALTERNATES: usize = 5;
/// What is in Git's own folder and must be there itself.
const OWN_PLACES: &[&str] = &[
    "HEAD",
    "config",
    "config.worktree",
    "index",
    "packed-refs",
    "shallow",
    "objects",
    "objects/pack",
    "objects/info",
    "reftable",
    "worktrees",
    "refs",
    "refs/heads",
    "refs/tags",
    "refs/remotes",
    "logs",
    "info",
    "info/attributes",
    "info/exclude",
    "info/sparse-checkout",
];

/// A repository, as far as the scope sees it.
#[derive(Debug, Clone)]
pub struct Repository {
    /// Git's own folder of this working tree.
    pub git_dir: PathBuf,
    /// Git's own folder of all working trees; the same for most.
    pub common_dir: PathBuf,
    /// The top of the working tree.
    pub work_tree: PathBuf,
    /// The folder in which Git is started: the top, or the scope's folder in it.
    pub start: PermittedPath,
    /// Git's own folders, as they were checked: `git_dir`, and `common_dir` where that is another one.
    pub git_folders: Vec<PathGrant>,
    /// Further folders with objects.
    pub alternates: Vec<PathBuf>,
    /// Where the scope's folder is in the working tree; empty if the scope sees the whole tree.
    prefix: RelPath,
    /// What is asked about, links resolved.
    pub target: PermittedPath,
}

/// A path of the repository, as the scope sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryPath {
    /// The path beneath the scope's root.
    pub rel: RelPath,
    /// How results name it.
    pub shown: String,
    /// The rule that closes it.
    pub closed: Option<&'static str>,
}

impl Repository {
    /// Finds the repository that a path belongs to.
    ///
    /// # Errors
    /// `not_found` if it belongs to none; `path_out_of_scope` where Git's own folder leads out of the scope.
    pub fn find(target: &PermittedPath, scope: &Scope) -> Result<Self, Failure> {
        let (folder, target) = real(target)?;
        let mut here = Some(folder.clone());
        while let Some(folder) = here {
            if let Some(git_dir) = git_dir_in(&folder, scope)? {
                let work_tree = folder.on_disk()?;
                return Self::check(git_dir, work_tree, folder, RelPath::root(), target, scope);
            }
            here = folder.parent();
        }
        let mut root = folder.clone();
        while let Some(parent) = root.parent() {
            root = parent;
        }
        let path = root.on_disk()?;
        match git_dir_above(&path)? {
            Some((git_dir, work_tree)) => {
                let below = path.strip_prefix(&work_tree).map(for_programs).unwrap_or_default();
                let prefix = RelPath::parse(below.as_os_str().as_bytes()).map_err(|_| none(&folder))?;
                Self::check(git_dir, work_tree, root, prefix, target, scope)
            }
            None => Err(none(&folder)),
        }
    }

    fn check(
        git_dir: PathBuf,
        work_tree: PathBuf,
        start: PermittedPath,
        prefix: RelPath,
        target: PermittedPath,
        scope: &Scope,
    ) -> Result<Self, Failure> {
        let bounds = Bounds::new(scope, &git_dir);
        let own = Root::open_resolved(&git_dir).map_err(|_| none(&start))?;
        let common_dir = match pointer(&own, "commondir")? {
            None => git_dir.clone(),
            Some(text) => bounds.inside(&git_dir.join(OsStr::from_bytes(&text)), "its common folder")?,
        };
        for (folder, name) in [&git_dir, &common_dir]
            .iter()
            .flat_map(|folder| OWN_PLACES.iter().map(move |name| (folder, name)))
        {
            let path = folder.join(name);
            if let Ok(real) = path.canonicalize()
                && real != path
                && !real.starts_with(&git_dir)
                && !real.starts_with(&common_dir)
            {
                return Err(leads_out(&format!("`{name}` in its `.git`")));
            }
        }
        let mut git_folders = vec![PathGrant { path: git_dir.clone(), identity: own.id() }];
        if common_dir != git_dir {
            git_folders.push(PathGrant::of_resolved(&common_dir).ok_or_else(|| none(&start))?);
        }
        let mut alternates = Vec::new();
        bounds.alternates(&common_dir.join("objects"), MAX_ALTERNATES, &mut alternates)?;
        if HAS_DRIVES {
            judge_work_trees(&common_dir)?;
        }
        Ok(Self { git_dir, common_dir, git_folders, work_tree, start, alternates, prefix, target })
    }

    /// Returns whether the scope sees the whole working tree.
    pub fn is_whole(&self) -> bool {
        self.prefix.is_root()
    }

    /// Returns the path that Git is asked about, from the folder in which it starts; `None` for all of the tree.
    pub fn pathspec(&self) -> Option<OsString> {
        let below = self.below_start(self.target.rel());
        match below {
            b"" if self.is_whole() => None,
            b"" => Some(OsString::from(".")),
            below => Some(OsStr::from_bytes(below).to_owned()),
        }
    }

    /// Returns a path beneath the scope's root as Git names it from where it starts; `None` outside the tree.
    pub fn named_from_start<'a>(&self, rel: &'a RelPath) -> Option<&'a [u8]> {
        rel.starts_with(self.start.rel()).then(|| self.below_start(rel))
    }

    fn below_start<'a>(&self, rel: &'a RelPath) -> &'a [u8] {
        let start = self.start.rel().as_bytes();
        let rest = rel.as_bytes().get(start.len()..).unwrap_or_default();
        rest.strip_prefix(b"/").unwrap_or(rest)
    }

    /// Returns a path that Git names from the top of the working tree; `None` for what the scope does not see.
    pub fn seen_from_top(&self, path: &[u8]) -> Option<RepositoryPath> {
        let below = match self.prefix.as_bytes() {
            b"" => path,
            prefix => path.strip_prefix(prefix)?.strip_prefix(b"/")?,
        };
        self.seen_from_start(below)
    }

    /// Returns a path that Git names from where it starts; `None` for what the scope does not see.
    pub fn seen_from_start(&self, path: &[u8]) -> Option<RepositoryPath> {
        if path.first() == Some(&b'/') || path.starts_with(b"../") {
            return None;
        }
        let rel = self.start.rel().join(path).ok()?;
        let shown = self.start.show(&rel);
        let closed = self.start.rules().rule_for_path(&rel, Access::Read);
        Some(RepositoryPath { rel, shown, closed })
    }

    /// Returns a hint with the commands that open a closed path of the scope.
    pub fn opening_hint(&self, closed: &RepositoryPath) -> String {
        self.start.rules().opening_hint(&closed.rel, Access::Read)
    }

    /// Returns a path beneath the start as seen from the top of the working tree.
    pub fn to_top(&self, below_start: &[u8]) -> Vec<u8> {
        match self.prefix.as_bytes() {
            b"" => below_start.to_vec(),
            prefix if below_start.is_empty() => prefix.to_vec(),
            prefix => [prefix, b"/", below_start].concat(),
        }
    }

    /// Returns what is before the paths of a patch, so that they are the scope's.
    pub fn patch_prefix(&self) -> String {
        let start = self.start.rel();
        if start.is_root() { String::new() } else { format!("{}/", self.start.show(start)) }
    }

    /// Opens Git's own folder.
    ///
    /// # Errors
    /// `not_found` if it is gone.
    pub fn own(&self) -> Result<Root, Failure> {
        Root::open_resolved(&self.git_dir).map_err(|_| none(&self.start))
    }

    /// Opens Git's own folder of all working trees.
    ///
    /// # Errors
    /// `not_found` if it is gone.
    pub fn common(&self) -> Result<Root, Failure> {
        Root::open_resolved(&self.common_dir).map_err(|_| none(&self.start))
    }

    /// Returns whether Git's list of files is so long that what compares all of them takes long.
    pub fn is_large(&self) -> bool {
        let index = RelPath::root().child(OsStr::new("index"));
        self.own().is_ok_and(|own| own.stat(&index).is_ok_and(|facts| facts.size >= LARGE_INDEX_BYTES))
    }

    /// Returns whether what is in the common folder belongs to several working trees.
    pub fn is_linked(&self) -> bool {
        self.git_dir != self.common_dir
    }
}

/// Resolves links as far as the path exists. Returns the nearest folder, and the path.
fn real(target: &PermittedPath) -> Result<(PermittedPath, PermittedPath), Failure> {
    let mut place = target.clone();
    let mut rest: Vec<OsString> = Vec::new();
    let folder = loop {
        match place.open_dir() {
            Ok((_, real)) => break real,
            Err(failure) if matches!(failure.code, ErrorCode::NotFound | ErrorCode::InvalidRequest) => {
                let (Some(parent), Some(name)) = (place.parent(), place.rel().file_name()) else {
                    return Err(failure);
                };
                rest.push(name.to_owned());
                place = parent;
            }
            Err(failure) => return Err(failure),
        }
    };
    let mut path = folder.clone();
    for name in rest.iter().rev() {
        path = path.child(name)?;
    }
    Ok((folder, path))
}

/// Returns Git's own folder of a working tree whose top is this folder; `None` if it is none.
fn git_dir_in(folder: &PermittedPath, scope: &Scope) -> Result<Option<PathBuf>, Failure> {
    // As a path that is read: its names are Git's own, and no content is shown.
    let Ok(git) = folder.child(OsStr::new(".git")) else { return Ok(None) };
    let stat = match git.stat() {
        Ok(stat) => stat,
        Err(failure) if failure.code == ErrorCode::NotFound => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let (git, stat) = if stat.kind == FileKind::Symlink {
        let git = git.follow().map_err(|_| leads_out("`.git` is a link that"))?;
        let stat = git.stat()?;
        (git, stat)
    } else {
        (git, stat)
    };
    let path = match stat.kind {
        FileKind::Dir => {
            let path = git.on_disk()?;
            let opened = Root::open(&path).map_err(|_| none(folder))?;
            if opened.id() != stat.id {
                return Err(Failure::new(
                    ErrorCode::Conflict,
                    "the repository changes while it is looked for",
                ));
            }
            path
        }
        FileKind::File => {
            let mut text = Vec::new();
            let opened = git.open_file()?;
            let read = opened.file.take(MAX_POINTER_BYTES).read_to_end(&mut text);
            let text = read.ok().and_then(|_| text.strip_prefix(b"gitdir:")).map(<[u8]>::trim_ascii);
            let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
            let path = folder.on_disk()?.join(OsStr::from_bytes(text));
            Bounds::new(scope, Path::new("/nowhere")).inside(&path, "its `.git` file")?
        }
        FileKind::Symlink | FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {
            return Ok(None);
        }
    };
    Ok(has_head(&path).then_some(path))
}

/// Looks for a repository around the scope's folder. Returns Git's own folder and the top of the working tree.
fn git_dir_above(root: &Path) -> Result<Option<(PathBuf, PathBuf)>, Failure> {
    let Ok(start) = Root::open(root) else { return Ok(None) };
    let git = RelPath::parse(b".git").unwrap_or_default();
    for folder in root.ancestors().skip(1) {
        let Ok(opened) = Root::open(folder) else { return Ok(None) };
        if opened.id().device != start.id().device {
            return Ok(None);
        }
        let Ok(stat) = opened.stat(&git) else { continue };
        let path = folder.join(".git");
        match stat.kind {
            FileKind::Dir if !has_head(&path) => {}
            FileKind::Dir if !Ownership::of_known(&path, &stat).is_mine() => {
                return Err(Failure::denied(
                    "repository-owner",
                    "the repository around the scope's folder belongs to another user",
                )
                .hint("For the user: open the top of the repository: `bailiwick scope add FOLDER`."));
            }
            FileKind::Dir => return Ok(Some((path, folder.to_owned()))),
            FileKind::File | FileKind::Symlink => {
                return Err(leads_out("the `.git` above the scope's folder is a link that"));
            }
            FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {}
        }
    }
    Ok(None)
}

fn has_head(git_dir: &Path) -> bool {
    let Ok(head) = RelPath::parse(b"HEAD") else { return false };
    Root::open(git_dir).is_ok_and(|own| own.stat(&head).is_ok())
}

/// Where Git's own folders may lie.
struct Bounds {
    folders: Vec<PathBuf>,
}

impl Bounds {
    fn new(scope: &Scope, git_dir: &Path) -> Self {
        let roots = scope.roots().iter().filter_map(|root| root.current_path());
        Self { folders: roots.chain([git_dir.to_owned()]).collect() }
    }

    /// Returns the real path of a folder that must be inside.
    fn inside(&self, path: &Path, what: &str) -> Result<PathBuf, Failure> {
        // What is not there and what is outside answer the same: a refusal does not tell what exists.
        if may_be_remote(for_programs(path).as_os_str().as_bytes()) {
            return Err(leads_out(what));
        }
        let real = path.canonicalize().map_err(|_| leads_out(what))?;
        if self.folders.iter().any(|folder| real.starts_with(folder)) {
            Ok(real)
        } else {
            Err(leads_out(what))
        }
    }

    fn alternates(&self, objects: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
        let Ok(root) = Root::open(objects) else { return Ok(()) };
        let Some(text) = pointer(&root, "info/alternates")? else { return Ok(()) };
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line[0] != b'#') {
            // Git takes such a line for a quoted one, and goes elsewhere than it says here.
            if line[0] == b'"' {
                return Err(leads_out("its list of alternates"));
            }
            let path = self.inside(&objects.join(OsStr::from_bytes(line)), "its list of alternates")?;
            if depth == 0 {
                return Err(leads_out("its list of alternates"));
            }
            if !found.contains(&path) {
                found.push(path.clone());
                self.alternates(&path, depth - 1, found)?;
            }
        }
        Ok(())
    }
}

/// How many working trees of a repository are checked; one with more is refused.
const MAX_WORK_TREES: usize = 10_000;

/// Refuses a repository that has noted a working tree on another computer: Git would look for it there.
fn judge_work_trees(common_dir: &Path) -> Result<(), Failure> {
    let Ok(root) = Root::open(common_dir) else { return Ok(()) };
    let noted = RelPath::parse(b"worktrees").map_err(|_| leads_out("its list of working trees"))?;
    let entries = match root.open_dir(&noted).and_then(|dir| dir.entries(MAX_WORK_TREES + 1)) {
        Ok(entries) if entries.len() <= MAX_WORK_TREES => entries,
        Err(FileError::NotFound | FileError::NotADirectory) => return Ok(()),
        Ok(_) | Err(_) => return Err(leads_out("its list of working trees")),
    };
    for entry in entries {
        let Some(name) = entry.name.to_str() else { return Err(leads_out("its list of working trees")) };
        let place = pointer(&root, &format!("worktrees/{name}/gitdir"))?;
        if place.is_some_and(|place| may_be_remote(&place)) {
            return Err(leads_out("a working tree that it has noted"));
        }
    }
    Ok(())
}

/// Reads a small file of Git's own that names a place; `None` if there is none.
fn pointer(root: &Root, name: &str) -> Result<Option<Vec<u8>>, Failure> {
    let path = RelPath::parse(name.as_bytes()).unwrap_or_default();
    let mut text = Vec::new();
    match root.open_file(&path) {
        Ok(opened) => {
            let read = opened.file.take(MAX_POINTER_BYTES + 1).read_to_end(&mut text);
            if read.is_err() || text.len() as u64 > MAX_POINTER_BYTES {
                return Err(leads_out(&format!("its `{name}`")));
            }
            while text.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                text.pop();
            }
            Ok(Some(text))
        }
        Err(FileError::NotFound | FileError::NotADirectory) => Ok(None),
        Err(_) => Err(leads_out(&format!("its `{name}`"))),
    }
}

fn none(folder: &PermittedPath) -> Failure {
    Failure::new(ErrorCode::NotFound, format!("`{}` is in no Git repository", folder.shown()))
        .hint("Choose a folder of a repository by `target`. A bare repository is not opened.")
}

fn leads_out(what: &str) -> Failure {
    Failure::new(
        ErrorCode::PathOutOfScope,
        format!("the repository is not opened: {what} leads out of the scope's folders"),
    )
    .detail("rule", "repository")
    .at_stage(StageName::Path)
    .hint(format!(
        "{FOR_USER}`bailiwick scope edit {SCOPE} --add-root FOLDER` opens the folder that it leads to."
    ))
}
