//! `git.blame`: which commit each line of a file comes from.

use std::collections::HashMap;
use std::ffi::OsString;

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_contract::time::rfc3339;
use bailiwick_providers::git::{Git, GitCall, Revision, lossy, resolve, whole, word};
use bailiwick_providers::search::OutputBudget;

use super::open::{open, top};

/// How many lines are asked for, unless the request says which.
const MAX_LINES: u64 = 5_000;

/// The operation.
pub struct Op;

/// In which state.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// The commit: a branch, tag or hash, or such a name with `~2` or `^` behind it; default the working tree.
    pub revision: Option<String>,
}

/// Which lines.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// The first line, counted from 1; default 1.
    #[schemars(range(min = 1))]
    pub start_line: Option<u64>,
    /// The last line, itself included; default the last of the file, at most 5000 lines in one call.
    #[schemars(range(min = 1))]
    pub end_line: Option<u64>,
}

/// Where lines come from.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The top of the working tree; `null` if it is above the scope's folder.
    pub repository: Option<String>,
    /// The path.
    pub path: String,
    /// Lines that follow each other and come from one commit.
    pub parts: Vec<Part>,
    /// Whether more is left; see `nextCursor`.
    pub truncated: bool,
    /// Continues where it was cut: send it as `options.cursor` with the same request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Lines of one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// The first line.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
    /// The commit; `null` for lines that are not committed.
    pub commit: Option<String>,
    /// Who wrote it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// When it was written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub authored_at: String,
    /// The first paragraph of the commit's message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// The lines.
    pub content: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.blame",
        summary: "Show which commit each line of a file comes from",
        details: "In a scope that is a part of a repository, lines can come from commits of the time when the file \
                  lay elsewhere; those are named by their hash only.",
        capabilities: &[&[Capability::GitRead, Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::Path(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        threads: Threads::Async,
        audited_fields: &["revision", "startLine", "endLine"],
        example: r#"{"op":"git.blame","target":"README.md","options":{"startLine":1,"endLine":20}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let revision = input.revision.as_deref().filter(|text| !text.is_empty());
        let revision = revision.map(|text| Revision::parse("input.revision", text)).transpose()?;
        let after = permit.common().cursor.as_deref().map(position).transpose()?;
        let start = after.or(options.start_line).unwrap_or(1);
        let wrong = |why: &str| Err(Failure::invalid("options.startLine", why.to_owned()));
        if start == 0 || options.end_line == Some(0) {
            return wrong("lines are counted from 1");
        }
        if options.end_line.is_some_and(|end| end < start) {
            return wrong("`options.endLine` is before the first line");
        }
        let last = start.saturating_add(MAX_LINES - 1);
        let end = options.end_line.map_or(last, |end| end.min(last));
        let git = open(cx, permit).await?;
        let found = blame(&git, revision.as_ref(), start, end).await?;
        let asked_for = options.end_line.unwrap_or(u64::MAX);
        let reached = found.last().map_or(start - 1, |part| part.end_line);
        let mut output = Output {
            repository: top(&git),
            path: git.repository.target.shown(),
            parts: Vec::new(),
            truncated: reached == end && end < asked_for,
            next_cursor: None,
        };
        let mut room = OutputBudget::new(permit.limits().max_output_bytes);
        let mut next = reached + 1;
        for part in found {
            if !room.take(&part) {
                next = part.start_line;
                output.truncated = true;
                break;
            }
            output.parts.push(part);
        }
        output.next_cursor = output.truncated.then(|| format!("gb1.{next}"));
        cx.summarize(format!("lines {start} to {}", next - 1));
        Ok(output)
    }
}

fn position(cursor: &str) -> Result<u64, Failure> {
    cursor.strip_prefix("gb1.").and_then(|line| line.parse().ok()).ok_or_else(|| {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of git.blame")
            .hint("Send the `nextCursor` of an earlier git.blame of the same file.")
    })
}

async fn blame(git: &Git, revision: Option<&Revision>, start: u64, end: u64) -> Result<Vec<Part>, Failure> {
    let shown = git.repository.target.shown();
    let below = git.repository.named_from_start(git.repository.target.rel()).filter(|path| !path.is_empty());
    let below = below.ok_or_else(|| Failure::invalid("target", format!("`{shown}` is no file")))?;
    let mut words: Vec<OsString> =
        ["blame", "--porcelain", "--no-textconv", "--encoding=UTF-8"].map(Into::into).into();
    words.push(format!("-L{start},{end}").into());
    if let Some(revision) = revision {
        words.push(resolve(git, "input.revision", revision).await?.into());
    }
    words.extend(["--".into(), word(below)]);
    let printed = git.run(GitCall::to_read(words)).await?;
    if printed.code != 0 && printed.messages.contains("no such path") {
        return Err(Failure::new(
            ErrorCode::NotFound,
            format!("`{shown}` is not known to Git in that state"),
        )
        .hint("git.status shows new files; git.log with this target lists its commits."));
    }
    if printed.code != 0 && printed.messages.contains("has only") {
        return Ok(Vec::new());
    }
    // What Git says of that file, or of what it took for one, stays unsaid.
    if printed.code != 0
        && ["object name list", "invalid object name"].iter().any(|it| printed.messages.contains(it))
    {
        return Err(Failure::new(
            ErrorCode::ExecutionFailed,
            "the list that the repository's `blame.ignoreRevsFile` names cannot be read",
        )
        .hint("For the user: name a file of the working tree there, or take the setting out."));
    }
    parse(git, &whole(printed)?)
}

/// What Git says of a commit where it first names it.
#[derive(Default, Clone)]
struct Facts {
    author: String,
    time: i64,
    subject: String,
    elsewhere: bool,
}

fn parse(git: &Git, text: &[u8]) -> Result<Vec<Part>, Failure> {
    let strange = || Failure::new(ErrorCode::ExecutionFailed, "Git printed lines of an unknown form");
    let mut known: HashMap<String, Facts> = HashMap::new();
    let mut parts: Vec<Part> = Vec::new();
    let (mut hash, mut line) = (String::new(), 0);
    let mut is_header = true;
    for row in text.split(|byte| *byte == b'\n') {
        if let Some(content) = row.strip_prefix(b"\t") {
            is_header = true;
            let facts = known.get(&hash).cloned().unwrap_or_default();
            let content = format!("{}\n", lossy(content));
            let commit = (!hash.bytes().all(|byte| byte == b'0')).then(|| hash.clone());
            match parts.last_mut() {
                Some(part) if part.commit == commit && part.end_line + 1 == line => {
                    part.end_line = line;
                    part.content.push_str(&content);
                }
                _ => {
                    let told = commit.is_some() && !facts.elsewhere;
                    parts.push(Part {
                        start_line: line,
                        end_line: line,
                        author: if told { facts.author } else { String::new() },
                        authored_at: if told { rfc3339(facts.time * 1_000) } else { String::new() },
                        subject: if told { facts.subject } else { String::new() },
                        commit,
                        content,
                    });
                }
            }
            continue;
        }
        let row_text = lossy(row);
        if is_header {
            if row.is_empty() {
                continue;
            }
            let mut words = row_text.split(' ');
            let (Some(name), Some(_), Some(at)) = (words.next(), words.next(), words.next()) else {
                return Err(strange());
            };
            hash = name.to_owned();
            line = at.parse().map_err(|_| strange())?;
            known.entry(hash.clone()).or_default();
            is_header = false;
            continue;
        }
        let Some(facts) = known.get_mut(&hash) else { return Err(strange()) };
        match row_text.split_once(' ') {
            Some(("author", name)) => name.clone_into(&mut facts.author),
            Some(("author-time", time)) => facts.time = time.parse().unwrap_or(0),
            Some(("summary", subject)) => subject.clone_into(&mut facts.subject),
            // A path that Git would quote is none of ours to compare: it counts as seen by its beginning.
            Some(("filename", _)) => {
                let name = row.strip_prefix(b"filename ").unwrap_or_default();
                facts.elsewhere = !git.repository.is_whole() && git.repository.seen_from_top(name).is_none();
            }
            _ => {}
        }
    }
    Ok(parts)
}
