//! Finding files and folders by their path: by glob, or by fuzzy likeness, the best first.

use std::collections::BinaryHeap;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use bailiwick_contract::path::encode_name;
use bailiwick_contract::{Access, Cancel, Failure};
use bailiwick_platform::fs::{Dir, FileKind};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PermittedPath;

use super::globs::Globs;
use super::listing::Filter;
use super::skip::{Skip, SkipCounts};
use super::walk::{Visitor, WalkedFile, walk};

/// The longest fuzzy pattern, in bytes; also keeps the ranking's memory small.
const MAX_FUZZY_BYTES: usize = 200;
/// The longest path that is ranked, in bytes.
const MAX_RANKED_BYTES: usize = 1_024;

/// What to look for.
#[derive(Debug, Clone)]
pub enum FindTarget {
    /// Paths that a glob chooses.
    Glob(Globs),
    /// Paths that have the characters of each word, in order, ranked by how well they fit.
    Fuzzy(String),
}

/// Which kinds are results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindKind {
    /// Regular files.
    Files,
    /// Folders.
    Folders,
    /// Both.
    Any,
}

/// The order of results; ties are in the order of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindOrder {
    /// By the bytes of the path.
    Path,
    /// The last changed first.
    Modified,
    /// The largest first.
    Size,
    /// The best fit first.
    Score,
}

/// A question to [`find`].
#[derive(Debug, Clone)]
pub struct FindQuery {
    /// What to look for.
    pub wanted: FindTarget,
    /// Which kinds are results.
    pub kind: FindKind,
    /// Their order.
    pub order: FindOrder,
    /// How many to keep: the first ones in that order.
    pub keep: usize,
    /// Whether names that start with a dot are checked.
    pub hidden: bool,
    /// Whether ignored names are checked.
    pub ignored: bool,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundPath {
    /// Smaller comes first.
    rank: i128,
    /// The path beneath the root.
    pub path: Vec<u8>,
    /// Whether it is a folder.
    pub is_folder: bool,
}

impl FoundPath {
    /// Returns how well it fits a fuzzy pattern, where the results are in that order.
    pub fn score(&self) -> i128 {
        -self.rank
    }
}

/// What [`find`] gives.
#[derive(Debug, Default)]
pub struct FindAnswer {
    /// The first results in the order asked for.
    pub found: Vec<FoundPath>,
    /// How many there are in all.
    pub total: u64,
    /// What was left out.
    pub skipped: SkipCounts,
}

/// Finds files and folders beneath a permitted folder.
///
/// # Errors
/// As [`PermittedPath::open_dir`]; `invalid_request` for a pattern that is too long; `cancelled`, `timeout`.
pub fn find(
    path: &PermittedPath,
    dir: Dir,
    query: &FindQuery,
    cancel: &Cancel,
) -> Result<FindAnswer, Failure> {
    let fuzzy = match &query.wanted {
        FindTarget::Glob(_) => None,
        FindTarget::Fuzzy(text) if text.len() > MAX_FUZZY_BYTES => {
            return Err(Failure::invalid("input.pattern", "a fuzzy pattern has at most 200 bytes"));
        }
        FindTarget::Fuzzy(text) => Some(text),
    };
    let filter = Filter { access: Access::Read, hidden: query.hidden, ignored: query.ignored };
    let workers = walk(path, dir, filter, cancel, || Worker {
        query,
        ranking: fuzzy.map(|text| Ranking {
            pattern: Pattern::parse(text, CaseMatching::Smart, Normalization::Smart),
            matcher: Matcher::new(Config::DEFAULT.match_paths()),
            characters: Vec::new(),
        }),
        best: BinaryHeap::new(),
        total: 0,
        skipped: SkipCounts::default(),
    })?;
    let mut answer = FindAnswer::default();
    for worker in workers {
        answer.found.extend(worker.best);
        answer.total += worker.total;
        answer.skipped.merge(&worker.skipped);
    }
    answer.found.sort_unstable();
    answer.found.truncate(query.keep);
    Ok(answer)
}

/// One thread's part of a search for names.
struct Worker<'a> {
    query: &'a FindQuery,
    ranking: Option<Ranking>,
    /// The best results so far; the worst of them on top.
    best: BinaryHeap<FoundPath>,
    total: u64,
    skipped: SkipCounts,
}

struct Ranking {
    pattern: Pattern,
    matcher: Matcher,
    characters: Vec<char>,
}

impl Ranking {
    fn score(&mut self, path: &[u8]) -> Option<u32> {
        let path = path.get(path.len().saturating_sub(MAX_RANKED_BYTES)..).unwrap_or(path);
        let text = encode_name(path);
        self.pattern.score(Utf32Str::new(&text, &mut self.characters), &mut self.matcher)
    }
}

impl Worker<'_> {
    fn look(&mut self, file: &WalkedFile<'_>, is_folder: bool) {
        let score = match (&self.query.wanted, &mut self.ranking) {
            (FindTarget::Glob(globs), _) => globs.choose(file.path).then_some(0),
            (FindTarget::Fuzzy(_), Some(ranking)) => ranking.score(file.path),
            (FindTarget::Fuzzy(_), None) => None,
        };
        let Some(score) = score else { return };
        let rank = match self.query.order {
            FindOrder::Path => 0,
            FindOrder::Score => -i128::from(score),
            // What vanishes under way comes last.
            FindOrder::Modified => file.dir.stat(file.name).map_or(i128::MAX, |stat| -stat.modified_ns),
            FindOrder::Size => file.dir.stat(file.name).map_or(i128::MAX, |stat| match stat.kind {
                FileKind::File => -i128::from(stat.size),
                _ => 0,
            }),
        };
        self.total += 1;
        if self.best.len() >= self.query.keep {
            let better = self.best.peek().is_some_and(|worst| (rank, file.path) < (worst.rank, &*worst.path));
            if !better {
                return;
            }
            self.best.pop();
        }
        self.best.push(FoundPath { rank, path: file.path.to_vec(), is_folder });
    }
}

impl Visitor for Worker<'_> {
    fn wants(&self, _: &[u8]) -> bool {
        true
    }

    fn begin(&mut self, _: &[u8]) {}

    fn file(&mut self, file: &WalkedFile<'_>) {
        if self.query.kind != FindKind::Folders {
            self.look(file, false);
        }
    }

    fn folder(&mut self, folder: &WalkedFile<'_>) {
        debug_assert!(folder.path.ends_with(folder.name.as_bytes()));
        if self.query.kind != FindKind::Files {
            self.look(folder, true);
        }
    }

    fn skipped(&mut self, _: &[u8], reason: Skip) {
        self.skipped.add(reason);
    }
}
