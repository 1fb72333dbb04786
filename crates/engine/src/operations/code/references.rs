//! `code.references`: where files use a name.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::registry::prelude::*;
use bailiwick_contract::OneOrMany;
use bailiwick_contract::limits::within;
use bailiwick_contract::path::{decode_name, encode_name};
use bailiwick_providers::code::{ReferenceSearch, Role, Use, UsedQuery, used};
use bailiwick_providers::search::{Globs, OutputBudget, ResultPosition};

use super::outline::is_zero;
use super::search_symbols::{languages, place};

/// How many results one call gives at most.
const MAX_RESULTS: usize = 5_000;
/// How long a name can be, in bytes.
const MAX_NAME_BYTES: usize = 400;

/// The operation.
pub struct Op;

/// What to look for.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// The name, as source files write it, without what it is in.
    pub name: String,
}

/// Where and how to look, and how much to show.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// Find only uses of these roles.
    pub roles: Vec<UseRole>,
    /// Find only in these languages, such as `rust`, `python` or `typescript`.
    pub languages: Option<OneOrMany>,
    /// Find only in files that one of these globs chooses: without `/` by name, with `/` by path from the scope's
    /// folder or the target. `!` in front excludes.
    pub glob: Option<OneOrMany>,
    /// How many results to give; default 50, at most 5000.
    pub max_results: Option<usize>,
}

/// How a name is used, as far as the text tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UseRole {
    /// It is defined or declared.
    Definition,
    /// It is called.
    Call,
    /// It is used as a type.
    Type,
    /// It is imported or exported.
    Import,
    /// It is used in another way.
    Other,
}

impl UseRole {
    const fn of(role: Role) -> Self {
        match role {
            Role::Definition => Self::Definition,
            Role::Call => Self::Call,
            Role::Type => Self::Type,
            Role::Import => Self::Import,
            Role::Other => Self::Other,
        }
    }

    const fn role(self) -> Role {
        match self {
            Self::Definition => Role::Definition,
            Self::Call => Role::Call,
            Self::Type => Role::Type,
            Self::Import => Role::Import,
            Self::Other => Role::Other,
        }
    }
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The uses, in the order of paths and lines.
    pub references: Vec<Reference>,
    /// Always `syntactic`: every use of the name outside comments and strings, whatever it stands for there. Two
    /// things of one name are not told apart.
    pub resolution: &'static str,
    /// How many source files that have the name were read.
    pub files_read: usize,
    /// How many of them were not, by reason: `tooLarge` (over 2 MiB), `minified`, `tooSlow`,
    /// `failed` (the parser).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<&'static str, usize>,
    /// How many of the files that were read have syntax errors: the role of a use may be wrong there, and what is
    /// defined there may be missing.
    #[serde(skip_serializing_if = "is_zero")]
    pub with_errors: usize,
    /// How long it took, in milliseconds.
    pub elapsed_ms: f64,
    /// Whether there may be more results than were given.
    pub truncated: bool,
    /// Give this as `options.cursor` to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A use of the name.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    /// The file, relative to the scope's folder.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// Where in the line the name begins, in characters from 1.
    pub column: u32,
    /// How it is used.
    pub role: UseRole,
    /// The line; a long one is cut to 160 characters around the name.
    pub preview: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "code.references",
        summary: "Find where source files use a name, told apart by role",
        details: "Looks into the target file, or all source files beneath the target folder, for the name as a whole \
                  word outside comments and strings, and tells calls, types, imports and definitions apart. By \
                  grammar alone: two things of one name are not told apart. Leaves out what .gitignore and .ignore \
                  files name, hidden names and closed files, and follows no symbolic links.",
        capabilities: &[&[Capability::FsRead, Capability::SearchRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Search),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor],
        audited_fields: &["name", "roles", "languages", "glob", "maxResults"],
        example: r#"{"op":"code.references","input":{"name":"parse_config"},"options":{"roles":["call"]}}"#,
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
        let answer = used(&place, &query, &cx.service.parsers, &cx.cancel)?;
        let mut output = output(answer, permit.limits().max_output_bytes);
        output.elapsed_ms = began.elapsed().as_micros() as f64 / 1_000.0;
        let more = if output.truncated { " or more" } else { "" };
        cx.summarize(format!("{}{more} references", output.references.len()));
        Ok(output)
    }
}

/// Brings the request into the provider's terms.
fn query(permit: &Permit, input: &Input, options: &Options) -> Result<UsedQuery, Failure> {
    let name = input.name.trim();
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.contains(char::is_whitespace) {
        return Err(Failure::invalid("input.name", "`input.name` must be one name of 1 to 400 bytes")
            .hint("Give the name alone, such as `open` for `File::open`."));
    }
    if ["::", ".", "->", "#"].iter().any(|mark| name.contains(mark)) {
        let last = name.rsplit([':', '.', '>', '#']).next().unwrap_or(name);
        return Err(Failure::invalid("input.name", "`input.name` must be a name without what it is in")
            .hint(format!("Look for `{last}`: what it belongs to cannot be told by the text alone.")));
    }
    let max_results = within("maxResults", options.max_results, 50, 1..=MAX_RESULTS)?;
    Ok(UsedQuery {
        name: name.to_owned(),
        roles: options.roles.iter().map(|role| role.role()).collect(),
        languages: languages(OneOrMany::list(options.languages.as_ref()))?,
        globs: Globs::compile("options.glob", &[], false, b"")?,
        keep: max_results,
        after: permit.common().cursor.as_deref().map(after).transpose()?,
    })
}

/// Reads a cursor: how many uses of a file were given, and the file.
fn after(cursor: &str) -> Result<ResultPosition, Failure> {
    let parts = cursor.split_once(':').and_then(|(results, path)| Some((results.parse().ok()?, path)));
    let Some((results, path)) = parts else {
        return Err(Failure::invalid("options.cursor", "`options.cursor` is not a cursor of this operation")
            .hint("Use the `nextCursor` of an earlier result of the same call, or leave the cursor out."));
    };
    Ok(ResultPosition { path: decode_name(path), results })
}

/// Puts into the answer what fits, in order.
fn output(answer: ReferenceSearch, max_output_bytes: usize) -> Output {
    let ReferenceSearch { uses, more, files, skipped, with_errors } = answer;
    let mut room = OutputBudget::new(max_output_bytes);
    let (mut references, mut last) = (Vec::new(), None);
    let mut truncated = more;
    for found in uses {
        let Use { path, line, column, role, preview, place, .. } = found;
        let reference = Reference { path: path.shown(), line, column, role: UseRole::of(role), preview };
        if !room.take(&reference) {
            truncated = true;
            break;
        }
        references.push(reference);
        last = Some(place);
    }
    let next = last.filter(|_| truncated);
    Output {
        references,
        resolution: "syntactic",
        files_read: files,
        skipped,
        with_errors,
        elapsed_ms: 0.0,
        truncated,
        next_cursor: next.map(|place| format!("{}:{}", place.results, encode_name(&place.path))),
    }
}
