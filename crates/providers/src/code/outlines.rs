//! The definitions of many files, a few at a time: each is opened through the scope's door, read and parsed.

use std::io::Read as _;

use crate::search::{FindKind, FindOrder, FindQuery, FindTarget, Globs, SkipCounts, find};
use crate::syntax::Language;
use bailiwick_contract::{Access, Cancel, Failure};
use bailiwick_platform::fs::Dir;
use bailiwick_policy::{OpenedFile, PermittedPath};

use super::index::below;
use super::{Definitions, MAX_BYTES, SourceProblem, language_of};
use crate::parser::ParserPool;
use crate::threads::for_each;

/// How many source files of one folder are known at a time.
const MAX_FILES: usize = 100_000;

/// A file that may define something.
#[derive(Debug)]
pub struct OutlineSource {
    /// The file.
    pub path: PermittedPath,
    /// Its language.
    pub language: Language,
    /// What it defines, or why it was not looked at.
    pub found: Result<Definitions, SourceProblem>,
}

/// The source files beneath a folder, by path.
#[derive(Debug)]
pub struct SourceFiles {
    root: PermittedPath,
    paths: Vec<Vec<u8>>,
    /// What rules left out.
    pub skipped: SkipCounts,
}

impl SourceFiles {
    /// Finds the source files beneath a permitted folder, by their names.
    ///
    /// # Errors
    /// As [`PermittedPath::open_dir`]; `cancelled`, `timeout`.
    pub fn beneath(path: &PermittedPath, dir: Dir, cancel: &Cancel) -> Result<Self, Failure> {
        let query = FindQuery {
            wanted: FindTarget::Glob(Globs::compile("target", &[], false, b"")?),
            kind: FindKind::Files,
            order: FindOrder::Path,
            keep: usize::MAX,
            hidden: false,
            ignored: false,
        };
        debug_assert_eq!(path.access(), Access::Read);
        let answer = find(path, dir, &query, cancel)?;
        let paths = answer.found.into_iter().map(|found| found.path).filter(|path| may_define(path));
        let mut root = path.clone();
        while let Some(above) = root.parent() {
            root = above;
        }
        Ok(Self { root, paths: paths.take(MAX_FILES).collect(), skipped: answer.skipped })
    }

    /// Returns the number of the first file whose path is not before another path.
    pub fn place_of(&self, path: &[u8]) -> usize {
        self.paths.partition_point(|known| known.as_slice() < path)
    }

    /// Counts the files.
    pub fn count(&self) -> usize {
        self.paths.len()
    }

    /// Reads some of the files; `None` for one that cannot be opened, or is no source.
    ///
    /// # Errors
    /// `cancelled`, `timeout`.
    pub fn read(
        &self,
        first: usize,
        count: usize,
        parsers: &ParserPool,
        cancel: &Cancel,
    ) -> Result<Vec<Option<OutlineSource>>, Failure> {
        let paths = &self.paths[first.min(self.paths.len())..(first + count).min(self.paths.len())];
        let read = for_each(paths.len(), cancel, |at| {
            outlined(below(&self.root, &paths[at]).ok()?.open_file().ok()?, parsers, cancel)
        })?;
        Ok(read.into_iter().map(Option::flatten).collect())
    }
}

/// Tells by its name whether a file may define something; scripts have no extension.
fn may_define(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    language_of(name, b"").is_some() || !name.contains(&b'.')
}

/// Reads an open file; `None` if it is no source.
pub fn outlined(opened: OpenedFile, parsers: &ParserPool, cancel: &Cancel) -> Option<OutlineSource> {
    let path = opened.path.rel().as_bytes();
    let mut text = Vec::new();
    (&opened.file).take(MAX_BYTES as u64 + 1).read_to_end(&mut text).ok()?;
    let language = language_of(path, &text)?;
    let found = parsers.definitions(language, &text, cancel);
    Some(OutlineSource { language, found, path: opened.path })
}
