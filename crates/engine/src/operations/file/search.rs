//! `file.search`: the lines of files that match a regular expression or a text.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::registry::prelude::*;
use bailiwick_contract::limits::within;
use bailiwick_contract::path::{decode_name, encode_name};
use bailiwick_contract::{ErrorCode, OneOrMany};
use bailiwick_platform::fs::RelPath;
use bailiwick_policy::PermittedPath;
use bailiwick_providers::search::{
    ContentQuery, FileTypes, Globs, MatchMode, MatchedFile, MatchedLine, OutputBudget, QuerySettings,
    ResultPosition, Search, SearchAnswer, search, search_file,
};

/// How many results one call gives at most.
const MAX_RESULTS: usize = 10_000;
/// How many lines of context one match can have on each side.
const MAX_CONTEXT: usize = 50;

/// The operation.
pub struct Op;

/// What to look for.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// A regular expression in the syntax of Rust's `regex` crate (no look-around, no back-references);
    /// plain text with `options.literal`.
    pub query: String,
}

/// Where and how to look, and how much to show.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Take the query as plain text; default false.
    pub literal: bool,
    /// Ignore upper and lower case; default false.
    pub ignore_case: bool,
    /// Match only between the borders of words; default false.
    pub word: bool,
    /// Let a match span lines; default false. `(?s)` in the query lets `.` match the end of a line.
    pub multiline: bool,
    /// Look only into files that one of these globs chooses: without `/` by name, with `/` by path from the
    /// scope's folder or the target. `!` in front excludes.
    pub glob: Option<OneOrMany>,
    /// Look only into files of these types, such as `rust`, `py` or `ts`. `!` in front excludes.
    pub types: Option<OneOrMany>,
    /// Lines to show before each match; default 0, at most 50.
    pub before: usize,
    /// Lines to show after each match; default 0, at most 50.
    pub after: usize,
    /// How many results to give; default 100, at most 10000.
    pub max_results: Option<usize>,
    /// How many matching lines to take from one file; default no limit.
    pub max_per_file: Option<usize>,
    /// Give only the paths of files that match; default false.
    pub files_only: bool,
    /// Give only how many lines match in each file; default false.
    pub count_only: bool,
    /// Look into files whose names, or whose folders' names, start with a dot, too; default false.
    pub include_hidden: bool,
    /// Look into what .gitignore and .ignore files leave out, too; default false.
    pub include_ignored: bool,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The lines that match, in the order of paths and lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<Vec<Match>>,
    /// The files that match; with `filesOnly`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// How many lines match in each file; with `countOnly`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Vec<FileCount>>,
    /// How many lines match in all, at most `maxPerFile` of each file; left out where the search ended before all files were seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_matches: Option<u64>,
    /// How many files match in all; left out where the search ended before all files were seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_files: Option<u64>,
    /// How many files were searched, up to the last result.
    pub files_searched: u64,
    /// What was left out, by reason: `binary` (has a NUL byte), `closed`, `hidden`, `ignored`, `links`,
    /// `special`, `tooDeep`, `tooLarge`, `unreadable`. A folder that is left out counts once.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<&'static str, u64>,
    /// The first few paths of each reason that is not a rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_examples: BTreeMap<&'static str, Vec<String>>,
    /// What searched.
    pub engine: &'static str,
    /// How long the search took, in milliseconds.
    pub elapsed_ms: f64,
    /// Whether there are more results than were given.
    pub truncated: bool,
    /// Give this as `options.cursor` to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A line that matches.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Match {
    /// The file, relative to the scope's folder.
    pub path: String,
    /// The line's number, from 1.
    pub line: u64,
    /// The last line's number, where the match spans lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u64>,
    /// Where in the line the first match begins, in characters from 1.
    pub column: u64,
    /// The line; a long one is cut to 300 characters around the match.
    pub preview: String,
    /// The lines before it, but for those that the match before it has shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The lines after it, up to the next match.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
}

/// How many lines of a file match.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileCount {
    /// The file, relative to the scope's folder.
    pub path: String,
    /// How many of its lines match.
    pub count: u64,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.search",
        summary: "Search the text of files for a regular expression or a text",
        details: "Looks into the target file, or all files beneath the target folder. Leaves out what .gitignore \
                  and .ignore files name, hidden names, `.git` folders, closed files, binary files and files \
                  beyond 256 MiB, and follows no symbolic links. The same search gives the same results in the \
                  same order.",
        capabilities: &[&[Capability::FsRead, Capability::SearchRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Search),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        audited_fields: &["query", "literal", "glob", "types", "filesOnly", "countOnly", "maxResults"],
        example: r#"{"op":"file.search","input":{"query":"TODO"},"options":{"literal":true}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let began = Instant::now();
        let mut question = question(permit, input, options)?;
        let path = permit.path();
        let answer = match path.open_dir() {
            Ok((dir, path)) => {
                let globs = OneOrMany::list(options.glob.as_ref());
                question.globs = Globs::compile("options.glob", globs, false, path.rel().as_bytes())?;
                search(&path, dir, &question, &cx.cancel)?
            }
            // What is no folder may be a file; opening it says what it is.
            Err(failure) if failure.code == ErrorCode::InvalidRequest => {
                search_file(path.open_file()?, &question, &cx.cancel)?
            }
            Err(failure) => return Err(failure),
        };
        let mut output = output(path, answer, &question, permit.limits().max_output_bytes);
        output.elapsed_ms = began.elapsed().as_micros() as f64 / 1_000.0;
        cx.summarize(summary(&output));
        Ok(output)
    }
}

/// Brings the request into the provider's terms.
fn question(permit: &Permit, input: &Input, options: &Options) -> Result<Search, Failure> {
    let max_results = within("maxResults", options.max_results, 100, 1..=MAX_RESULTS)?;
    if options.max_per_file == Some(0) {
        return Err(Failure::invalid("options.maxPerFile", "`options.maxPerFile` must be 1 or more"));
    }
    for (field, lines) in [("options.before", options.before), ("options.after", options.after)] {
        if lines > MAX_CONTEXT {
            return Err(Failure::invalid(field, format!("`{field}` must be at most {MAX_CONTEXT}"))
                .hint("Read the file with file.read to see more of it."));
        }
    }
    let mode = match (options.files_only, options.count_only) {
        (false, false) => MatchMode::Lines,
        (true, false) => MatchMode::Files,
        (false, true) => MatchMode::Counts,
        (true, true) => {
            return Err(Failure::invalid("options", "`filesOnly` and `countOnly` exclude each other")
                .hint("`countOnly` names the files, too."));
        }
    };
    let settings = QuerySettings {
        literal: options.literal,
        ignore_case: options.ignore_case,
        word: options.word,
        multiline: options.multiline,
    };
    Ok(Search {
        query: ContentQuery::compile(&input.query, settings)?,
        mode,
        globs: Globs::compile("options.glob", OneOrMany::list(options.glob.as_ref()), false, b"")?,
        types: FileTypes::compile(OneOrMany::list(options.types.as_ref()))?,
        before: options.before,
        after: options.after,
        max_per_file: options.max_per_file.unwrap_or(usize::MAX),
        // One more shows whether there are more.
        max_results: max_results + 1,
        max_weight: permit.limits().max_output_bytes,
        hidden: options.include_hidden,
        ignored: options.include_ignored,
        after_place: permit.common().cursor.as_deref().map(place).transpose()?,
    })
}

/// Reads a cursor: how many results of a file were given, and the file.
fn place(cursor: &str) -> Result<ResultPosition, Failure> {
    let parts = cursor.split_once(':').and_then(|(results, path)| Some((results.parse().ok()?, path)));
    let Some((results, path)) = parts else {
        return Err(Failure::invalid("options.cursor", "`options.cursor` is not a cursor of this operation")
            .hint("Use the `nextCursor` of an earlier result of the same search, or leave the cursor out."));
    };
    Ok(ResultPosition { path: decode_name(path), results })
}

/// Puts into the answer what fits, in order.
fn output(
    target: &PermittedPath,
    mut answer: SearchAnswer,
    question: &Search,
    max_output_bytes: usize,
) -> Output {
    let files = std::mem::take(&mut answer.files);
    let mut room = OutputBudget::new(max_output_bytes);
    let mut left = question.max_results - 1;
    let mut given = ResultList::default();
    let mut last: Option<(ResultPosition, &MatchedFile)> = None;
    let mut cut = answer.more;
    'files: for (path, file) in &files {
        let shown = show(target, path);
        let before = match &question.after_place {
            Some(place) if place.path == *path => place.results,
            _ => 0,
        };
        for result in 0..file.results() {
            if left == 0 || !given.take(&mut room, question.mode, &shown, file, result) {
                cut = true;
                break 'files;
            }
            left -= 1;
            last = Some((ResultPosition { path: path.clone(), results: before + result + 1 }, file));
        }
    }
    let whole = question.mode == MatchMode::Counts || !cut;
    let tally = match &last {
        Some((_, file)) if !whole => answer.tally_through(file),
        _ => answer.tally(),
    };
    let last_path = last.as_ref().filter(|_| !whole).map(|(place, _)| place.path.as_slice());
    let mut skipped_examples: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for (reason, path) in answer.examples(last_path) {
        skipped_examples.entry(reason.as_str()).or_default().push(show(target, &path));
    }
    let totals = whole && question.after_place.is_none();
    Output {
        matches: (question.mode == MatchMode::Lines).then_some(given.matches),
        files: (question.mode == MatchMode::Files).then_some(given.files),
        counts: (question.mode == MatchMode::Counts).then_some(given.counts),
        total_matches: (totals && question.mode != MatchMode::Files).then_some(tally.matched_lines),
        total_files: totals.then_some(tally.matched_files),
        files_searched: tally.searched,
        skipped: tally.skipped.iter().map(|(reason, count)| (reason.as_str(), count)).collect(),
        skipped_examples,
        engine: "grep-searcher",
        elapsed_ms: 0.0,
        truncated: cut,
        next_cursor: last
            .filter(|_| cut)
            .map(|(place, _)| format!("{}:{}", place.results, encode_name(&place.path))),
    }
}

/// The results that an answer holds; one of the lists is used.
#[derive(Default)]
struct ResultList {
    matches: Vec<Match>,
    files: Vec<String>,
    counts: Vec<FileCount>,
}

impl ResultList {
    /// Takes one result of a file, if there is room for it.
    fn take(
        &mut self,
        room: &mut OutputBudget,
        mode: MatchMode,
        path: &str,
        file: &MatchedFile,
        result: usize,
    ) -> bool {
        match mode {
            MatchMode::Lines => {
                let Some(line) = file.lines.get(result) else { return true };
                push(room, &mut self.matches, line_of(path, line))
            }
            MatchMode::Files => push(room, &mut self.files, path.to_owned()),
            MatchMode::Counts => {
                push(room, &mut self.counts, FileCount { path: path.to_owned(), count: file.count })
            }
        }
    }
}

fn push<T: Serialize>(room: &mut OutputBudget, list: &mut Vec<T>, result: T) -> bool {
    let fits = room.take(&result);
    if fits {
        list.push(result);
    }
    fits
}

fn line_of(path: &str, line: &MatchedLine) -> Match {
    Match {
        path: path.to_owned(),
        line: line.line,
        end_line: line.end_line,
        column: line.column,
        preview: line.preview.clone(),
        before: line.before.clone(),
        after: line.after.clone(),
    }
}

fn show(target: &PermittedPath, path: &[u8]) -> String {
    match RelPath::parse(path) {
        Ok(rel) => target.show(&rel),
        Err(_) => encode_name(path),
    }
}

fn summary(output: &Output) -> String {
    let more = if output.truncated { " or more" } else { "" };
    let lines = output.matches.as_ref().map(|matches| {
        let mut paths: Vec<&str> = matches.iter().map(|found| found.path.as_str()).collect();
        paths.dedup();
        format!("{}{more} matches in {} files", matches.len(), paths.len())
    });
    let files = output.files.as_ref().map(|files| format!("matches in {}{more} files", files.len()));
    let counts = output.counts.as_ref().map(|counts| {
        let total: u64 = counts.iter().map(|file| file.count).sum();
        format!("{total}{more} matches in {} files", counts.len())
    });
    lines.or(files).or(counts).unwrap_or_default()
}
