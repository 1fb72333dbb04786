//! `code.search_symbols`: definitions by name, from an index that is kept up to date.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::registry::prelude::*;
use bailiwick_contract::fields::nearest;
use bailiwick_contract::limits::within;
use bailiwick_contract::{ErrorCode, OneOrMany};
use bailiwick_policy::PermittedPath;
use bailiwick_providers::code::Kind;
use bailiwick_providers::code::index::{
    Answer, FreshnessCheck, IndexStatus, Match, SymbolHit, SymbolQuery, WantedName,
};
use bailiwick_providers::search::{Globs, OutputBudget};
use bailiwick_providers::syntax::Language;

/// How many results one call gives at most.
const MAX_RESULTS: usize = 1_000;
/// How far a cursor can lead.
const MAX_OFFSET: usize = 1_000_000;
/// How long a name can be, in bytes.
const MAX_QUERY_BYTES: usize = 400;

/// The operation.
pub struct Op;

/// What to look for.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// A name or a part of it. `Type.name`, `Type::name` or `module.name` finds only what is in the type, or in the
    /// file of the module.
    pub query: String,
}

/// Where and how to look, and how much to show.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Which names fit: `auto` (default) those that have the text, the very name first; only where there are none,
    /// those with its letters in order. `exact` the very name, `prefix` what begins with the text, both whatever
    /// its case unless the text has upper-case letters. `fuzzy` what has the text or its letters in order.
    #[serde(rename = "match")]
    pub matching: Matching,
    /// Find only these kinds.
    pub kinds: Vec<Kind>,
    /// Find only in these languages, such as `rust`, `python` or `typescript`.
    pub languages: Option<OneOrMany>,
    /// Find only in files that one of these globs chooses: without `/` by name, with `/` by path from the scope's
    /// folder or the target. `!` in front excludes.
    pub glob: Option<OneOrMany>,
    /// How many results to give; default 20, at most 1000.
    pub max_results: Option<usize>,
}

/// Which names fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Matching {
    /// Those that have the text; only where there are none, those with its letters in order.
    #[default]
    Auto,
    /// The very name.
    Exact,
    /// What begins with the text.
    Prefix,
    /// What has the text, or its letters in order.
    Fuzzy,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The definitions, best first, as their files have them now.
    pub symbols: Vec<Symbol>,
    /// How many fit in all.
    pub total: usize,
    /// False while files are still being read for the first time: then more may fit than were found.
    pub complete: bool,
    /// What the answer rests on.
    pub index: Index,
    /// How long it took, in milliseconds.
    pub elapsed_ms: f64,
    /// Whether there are more results than were given.
    pub truncated: bool,
    /// Give this as `options.cursor` to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A definition.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// What it is in, the outermost first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The file, relative to the scope's folder.
    pub path: String,
    /// The line where its name stands, from 1.
    pub line: u32,
    /// Its last line.
    pub end_line: u32,
    /// Its header in one line, without the body; at most 200 characters.
    pub signature: String,
    /// The language.
    pub language: &'static str,
    /// Whether it is only declared here: a prototype, a forward declaration, an abstract method.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub declared_only: bool,
    /// Whether its file has syntax errors: it may end elsewhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub with_errors: bool,
    /// Whether the name has only the letters of the text, in order.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fuzzy: bool,
}

/// What an answer rests on.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Index {
    /// How many source files of the scope's folder are held.
    pub files: usize,
    /// How many definitions they have.
    pub symbols: usize,
    /// How it was found out what has changed: `watched` (the system tells), or `compared` (every file's size, times
    /// and identity).
    pub checked: &'static str,
    /// How many files are held only in part, by reason: `withErrors` (syntax errors), `tooLarge` (over 2 MiB),
    /// `minified`, `tooSlow`, `noRoom`, `failed` (the parser).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub partial: BTreeMap<&'static str, usize>,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "code.search_symbols",
        summary: "Find definitions of functions, types and other symbols by name",
        details: "Looks into the target file, or all source files beneath the target folder, by an index that is made \
                  at the first question and kept in Bailiwick's state folder. Leaves out what .gitignore and .ignore \
                  files name, hidden names and closed files, and follows no symbolic links. Every hit is read from \
                  its file at the time of the answer. By grammar alone: types are not resolved.",
        capabilities: &[&[Capability::FsRead, Capability::SearchRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Search),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        audited_fields: &["query", "match", "kinds", "languages", "glob", "maxResults"],
        example: r#"{"op":"code.search_symbols","input":{"query":"Config.load"},"options":{"kinds":["method"]}}"#,
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
        let mut query = query(permit, input, options)?;
        let place = place(permit.path())?;
        let globs = OneOrMany::list(options.glob.as_ref());
        query.globs = Globs::compile("options.glob", globs, false, place.rel().as_bytes())?;
        let scope = permit.scope().map_or("", |scope| scope.id());
        let answer = cx.service.symbols.ask(scope, &place, &query, &cx.cancel)?;
        if !answer.standing.complete {
            cx.warn(format!(
                "source files are still being read ({} so far): ask again in a few seconds for all there is",
                answer.standing.files
            ));
        }
        let mut output = output(answer, permit.limits().max_output_bytes);
        output.elapsed_ms = began.elapsed().as_micros() as f64 / 1_000.0;
        cx.summarize(format!("{} of {} symbols", output.symbols.len(), output.total));
        Ok(output)
    }
}

/// Finds the folder or file that the target leads to.
pub(super) fn place(target: &PermittedPath) -> Result<PermittedPath, Failure> {
    match target.open_dir() {
        Ok((_, path)) => Ok(path),
        // What is no folder may be a file; opening it says what it is.
        Err(failure) if failure.code == ErrorCode::InvalidRequest => Ok(target.open_file()?.path),
        Err(failure) => Err(failure),
    }
}

/// Brings the request into the provider's terms.
fn query(permit: &Permit, input: &Input, options: &Options) -> Result<SymbolQuery, Failure> {
    let name = WantedName::parse(&input.query).filter(|_| input.query.len() <= MAX_QUERY_BYTES);
    let Some(name) = name else {
        return Err(Failure::invalid("input.query", "`input.query` must have 1 to 400 bytes").hint(
            "Give a name or a part of it, such as `parseConfig`; code.outline lists what a file defines.",
        ));
    };
    let max_results = within("maxResults", options.max_results, 20, 1..=MAX_RESULTS)?;
    Ok(SymbolQuery {
        name,
        matching: match options.matching {
            Matching::Auto => Match::Auto,
            Matching::Exact => Match::Exact,
            Matching::Prefix => Match::Prefix,
            Matching::Fuzzy => Match::Fuzzy,
        },
        kinds: options.kinds.clone(),
        languages: languages(OneOrMany::list(options.languages.as_ref()))?,
        globs: Globs::compile("options.glob", &[], false, b"")?,
        offset: offset(permit.common().cursor.as_deref())?,
        keep: max_results,
    })
}

/// Reads the names of languages.
pub(super) fn languages(names: &[String]) -> Result<Vec<Language>, Failure> {
    let known = || Language::ALL.into_iter().map(Language::name);
    names
        .iter()
        .map(|name| {
            let found = Language::ALL.into_iter().find(|language| language.name().eq_ignore_ascii_case(name));
            // Clients name languages by their extension as well.
            found.or_else(|| Language::of_path(&format!("a.{name}")).first().copied()).ok_or_else(|| {
                let shown: String = name.chars().take(40).collect();
                let near = nearest(name, known(), 3);
                let failure =
                    Failure::invalid("options.languages", format!("no language is called `{shown}` here"));
                match near.is_empty() {
                    true => failure.hint(format!("Known are {}.", known().collect::<Vec<_>>().join(", "))),
                    false => failure.hint(format!("Did you mean {}?", near.join(", "))),
                }
            })
        })
        .collect()
}

fn offset(cursor: Option<&str>) -> Result<usize, Failure> {
    let Some(cursor) = cursor else { return Ok(0) };
    cursor.parse().ok().filter(|offset| *offset <= MAX_OFFSET).ok_or_else(|| {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of this operation")
            .hint("Use the `nextCursor` of an earlier result, or leave the cursor out.")
    })
}

/// Puts into the answer what fits, in order.
fn output(answer: Answer, max_output_bytes: usize) -> Output {
    let Answer { shown, total, next, standing } = answer;
    let mut room = OutputBudget::new(max_output_bytes);
    let mut symbols = Vec::new();
    let mut next = next;
    for (place, definition) in shown {
        let symbol = symbol(definition);
        if !room.take(&symbol) {
            next = Some(place);
            break;
        }
        symbols.push(symbol);
    }
    Output {
        symbols,
        total,
        complete: standing.complete,
        index: index(standing),
        elapsed_ms: 0.0,
        truncated: next.is_some(),
        next_cursor: next.filter(|next| *next <= MAX_OFFSET).map(|next| next.to_string()),
    }
}

fn symbol(shown: SymbolHit) -> Symbol {
    Symbol {
        path: shown.path.shown(),
        name: shown.name,
        kind: shown.kind,
        container: shown.container,
        line: shown.line,
        end_line: shown.last_line,
        signature: shown.signature,
        language: shown.language.name(),
        declared_only: shown.declared_only,
        with_errors: shown.with_errors,
        fuzzy: shown.is_fuzzy,
    }
}

fn index(standing: IndexStatus) -> Index {
    Index {
        files: standing.files,
        symbols: standing.symbols,
        checked: match standing.checked {
            FreshnessCheck::Watched => "watched",
            FreshnessCheck::Compared => "compared",
        },
        partial: standing.partial,
    }
}
