//! `git.log`: the commits that led to a state.

use crate::registry::prelude::*;
use bailiwick_contract::Detail;
use bailiwick_contract::limits::within;
use bailiwick_providers::git::{Commit, LogRequest, Person, Revision, head, log, resolve};
use bailiwick_providers::search::OutputBudget;

use super::open::{open, top};

/// How many commits one call gives, unless it says otherwise.
const DEFAULT_RESULTS: usize = 20;
/// How many it gives at most.
const MAX_RESULTS: usize = 500;

/// The operation.
pub struct Op;

/// Which commits.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// Where to begin: a branch, tag or hash, or such a name with `~2` or `^` behind it; default `HEAD`.
    pub from: Option<String>,
    /// Leave out what can be reached from here: `main` gives what a branch has beyond it.
    pub not_in: Option<String>,
    /// Only commits whose author's name or address holds this text, in any case.
    pub author: Option<String>,
    /// Only commits whose message holds this text, in any case.
    pub message: Option<String>,
    /// Only commits since this day or time, such as `2026-01-31` or `2026-01-31T10:00:00Z`.
    pub since: Option<String>,
    /// Only commits until this day or time.
    pub until: Option<String>,
}

/// How many, and how much of each.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// How many commits to give; default 20, at most 500.
    #[schemars(range(min = 1, max = 500))]
    pub max_results: Option<usize>,
    /// Follow only the first parent of merges; default false.
    pub first_parent: bool,
}

/// Commits, newest first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The top of the working tree; `null` if it is above the scope's folder, which then sees its own part only.
    pub repository: Option<String>,
    /// The commits.
    pub commits: Vec<CommitEntry>,
    /// The same, a line each: short hash, day, author, subject.
    pub text: String,
    /// Whether there are more; see `nextCursor`.
    pub truncated: bool,
    /// Continues where the list was cut: send it as `options.cursor` with the same request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One commit.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommitEntry {
    /// Its hash.
    pub hash: String,
    /// The hashes of its parents.
    pub parents: Vec<String>,
    /// Who wrote it.
    pub author: Person,
    /// When it was written.
    pub authored_at: String,
    /// Who recorded it, if someone else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committer: Option<Person>,
    /// When it was recorded, if at another time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed_at: Option<String>,
    /// The branches and tags that are at it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<String>,
    /// The first paragraph of its message, in one line.
    pub subject: String,
    /// The rest of its message; in git.log with `detail` `full` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl CommitEntry {
    /// Describes a commit.
    pub fn of(commit: Commit, detail: Detail, whole: bool) -> Self {
        let body = Some(commit.body).filter(|body| detail == Detail::Full && !body.is_empty());
        Self {
            committer: (commit.committer != commit.author).then_some(commit.committer),
            committed_at: (commit.committed_at != commit.authored_at).then_some(commit.committed_at),
            hash: commit.hash,
            parents: commit.parents,
            author: commit.author,
            authored_at: commit.authored_at,
            refs: if whole { commit.refs } else { Vec::new() },
            subject: commit.subject,
            body,
        }
    }
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.log",
        summary: "List commits, newest first",
        details: "With a `target` only commits that changed it. In a scope that is a part of a repository only \
                  commits that changed that part.",
        capabilities: &[&[Capability::GitRead, Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor, CommonOption::Detail],
        threads: Threads::Async,
        audited_fields: &[
            "from",
            "notIn",
            "author",
            "message",
            "since",
            "until",
            "maxResults",
            "firstParent",
        ],
        example: r#"{"op":"git.log","options":{"maxResults":5}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let most = within("maxResults", options.max_results, DEFAULT_RESULTS, 1..=MAX_RESULTS)?;
        let filters = filters(input, options)?;
        let from = revision("input.from", input.from.as_deref())?;
        let not_in = revision("input.notIn", input.not_in.as_deref())?;
        let start = permit.common().cursor.as_deref().map(position).transpose()?;

        let git = open(cx, permit).await?;
        let (begin, skip) = match (start, &from) {
            (Some((begin, skip)), _) => (Some(begin), skip),
            (None, Some(from)) => (Some(resolve(&git, "input.from", from).await?), 0),
            (None, None) => (head(&git).await?, 0),
        };
        let without = match &not_in {
            Some(not_in) => Some(resolve(&git, "input.notIn", not_in).await?),
            None => None,
        };
        let whole = git.repository.is_whole();
        let found = match &begin {
            None => Vec::new(),
            Some(begin) => {
                let paths = git.repository.pathspec().into_iter().collect();
                let (from, options) = (begin.clone(), filters);
                log(&git, &LogRequest { from, without, paths, options, skip, most: most + 1 }).await?
            }
        };
        let more = found.len() > most;
        let mut output = Output {
            repository: top(&git),
            commits: Vec::new(),
            text: String::new(),
            truncated: more,
            next_cursor: None,
        };
        let mut room = OutputBudget::new(permit.limits().max_output_bytes);
        for commit in found.into_iter().take(most) {
            let entry = CommitEntry::of(commit, permit.common().detail, whole);
            let line = line(&entry);
            if !room.take(&(&entry, &line)) {
                output.truncated = true;
                break;
            }
            output.text.push_str(&line);
            output.commits.push(entry);
        }
        if output.truncated {
            let begin = begin.unwrap_or_default();
            output.next_cursor = Some(format!("gl1.{begin}.{}", skip + output.commits.len()));
        }
        cx.summarize(format!("{} commits", output.commits.len()));
        Ok(output)
    }
}

fn revision(field: &str, text: Option<&str>) -> Result<Option<Revision>, Failure> {
    text.filter(|text| !text.is_empty()).map(|text| Revision::parse(field, text)).transpose()
}

/// Creates the words that choose commits. Each is one word, whatever the text in it.
fn filters(input: &Input, options: &Options) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    let texts = [("author", &input.author, "--author="), ("message", &input.message, "--grep=")];
    for (name, text, option) in texts {
        let Some(text) = text.as_deref().filter(|text| !text.is_empty()) else { continue };
        if text.len() > 500 || text.chars().any(char::is_control) {
            let field = format!("input.{name}");
            return Err(Failure::invalid(&field, format!("`{field}` must be one line of 500 bytes or less")));
        }
        words.push(format!("{option}{text}"));
    }
    if !words.is_empty() {
        words.extend(["--fixed-strings", "--regexp-ignore-case", "--all-match"].map(str::to_owned));
    }
    for (name, text, option) in [("since", &input.since, "--since="), ("until", &input.until, "--until=")] {
        let Some(text) = text.as_deref().filter(|text| !text.is_empty()) else { continue };
        let field = format!("input.{name}");
        let plain = text.len() <= 40 && text.chars().all(|c| c.is_ascii_digit() || "-:+.TZ ".contains(c));
        if !plain || !text.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Failure::invalid(&field, format!("`{field}` must be a day or a time"))
                .hint("Write it as 2026-01-31 or 2026-01-31T10:00:00Z."));
        }
        // A day alone would mean that day at this time of day.
        let time = match (text.len(), name) {
            (10, "since") => "T00:00:00Z",
            (10, _) => "T23:59:59Z",
            _ => "",
        };
        words.push(format!("{option}{text}{time}"));
    }
    if options.first_parent {
        words.push("--first-parent".to_owned());
    }
    Ok(words)
}

fn position(cursor: &str) -> Result<(String, usize), Failure> {
    let read = || {
        let (hash, skip) = cursor.strip_prefix("gl1.")?.split_once('.')?;
        let is_hash = matches!(hash.len(), 40 | 64) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some((hash.to_owned(), skip.parse().ok()?)).filter(|_| is_hash)
    };
    read().ok_or_else(|| {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of git.log")
            .hint("Send the `nextCursor` of an earlier git.log of the same request.")
    })
}

fn line(entry: &CommitEntry) -> String {
    let hash = entry.hash.get(..10).unwrap_or(&entry.hash);
    let day = entry.authored_at.get(..10).unwrap_or(&entry.authored_at);
    format!("{hash} {day} {}: {}\n", entry.author.name, entry.subject)
}
