//! `git.show`: one commit with what it changed, or a file as it was.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::registry::prelude::*;
use bailiwick_contract::{Detail, ErrorCode};
use bailiwick_providers::git::{
    Commit, Counts, DiffRange, Git, GitCall, LogRequest, Person, Revision, log, resolve, touches_scope,
    whole, word,
};

use super::log::CommitEntry;
use super::open::{open, top};
use super::patch_page::{self, FileEntry, PatchStyle, check_context};

/// The largest file that is checked.
const MAX_FILE_BYTES: usize = 32 << 20;
/// What the fields around the content take of the result's size.
const REST_BYTES: usize = 2_500;

/// The operation.
pub struct Op;

/// Which commit.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// The commit: a branch, tag or hash, or such a name with `~2` or `^` behind it; default `HEAD`.
    pub revision: Option<String>,
}

/// What is shown of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Give the file that `target` names as it was in this commit, instead of what the commit changed; default false.
    pub content: bool,
    /// With `content`: give the bytes in base64; default false, which gives text.
    pub base64: bool,
    /// Lines around each change; default 3, at most 100.
    #[schemars(range(max = 100))]
    pub context: u32,
    /// Give only the files with their counts; default false.
    pub stat_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { content: false, base64: false, context: 3, stat_only: false }
    }
}

/// A commit, and what it changed or held.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The top of the working tree; `null` if it is above the scope's folder, which then sees its own part only.
    pub repository: Option<String>,
    /// The commit.
    pub commit: CommitEntry,
    /// How much it changed in all, against its first parent; left out with `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// The files of this page, in the order of paths.
    pub files: Vec<FileEntry>,
    /// Their differences as a unified patch, with paths from the scope's folder.
    pub patch: String,
    /// With `content`: the file as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// With `content`: the size of the file in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// Whether more is left; see `nextCursor`.
    pub truncated: bool,
    /// Continues where it was cut: send it as `options.cursor` with the same request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "git.show",
        summary: "Show a commit with its changes, or a file as it was",
        details: "The changes are those against the first parent, as far as they are in the scope and `target` \
                  names them. Sensitive files are named and counted, their content is not shown. In a scope that is \
                  a part of a repository a commit that changed nothing of it is not shown.",
        capabilities: &[&[Capability::GitRead, Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        threads: Threads::Async,
        audited_fields: &["revision", "content", "base64", "context", "statOnly"],
        example: r#"{"op":"git.show","input":{"revision":"HEAD"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        check_context(options.context)?;
        if options.base64 && !options.content {
            return Err(Failure::invalid("options.base64", "`options.base64` goes with `content` only"));
        }
        let name = input.revision.as_deref().filter(|text| !text.is_empty());
        let revision = name.map_or(Ok(Revision::head()), |name| Revision::parse("input.revision", name))?;
        let git = open(cx, permit).await?;
        let hash = resolve(&git, "input.revision", &revision).await?;
        if options.content {
            // The state of a file is the scope's, whichever commit recorded it.
            return content(cx, permit, &git, hash, options.base64).await;
        }
        let commit = one(&git, hash).await?;
        if !touches_scope(&git, &commit).await? {
            let name = revision.as_str();
            return Err(Failure::new(
                ErrorCode::NotFound,
                format!("`{name}` changed nothing in the part of the repository that is the scope"),
            )
            .hint("git.log lists the commits that did."));
        }
        let between = match commit.parents.first() {
            Some(parent) => DiffRange::Commits(parent.clone(), commit.hash.clone()),
            None => DiffRange::Made(commit.hash.clone()),
        };
        let commit = CommitEntry::of(commit, Detail::Full, git.repository.is_whole());
        let message = serde_json::to_string(&commit).map_or(0, |text| text.len());
        let showing = PatchStyle {
            context: (!options.stat_only).then_some(options.context),
            room: permit.limits().max_output_bytes.saturating_sub(message),
        };
        let page = patch_page::show(cx, permit, &git, &between, showing).await?;
        Ok(Output {
            repository: top(&git),
            commit,
            counts: Some(page.counts),
            files: page.files,
            patch: page.patch,
            content: None,
            size: None,
            truncated: page.next_cursor.is_some(),
            next_cursor: page.next_cursor,
        })
    }
}

async fn one(git: &Git, hash: String) -> Result<Commit, Failure> {
    let request = LogRequest { from: hash, most: 1, ..LogRequest::default() };
    let mut found = log(git, &request).await?;
    found.pop().ok_or_else(|| Failure::new(ErrorCode::ExecutionFailed, "Git printed nothing of the commit"))
}

/// Shows a file as it was, whole or from where the cursor says.
async fn content(
    cx: &Context,
    permit: &Permit,
    git: &Git,
    hash: String,
    as_base64: bool,
) -> Result<Output, Failure> {
    let shown = git.repository.target.shown();
    let below = git.repository.named_from_start(git.repository.target.rel()).filter(|path| !path.is_empty());
    let below = below.ok_or_else(|| {
        Failure::invalid("target", "`options.content` needs a file as `target`")
            .hint("Name the file by `target`.")
    })?;
    let missing = || {
        Failure::new(ErrorCode::NotFound, format!("`{shown}` is no file of that commit"))
            .hint("git.log with this target lists the commits that changed it.")
    };
    // Asked by path, literally, and then by the object's hash: no text conversion is at work.
    let top_path = git.repository.to_top(below);
    let words = ["ls-tree", "-z", "--full-tree", "--end-of-options"];
    let asked = GitCall::to_read(words).word(&hash).word("--").word(word(&top_path));
    let listed = whole(git.run(asked).await?)?;
    let entry = listed.split(|byte| *byte == 0).next().unwrap_or_default();
    let tab = entry.iter().position(|byte| *byte == b'\t').ok_or_else(missing)?;
    let facts = String::from_utf8_lossy(&entry[..tab]).into_owned();
    let facts: Vec<&str> = facts.split(' ').collect();
    let &[_, "blob", object] = facts.as_slice() else { return Err(missing()) };
    if entry[tab + 1..] != *top_path {
        return Err(missing());
    }
    let printed = git.run(GitCall::to_read(["cat-file", "blob", object]).keep(MAX_FILE_BYTES)).await?;
    if !printed.is_whole {
        return Err(Failure::new(
            ErrorCode::ExecutionFailed,
            format!("`{shown}` is larger than 32 MiB there"),
        ));
    }
    let bytes = printed.success()?;
    let mut commit = one(git, hash).await?;
    if !touches_scope(git, &commit).await? {
        // A commit that is not the scope's is named by its hash and time, and no more.
        let nobody = || Person { name: String::new(), email: String::new() };
        commit = Commit { subject: String::new(), author: nobody(), committer: nobody(), ..commit };
    }
    let commit = CommitEntry::of(commit, Detail::Concise, git.repository.is_whole());
    let room = permit.limits().max_output_bytes.saturating_sub(REST_BYTES).max(200);
    let from = permit.common().cursor.as_deref().map_or(Ok(0), |cursor| position(cursor, object))?;
    let rest = bytes.get(from..).unwrap_or_default();
    let (content, used) = if as_base64 {
        let used = rest.len().min(room / 4 * 3);
        (STANDARD.encode(&rest[..used]), used)
    } else {
        let text = std::str::from_utf8(rest).map_err(|_| {
            Failure::invalid("options.base64", format!("`{shown}` is no text in UTF-8 there"))
                .hint("Set `options.base64` to true for its bytes.")
        })?;
        let used = fitting(text, room);
        (text[..used].to_owned(), used)
    };
    let left = from + used < bytes.len();
    cx.summarize(format!("{used} bytes"));
    Ok(Output {
        repository: top(git),
        commit,
        counts: None,
        files: Vec::new(),
        patch: String::new(),
        content: Some(content),
        size: Some(bytes.len()),
        truncated: left,
        next_cursor: left.then(|| format!("gc1.{object}.{}", from + used)),
    })
}

fn position(cursor: &str, object: &str) -> Result<usize, Failure> {
    let read = || {
        let (known, from) = cursor.strip_prefix("gc1.")?.split_once('.')?;
        from.parse().ok().filter(|_| known == object)
    };
    read().ok_or_else(|| {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of this file")
            .hint("Send the `nextCursor` of an earlier git.show of the same file and commit.")
    })
}

/// Returns how much of a text fits as JSON, up to the end of a line if one fits.
fn fitting(text: &str, room: usize) -> usize {
    let (mut used, mut end, mut line) = (0, 0, 0);
    for c in text.chars() {
        used += match c {
            '"' | '\\' | '\n' | '\r' | '\t' => 2,
            c if c.is_control() => 6,
            c => c.len_utf8(),
        };
        if used > room {
            return if line > 0 { line } else { end };
        }
        end += c.len_utf8();
        if c == '\n' {
            line = end;
        }
    }
    end
}
