//! The working trees of a repository: listing, making and removing them.
//!
//! Checking out runs no hook and no filter: files that go through one are written as they are stored.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use bailiwick_contract::path::encode_name;
use bailiwick_contract::{Access, ErrorCode, Failure, RawPath};
use bailiwick_platform::fs::RelPath;
use bailiwick_platform::names::OsStrExt;
use bailiwick_platform::paths::{for_programs, of_programs};
use bailiwick_policy::{PermittedPath, Scope};

use super::status::whole;
use super::{Fields, Git, GitCall, Hash, lossy};

/// One working tree, as Git has noted it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkTree {
    /// Its top on the disk.
    pub path: PathBuf,
    /// The commit that is checked out; `None` if there is none yet.
    pub commit: Option<Hash>,
    /// The branch; `None` if `HEAD` is detached.
    pub branch: Option<String>,
    /// Whether it is the one that the repository was made with.
    pub is_main: bool,
    /// Whether it is a repository without files.
    pub is_bare: bool,
    /// Why it may not be removed; empty without a reason.
    pub locked: Option<String>,
}

/// Lists the working trees, the main one first.
///
/// # Errors
/// Those of a call.
pub async fn work_trees(git: &Git) -> Result<Vec<WorkTree>, Failure> {
    let text = whole(git.run(GitCall::to_read(["worktree", "list", "--porcelain", "-z"])).await?)?;
    Ok(parse(&text))
}

fn parse(text: &[u8]) -> Vec<WorkTree> {
    let mut found: Vec<WorkTree> = Vec::new();
    for field in Fields::new(text) {
        let (key, value) = match memchr::memchr(b' ', field) {
            Some(at) => (&field[..at], &field[at + 1..]),
            None => (field, &b""[..]),
        };
        if key == b"worktree" {
            let path = of_programs(Path::new(OsStr::from_bytes(value)));
            found.push(WorkTree { path, is_main: found.is_empty(), ..WorkTree::default() });
            continue;
        }
        let Some(tree) = found.last_mut() else { continue };
        match key {
            b"HEAD" if value.iter().any(|digit| *digit != b'0') => tree.commit = Some(lossy(value)),
            b"branch" => {
                let name = lossy(value);
                tree.branch = Some(name.strip_prefix("refs/heads/").unwrap_or(&name).to_owned());
            }
            b"bare" => tree.is_bare = true,
            b"locked" => tree.locked = Some(lossy(value)),
            _ => {}
        }
    }
    found
}

/// Returns a real path on the disk as a path of the scope; `None` if it is outside, or is closed.
pub fn in_scope(scope: &Scope, real: &Path) -> Option<PermittedPath> {
    scope.roots().iter().find_map(|root| {
        let below = real.strip_prefix(root.current_path()?).ok()?;
        let text = encode_name(root.path.join(below).as_os_str().as_bytes());
        scope.readable(&RawPath(text)).ok()
    })
}

/// What a new working tree has checked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckOut {
    /// A commit, on no branch.
    Commit(Hash),
    /// A branch that is there.
    Branch(String),
    /// A new branch at a commit.
    NewBranch(String, Hash),
}

/// Creates a working tree in a folder that is there and empty.
///
/// # Errors
/// `conflict` if the branch is checked out elsewhere; those of a call.
pub async fn add(git: &Git, folder: &Path, what: &CheckOut) -> Result<(), Failure> {
    let mut words: Vec<OsString> = vec!["worktree".into(), "add".into(), "--no-guess-remote".into()];
    let commit: &OsStr = match what {
        CheckOut::Commit(commit) => {
            words.push("--detach".into());
            commit.as_ref()
        }
        CheckOut::Branch(name) => name.as_ref(),
        CheckOut::NewBranch(name, commit) => {
            words.extend(["--no-track".into(), "-b".into(), name.into()]);
            commit.as_ref()
        }
    };
    words.extend(["--".into(), for_programs(folder).into(), commit.into()]);
    let printed = git.run(GitCall::to_write(words).folder(folder)).await?;
    if printed.messages.contains("already used by worktree")
        || printed.messages.contains("already checked out")
    {
        return Err(Failure::new(ErrorCode::Conflict, "the branch is checked out in another working tree")
            .hint(
                "Name a new branch by `input.branch`, or leave it out to have the commit without a branch.",
            ));
    }
    printed.success().map(|_| ())
}

/// Removes a working tree with everything in it, and what Git noted of it.
///
/// The empty folder itself may stay: what holds Git can keep it from removing that.
///
/// # Errors
/// `execution_failed` if Git still knows it afterwards; those of a call.
pub async fn remove(git: &Git, tree: &WorkTree) -> Result<(), Failure> {
    let words: [OsString; 5] =
        ["worktree".into(), "remove".into(), "--force".into(), "--".into(), for_programs(&tree.path).into()];
    let mut asked = GitCall::to_write(words);
    if tree.path.parent().is_some() && super::runner::is_there(&tree.path) {
        asked = asked.folder(&tree.path);
    }
    let printed = git.run(asked).await?;
    if printed.code != 0 && work_trees(git).await?.iter().any(|it| it.path == tree.path) {
        return Err(printed.failure());
    }
    Ok(())
}

/// Returns whether a branch of this name is there.
///
/// # Errors
/// `invalid_request` if no branch can have the name; those of a call.
pub async fn branch_exists(git: &Git, field: &str, name: &str) -> Result<bool, Failure> {
    let full = format!("refs/heads/{name}");
    let is_name = !name.starts_with('-') && name != "HEAD" && !name.contains('\0');
    if !is_name || git.run(GitCall::to_read(["check-ref-format", &full])).await?.code != 0 {
        return Err(Failure::invalid(field, format!("`{field}` is no name of a branch")));
    }
    let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &full];
    Ok(git.run(GitCall::to_read(words)).await?.code == 0)
}

/// Returns whether a branch, a tag or a branch of a remote still leads to a commit.
///
/// # Errors
/// Those of a call.
pub async fn is_on_a_branch(git: &Git, commit: &str) -> Result<bool, Failure> {
    let contains = format!("--contains={commit}");
    let words = ["for-each-ref", "--count=1", "--format=%(refname)", &contains];
    Ok(!whole(git.run(GitCall::to_read(words)).await?)?.is_empty())
}

/// Counts files of a commit that would be open beneath `top`, and are closed where the repository has them.
///
/// # Errors
/// Those of a call.
pub async fn opened_elsewhere(git: &Git, commit: &str, top: &PermittedPath) -> Result<usize, Failure> {
    let words = ["ls-tree", "-r", "--full-tree", "--name-only", "-z", commit];
    let names = whole(git.run(GitCall::to_read(words)).await?)?;
    let is_open = |name: &[u8]| {
        let there = top.rel().join(name).unwrap_or_else(|_| RelPath::root());
        top.rules().rule_for_path(&there, Access::Read).is_none()
    };
    let opened = Fields::new(&names).filter(|name| {
        git.repository.seen_from_top(name).is_none_or(|seen| seen.closed.is_some()) && is_open(name)
    });
    Ok(opened.count())
}

/// Returns whether a folder is in the working tree and is not ignored there.
///
/// # Errors
/// Those of a call.
pub async fn shows_as_new(git: &Git, folder: &Path) -> Result<bool, Failure> {
    let Ok(below) = folder.strip_prefix(&git.repository.work_tree) else { return Ok(false) };
    let below = for_programs(below);
    let words: [&OsStr; 4] = ["check-ignore".as_ref(), "-q".as_ref(), "--".as_ref(), below.as_os_str()];
    // It knows no literal paths, and takes none for a pattern.
    let environment = vec![("GIT_LITERAL_PATHSPECS".into(), "0".into())];
    Ok(git.run(GitCall { environment, ..GitCall::to_read(words) }).await?.code == 1)
}

/// Counts files of the index that go through a filter program.
///
/// # Errors
/// Those of a call.
pub async fn filtered(git: &Git) -> Result<usize, Failure> {
    let names = whole(git.run(GitCall::to_read(["ls-files", "-z"])).await?)?;
    let asked = GitCall::to_read(["check-attr", "--stdin", "-z", "filter"]).stdin(names);
    let text = whole(git.run(asked).await?)?;
    let fields: Vec<&[u8]> = Fields::new(&text).collect();
    let is_filtered = |row: &&[&[u8]]| !matches!(row[2], b"unspecified" | b"unset");
    Ok(fields.chunks_exact(3).filter(is_filtered).count())
}

/// Lists other repositories in the index, by their names.
///
/// # Errors
/// Those of a call.
pub async fn submodules(git: &Git) -> Result<Vec<Vec<u8>>, Failure> {
    let text = whole(git.run(GitCall::to_read(["ls-files", "--stage", "-z"])).await?)?;
    let modules = Fields::new(&text).filter(|row| row.starts_with(b"160000 "));
    Ok(modules.filter_map(|row| Some(row[memchr::memchr(b'\t', row)? + 1..].to_vec())).collect())
}

/// Lists what is there and ignored; a folder in which all is ignored stands for everything in it.
///
/// # Errors
/// Those of a call.
pub async fn ignored(git: &Git) -> Result<Vec<Vec<u8>>, Failure> {
    let words = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
    let text = whole(git.run(GitCall::to_read(words)).await?)?;
    Ok(Fields::new(&text).map(<[u8]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_working_trees_is_read() {
        let zeros = "0".repeat(40);
        let text = format!(
            "worktree /srv/a\0HEAD 12ab\0branch refs/heads/main\0\0worktree /srv/b c\0HEAD {zeros}\0detached\0locked\0\0\
             worktree /srv/d\0bare\0locked two words\0prunable gone\0\0"
        );
        let found = parse(text.as_bytes());
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].commit.as_deref(), found[0].branch.as_deref()), (Some("12ab"), Some("main")));
        assert!(found[0].is_main && !found[1].is_main);
        assert_eq!((found[1].path.to_str(), &found[1].commit), (Some("/srv/b c"), &None));
        assert_eq!(found[1].locked.as_deref(), Some(""));
        assert!(found[2].is_bare && found[2].locked.as_deref() == Some("two words"));
    }
}
