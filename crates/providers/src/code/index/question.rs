//! Choosing and ranking definitions by name.

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use crate::search::Globs;
use crate::syntax::Language;

use super::super::Kind;
use super::entry::{Container, Entry, Symbol};
use super::names::letters_of;
use super::table::Table;

/// Which names fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Match {
    /// Those that have the text; only where there are none, those with its letters in order.
    #[default]
    Auto,
    /// The very name. Without upper-case letters its case makes no difference.
    Exact,
    /// Names that begin with the text; case as with `Exact`.
    Prefix,
    /// Names that have the text, and those with its letters in order.
    Fuzzy,
}

/// A question to an index.
#[derive(Debug, Clone)]
pub struct SymbolQuery {
    /// The name, or a part of it.
    pub name: WantedName,
    /// Which names fit.
    pub matching: Match,
    /// The kinds that are wanted; all if there are none.
    pub kinds: Vec<Kind>,
    /// The languages that are wanted; all if there are none.
    pub languages: Vec<Language>,
    /// Which files are wanted, by path.
    pub globs: Globs,
    /// How many results come before those that are wanted.
    pub offset: usize,
    /// How many results are wanted.
    pub keep: usize,
}

/// A name as a caller writes it, such as `open`, `File.open` or `File::open`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedName {
    /// The name itself.
    pub name: String,
    /// What it must be in: the name of a type, a module, or a file without its extension.
    pub container: Option<String>,
}

impl WantedName {
    /// Reads a name; `None` if there is nothing in it.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_suffix("()").unwrap_or(text);
        let split = ["::", "->", ".", "#", "/"].into_iter().filter_map(|mark| {
            let at = text.rfind(mark)?;
            Some((at, at + mark.len()))
        });
        let (container, name) = match split.max() {
            // `operator.` and its like: the mark is of the name.
            Some((_, end)) if end == text.len() => (None, text),
            Some((start, end)) => (Some(last_part(&text[..start])), &text[end..]),
            None => (None, text),
        };
        let container = container.filter(|container| !container.is_empty());
        (!name.is_empty()).then(|| Self { name: name.to_owned(), container: container.map(str::to_owned) })
    }
}

/// Returns the innermost of several containers, without type arguments.
fn last_part(text: &str) -> &str {
    let text = text.split('<').next().unwrap_or(text);
    text.rsplit([':', '.', '#', '>', '/']).next().unwrap_or(text)
}

/// A definition that fits, as the index holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub path: Vec<u8>,
    pub name: String,
    pub kind: Kind,
    pub line: u32,
    /// Whether the name fits only by its letters.
    pub is_fuzzy: bool,
}

/// The candidates of a page, best first.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub candidates: Vec<Candidate>,
    /// How many there are in all.
    pub total: usize,
    /// Whether names that fit only by their letters are among them.
    pub fuzzy: bool,
}

/// How well a name fits; smaller is better.
const CLASS_SHIFT: u32 = 60;
const FUZZY: u64 = 6;
const NO_FIT: u64 = u64::MAX;

/// Finds the definitions beneath a folder whose names fit.
pub(super) fn find(table: &Table, folder: &[u8], query: &SymbolQuery) -> Page {
    let literal = matches!(query.matching, Match::Auto | Match::Exact | Match::Prefix);
    if literal {
        let page = page(table, folder, query, &literal_fits(table, query), false);
        if query.matching != Match::Auto || page.total > 0 {
            return page;
        }
    }
    page(table, folder, query, &fuzzy_fits(table, query), true)
}

fn page(table: &Table, folder: &[u8], query: &SymbolQuery, fits: &[u64], fuzzy: bool) -> Page {
    let mut keys: Vec<(u64, u32, u32)> = Vec::new();
    let mut files: Vec<(&[u8], &Entry)> = Vec::new();
    for (path, entry) in table.beneath(folder) {
        if !query.languages.is_empty() && !entry.language.is_some_and(|it| query.languages.contains(&it)) {
            continue;
        }
        let before = keys.len();
        let file = u32::try_from(files.len()).unwrap_or(u32::MAX);
        for (place, symbol) in entry.symbols.iter().enumerate() {
            let fit = fits[symbol.name as usize];
            if fit == NO_FIT || !(query.kinds.is_empty() || query.kinds.contains(&symbol.kind)) {
                continue;
            }
            let inside = query.name.container.as_deref();
            if inside.is_none_or(|wanted| is_in(table, path, entry, symbol, wanted)) {
                keys.push((fit | weight(symbol), file, u32::try_from(place).unwrap_or(u32::MAX)));
            }
        }
        // Globs cost more than names.
        if keys.len() > before {
            if query.globs.choose(path) {
                files.push((path, entry));
            } else {
                keys.truncate(before);
            }
        }
    }
    let total = keys.len();
    let end = query.offset.saturating_add(query.keep).min(total);
    if end < total {
        keys.select_nth_unstable(end);
        keys.truncate(end);
    }
    keys.sort_unstable();
    let candidates = keys.iter().skip(query.offset).filter_map(|(fit, file, place)| {
        let (path, entry) = files.get(*file as usize)?;
        let symbol = entry.symbols.get(*place as usize)?;
        Some(Candidate {
            path: path.to_vec(),
            name: table.names.get(symbol.name).to_owned(),
            kind: symbol.kind,
            line: symbol.line,
            is_fuzzy: fit >> CLASS_SHIFT >= FUZZY,
        })
    });
    Page { candidates: candidates.collect(), total, fuzzy }
}

/// Puts what is more often meant first: a type before its blocks and members, a body before a declaration.
fn weight(symbol: &Symbol) -> u64 {
    let of_kind = match symbol.kind {
        Kind::Class | Kind::Struct | Kind::Enum | Kind::Interface | Kind::Trait | Kind::Type => 0,
        Kind::Function | Kind::Method | Kind::Macro | Kind::Constructor => 1,
        Kind::Module | Kind::Constant | Kind::Variable | Kind::Property => 2,
        Kind::Field | Kind::EnumMember => 3,
        Kind::Implementation => 4,
    };
    (of_kind + 8 * u64::from(symbol.declared_only)) << 16
}

/// Returns whether a definition is in something of this name.
fn is_in(table: &Table, path: &[u8], entry: &Entry, symbol: &Symbol, wanted: &str) -> bool {
    let container = match symbol.within {
        Container::File => None,
        Container::Named(name) => Some(table.names.get(name)),
        Container::Definition(at) => entry.symbols.get(at as usize).map(|outer| table.names.get(outer.name)),
    };
    match container {
        Some(container) => last_part(container).eq_ignore_ascii_case(wanted),
        None => module_name(path).is_some_and(|module| module.eq_ignore_ascii_case(wanted)),
    }
}

/// Returns the name that a file's module usually has.
fn module_name(path: &[u8]) -> Option<&str> {
    let path = str::from_utf8(path).ok()?;
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next()?;
    let is_folders = matches!(stem, "mod" | "lib" | "main" | "index" | "__init__");
    if is_folders { folder.rsplit('/').next() } else { Some(stem) }
}

/// Judges every name by the text.
fn literal_fits(table: &Table, query: &SymbolQuery) -> Vec<u64> {
    let text = Text::new(&query.name.name);
    let worst = match query.matching {
        Match::Exact => 1,
        Match::Prefix => 3,
        Match::Auto | Match::Fuzzy => 5,
    };
    let cased = matches!(query.matching, Match::Exact | Match::Prefix) && text.has_upper;
    let fit = |(name, letters): (&str, u64)| {
        if letters & text.letters != text.letters {
            return NO_FIT;
        }
        match text.class(name) {
            Some(class) if class <= worst && !(cased && class % 2 == 1) => {
                class << CLASS_SHIFT | name.len().min(0xffff) as u64
            }
            Some(_) | None => NO_FIT,
        }
    };
    table.names.iter().map(fit).collect()
}

/// Judges every name by the text and, where it does not have that, by the text's letters.
fn fuzzy_fits(table: &Table, query: &SymbolQuery) -> Vec<u64> {
    let text = Text::new(&query.name.name);
    // Between `getUser` and `get_user` there is only style.
    let letters: String = query.name.name.chars().filter(|it| !matches!(it, '_' | '-' | ' ')).collect();
    let wanted = letters_of(&letters);
    let atom = Atom::new(&letters, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy, false);
    let mut matcher = Matcher::new(Config::DEFAULT);
    let mut characters = Vec::new();
    let fit = |(name, has): (&str, u64)| {
        // A letter with an accent fits the one without: those names are checked in any case.
        if has & wanted != wanted && name.is_ascii() {
            return NO_FIT;
        }
        if let Some(class) = text.class(name) {
            return class << CLASS_SHIFT | name.len().min(0xffff) as u64;
        }
        if letters.is_empty() {
            return NO_FIT;
        }
        match atom.score(Utf32Str::new(name, &mut characters), &mut matcher) {
            Some(score) => {
                FUZZY << CLASS_SHIFT | u64::from(u16::MAX - score) << 32 | name.len().min(0xffff) as u64
            }
            None => NO_FIT,
        }
    };
    table.names.iter().map(fit).collect()
}

/// A text that names are compared with.
struct Text<'a> {
    text: &'a str,
    lower: String,
    letters: u64,
    has_upper: bool,
}

impl<'a> Text<'a> {
    fn new(text: &'a str) -> Self {
        let has_upper = text.chars().any(char::is_uppercase);
        // Some letters outside ASCII have an ASCII one as their other case.
        let letters = if text.is_ascii() { letters_of(text) } else { 0 };
        Self { text, lower: text.to_lowercase(), letters, has_upper }
    }

    /// Returns how a name has the text: 0 and 1 as a whole, 2 and 3 at its beginning, in the same case and in any;
    /// 4 where a word of it begins, 5 anywhere.
    fn class(&self, name: &str) -> Option<u64> {
        if !(name.is_ascii() && self.text.is_ascii()) {
            return self.class_by_characters(name);
        }
        let (bytes, wanted) = (name.as_bytes(), self.lower.as_bytes());
        let last = bytes.len().checked_sub(wanted.len())?;
        let is_at = |at: usize| bytes[at..at + wanted.len()].eq_ignore_ascii_case(wanted);
        if is_at(0) {
            let same_case = name.starts_with(self.text);
            return Some(2 * u64::from(last > 0) + u64::from(!same_case));
        }
        let mut class = None;
        for at in (1..=last).filter(|at| is_at(*at)) {
            let (before, here) = (bytes[at - 1], bytes[at]);
            let begins_word = !before.is_ascii_alphanumeric()
                || (here.is_ascii_uppercase() && !before.is_ascii_uppercase())
                || (here.is_ascii_alphabetic() && before.is_ascii_digit());
            if begins_word {
                return Some(4);
            }
            class = Some(5);
        }
        class
    }

    fn class_by_characters(&self, name: &str) -> Option<u64> {
        if name.starts_with(self.text) {
            return Some(if name.len() == self.text.len() { 0 } else { 2 });
        }
        let name = name.to_lowercase();
        match name.find(&self.lower)? {
            0 if name.len() == self.lower.len() => Some(1),
            0 => Some(3),
            _ => Some(5),
        }
    }
}
