//! `file.find`: files and folders by their path.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use crate::registry::prelude::*;
use bailiwick_contract::Detail;
use bailiwick_contract::limits::within;
use bailiwick_contract::path::encode_name;
use bailiwick_contract::time::rfc3339;
use bailiwick_platform::fs::{FileKind, RelPath};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PermittedPath;
use bailiwick_providers::search::{
    FindAnswer, FindKind, FindOrder, FindQuery, FindTarget, FoundPath, Globs, OutputBudget, find,
};

/// How many results one call gives at most.
const MAX_RESULTS: usize = 10_000;
/// How far a cursor can lead.
const MAX_OFFSET: usize = 1_000_000;

/// The operation.
pub struct Op;

/// What to look for.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// A glob such as `*.rs` or `src/**/test_*.py`: without `/` it is about names at any depth, with `/`
    /// about paths. With `fuzzy`: words whose characters the path has in order.
    pub pattern: String,
}

/// How to look.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Rank paths by how well they fit the pattern, instead of matching a glob; default false.
    pub fuzzy: bool,
    /// What to find: `file` (default), `dir` or `any`.
    pub kind: Kind,
    /// The order: `path` (default), `modified` (newest first), `size` (largest first) or `score`
    /// (best fit first; the default with `fuzzy`).
    pub sort: Option<Sort>,
    /// How many results to give; default 200, at most 10000.
    pub max_results: Option<usize>,
    /// Ignore upper and lower case in a glob; default false. Fuzzy patterns in lower case always do.
    pub ignore_case: bool,
    /// Look at names that start with a dot, too; default false.
    pub include_hidden: bool,
    /// Look at what .gitignore and .ignore files leave out, too; default false.
    pub include_ignored: bool,
}

/// What is found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Regular files.
    #[default]
    File,
    /// Folders.
    Dir,
    /// Both.
    Any,
}

/// The order of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// By path.
    Path,
    /// The last changed first.
    Modified,
    /// The largest first.
    Size,
    /// The best fit first; needs `fuzzy`.
    Score,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The paths, in the order asked for; folders end with `/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    /// With `detail` `full`, instead of the paths: each with kind, size and time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<FoundEntry>>,
    /// How many there are in all.
    pub total: u64,
    /// What was left out, by reason: `closed`, `hidden`, `ignored`, `links`, `special`, `unreadable`,
    /// `tooDeep`. A folder that is left out counts once.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<&'static str, u64>,
    /// Whether there are more results than were given.
    pub truncated: bool,
    /// Give this as `options.cursor` to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One result with its facts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundEntry {
    /// The path, relative to the scope's folder.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes, if it is a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Its last change, RFC 3339 in UTC.
    pub modified: String,
    /// How well it fits a fuzzy pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<u64>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.find",
        summary: "Find files and folders by glob or fuzzy pattern",
        details: "Looks beneath the target folder. Leaves out what .gitignore and .ignore files name, hidden \
                  names, `.git` folders and closed files, and follows no symbolic links.",
        capabilities: &[&[Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor, CommonOption::Detail],
        audited_fields: &["pattern", "fuzzy", "kind", "sort", "maxResults"],
        example: r#"{"op":"file.find","input":{"pattern":"*.md"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        if input.pattern.is_empty() {
            return Err(Failure::invalid("input.pattern", "`input.pattern` is empty")
                .hint("Give a glob such as `*.rs`; `*` finds every file."));
        }
        let max_results = within("maxResults", options.max_results, 200, 1..=MAX_RESULTS)?;
        let offset = offset(permit.common().cursor.as_deref())?;
        let (dir, path) = permit.path().open_dir()?;
        let wanted = if options.fuzzy {
            FindTarget::Fuzzy(input.pattern.clone())
        } else {
            let globs = std::slice::from_ref(&input.pattern);
            FindTarget::Glob(Globs::compile(
                "input.pattern",
                globs,
                options.ignore_case,
                path.rel().as_bytes(),
            )?)
        };
        let order = order(options)?;
        let query = FindQuery {
            wanted,
            kind: match options.kind {
                Kind::File => FindKind::Files,
                Kind::Dir => FindKind::Folders,
                Kind::Any => FindKind::Any,
            },
            order,
            keep: offset + max_results,
            hidden: options.include_hidden,
            ignored: options.include_ignored,
        };
        let answer = find(&path, dir, &query, &cx.cancel)?;
        cx.summarize(format!("{} found", answer.total));
        let full = permit.common().detail == Detail::Full;
        Ok(output(&path, answer, offset, full, order, permit.limits().max_output_bytes))
    }
}

fn offset(cursor: Option<&str>) -> Result<usize, Failure> {
    let Some(cursor) = cursor else { return Ok(0) };
    cursor.parse().ok().filter(|offset| *offset <= MAX_OFFSET).ok_or_else(|| {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of this operation")
            .hint("Use the `nextCursor` of an earlier result, or leave the cursor out.")
    })
}

fn order(options: &Options) -> Result<FindOrder, Failure> {
    Ok(match options.sort {
        None if options.fuzzy => FindOrder::Score,
        None | Some(Sort::Path) => FindOrder::Path,
        Some(Sort::Modified) => FindOrder::Modified,
        Some(Sort::Size) => FindOrder::Size,
        Some(Sort::Score) if options.fuzzy => FindOrder::Score,
        Some(Sort::Score) => {
            return Err(Failure::invalid("options.sort", "globs have no score to sort by")
                .hint("Set `options.fuzzy` to true, or sort by `path`, `modified` or `size`."));
        }
    })
}

fn output(
    path: &PermittedPath,
    answer: FindAnswer,
    offset: usize,
    full: bool,
    order: FindOrder,
    max_output_bytes: usize,
) -> Output {
    let mut room = OutputBudget::new(max_output_bytes);
    let (mut paths, mut entries) = (Vec::new(), Vec::new());
    let mut end = offset;
    for found in answer.found.iter().skip(offset) {
        let shown = show(path, found);
        if full {
            // What has vanished since the walk is passed over.
            if let Some(entry) = facts(path, found, order) {
                if !room.take(&entry) {
                    break;
                }
                entries.push(entry);
            }
        } else {
            if !room.take(&shown) {
                break;
            }
            paths.push(shown);
        }
        end += 1;
    }
    let truncated = (end as u64) < answer.total;
    Output {
        paths: (!full).then_some(paths),
        entries: full.then_some(entries),
        total: answer.total,
        skipped: answer.skipped.iter().map(|(reason, count)| (reason.as_str(), count)).collect(),
        truncated,
        next_cursor: (truncated && end <= MAX_OFFSET).then(|| end.to_string()),
    }
}

fn show(path: &PermittedPath, found: &FoundPath) -> String {
    let mut shown = match RelPath::parse(&found.path) {
        Ok(rel) => path.show(&rel),
        Err(_) => encode_name(&found.path),
    };
    if found.is_folder {
        shown.push('/');
    }
    shown
}

/// Asks for the facts of a result; what has vanished since has none.
fn facts(path: &PermittedPath, found: &FoundPath, order: FindOrder) -> Option<FoundEntry> {
    let below = found.path.get(path.rel().as_bytes().len()..)?;
    let below = RelPath::parse(below.strip_prefix(b"/").unwrap_or(below)).ok()?;
    let place = below
        .components()
        .try_fold(path.clone(), |folder, name| folder.child(OsStr::from_bytes(name)))
        .ok()?;
    let stat = place.stat().ok()?;
    Some(FoundEntry {
        path: show(path, found),
        kind: stat.kind,
        size: (stat.kind == FileKind::File).then_some(stat.size),
        modified: rfc3339(stat.modified_ms()),
        score: (order == FindOrder::Score).then(|| u64::try_from(found.score()).unwrap_or(0)),
    })
}
