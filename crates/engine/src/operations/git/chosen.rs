//! The paths that staging and unstaging are asked for, and the changes that are below them.

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_contract::{Access, Failure, RawPath};
use bailiwick_policy::{InputPath, Permit};
use bailiwick_providers::git::{Change, Git, GitCall, StatusEntry, word};

/// How many paths one call takes.
const MAX_PATHS: usize = 1_000;

/// Which changes.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// Files, or folders for everything in them; each is taken literally. At most 1000.
    pub paths: Vec<RawPath>,
    /// Everything below the target; default false. Not with `paths`.
    pub all: bool,
}

/// One path whose change was staged or unstaged.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IndexChange {
    /// The path.
    pub path: String,
    /// The change.
    pub change: Change,
}

impl Input {
    /// Names the paths, which are judged like targets that are written.
    pub fn input_paths(&self) -> Vec<InputPath> {
        let path =
            |path: &RawPath| InputPath { field: "input.paths", path: path.clone(), access: Access::Write };
        self.paths.iter().map(path).collect()
    }

    /// Refuses what names nothing or too much.
    ///
    /// # Errors
    /// `invalid_request`.
    pub fn check(&self) -> Result<(), Failure> {
        if self.paths.is_empty() != self.all {
            return Err(Failure::invalid(
                "input.paths",
                "either `input.paths` or `input.all` says what is meant",
            )
            .hint("Name the paths, or set `input.all` to true for everything below the target."));
        }
        if self.paths.len() > MAX_PATHS {
            return Err(Failure::invalid("input.paths", "`input.paths` may have 1000 paths"));
        }
        Ok(())
    }
}

/// Returns the asked paths as Git is asked about them.
///
/// # Errors
/// `invalid_request` for a path that is not in the target's repository.
pub fn pathspecs(git: &Git, permit: &Permit, all: bool) -> Result<Vec<OsString>, Failure> {
    let repository = &git.repository;
    if all {
        return Ok(vec![repository.pathspec().unwrap_or_else(|| ".".into())]);
    }
    let spec = |path: &bailiwick_policy::WritablePath| {
        let inside =
            path.same_root(&repository.start).then(|| repository.named_from_start(path.rel())).flatten();
        let inside = inside.ok_or_else(|| {
            Failure::invalid("input.paths", format!("`{}` is not in the target's repository", path.shown()))
                .hint("Choose the repository by `target`.")
        })?;
        Ok(if inside.is_empty() { ".".into() } else { word(inside) })
    };
    permit.writable_paths().iter().map(spec).collect()
}

/// Returns an entry's name as Git knows it where it starts.
pub fn name<'a>(git: &Git, entry: &'a StatusEntry) -> Option<&'a [u8]> {
    git.repository.named_from_start(&entry.seen.rel)
}

/// Returns the asked paths below which nothing was found.
pub fn without_any(permit: &Permit, found: &[StatusEntry]) -> Vec<String> {
    let asked = permit.writable_paths().iter();
    let idle = asked.filter(|path| {
        let below = |rel: &bailiwick_platform::fs::RelPath| rel.starts_with(path.rel());
        !found
            .iter()
            .any(|entry| below(&entry.seen.rel) || entry.from.as_ref().is_some_and(|it| below(&it.rel)))
    });
    idle.map(|path| path.shown()).collect()
}

/// Returns where nothing was found: in the first of the paths, if any were asked for.
pub fn place(idle: &[String]) -> String {
    idle.first().map_or_else(|| "there".to_owned(), |path| format!("in `{path}`"))
}

/// Changes the index for the files of these names, each ended by a NUL.
///
/// # Errors
/// `conflict` if somebody else changes it; those of a call.
pub async fn change_index(git: &Git, words: [&str; 2], names: Vec<u8>) -> Result<(), Failure> {
    let asked = GitCall::to_write(words).word("--pathspec-from-file=-").word("--pathspec-file-nul");
    let printed = git.run(asked.stdin(names)).await?;
    if printed.code == 0 { Ok(()) } else { Err(printed.index_failure()) }
}
