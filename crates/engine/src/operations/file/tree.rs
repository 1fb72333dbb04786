//! `file.tree`: what lies beneath a folder, at a glance.

use std::collections::BTreeMap;

use crate::registry::prelude::*;
use bailiwick_contract::Detail;
use bailiwick_contract::limits::within;
use bailiwick_platform::fs::FileKind;
use bailiwick_policy::PermittedPath;
use bailiwick_providers::search::{Outline, OutlineBounds, OutputBudget, outline};

/// How deep a tree can be asked for.
const MAX_DEPTH: usize = 64;
/// How many entries one call shows at most.
const MAX_ENTRIES: usize = 10_000;

/// The operation.
pub struct Op;

/// How much to show.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// How many levels to show; default 3, at most 64.
    pub depth: Option<usize>,
    /// How many entries to show; default 500, at most 10000.
    pub max_entries: Option<usize>,
    /// How many characters of text to give; default 12000, 200 to 1000000; half of `maxOutputBytes` at most.
    pub budget: Option<usize>,
    /// Show names that start with a dot, too; default false.
    pub include_hidden: bool,
    /// Show what .gitignore and .ignore files leave out, too; default false.
    pub include_ignored: bool,
}

/// What lies beneath the folder.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The folder, relative to the scope's folder.
    pub path: String,
    /// One line for each entry, indented by two spaces a level; folders end with `/`. `…3` behind a folder
    /// says that it has three entries which are not shown, `… 3 more` that the folder above has three more.
    pub tree: String,
    /// The same as a list, level by level; with `detail` `full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entries: Option<Vec<TreeEntry>>,
    /// How many files are shown.
    pub files: usize,
    /// How many folders are shown.
    pub folders: usize,
    /// How many entries of the folders that are shown are not.
    pub left_out: u64,
    /// What rules left out, by reason: `closed`, `hidden`, `ignored`, `unreadable`. A folder counts once.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<&'static str, u64>,
    /// Whether `maxEntries` or the budget left something out; look into single folders to see more.
    pub truncated: bool,
}

/// An entry of the tree.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TreeEntry {
    /// Its path, relative to the scope's folder.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// How many entries of a folder are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.tree",
        summary: "Show the tree of a folder",
        details: "Breadth first and bounded: each level is shown before the next, and each folder says how many \
                  entries were left out. Leaves out what .gitignore and .ignore files name, hidden names, `.git` \
                  folders and closed files. Links are shown and not followed.",
        capabilities: &[&[Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Detail],
        audited_fields: &["depth", "maxEntries"],
        example: r#"{"op":"file.tree","options":{"depth":2}}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let bounds = bounds(options, permit.limits().max_output_bytes)?;
        let (dir, path) = permit.path().open_dir()?;
        let outline = outline(&path, dir, bounds, &cx.cancel)?;
        let full = permit.common().detail == Detail::Full;
        let output = output(&path, &outline, full, permit.limits().max_output_bytes);
        cx.summarize(format!("{} files, {} folders", output.files, output.folders));
        Ok(output)
    }
}

fn bounds(options: &Options, max_output_bytes: usize) -> Result<OutlineBounds, Failure> {
    let budget = within("budget", options.budget, 12_000, 200..=1_000_000)?;
    Ok(OutlineBounds {
        depth: within("depth", options.depth, 3, 1..=MAX_DEPTH)?,
        max_entries: within("maxEntries", options.max_entries, 500, 1..=MAX_ENTRIES)?,
        // A character can take more than one byte of JSON.
        max_characters: budget.min(max_output_bytes / 2),
        hidden: options.include_hidden,
        ignored: options.include_ignored,
    })
}

fn output(path: &PermittedPath, outline: &Outline, full: bool, max_output_bytes: usize) -> Output {
    let tree = outline.text();
    let shown = &outline.entries[1..];
    let mut truncated = outline.truncated;
    let entries = full.then(|| {
        let mut room = OutputBudget::new(max_output_bytes.saturating_sub(tree.len() * 2));
        let list = shown.iter().map(|entry| TreeEntry {
            path: path.show(&entry.path),
            kind: entry.kind,
            left_out: (entry.kind == FileKind::Dir).then_some(entry.left_out),
        });
        let fitting: Vec<TreeEntry> = list.take_while(|entry| room.take(entry)).collect();
        truncated |= fitting.len() < shown.len();
        fitting
    });
    Output {
        path: path.shown(),
        tree,
        entries,
        files: shown.iter().filter(|entry| entry.kind == FileKind::File).count(),
        folders: shown.iter().filter(|entry| entry.kind == FileKind::Dir).count(),
        left_out: outline.entries.iter().map(|entry| entry.left_out).sum(),
        skipped: outline.skipped.iter().map(|(reason, count)| (reason.as_str(), count)).collect(),
        truncated,
    }
}
