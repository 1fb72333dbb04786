//! `code.outline`: what a source file, or the files beneath a folder, define.

use std::collections::BTreeMap;

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_contract::limits::within;
use bailiwick_contract::path::{decode_name, encode_name};
use bailiwick_providers::code::outlines::{OutlineSource, SourceFiles, outlined};
use bailiwick_providers::code::{Definitions, Kind};
use bailiwick_providers::search::OutputBudget;

/// How many levels can be asked for.
const MAX_DEPTH: usize = 16;
/// How many entries one call gives at most.
const MAX_RESULTS: usize = 5_000;
/// How many files are read at a time.
const FILES_AT_A_TIME: usize = 16;
/// How many files that were not read are named.
const MAX_UNREAD: usize = 10;

/// The operation.
pub struct Op;

/// How much to show.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// How many levels: 1 for what a file itself defines, 2 (default) for the members too, at most 16.
    pub depth: Option<usize>,
    /// Show only these kinds; default all but `field` and `enumMember`.
    pub kinds: Vec<Kind>,
    /// How many entries to give; default 500, at most 5000.
    pub max_results: Option<usize>,
    /// How many characters to give, about; default 12000, 500 to 1000000.
    pub budget: Option<usize>,
}

/// What is defined.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The files that define something, in the order of their paths.
    pub files: Vec<File>,
    /// How many files were left out, by reason: `closed`, `hidden`, `ignored` and others of file.search. A folder
    /// counts once.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<&'static str, u64>,
    /// Source files that were not looked at, and why; at most 10.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadSource>,
    /// Whether there is more than was given.
    pub truncated: bool,
    /// Give this as `options.cursor` to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A file, and what it defines.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// The file, relative to the scope's folder.
    pub path: String,
    /// The language.
    pub language: &'static str,
    /// The definitions, in the order of the text: what one holds comes behind it, one level deeper.
    pub entries: Vec<Entry>,
    /// `true` for a file with syntax errors: something may be missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub with_errors: bool,
}

/// A definition.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The name; `Type.name` where it belongs to a type that it is not in.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The line where its name stands, from 1.
    pub line: u32,
    /// Its last line.
    pub end_line: u32,
    /// Its header in one line, without the body; at most 200 characters.
    pub signature: String,
    /// How many definitions it is in; left out for none.
    #[serde(skip_serializing_if = "is_zero")]
    pub level: usize,
    /// Whether it is only declared: a prototype, a forward declaration, an abstract method.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declared_only: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
pub(super) fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A source file that was not looked at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnreadSource {
    /// The file, relative to the scope's folder.
    pub path: String,
    /// Why.
    pub because: &'static str,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "code.outline",
        summary: "List what a source file, or the files of a folder, define",
        details: "Functions, types, constants and their members with lines and signatures, by grammar alone: types \
                  are not resolved. Leaves out what .gitignore and .ignore files name, hidden names and closed \
                  files, and follows no symbolic links. Read one of them with code.read_symbol.",
        capabilities: &[&[Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        audited_fields: &["depth", "kinds", "maxResults"],
        example: r#"{"op":"code.outline","target":"src/main.rs"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        let after = permit.common().cursor.as_deref().map(OutlinePosition::parse).transpose()?;
        let mut page = Page::new(options, permit.limits().max_output_bytes)?;
        match permit.path().open_dir() {
            Ok((dir, path)) => page.folder(&SourceFiles::beneath(&path, dir, &cx.cancel)?, after, cx)?,
            // What is no folder may be a file; opening it says what it is.
            Err(failure) if failure.code == ErrorCode::InvalidRequest => {
                let opened = permit.path().open_file()?;
                let file = outlined(opened, &cx.service.parsers, &cx.cancel);
                cx.cancel.check()?;
                let Some(file) = file else { return Err(no_source(&permit.path().shown())) };
                page.file(file, after.map_or(0, |after| after.entry));
            }
            Err(failure) => return Err(failure),
        }
        let output = page.output();
        let entries: usize = output.files.iter().map(|file| file.entries.len()).sum();
        cx.summarize(format!("{entries} definitions in {} files", output.files.len()));
        Ok(output)
    }
}

/// Says that a file is written in no language whose definitions can be found.
pub(super) fn no_source(path: &str) -> Failure {
    Failure::invalid("target", format!("`{path}` is in no language whose definitions can be found"))
        .hint("Read it with file.read, or search it with file.search.")
}

/// Where an answer ended: a file, and how many of its entries were given.
#[derive(Debug)]
struct OutlinePosition {
    path: Vec<u8>,
    entry: usize,
}

impl OutlinePosition {
    fn parse(cursor: &str) -> Result<Self, Failure> {
        let parts = cursor.strip_prefix("o1.").and_then(|rest| rest.split_once('.'));
        let parsed = parts.and_then(|(entry, path)| Some((entry.parse().ok()?, decode_name(path))));
        let (entry, path) = parsed.ok_or_else(|| {
            Failure::invalid("options.cursor", "`options.cursor` is not a cursor of code.outline")
                .hint("Send the `nextCursor` of an earlier code.outline of the same target.")
        })?;
        Ok(Self { path, entry })
    }

    fn show(&self) -> String {
        format!("o1.{}.{}", self.entry, encode_name(&self.path))
    }
}

/// An answer that is being made.
struct Page {
    depth: usize,
    kinds: Vec<Kind>,
    left: usize,
    room: OutputBudget,
    files: Vec<File>,
    skipped: BTreeMap<&'static str, u64>,
    unread: Vec<UnreadSource>,
    next: Option<OutlinePosition>,
}

impl Page {
    fn new(options: &Options, max_output_bytes: usize) -> Result<Self, Failure> {
        let budget = within("budget", options.budget, 12_000, 500..=1_000_000)?;
        let kinds = match options.kinds.is_empty() {
            true => {
                Kind::ALL.into_iter().filter(|it| !matches!(it, Kind::Field | Kind::EnumMember)).collect()
            }
            false => options.kinds.clone(),
        };
        Ok(Self {
            depth: within("depth", options.depth, 2, 1..=MAX_DEPTH)?,
            kinds,
            left: within("maxResults", options.max_results, 500, 1..=MAX_RESULTS)?,
            room: OutputBudget::new(budget.min(max_output_bytes)),
            files: Vec::new(),
            skipped: BTreeMap::new(),
            unread: Vec::new(),
            next: None,
        })
    }

    fn folder(
        &mut self,
        sources: &SourceFiles,
        after: Option<OutlinePosition>,
        cx: &Context,
    ) -> Result<(), Failure> {
        self.skipped = sources.skipped.iter().map(|(reason, count)| (reason.as_str(), count)).collect();
        let mut next = after.as_ref().map_or(0, |after| sources.place_of(&after.path));
        while next < sources.count() && self.next.is_none() {
            let read = sources.read(next, FILES_AT_A_TIME, &cx.service.parsers, &cx.cancel)?;
            for file in read.into_iter().flatten() {
                let resumed = after.as_ref().filter(|after| after.path == file.path.rel().as_bytes());
                self.file(file, resumed.map_or(0, |after| after.entry));
                if self.next.is_some() {
                    break;
                }
            }
            next += FILES_AT_A_TIME;
        }
        Ok(())
    }

    /// Takes what a file defines behind its first entries, as far as there is room.
    fn file(&mut self, file: OutlineSource, given: usize) {
        let path = file.path.shown();
        let definitions = match file.found {
            Ok(definitions) => definitions,
            Err(unread) => {
                if self.unread.len() < MAX_UNREAD {
                    self.unread.push(UnreadSource { path, because: unread.describe() });
                }
                return;
            }
        };
        let entries = self.entries(&definitions);
        let with_errors = !definitions.parsed_whole;
        // A file of which nothing was understood is named, too.
        if entries.len() <= given && !(with_errors && given == 0) {
            return;
        }
        let language = file.language.name();
        let mut shown = File { path, language, entries: Vec::new(), with_errors };
        let mut fits = self.left > 0 && self.room.take(&shown);
        for entry in entries.into_iter().skip(given) {
            fits = fits && self.left > 0 && self.room.take(&entry);
            if !fits {
                let entry = given + shown.entries.len();
                self.next = Some(OutlinePosition { path: file.path.rel().as_bytes().to_vec(), entry });
                break;
            }
            self.left -= 1;
            shown.entries.push(entry);
        }
        if !shown.entries.is_empty() || (fits && with_errors) {
            self.files.push(shown);
        }
    }

    /// Creates the entries of a file: of the kinds and levels that were asked for.
    fn entries(&self, definitions: &Definitions) -> Vec<Entry> {
        let mut levels: Vec<usize> = Vec::with_capacity(definitions.list.len());
        let mut entries = Vec::new();
        for definition in &definitions.list {
            let is_shown = self.kinds.contains(&definition.kind);
            // What is not shown is no level.
            let above = definition.container.and_then(|container| levels.get(container as usize)).copied();
            let level = above.unwrap_or(0);
            levels.push(level + usize::from(is_shown));
            if !is_shown || level >= self.depth {
                continue;
            }
            let name = match &definition.owner {
                Some(owner) => format!("{owner}.{}", definition.name),
                None => definition.name.clone(),
            };
            entries.push(Entry {
                name,
                kind: definition.kind,
                line: definition.name_at.line,
                end_line: definition.last_line,
                signature: definition.signature.clone(),
                level,
                declared_only: definition.declared_only,
            });
        }
        entries
    }

    fn output(self) -> Output {
        Output {
            files: self.files,
            skipped: self.skipped,
            unread: self.unread,
            truncated: self.next.is_some(),
            next_cursor: self.next.map(|next| next.show()),
        }
    }
}
