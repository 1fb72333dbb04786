//! Commits: finding the one that a name means, and listing them.

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::{ErrorCode, Failure};

use super::status::whole;
use super::{Fields, Git, GitCall, Hash, Revision, iso_time, lossy};

/// What is printed of a commit, a NUL after each field.
const FORMAT: &str = "--format=tformat:%H%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%D%x00%s%x00%b";
/// How many fields that are.
const FIELDS: usize = 11;

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// One commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its hash.
    pub hash: Hash,
    /// The hashes of its parents.
    pub parents: Vec<Hash>,
    /// Who wrote it.
    pub author: Person,
    /// When it was written.
    pub authored_at: String,
    /// Who recorded it.
    pub committer: Person,
    /// When it was recorded.
    pub committed_at: String,
    /// The branches and tags that are at it.
    pub refs: Vec<String>,
    /// The first paragraph of its message, in one line.
    pub subject: String,
    /// The rest of its message.
    pub body: String,
}

/// Which commits.
#[derive(Debug, Clone, Default)]
pub struct LogRequest {
    /// Where to begin.
    pub from: Hash,
    /// Commits that can be reached from here are left out.
    pub without: Option<Hash>,
    /// Only those that change one of these paths.
    pub paths: Vec<OsString>,
    /// Further words, each an option with its value in it.
    pub options: Vec<String>,
    /// How many are passed over.
    pub skip: usize,
    /// How many at most.
    pub most: usize,
}

/// Finds the commit that a name means.
///
/// # Errors
/// `not_found` that names the field.
pub async fn resolve(git: &Git, field: &str, revision: &Revision) -> Result<Hash, Failure> {
    find(git, revision).await?.ok_or_else(|| {
        let name = revision.as_str();
        let failure =
            Failure::new(ErrorCode::NotFound, format!("there is no commit `{name}`")).detail("field", field);
        failure.hint("git.log lists commits; a branch of a remote is `origin/NAME`.")
    })
}

/// Finds the commit that is checked out; `None` where there is none yet.
///
/// # Errors
/// Those of a call.
pub async fn head(git: &Git) -> Result<Option<Hash>, Failure> {
    find(git, &Revision::head()).await
}

async fn find(git: &Git, revision: &Revision) -> Result<Option<Hash>, Failure> {
    let name = format!("{}^{{commit}}", revision.as_str());
    let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", &name];
    let printed = git.run(GitCall::to_read(words)).await?;
    let hash = lossy(printed.out.trim_ascii());
    let is_hash = matches!(hash.len(), 40 | 64) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    Ok((printed.code == 0 && is_hash).then_some(hash))
}

/// Lists commits, newest first.
///
/// # Errors
/// Those of a call.
pub async fn log(git: &Git, request: &LogRequest) -> Result<Vec<Commit>, Failure> {
    let mut words: Vec<OsString> =
        ["log", "-z", "--no-color", "--no-mailmap", "--encoding=UTF-8", FORMAT].map(Into::into).into();
    words.push(format!("--skip={}", request.skip).into());
    words.push(format!("--max-count={}", request.most).into());
    words.extend(request.options.iter().map(Into::into));
    words.push((&request.from).into());
    words.extend(request.without.iter().map(|hash| format!("^{hash}").into()));
    words.push("--".into());
    words.extend(request.paths.iter().cloned());
    let text = whole(git.run(GitCall::to_read(words)).await?)?;
    let fields: Vec<&[u8]> = Fields::new(&text).collect();
    Ok(fields.chunks_exact(FIELDS).map(Commit::of).collect())
}

impl Commit {
    fn of(fields: &[&[u8]]) -> Self {
        let text = |at: usize| fields.get(at).map(|field| lossy(field)).unwrap_or_default();
        let time = |at: usize| fields.get(at).map(|field| iso_time(field)).unwrap_or_default();
        let list = |text: &str, between: &str| -> Vec<String> {
            text.split(between).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        Self {
            hash: text(0),
            parents: list(&text(1), " "),
            author: Person { name: text(2), email: text(3) },
            authored_at: time(4),
            committer: Person { name: text(5), email: text(6) },
            committed_at: time(7),
            refs: list(&text(8), ", "),
            subject: text(9),
            body: text(10).trim_end().to_owned(),
        }
    }
}

/// Returns whether a commit changed something that the scope sees.
///
/// # Errors
/// Those of a call.
pub async fn touches_scope(git: &Git, commit: &Commit) -> Result<bool, Failure> {
    if git.repository.is_whole() {
        return Ok(true);
    }
    let mut words: Vec<OsString> = vec!["diff-tree".into(), "-r".into(), "--name-only".into(), "-z".into()];
    match commit.parents.first() {
        Some(parent) => words.push(parent.into()),
        None => words.push("--root".into()),
    }
    words.extend([(&commit.hash).into(), "--".into(), ".".into()]);
    Ok(!whole(git.run(GitCall::to_read(words)).await?)?.is_empty())
}
