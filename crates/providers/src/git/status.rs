//! The state of the working tree: what is staged, changed, in conflict and not known to Git.

use std::ffi::OsString;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_contract::{ErrorCode, Failure};

use super::{Fields, Git, GitCall, Hash, RepositoryPath, lossy};

/// How files that Git does not know are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UntrackedMode {
    /// A folder of which Git knows nothing stands for everything in it.
    #[default]
    Normal,
    /// Each file on its own.
    All,
    /// Not at all.
    None,
}

/// How a file differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Change {
    /// Its content or mode.
    Modified,
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed,
    /// It is a copy of another.
    Copied,
    /// It was a file and is a link, or the like.
    TypeChanged,
    /// Git does not know it.
    Untracked,
    /// It is in conflict.
    Unmerged,
}

impl Change {
    /// Reads Git's letter.
    pub fn of_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'M' => Self::Modified,
            b'A' => Self::Added,
            b'D' => Self::Deleted,
            b'R' => Self::Renamed,
            b'C' => Self::Copied,
            b'T' => Self::TypeChanged,
            b'U' => Self::Unmerged,
            _ => return None,
        })
    }

    /// Returns Git's letter.
    pub const fn letter(self) -> char {
        match self {
            Self::Modified => 'M',
            Self::Added => 'A',
            Self::Deleted => 'D',
            Self::Renamed => 'R',
            Self::Copied => 'C',
            Self::TypeChanged => 'T',
            Self::Untracked => '?',
            Self::Unmerged => 'U',
        }
    }
}

/// Which sides of a conflict changed the file, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Conflict {
    /// Both deleted it.
    BothDeleted,
    /// Only our side added it.
    AddedByUs,
    /// Only their side deleted it.
    DeletedByThem,
    /// Only their side added it.
    AddedByThem,
    /// Only our side deleted it.
    DeletedByUs,
    /// Both added it.
    BothAdded,
    /// Both modified it.
    BothModified,
}

impl Conflict {
    fn of_letters(letters: &[u8]) -> Option<Self> {
        Some(match letters {
            b"DD" => Self::BothDeleted,
            b"AU" => Self::AddedByUs,
            b"UD" => Self::DeletedByThem,
            b"UA" => Self::AddedByThem,
            b"DU" => Self::DeletedByUs,
            b"AA" => Self::BothAdded,
            b"UU" => Self::BothModified,
            _ => return None,
        })
    }
}

/// Where `HEAD` is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// The branch; `null` if `HEAD` is detached.
    pub name: Option<String>,
    /// The commit that is checked out; `null` if there is none yet.
    pub commit: Option<Hash>,
    /// The branch that it follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstream: Option<String>,
    /// How many commits the upstream does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
    /// How many commits of the upstream are not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
}

/// One path that is not as it was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusEntry {
    /// The path, as the scope sees it.
    pub seen: RepositoryPath,
    /// The earlier name of what was renamed or copied.
    pub from: Option<RepositoryPath>,
    /// How the index differs from `HEAD`.
    pub index: Option<Change>,
    /// How the working tree differs from the index.
    pub work_tree: Option<Change>,
    /// The conflict, if it is in one.
    pub conflict: Option<Conflict>,
    /// Whether it is another repository in this one.
    pub submodule: bool,
    /// Whether it is a folder that stands for everything in it.
    pub folder: bool,
}

/// The state of the working tree, as far as the scope sees it.
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// Where `HEAD` is.
    pub branch: Branch,
    /// What is not as it was committed, in the order of paths.
    pub entries: Vec<StatusEntry>,
}

/// Asks for the state of some paths, or of all that the scope sees.
///
/// # Errors
/// Those of a call.
pub async fn status(git: &Git, paths: &[OsString], untracked: UntrackedMode) -> Result<Status, Failure> {
    let below = |mut asked: GitCall| {
        if !paths.is_empty() {
            asked.words.push("--".into());
            asked.words.extend(paths.iter().cloned());
        }
        asked
    };
    // Two halves at once: what Git knows, and what it does not know.
    let known = below(GitCall::to_read([
        "status",
        "--porcelain=v2",
        "-z",
        "--branch",
        "--untracked-files=no",
        "--ignore-submodules=dirty",
        "--find-renames",
        "--no-column",
    ]));
    let mut words = vec!["ls-files", "-z", "--others", "--exclude-standard"];
    if untracked == UntrackedMode::Normal {
        words.extend(["--directory", "--no-empty-directory"]);
    }
    let unknown = async {
        if untracked == UntrackedMode::None {
            return Ok(Vec::new());
        }
        whole(git.run(below(GitCall::to_read(words))).await?)
    };
    let (known, unknown) = tokio::join!(git.run(known), unknown);
    let mut status = parse(git, &whole(known?)?)?;
    for path in Fields::new(&unknown?) {
        let folder = path.last() == Some(&b'/');
        let Some(seen) = git.repository.seen_from_start(path) else { continue };
        status.entries.push(StatusEntry {
            seen,
            from: None,
            index: None,
            work_tree: Some(Change::Untracked),
            conflict: None,
            submodule: false,
            folder,
        });
    }
    let order = |entry: &StatusEntry| entry.work_tree == Some(Change::Untracked);
    status.entries.sort_by(|a, b| a.seen.rel.cmp(&b.seen.rel).then(order(a).cmp(&order(b))));
    Ok(status)
}

/// Returns an output that must be all there.
///
/// # Errors
/// `execution_failed`.
pub fn whole(printed: super::GitOutput) -> Result<Vec<u8>, Failure> {
    if printed.code == 0 && !printed.is_whole {
        return Err(Failure::new(ErrorCode::ExecutionFailed, "there is too much to be listed")
            .hint("Choose a smaller part by `target`."));
    }
    printed.success()
}

fn parse(git: &Git, text: &[u8]) -> Result<Status, Failure> {
    let strange = || Failure::new(ErrorCode::ExecutionFailed, "Git printed a status of an unknown form");
    let mut status = Status::default();
    let mut fields = Fields::new(text);
    while let Some(field) = fields.next() {
        match field.first() {
            Some(b'#') => status.branch.note(field),
            Some(kind @ (b'1' | b'2' | b'u')) => {
                // The path is the rest, blanks included.
                let before_path = match kind {
                    b'1' => 8,
                    b'2' => 9,
                    _ => 10,
                };
                let parts: Vec<&[u8]> = field.splitn(before_path + 1, |byte| *byte == b' ').collect();
                let (Some(letters), Some(submodule)) = (parts.get(1), parts.get(2)) else {
                    return Err(strange());
                };
                let (Some(path), &[x, y]) = (parts.get(before_path), *letters) else { return Err(strange()) };
                let from = if *kind == b'2' { fields.next() } else { None };
                let Some(seen) = git.repository.seen_from_top(path) else { continue };
                let conflict = if *kind == b'u' { Conflict::of_letters(letters) } else { None };
                let change = |letter| if *kind == b'u' { None } else { Change::of_letter(letter) };
                status.entries.push(StatusEntry {
                    seen,
                    from: from.and_then(|from| git.repository.seen_from_top(from)),
                    index: change(x),
                    work_tree: change(y),
                    conflict,
                    submodule: submodule.first() == Some(&b'S'),
                    folder: false,
                });
            }
            _ => {}
        }
    }
    Ok(status)
}

impl Branch {
    fn note(&mut self, line: &[u8]) {
        let text = lossy(line);
        let mut words = text.splitn(3, ' ').skip(1);
        let (Some(key), Some(value)) = (words.next(), words.next()) else { return };
        match key {
            "branch.oid" if value != "(initial)" => self.commit = Some(value.to_owned()),
            "branch.head" if value != "(detached)" => self.name = Some(value.to_owned()),
            "branch.upstream" => self.upstream = Some(value.to_owned()),
            "branch.ab" => {
                let mut counts =
                    value.split(' ').map(|count| count.trim_start_matches(['+', '-']).parse().ok());
                self.ahead = counts.next().flatten();
                self.behind = counts.next().flatten();
            }
            _ => {}
        }
    }
}
