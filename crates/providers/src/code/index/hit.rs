//! What is shown of a candidate: read from its file at the time of the answer, through the scope's door.
//!
//! The index only says where to look. A file that is closed by now, or gone, or that does not define the name any
//! more, shows nothing.

use std::collections::VecDeque;
use std::io::Read as _;
use std::sync::{Arc, Mutex};

use crate::parser::ParserPool;
use crate::syntax::Language;
use bailiwick_contract::{Cancel, Failure};
use bailiwick_policy::PermittedPath;

use super::super::{Definition, Definitions, Kind, MAX_BYTES, language_of};
use super::entry::Stamp;
use super::look::{below, lock, now_ns};
use super::question::Candidate;
use crate::threads::for_each;

/// How many texts stay read.
const MAX_HELD: usize = 256;
/// How many definitions they have together.
const MAX_HELD_DEFINITIONS: usize = 20_000;

/// A definition, as its file has it now.
#[derive(Debug, Clone)]
pub struct SymbolHit {
    /// The file.
    pub path: PermittedPath,
    /// Its language.
    pub language: Language,
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// The names of what it is in, the innermost last.
    pub container: Option<String>,
    /// The line where its name stands.
    pub line: u32,
    /// The first line, with its comment and attributes.
    pub first_line: u32,
    /// The last line.
    pub last_line: u32,
    /// Its header.
    pub signature: String,
    /// Whether it is only declared.
    pub declared_only: bool,
    /// Whether its file has syntax errors.
    pub with_errors: bool,
    /// Whether the name fits only by its letters.
    pub is_fuzzy: bool,
}

/// A file that was read for an answer.
struct Source {
    path: Vec<u8>,
    language: Language,
    definitions: Definitions,
}

/// The files that answers have read last.
#[derive(Default)]
pub(super) struct Sources {
    held: Mutex<VecDeque<(Stamp, Arc<Source>)>>,
}

impl Sources {
    /// Reads what is to be shown of candidates, in their order; `None` for one that is not so any more.
    ///
    /// # Errors
    /// `cancelled`, `timeout`.
    pub fn show(
        &self,
        root: &PermittedPath,
        candidates: &[Candidate],
        parsers: &ParserPool,
        cancel: &Cancel,
    ) -> Result<Vec<Option<SymbolHit>>, Failure> {
        let mut paths: Vec<&[u8]> = candidates.iter().map(|candidate| candidate.path.as_slice()).collect();
        paths.sort_unstable();
        paths.dedup();
        let read = for_each(paths.len(), cancel, |at| self.read(root, paths[at], parsers, cancel))?;
        let mut taken: Vec<(usize, usize)> = Vec::new();
        Ok(candidates
            .iter()
            .map(|candidate| {
                let at = paths.binary_search(&candidate.path.as_slice()).ok()?;
                let (place, source) = read[at].as_ref()?.as_ref()?;
                let list = &source.definitions.list;
                let fits = |definition: &Definition| {
                    definition.name == candidate.name && definition.kind == candidate.kind
                };
                let fitting = list.iter().enumerate().filter(|(_, definition)| fits(definition));
                let free = fitting.filter(|(index, _)| !taken.contains(&(at, *index)));
                let (index, _) =
                    free.min_by_key(|(_, definition)| definition.name_at.line.abs_diff(candidate.line))?;
                taken.push((at, index));
                Some(shown(place.clone(), source, index, candidate.is_fuzzy))
            })
            .collect())
    }

    /// Lets go of everything.
    pub fn clear(&self) {
        lock(&self.held).clear();
    }

    fn read(
        &self,
        root: &PermittedPath,
        path: &[u8],
        parsers: &ParserPool,
        cancel: &Cancel,
    ) -> Option<(PermittedPath, Arc<Source>)> {
        let opened = below(root, path).ok()?.open_file().ok()?;
        // A link that has taken the name leads to a file that has its own entry.
        if opened.path.rel().as_bytes() != path || opened.stat.size > MAX_BYTES as u64 {
            return None;
        }
        let stamp = Stamp::of(&opened.stat);
        if let Some(source) = self.find(&stamp, path) {
            return Some((opened.path, source));
        }
        let mut text = Vec::new();
        (&opened.file).take(MAX_BYTES as u64 + 1).read_to_end(&mut text).ok()?;
        let language = language_of(path, &text)?;
        let definitions = parsers.definitions(language, &text, cancel).ok()?;
        let source = Arc::new(Source { path: path.to_vec(), language, definitions });
        self.hold(stamp.to_keep(now_ns()), Arc::clone(&source));
        Some((opened.path, source))
    }

    fn find(&self, stamp: &Stamp, path: &[u8]) -> Option<Arc<Source>> {
        let held = lock(&self.held);
        let found = held.iter().find(|(known, source)| known == stamp && source.path == path)?;
        Some(Arc::clone(&found.1))
    }

    fn hold(&self, stamp: Stamp, source: Arc<Source>) {
        let mut held = lock(&self.held);
        held.retain(|(_, other)| other.path != source.path);
        held.push_back((stamp, source));
        let count = |held: &VecDeque<(Stamp, Arc<Source>)>| -> usize {
            held.iter().map(|(_, source)| source.definitions.list.len()).sum()
        };
        while held.len() > MAX_HELD || (held.len() > 1 && count(&held) > MAX_HELD_DEFINITIONS) {
            held.pop_front();
        }
    }
}

fn shown(path: PermittedPath, source: &Source, index: usize, is_fuzzy: bool) -> SymbolHit {
    let definition = &source.definitions.list[index];
    let mut names = source.definitions.path(index);
    names.pop();
    SymbolHit {
        path,
        language: source.language,
        name: definition.name.clone(),
        kind: definition.kind,
        container: (!names.is_empty()).then(|| names.join(".")),
        line: definition.name_at.line,
        first_line: definition.first_line,
        last_line: definition.last_line,
        signature: definition.signature.clone(),
        declared_only: definition.declared_only,
        with_errors: !source.definitions.parsed_whole,
        is_fuzzy,
    }
}
