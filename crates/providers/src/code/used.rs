//! Where the files beneath a folder use a name: found by their text, told apart by grammar.
//!
//! A word search names the files, in the order of their paths; those are read again through the scope's door, a
//! few at a time, until there are enough uses.

use std::collections::BTreeMap;
use std::io::Read as _;

use crate::search::{ContentQuery, Globs, MatchMode, QuerySettings, ResultPosition, Search, search};
use crate::syntax::Language;
use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_policy::{OpenedFile, PermittedPath};

use super::index::below;
use super::{MAX_BYTES, Role, SourceProblem, language_of};
use crate::parser::ParserPool;
use crate::threads::for_each;

/// How many files are read at a time, at first and at most.
const FILES_AT_A_TIME: [usize; 2] = [32, 512];
/// How many characters of a line are shown.
const LINE_CHARS: usize = 160;

/// What to look for.
#[derive(Debug, Clone)]
pub struct UsedQuery {
    /// The name.
    pub name: String,
    /// The roles that are wanted; all if there are none.
    pub roles: Vec<Role>,
    /// The languages that are wanted; all if there are none.
    pub languages: Vec<Language>,
    /// Which files are wanted, by path.
    pub globs: Globs,
    /// How many uses are wanted.
    pub keep: usize,
    /// Where to continue.
    pub after: Option<ResultPosition>,
}

/// A use of a name.
#[derive(Debug, Clone)]
pub struct Use {
    /// The file.
    pub path: PermittedPath,
    /// Its language.
    pub language: Language,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// How it is used, as far as the text tells.
    pub role: Role,
    /// The line's text.
    pub preview: String,
    /// The place behind it.
    pub place: ResultPosition,
}

/// What [`used`] gives.
#[derive(Debug, Default)]
pub struct ReferenceSearch {
    /// The uses, by path and line.
    pub uses: Vec<Use>,
    /// Whether there may be more.
    pub more: bool,
    /// How many source files were read.
    pub files: usize,
    /// How many files have the word and were not read, by reason.
    pub skipped: BTreeMap<&'static str, usize>,
    /// How many of the files that were read have syntax errors.
    pub with_errors: usize,
}

/// Finds where the files beneath a folder use a name. A file stands for itself.
///
/// # Errors
/// As [`PermittedPath::open_dir`]; `cancelled`, `timeout`.
pub fn used(
    target: &PermittedPath,
    query: &UsedQuery,
    parsers: &ParserPool,
    cancel: &Cancel,
) -> Result<ReferenceSearch, Failure> {
    let mut root = target.clone();
    while let Some(above) = root.parent() {
        root = above;
    }
    let mut answer = ReferenceSearch::default();
    let mut question = question(query)?;
    for round in 0_u32.. {
        question.max_results = (FILES_AT_A_TIME[0] << round.min(8)).min(FILES_AT_A_TIME[1]);
        let (paths, more) = match target.open_dir() {
            Ok((dir, path)) => {
                let found = search(&path, dir, &question, cancel)?;
                (found.files.into_iter().map(|(path, _)| path).collect(), found.more)
            }
            Err(failure) if failure.code == ErrorCode::InvalidRequest => {
                (vec![target.open_file()?.path.rel().as_bytes().to_vec()], false)
            }
            Err(failure) => return Err(failure),
        };
        answer.more = more;
        let read = for_each(paths.len(), cancel, |at| uses(&root, &paths[at], query, parsers, cancel))?;
        for (path, file) in paths.iter().zip(read) {
            let given =
                query.after.as_ref().filter(|place| place.path == *path).map_or(0, |place| place.results);
            let Some(file) = file.flatten() else { continue };
            match file {
                Err(reason) => *answer.skipped.entry(reason).or_default() += 1,
                Ok((uses, is_whole)) => {
                    answer.files += 1;
                    answer.with_errors += usize::from(!is_whole);
                    let mut left = uses.into_iter().skip(given);
                    answer.uses.extend(left.by_ref().take(query.keep - answer.uses.len()));
                    if left.next().is_some() {
                        answer.more = true;
                        return Ok(answer);
                    }
                }
            }
            if answer.uses.len() == query.keep && paths.last() != Some(path) {
                answer.more = true;
                return Ok(answer);
            }
        }
        let Some(last) = paths.last().filter(|_| more && answer.uses.len() < query.keep) else { break };
        question.after_place = Some(ResultPosition { path: last.clone(), results: 1 });
    }
    Ok(answer)
}

fn question(query: &UsedQuery) -> Result<Search, Failure> {
    let is_word = query.name.chars().all(|it| it.is_alphanumeric() || it == '_');
    let settings = QuerySettings { literal: true, word: is_word, ..QuerySettings::default() };
    Ok(Search {
        query: ContentQuery::compile(&query.name, settings)?,
        mode: MatchMode::Files,
        globs: query.globs.clone(),
        types: None,
        before: 0,
        after: 0,
        max_per_file: usize::MAX,
        max_results: 0,
        max_weight: usize::MAX,
        hidden: false,
        ignored: false,
        // The file of the place is read again: how many of its uses were given counts there.
        after_place: query.after.clone().map(|place| ResultPosition { results: 0, ..place }),
    })
}

/// The uses of a file and whether all of it was understood, or why it was not read; `None` for what is no source file.
type File = Option<Result<(Vec<Use>, bool), &'static str>>;

fn uses(root: &PermittedPath, path: &[u8], query: &UsedQuery, parsers: &ParserPool, cancel: &Cancel) -> File {
    let wanted = |language| query.languages.is_empty() || query.languages.contains(&language);
    let OpenedFile { mut file, stat, path: place } = below(root, path).ok()?.open_file().ok()?;
    if stat.size > MAX_BYTES as u64 {
        return language_of(path, b"").is_some_and(wanted).then_some(Err("tooLarge"));
    }
    let mut text = Vec::new();
    (&mut file).take(MAX_BYTES as u64 + 1).read_to_end(&mut text).ok()?;
    let language = language_of(path, &text).filter(|language| wanted(*language))?;
    let found = match parsers.references(language, &text, &query.name, cancel) {
        Ok(found) => found,
        Err(SourceProblem::TooLarge) => return Some(Err("tooLarge")),
        Err(SourceProblem::Minified) => return Some(Err("minified")),
        Err(SourceProblem::Stopped) => return Some(Err("tooSlow")),
        Err(SourceProblem::Failed | SourceProblem::Unavailable) => return Some(Err("failed")),
    };
    let is_whole = found.parsed_whole;
    let chosen = found.list.into_iter().filter(|it| query.roles.is_empty() || query.roles.contains(&it.role));
    let uses = chosen.enumerate().map(|(at, found)| Use {
        path: place.clone(),
        language,
        line: found.at.line,
        column: found.at.column,
        role: found.role,
        preview: line_around(&text, found.bytes.start as usize),
        place: ResultPosition { path: path.to_vec(), results: at + 1 },
    });
    Some(Ok((uses.collect(), is_whole)))
}

/// Returns the line that a byte is in, without the blanks around it; a long one from a little before the byte.
fn line_around(text: &[u8], at: usize) -> String {
    let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
    let line = String::from_utf8_lossy(&text[start..end]);
    let line = line.trim();
    if line.chars().count() <= LINE_CHARS {
        return line.to_owned();
    }
    let before = String::from_utf8_lossy(&text[start..at]).trim_start().chars().count();
    let skip = before.saturating_sub(LINE_CHARS / 3);
    let shown: String = line.chars().skip(skip).take(LINE_CHARS).collect();
    let (left, right) =
        (if skip > 0 { "…" } else { "" }, if skip + LINE_CHARS < line.chars().count() { "…" } else { "" });
    format!("{left}{shown}{right}")
}
