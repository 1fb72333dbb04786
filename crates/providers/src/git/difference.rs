//! What differs between two states: the list of files with counts, and the patch of some of them.
//!
//! The list comes first and is judged; a patch is asked for by the names of open files only, so that the content
//! of a closed file is never printed, by Git either.

use std::collections::HashMap;
use std::ffi::OsString;

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::{ErrorCode, Failure};

use super::status::whole;
use super::{Change, Fields, Git, GitCall, Hash, RepositoryPath, lossy, word};

/// The two states, as words of `git diff`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffRange {
    /// The working tree against the index.
    IndexAndWorkTree,
    /// The index against a commit; against nothing where there is no commit yet.
    CommitAndIndex(Option<Hash>),
    /// The working tree against a commit.
    CommitAndWorkTree(Hash),
    /// A commit against another.
    Commits(Hash, Hash),
    /// A commit against its first parent; a first commit against nothing.
    Made(Hash),
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path, as the scope sees it.
    pub seen: RepositoryPath,
    /// How Git names the path where it starts.
    pub name: Vec<u8>,
    /// The earlier path of what was renamed.
    pub from: Option<(RepositoryPath, Vec<u8>)>,
    /// How it differs.
    pub change: Change,
    /// The mode before, if it was there and is different now.
    pub old_mode: Option<String>,
    /// The mode now, if it is there and was different before.
    pub new_mode: Option<String>,
    /// Lines added; none for binary files.
    pub insertions: Option<u64>,
    /// Lines removed; none for binary files.
    pub deletions: Option<u64>,
    /// Whether it is another repository in this one.
    pub submodule: bool,
}

impl ChangedFile {
    /// Returns the rule that closes it, under its name or its earlier one.
    pub fn closed(&self) -> Option<&'static str> {
        self.seen.closed.or_else(|| self.from.as_ref().and_then(|(from, _)| from.closed))
    }
}

/// How many files and lines differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Files.
    pub files: usize,
    /// Lines added, in all files together.
    pub insertions: u64,
    /// Lines removed, in all files together.
    pub deletions: u64,
}

impl Counts {
    /// Counts a list.
    pub fn of(files: &[ChangedFile]) -> Self {
        files.iter().fold(Self { files: files.len(), ..Self::default() }, |counts, file| Self {
            insertions: counts.insertions + file.insertions.unwrap_or(0),
            deletions: counts.deletions + file.deletions.unwrap_or(0),
            ..counts
        })
    }
}

impl DiffRange {
    fn words(&self, git: &Git) -> Vec<OsString> {
        let mut words: Vec<OsString> = match self {
            Self::Made(_) => vec!["diff-tree".into(), "-r".into(), "--root".into(), "--no-commit-id".into()],
            Self::IndexAndWorkTree
            | Self::CommitAndIndex(_)
            | Self::CommitAndWorkTree(_)
            | Self::Commits(..) => vec!["diff".into()],
        };
        words.extend(
            [
                "--no-ext-diff",
                "--no-textconv",
                "--no-color",
                "--ignore-submodules=dirty",
                "--submodule=short",
                "--find-renames",
                "-l1000",
            ]
            .map(Into::into),
        );
        if !git.repository.is_whole() {
            words.push("--relative".into());
        }
        if matches!(self, Self::CommitAndIndex(_)) {
            words.push("--cached".into());
        }
        words
    }

    fn ends(&self) -> Vec<OsString> {
        match self {
            Self::IndexAndWorkTree | Self::CommitAndIndex(None) => Vec::new(),
            Self::CommitAndIndex(Some(commit)) | Self::CommitAndWorkTree(commit) => vec![commit.into()],
            Self::Commits(from, to) => vec![from.into(), to.into()],
            Self::Made(commit) => vec![commit.into()],
        }
    }
}

/// Lists what differs, in the order of paths.
///
/// # Errors
/// Those of a call.
pub async fn changed_files(
    git: &Git,
    between: &DiffRange,
    paths: &[OsString],
) -> Result<Vec<ChangedFile>, Failure> {
    let mut words = between.words(git);
    words.extend(["--raw", "--numstat", "-z", "--no-abbrev"].map(Into::into));
    words.extend(between.ends());
    words.push("--".into());
    words.extend(paths.iter().cloned());
    let text = whole(git.run(GitCall::to_read(words)).await?)?;
    parse(git, &text)
}

fn parse(git: &Git, text: &[u8]) -> Result<Vec<ChangedFile>, Failure> {
    let strange = || Failure::new(ErrorCode::ExecutionFailed, "Git printed a difference of an unknown form");
    let mut files: Vec<ChangedFile> = Vec::new();
    let mut known: HashMap<&[u8], usize> = HashMap::new();
    let mut fields = Fields::new(text);
    while let Some(field) = fields.next() {
        if let Some(raw) = field.strip_prefix(b":") {
            let parts: Vec<&[u8]> = raw.split(|byte| *byte == b' ').collect();
            let &[old_mode, new_mode, _, _, letters] = parts.as_slice() else { return Err(strange()) };
            let change = letters.first().and_then(|letter| Change::of_letter(*letter)).ok_or_else(strange)?;
            let first = fields.next().ok_or_else(strange)?;
            let (from, name) = match change {
                Change::Renamed | Change::Copied => (Some(first), fields.next().ok_or_else(strange)?),
                _ => (None, first),
            };
            let Some(seen) = git.repository.seen_from_start(name) else { continue };
            // A file in conflict stands twice: as such, and with what the working tree has.
            if files.last().is_some_and(|last| last.seen == seen && last.change == Change::Unmerged) {
                continue;
            }
            let from = from.and_then(|from| Some((git.repository.seen_from_start(from)?, from.to_vec())));
            let submodule = [old_mode, new_mode].contains(&b"160000".as_slice());
            let both = old_mode != new_mode && change != Change::Unmerged;
            let mode = |mode: &[u8]| (both && mode != b"000000").then(|| lossy(mode));
            known.insert(name, files.len());
            files.push(ChangedFile {
                seen,
                name: name.to_vec(),
                from,
                change,
                old_mode: mode(old_mode),
                new_mode: mode(new_mode),
                insertions: None,
                deletions: None,
                submodule,
            });
        } else {
            let mut parts = field.splitn(3, |byte| *byte == b'\t');
            let (Some(added), Some(removed), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
                return Err(strange());
            };
            let name = if name.is_empty() {
                let _from = fields.next().ok_or_else(strange)?;
                fields.next().ok_or_else(strange)?
            } else {
                name
            };
            let number = |text: &[u8]| std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            if let Some(file) = known.get(name).and_then(|at| files.get_mut(*at)) {
                (file.insertions, file.deletions) = (number(added), number(removed));
            }
        }
    }
    files.sort_by(|a, b| a.seen.rel.cmp(&b.seen.rel));
    Ok(files)
}

/// Finds the files of the working tree whose changes have conflict markers, each with the line of the first.
///
/// # Errors
/// Those of a call.
pub async fn conflict_markers(git: &Git, paths: &[OsString]) -> Result<Vec<(Vec<u8>, u64)>, Failure> {
    let mut words = DiffRange::IndexAndWorkTree.words(git);
    words.extend(["--check", "--"].map(Into::into));
    words.extend(paths.iter().cloned());
    let printed = git.run(GitCall::to_read(words)).await?;
    // 2: there are such, or blanks that Git does not like.
    let text = if printed.code == 2 { printed.out } else { printed.success()? };
    let mut found: Vec<(Vec<u8>, u64)> = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let Some(place) = line.strip_suffix(b": leftover conflict marker") else { continue };
        let Some(colon) = memchr::memrchr(b':', place) else { continue };
        let (name, number) = (&place[..colon], std::str::from_utf8(&place[colon + 1..]));
        let Some(number) = number.ok().and_then(|number| number.parse().ok()) else { continue };
        if found.last().is_none_or(|(last, _)| last != name) {
            found.push((name.to_owned(), number));
        }
    }
    Ok(found)
}

/// The patch of some files.
#[derive(Debug)]
pub struct Patch {
    /// The text, from its beginning.
    pub text: Vec<u8>,
    /// Whether that is all.
    pub is_whole: bool,
}

/// Prints the patch of files of a list, at most `keep_bytes` of it.
///
/// # Errors
/// `execution_failed` if one of them is closed; those of a call.
pub async fn patch(
    git: &Git,
    between: &DiffRange,
    files: &[ChangedFile],
    context: u32,
    keep_bytes: usize,
) -> Result<Patch, Failure> {
    if files.iter().any(|file| file.closed().is_some()) {
        return Err(Failure::new(ErrorCode::ExecutionFailed, "the content of a closed file is not shown"));
    }
    let before = git.repository.patch_prefix();
    let mut words = between.words(git);
    words.extend(["--patch".into(), format!("--unified={context}").into()]);
    words.push(format!("--src-prefix=a/{before}").into());
    words.push(format!("--dst-prefix=b/{before}").into());
    words.extend(between.ends());
    words.push("--".into());
    for file in files {
        words.extend(file.from.iter().map(|(_, name)| word(name)));
        words.push(word(&file.name));
    }
    let printed = git.run(GitCall::to_read(words).keep(keep_bytes)).await?;
    let is_whole = printed.is_whole;
    Ok(Patch { text: printed.success()?, is_whole })
}

/// Returns where the patch of each file begins.
pub fn sections(text: &[u8]) -> Vec<usize> {
    let begins = |at: usize| {
        let line = &text[at..];
        line.starts_with(b"diff --git ")
            || line.starts_with(b"diff --cc ")
            || line.starts_with(b"* Unmerged path ")
    };
    let lines = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
    lines.filter(|at| begins(*at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_that_looks_like_the_beginning_of_a_file_is_none() {
        let text =
            b"diff --git a/x b/x\n@@ -1 +1 @@\n-diff --git a/y b/y\n+diff --git a/z b/z\ndiff --cc w\n";
        assert_eq!(sections(text).len(), 2);
    }
}
