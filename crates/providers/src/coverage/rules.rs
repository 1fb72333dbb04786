//! What is covered, and what of Git's own folders may be written again.

use std::ffi::OsStr;

use bailiwick_platform::fs::{Dir, FileKind, RelPath};
use bailiwick_platform::names::OsStrExt;

use super::node::{RootState, folders_above};
use crate::search::IgnoreRules;

/// Folders that tools make again, whatever they are called for.
const MADE_BY_TOOLS: &[&str] = &[
    ".dart_tool",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".terraform",
    ".tox",
    ".turbo",
    ".venv",
    "__pycache__",
    "node_modules",
];
/// Folders that tools make again where Git ignores them.
const MADE_BY_TOOLS_IF_IGNORED: &[&str] = &[
    ".cache",
    ".stack-work",
    ".zig-cache",
    "DerivedData",
    "Pods",
    "_build",
    "bin",
    "bower_components",
    "build",
    "coverage",
    "dist",
    "dist-newstyle",
    "htmlcov",
    "obj",
    "out",
    "target",
    "vendor",
    "venv",
    "zig-out",
];
/// Folders in one of Git's own that hold further ones, or what another program keeps there.
const OTHER_GIT_DIRS: &[&str] = &["annex", "lfs", "modules", "worktrees"];
/// Names in one of Git's own folders that name programs or other folders.
const RUN_BY_GIT: &[&[u8]] = &[b"config", b"config.worktree", b"hooks", b"commondir", b"gitdir"];

/// What a path is to Git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitPart {
    /// Nothing that has rules of its own.
    Ordinary,
    /// It names what Git runs, or where else it looks. It is never written.
    Protected,
    /// It is, or is among, the objects. They never change, and later commits may need them: they are never removed.
    Objects,
}

/// Returns whether a folder is left out.
pub(super) fn is_left_out(root: &Dir, folder: &RelPath, is_in_git_dir: bool) -> bool {
    let Some(name) = folder.file_name().and_then(OsStr::to_str) else { return false };
    if is_in_git_dir {
        return OTHER_GIT_DIRS.contains(&name);
    }
    MADE_BY_TOOLS.contains(&name)
        || (MADE_BY_TOOLS_IF_IGNORED.contains(&name) && IgnoreRules::is_ignored_by_git(root, folder))
}

/// Returns whether names are those of one of Git's own folders.
pub(super) fn is_git_layout(mut has: impl FnMut(&OsStr) -> bool) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|name| has(OsStr::new(name)))
}

/// Returns what a path is to Git, where these folders are Git's own.
pub(super) fn git_part<'a>(path: &[u8], states: impl IntoIterator<Item = &'a RootState> + Clone) -> GitPart {
    let mut part = GitPart::Ordinary;
    for folder in std::iter::once(&[][..]).chain(folders_above(path)) {
        let is_git_dir = folder == b".git"
            || folder.ends_with(b"/.git")
            || states.clone().into_iter().any(|state| state.git_dirs.contains(folder));
        if !is_git_dir {
            continue;
        }
        let below = if folder.is_empty() { path } else { &path[folder.len() + 1..] };
        match part_below(below) {
            GitPart::Ordinary => {}
            GitPart::Objects => part = GitPart::Objects,
            GitPart::Protected => return GitPart::Protected,
        }
    }
    part
}

/// Returns what a path below one of Git's own folders is to it.
fn part_below(below: &[u8]) -> GitPart {
    let first = below.split(|byte| *byte == b'/').next().unwrap_or_default();
    let folded = first.to_ascii_lowercase();
    if RUN_BY_GIT.contains(&&folded[..]) {
        GitPart::Protected
    } else if folded == b"objects" {
        GitPart::Objects
    } else {
        GitPart::Ordinary
    }
}

/// Returns the outermost folder `objects` on the way to a path, the path itself included.
pub(super) fn objects_folder(path: &[u8]) -> Option<&[u8]> {
    let is_store = |it: &&[u8]| it.rsplit(|byte| *byte == b'/').next() == Some(b"objects");
    folders_above(path).chain(std::iter::once(path)).find(is_store)
}

/// Returns the folder that holds the outermost name on the way to a path that names what Git runs.
pub(super) fn protected_folder(path: &[u8]) -> Option<&[u8]> {
    let folders = std::iter::once(&path[..0]).chain(folders_above(path));
    folders.into_iter().find(|folder| {
        let below = if folder.is_empty() { path } else { &path[folder.len() + 1..] };
        part_below(below) == GitPart::Protected
    })
}

/// Returns whether a name is a `.git` that leads elsewhere.
pub(super) fn is_git_pointer(path: &[u8], kind: FileKind) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    name.eq_ignore_ascii_case(b".git") && kind != FileKind::Dir
}

/// Returns what a path beneath an open root is to Git. What is there now decides, too, not only what was there when a record
/// was made.
pub(super) fn git_part_now(root: &Dir, path: &RelPath, kind: FileKind) -> GitPart {
    git_part_in(&[root], path, kind)
}

/// Returns what a path is to Git where its folders are made of several parts, as those of an overlay.
pub(super) fn git_part_in(roots: &[&Dir], path: &RelPath, kind: FileKind) -> GitPart {
    if is_git_pointer(path.as_bytes(), kind) {
        return GitPart::Protected;
    }
    let mut part = git_part(path.as_bytes(), []);
    let mut folder = RelPath::root();
    for name in path.components() {
        let part_here = part_below(name);
        if part_here != GitPart::Ordinary
            && part != GitPart::Protected
            && let dirs =
                roots.iter().filter_map(|root| root.open_dir_beneath(&folder).ok()).collect::<Vec<_>>()
            && is_git_layout(|name| dirs.iter().any(|dir| dir.stat(name).is_ok()))
        {
            part = part_here;
        }
        folder = folder.child(OsStr::from_bytes(name));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_platform::fs::FileId;

    #[test]
    fn what_git_runs_is_protected_wherever_its_folder_is() {
        let mut state = RootState::new(FileId { device: 1, inode: 1 });
        state.git_dirs.insert(b"bare/x.git"[..].into());
        for (path, part) in [
            (&b".git/config"[..], GitPart::Protected),
            (b".git/hooks/pre-commit", GitPart::Protected),
            (b".git/Hooks", GitPart::Protected),
            (b".git/config.worktree", GitPart::Protected),
            (b"a/.git/commondir", GitPart::Protected),
            (b"bare/x.git/config", GitPart::Protected),
            (b"bare/x.git/refs/heads/config", GitPart::Ordinary),
            (b".git/refs/heads/hooks", GitPart::Ordinary),
            (b".git/HEAD", GitPart::Ordinary),
            (b".git/objects/ab/cdef", GitPart::Objects),
            (b".git/objects", GitPart::Objects),
            (b"bare/config", GitPart::Ordinary),
            (b"config", GitPart::Ordinary),
            (b"x/.git/logs/.git/config", GitPart::Protected),
        ] {
            assert_eq!(git_part(path, [&state]), part, "{}", String::from_utf8_lossy(path));
        }
        assert!(is_git_pointer(b"a/.git", FileKind::File) && is_git_pointer(b".GIT", FileKind::Symlink));
        assert!(!is_git_pointer(b"a/.git", FileKind::Dir) && !is_git_pointer(b"a.git", FileKind::File));
    }
}
