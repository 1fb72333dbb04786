//! `code.read_symbol`: the source of one definition, by its name.

use crate::registry::prelude::*;
use bailiwick_contract::ErrorCode;
use bailiwick_contract::fields::nearest;
use bailiwick_policy::{OpenedFile, PermittedPath};
use bailiwick_providers::code::index::WantedName;
use bailiwick_providers::code::{Definition, Definitions, Kind, MAX_BYTES, SourceProblem, language_of};
use bailiwick_providers::file::{ReadRequest, json_len, read_content};
use bailiwick_providers::search::OutputBudget;
use bailiwick_providers::syntax::Language;

use super::outline::no_source;
use super::search_symbols::place;

/// How many lines of context can be asked for.
const MAX_CONTEXT: u32 = 100;
/// How long a name can be, in bytes.
const MAX_NAME_BYTES: usize = 400;
/// How many candidates are told.
const MAX_CANDIDATES: usize = 20;
/// How many names are told that are like one that was not found.
const MAX_NEAREST: usize = 5;
/// What an answer needs beside the source.
const FACTS_BYTES: usize = 1_500;

/// The operation.
pub struct Op;

/// Which definition.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// Its name: `parse`, or with what it is in, as `Config.parse` or `Config::parse`.
    pub name: String,
}

/// Which of several, and how much around it.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Take only a definition of this kind.
    pub kind: Option<Kind>,
    /// Take the definition that has this line, from 1; needs a file as the target.
    pub line: Option<u32>,
    /// How many lines to show before and after it; default 0, at most 100.
    pub context: u32,
    /// Put the line's number and a tab before each line; default false.
    pub line_numbers: bool,
}

/// The definition, or those among which to choose.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The definition; left out where several have the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<Symbol>,
    /// Where several have the name: all of them, at most 20. Choose by `target`, `options.line` or `options.kind`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// Whether there is more: more lines (see `nextLine`), or more candidates.
    pub truncated: bool,
}

/// A definition with its source.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Symbol {
    /// The name, with those of what it is in.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The file, relative to the scope's folder.
    pub path: String,
    /// The language.
    pub language: &'static str,
    /// The whole lines of the definition, with its doc comment and its attributes or decorators.
    pub content: String,
    /// The first line of `content`, from 1.
    pub start_line: u32,
    /// The last line of `content`.
    pub end_line: u32,
    /// The line where its name stands.
    pub line: u32,
    /// The version of the whole file, for `ifVersion`.
    pub version: String,
    /// Where the source was cut: the next line, for `options.startLine` of file.read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_line: Option<u32>,
    /// Whether the file has syntax errors: the definition may end elsewhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub with_errors: bool,
}

/// A definition among several.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The name, with those of what it is in.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The file, relative to the scope's folder.
    pub path: String,
    /// The line where its name stands, for `options.line`.
    pub line: u32,
    /// Its last line.
    pub end_line: u32,
    /// Its header in one line.
    pub signature: String,
    /// Whether it is only declared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declared_only: bool,
    /// Whether its file has syntax errors: it may end elsewhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub with_errors: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "code.read_symbol",
        summary: "Read the source of one function, type or other definition",
        details: "In the target file, or anywhere beneath the target folder by the index of code.search_symbols. Where \
                  several have the name, the one with a body is preferred to declarations and to `impl` blocks; \
                  where that leaves more than one, they are listed. By grammar alone: types are not resolved.",
        capabilities: &[&[Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        audited_fields: &["name", "kind", "line"],
        example: r#"{"op":"code.read_symbol","target":"src/config.rs","input":{"name":"Config.load"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let name = WantedName::parse(&input.name).filter(|_| input.name.len() <= MAX_NAME_BYTES);
        let Some(name) = name else {
            return Err(Failure::invalid("input.name", "`input.name` must have 1 to 400 bytes").hint(
                "Give a name such as `parse` or `Config.parse`; code.outline lists what a file defines.",
            ));
        };
        if options.context > MAX_CONTEXT {
            return Err(Failure::invalid("options.context", "`options.context` must be at most 100")
                .hint("Read the file with file.read to see more of it."));
        }
        let question = Question { name, options, room: permit.limits().max_output_bytes };
        let output = match permit.path().open_dir() {
            Ok((_, folder)) => question.beneath(cx, permit, &folder)?,
            // What is no folder may be a file; opening it says what it is.
            Err(failure) if failure.code == ErrorCode::InvalidRequest => {
                question.in_file(cx, permit.path().open_file()?)?
            }
            Err(failure) => return Err(failure),
        };
        cx.summarize(match &output.symbol {
            Some(symbol) => {
                format!("lines {} to {} of `{}`", symbol.start_line, symbol.end_line, symbol.path)
            }
            None => format!("{} candidates", output.candidates.len()),
        });
        Ok(output)
    }
}

struct Question<'a> {
    name: WantedName,
    options: &'a Options,
    room: usize,
}

/// A file whose definitions are known.
struct Source {
    path: PermittedPath,
    language: Language,
    text: String,
    version: String,
    definitions: Definitions,
}

impl Question<'_> {
    /// Looks for the name in an open file.
    fn in_file(&self, cx: &Context, opened: OpenedFile) -> Result<Output, Failure> {
        let source = Source::read(cx, opened)?;
        let list = &source.definitions.list;
        let all: Vec<usize> = (0..list.len()).filter(|at| self.fits(&source.definitions, *at)).collect();
        let chosen = match self.options.line {
            Some(line) => at_line(list, &all, line),
            None => best(list, &all),
        };
        match chosen.as_slice() {
            [] => Err(self.not_found(&source, &all)),
            [only] => Ok(Output {
                truncated: false,
                candidates: Vec::new(),
                symbol: Some(self.symbol(&source, *only)),
            }
            .marked()),
            several => {
                Ok(candidates(several.iter().map(|at| source.candidate(*at)), several.len(), self.room))
            }
        }
    }

    /// Looks for the name in the index, and reads what is found from its file.
    fn beneath(&self, cx: &Context, permit: &Permit, folder: &PermittedPath) -> Result<Output, Failure> {
        if self.options.line.is_some() {
            return Err(Failure::invalid("options.line", "`options.line` needs a file as the target")
                .hint("Give the file's path as `target`."));
        }
        let scope = permit.scope().map_or("", |scope| scope.id());
        let kinds: Vec<Kind> = self.options.kind.into_iter().collect();
        let place = place(folder)?;
        let found = cx.service.symbols.find_definitions(
            scope,
            &place,
            &self.name,
            &kinds,
            MAX_CANDIDATES,
            &cx.cancel,
        )?;
        if !found.standing.complete {
            cx.warn("source files are still being read: there may be more definitions of this name");
        }
        // As in one file: what has a body before what only declares, and both before blocks of a type.
        let rank =
            |shown: &bailiwick_providers::code::index::SymbolHit| rank(shown.kind, shown.declared_only);
        let least = found.shown.iter().map(rank).min();
        let best: Vec<_> = found.shown.iter().filter(|shown| Some(rank(shown)) == least).collect();
        match best.as_slice() {
            [] => {
                let unread = found.standing.partial.values().sum();
                let failure = self.absent(&format!("beneath `{}`", folder.shown()), &found.nearest, unread);
                Err(failure.hint("code.search_symbols finds parts of names."))
            }
            [only] => {
                let source = Source::read(cx, only.path.open_file()?)?;
                let list = &source.definitions.list;
                let at = list.iter().position(|it| {
                    it.name == only.name && it.kind == only.kind && it.name_at.line == only.line
                });
                let Some(at) = at else {
                    return Err(Failure::new(
                        ErrorCode::Conflict,
                        format!("`{}` changes while it is read", source.path.shown()),
                    )
                    .hint("Ask again."));
                };
                let symbol = Some(self.symbol(&source, at));
                Ok(Output { symbol, candidates: Vec::new(), truncated: false }.marked())
            }
            several => {
                let total = if several.len() == found.shown.len() { found.total } else { several.len() };
                let list = several.iter().map(|shown| Candidate {
                    name: qualified(shown.container.as_deref(), &shown.name),
                    kind: shown.kind,
                    path: shown.path.shown(),
                    line: shown.line,
                    end_line: shown.last_line,
                    signature: shown.signature.clone(),
                    declared_only: shown.declared_only,
                    with_errors: shown.with_errors,
                });
                Ok(candidates(list, total, self.room))
            }
        }
    }

    /// Returns whether a definition has the name, is in what the name says, and is of the kind.
    fn fits(&self, definitions: &Definitions, at: usize) -> bool {
        let definition = &definitions.list[at];
        let path = definitions.path(at);
        let is_inside = |container: &String| path[..path.len() - 1].contains(&container.as_str());
        definition.name == self.name.name
            && self.options.kind.is_none_or(|kind| kind == definition.kind)
            && self.name.container.as_ref().is_none_or(is_inside)
    }

    fn symbol(&self, source: &Source, at: usize) -> Symbol {
        let definition = &source.definitions.list[at];
        let lines: Vec<&str> = source.text.split_inclusive('\n').collect();
        let first = definition.first_line.saturating_sub(self.options.context).max(1);
        let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        let last = definition.last_line.saturating_add(self.options.context).min(count);
        let mut content = String::new();
        let mut left = self.room.saturating_sub(FACTS_BYTES).max(self.room / 4);
        let mut end_line = first;
        let mut next_line = None;
        for number in first..=last {
            let line = lines[number as usize - 1];
            let marked =
                if self.options.line_numbers { format!("{number}\t{line}") } else { line.to_owned() };
            let bytes = json_len(marked.as_bytes());
            if bytes > left {
                next_line = Some(number);
                break;
            }
            left -= bytes;
            end_line = number;
            content.push_str(&marked);
        }
        Symbol {
            name: source.definitions.path(at).join("."),
            kind: definition.kind,
            path: source.path.shown(),
            language: source.language.name(),
            content,
            start_line: first,
            end_line,
            line: definition.name_at.line,
            version: source.version.clone(),
            next_line,
            with_errors: !source.definitions.parsed_whole,
        }
    }

    /// Says that a file has no such definition, and what it has instead.
    fn not_found(&self, source: &Source, all: &[usize]) -> Failure {
        let place = format!("in `{}`", source.path.shown());
        if let (Some(line), false) = (self.options.line, all.is_empty()) {
            let lines: Vec<u32> = all.iter().map(|at| source.definitions.list[*at].name_at.line).collect();
            return Failure::new(
                ErrorCode::NotFound,
                format!("`{}` is not defined at line {line} {place}", self.name.name),
            )
            .detail("lines", lines)
            .hint("Leave `options.line` out, or give one of `details.lines`.");
        }
        let mut names: Vec<String> = source
            .definitions
            .list
            .iter()
            .enumerate()
            .filter(|(_, it)| it.name == self.name.name || !matches!(it.kind, Kind::Field | Kind::EnumMember))
            .map(|(at, _)| source.definitions.path(at).join("."))
            .collect();
        names.sort_unstable();
        names.dedup();
        let same = |name: &&String| name.rsplit('.').next() == Some(&self.name.name);
        let mut near: Vec<String> = names.iter().filter(same).take(MAX_NEAREST).cloned().collect();
        let last = |name: &String| name.rsplit('.').next().unwrap_or_default().to_owned();
        let bare: Vec<String> = names.iter().map(last).collect();
        for like in nearest(&self.name.name, bare.iter().map(String::as_str), MAX_NEAREST) {
            let whole = names.iter().find(|name| name.rsplit('.').next() == Some(like));
            near.extend(whole.filter(|_| near.len() < MAX_NEAREST).cloned());
        }
        near.dedup();
        let unread = usize::from(!source.definitions.parsed_whole);
        self.absent(&place, &near, unread).hint("code.outline lists what the file defines.")
    }

    /// Says that nothing was found. `unread` is how many files were not understood in full.
    fn absent(&self, place: &str, near: &[String], unread: usize) -> Failure {
        let name = qualified(self.name.container.as_deref(), &self.name.name);
        let what = match self.options.kind {
            Some(kind) => format!("no {} `{name}`", kind.as_str()),
            None => format!("nothing that is called `{name}`"),
        };
        // What was not understood may define it.
        let message = match unread {
            0 => format!("{what} is defined {place}"),
            1 if place.starts_with("in ") => {
                format!("{what} was found {place}, but a part of the file was not understood")
            }
            files => {
                let files = if files == 1 { "1 file was".to_owned() } else { format!("{files} files were") };
                format!("{what} was found {place}, but {files} not understood in full")
            }
        };
        let mut failure = Failure::new(ErrorCode::NotFound, message);
        if unread > 0 {
            let last = self.name.name.clone();
            failure = failure.hint(format!("Search for `{last}` with file.search."));
        }
        match near.is_empty() {
            true => failure,
            false => failure.detail("nearest", near).hint(format!("Did you mean {}?", near.join(", "))),
        }
    }
}

impl Source {
    /// Reads a file as file.read does, and finds what it defines.
    fn read(cx: &Context, opened: OpenedFile) -> Result<Self, Failure> {
        let unread = |path: &PermittedPath, why: SourceProblem| {
            Failure::new(
                ErrorCode::InvalidRequest,
                format!("`{}` is not looked at: {}", path.shown(), why.describe()),
            )
            .hint("Search it with file.search, and read the lines with file.read.")
        };
        // UTF-16 has two bytes for what a source has one for.
        if opened.stat.size > 2 * MAX_BYTES as u64 {
            return Err(unread(&opened.path, SourceProblem::TooLarge));
        }
        let content =
            read_content(opened, &ReadRequest::default(), usize::MAX, &cx.cancel, &cx.service.parsers)?;
        if let Some(warning) = content.warning {
            cx.warn(warning);
        }
        let path = content.path;
        let text = content.content;
        let language =
            language_of(path.rel().as_bytes(), text.as_bytes()).ok_or_else(|| no_source(&path.shown()))?;
        let found = cx.service.parsers.definitions(language, text.as_bytes(), &cx.cancel);
        cx.cancel.check()?;
        let definitions = found.map_err(|why| unread(&path, why))?;
        Ok(Self { path, language, text, version: content.version, definitions })
    }

    fn candidate(&self, at: usize) -> Candidate {
        let definition = &self.definitions.list[at];
        Candidate {
            name: self.definitions.path(at).join("."),
            kind: definition.kind,
            path: self.path.shown(),
            line: definition.name_at.line,
            end_line: definition.last_line,
            signature: definition.signature.clone(),
            declared_only: definition.declared_only,
            with_errors: !self.definitions.parsed_whole,
        }
    }
}

impl Output {
    /// Returns whether the source was cut.
    fn marked(mut self) -> Self {
        self.truncated = self.symbol.as_ref().is_some_and(|symbol| symbol.next_line.is_some());
        self
    }
}

/// Returns which definitions are preferred: those with a body, then declarations, then blocks of a type.
fn rank(kind: Kind, declared_only: bool) -> u8 {
    match kind {
        Kind::Implementation => 2,
        _ => u8::from(declared_only),
    }
}

fn best(list: &[Definition], all: &[usize]) -> Vec<usize> {
    let rank = |at: &usize| rank(list[*at].kind, list[*at].declared_only);
    let least = all.iter().map(rank).min();
    all.iter().copied().filter(|at| Some(rank(at)) == least).collect()
}

/// Takes the definition whose name is at the line, or else the innermost that has the line.
fn at_line(list: &[Definition], all: &[usize], line: u32) -> Vec<usize> {
    let named: Vec<usize> = all.iter().copied().filter(|at| list[*at].name_at.line == line).collect();
    if !named.is_empty() {
        return named;
    }
    let has = |at: &usize| (list[*at].first_line..=list[*at].last_line).contains(&line);
    let inner = all.iter().copied().filter(has).min_by_key(|at| list[*at].last_line - list[*at].first_line);
    inner.into_iter().collect()
}

fn qualified(container: Option<&str>, name: &str) -> String {
    match container {
        Some(container) => format!("{container}.{name}"),
        None => name.to_owned(),
    }
}

fn candidates(list: impl Iterator<Item = Candidate>, total: usize, room: usize) -> Output {
    let mut room = OutputBudget::new(room);
    let candidates: Vec<Candidate> = list.take(MAX_CANDIDATES).take_while(|it| room.take(it)).collect();
    let truncated = candidates.len() < total;
    Output { symbol: None, candidates, truncated }
}
