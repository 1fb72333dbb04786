//! Making a commit out of exactly the tree that was judged, without a hook, an editor or a template.

use std::ffi::{OsStr, OsString};
use std::io::Read;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::RelPath;
use bailiwick_platform::programs::{candidates, may_run};

use super::status::whole;
use super::{Fields, Git, GitCall, Hash, Person, Reach, RepositoryPath, lossy};

/// The staged tree, and which of its changes the scope does not see or may not see.
#[derive(Debug)]
pub struct StagedTree {
    /// The tree.
    pub tree: Hash,
    /// Whether it is that of the parent.
    pub is_unchanged: bool,
    /// How many changed paths are outside the scope.
    pub outside: usize,
    /// Changed paths whose content is closed in this scope.
    pub closed: Vec<RepositoryPath>,
}

/// Writes the index as a tree, and judges what it changes.
///
/// # Errors
/// `conflict` if paths are in conflict; those of a call.
pub async fn staged_tree(git: &Git, parent: Option<&Hash>) -> Result<StagedTree, Failure> {
    let printed = git.run(GitCall::to_write(["write-tree"])).await?;
    if printed.code != 0 && printed.messages.contains("unmerged") {
        return Err(Failure::new(ErrorCode::Conflict, "paths are in conflict, so nothing can be committed")
            .hint("Resolve what git.status shows under `conflict`, and stage it."));
    }
    if printed.code != 0 {
        return Err(printed.index_failure());
    }
    let tree = lossy(printed.out.trim_ascii());
    let asked = match parent {
        Some(parent) => GitCall::to_read(["diff-tree", "-r", "--no-renames", "--name-only", "-z"])
            .word(parent)
            .word(&tree),
        None => GitCall::to_read(["ls-tree", "-r", "--full-tree", "--name-only", "-z"]).word(&tree),
    };
    let names = whole(git.run(asked).await?)?;
    let (mut outside, mut closed) = (0, Vec::new());
    for name in Fields::new(&names) {
        match git.repository.seen_from_top(name) {
            None => outside += 1,
            Some(seen) if seen.closed.is_some() => closed.push(seen),
            Some(_) => {}
        }
    }
    Ok(StagedTree { tree, is_unchanged: names.is_empty(), outside, closed })
}

/// Returns the commits that a merge in progress brings in.
///
/// # Errors
/// `conflict` if they cannot be read.
pub fn merge_heads(git: &Git) -> Result<Vec<Hash>, Failure> {
    let unreadable = || Failure::new(ErrorCode::Conflict, "the merge in progress cannot be read");
    let path = RelPath::parse(b"MERGE_HEAD").map_err(|_| unreadable())?;
    let opened = git.repository.own()?.open_file(&path).map_err(|_| unreadable())?;
    let mut text = String::new();
    opened.file.take(65_536).read_to_string(&mut text).map_err(|_| unreadable())?;
    let heads: Vec<Hash> = text.split_whitespace().map(str::to_owned).collect();
    let is_hash =
        |hash: &Hash| matches!(hash.len(), 40 | 64) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if heads.is_empty() || !heads.iter().all(is_hash) { Err(unreadable()) } else { Ok(heads) }
}

/// Who commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Who wrote it.
    pub author: Person,
    /// Who records it.
    pub committer: Person,
}

/// Finds who commits: the scope's fixed variables, else the repository's and the user's own settings.
///
/// # Errors
/// `provider_unavailable` if nothing says so.
pub async fn identity(git: &Git) -> Result<Identity, Failure> {
    let words = ["config", "--includes", "-z", "--get-regexp", r"^(user|author|committer)\.(name|email)$"];
    let printed = git.run(GitCall { reach: Reach::Settings, ..GitCall::to_read(words) }).await?;
    let mut settings = std::collections::HashMap::new();
    for field in Fields::new(&printed.out) {
        let Some(end) = field.iter().position(|byte| *byte == b'\n') else { continue };
        settings.insert(lossy(&field[..end]), lossy(&field[end + 1..]));
    }
    let fixed = &git.scope().commands().hold().environment;
    let find = |variable: &str, settings_names: [&str; 2]| {
        let set = fixed.get(variable).or_else(|| settings_names.iter().find_map(|name| settings.get(*name)));
        set.map(|value| clean(value)).filter(|value| !value.is_empty())
    };
    let person = |who: &str, section: &str| {
        Some(Person {
            name: find(&format!("GIT_{who}_NAME"), [&format!("{section}.name"), "user.name"])?,
            email: find(&format!("GIT_{who}_EMAIL"), [&format!("{section}.email"), "user.email"])?,
        })
    };
    match (person("AUTHOR", "author"), person("COMMITTER", "committer")) {
        (Some(author), Some(committer)) => Ok(Identity { author, committer }),
        _ => Err(Failure::new(ErrorCode::ProviderUnavailable, "Git's settings do not say who commits")
            .hint("For the user: `git config --global user.name NAME`, and the same for user.email.")),
    }
}

/// Takes out what Git would not have in a name.
fn clean(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !matches!(c, '<' | '>') && !c.is_control()).collect();
    kept.trim().to_owned()
}

/// Records a tree as a commit, and moves the branch to it if it is where it was.
///
/// # Errors
/// `conflict` if the branch has moved; those of a call.
pub async fn record(
    git: &Git,
    tree: &Hash,
    parents: &[Hash],
    message: &str,
    identity: &Identity,
) -> Result<Hash, Failure> {
    let mut words: Vec<OsString> = vec!["commit-tree".into(), tree.into()];
    for parent in parents {
        words.extend(["-p".into(), parent.into()]);
    }
    words.extend(["-F".into(), "-".into()]);
    let people = [("AUTHOR", &identity.author), ("COMMITTER", &identity.committer)];
    let environment: Vec<(OsString, OsString)> = people
        .iter()
        .flat_map(|(who, person)| {
            [
                (format!("GIT_{who}_NAME").into(), (&person.name).into()),
                (format!("GIT_{who}_EMAIL").into(), (&person.email).into()),
            ]
        })
        .collect();
    let asked = GitCall { environment: environment.clone(), ..GitCall::to_write(words) };
    let commit = lossy(git.run(asked.stdin(message.as_bytes().to_vec())).await?.success()?.trim_ascii());
    let subject = message.lines().next().unwrap_or_default();
    let kind = match parents.len() {
        0 => "commit (initial)",
        1 => "commit",
        _ => "commit (merge)",
    };
    let none = "0".repeat(commit.len());
    let words = [
        "update-ref",
        "-m",
        &format!("{kind}: {subject}"),
        "HEAD",
        &commit,
        parents.first().unwrap_or(&none),
    ];
    let asked = GitCall { environment, ..GitCall::to_write(words) };
    let printed = git.run(asked).await?;
    if let Some(failure) = printed.branch_locked() {
        return Err(failure);
    }
    if printed.code != 0 {
        return Err(Failure::new(
            ErrorCode::Conflict,
            "the branch moved while the commit was made; nothing was committed",
        )
        .hint("Look at git.log and git.status, then commit again."));
    }
    Ok(commit)
}

/// Ends a merge whose commit has been made.
///
/// # Errors
/// Those of a call.
pub async fn end_merge(git: &Git) -> Result<(), Failure> {
    git.run(GitCall::to_write(["merge", "--quit"])).await?.success().map(|_| ())
}

/// Returns the names of hooks that a commit by Git itself would run.
///
/// # Errors
/// `not_found` if Git's own folder is gone.
pub fn hooks(git: &Git) -> Result<Vec<&'static str>, Failure> {
    let common = git.repository.common()?;
    let known = ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction"];
    let is_there = |file: &str| {
        let path = RelPath::parse(b"hooks").map(|hooks| hooks.child(OsStr::new(file)));
        path.is_ok_and(|path| common.stat(&path).is_ok_and(|stat| may_run(&stat)))
    };
    let found =
        known.into_iter().filter(|name| is_there(name) || candidates(name).any(|file| is_there(&file)));
    Ok(found.collect())
}
