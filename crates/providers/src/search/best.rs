//! The files with matches that come first in the order of paths, as many as an answer can hold.
//!
//! Threads find files in no fixed order. What is kept depends on the paths alone: a file is dropped
//! only when those before it fill the answer on their own, so every run keeps the same ones.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use super::matches::MatchedLine;
use super::tally::Tally;

/// A file with matches.
#[derive(Debug)]
pub struct MatchedFile {
    /// The lines that match; empty where only files or counts were asked for.
    pub lines: Vec<MatchedLine>,
    /// How many lines match, as far as was looked.
    pub count: u64,
    /// How many results it stands for.
    pub(super) results: usize,
    /// What they weigh in an answer, in bytes; less than it will be.
    pub(super) weight: usize,
    /// The first path of the run of paths that it was met in.
    pub(super) run: Vec<u8>,
    /// What was counted in that run, up to and with this file.
    pub(super) tally: Tally,
}

impl MatchedFile {
    /// Returns how many results of an answer it stands for.
    pub fn results(&self) -> usize {
        self.results
    }
}

/// Keeps the first files.
#[derive(Debug)]
pub(super) struct BestFiles {
    max_results: usize,
    max_weight: usize,
    kept: Mutex<BestMatches>,
    /// Whether `last` holds: nothing after it is wanted.
    is_full: AtomicBool,
    last: RwLock<Vec<u8>>,
}

#[derive(Debug, Default)]
pub(super) struct BestMatches {
    /// By path.
    pub files: BTreeMap<Vec<u8>, MatchedFile>,
    results: usize,
    weight: usize,
    /// Whether a file was dropped, or may have been passed over.
    pub dropped: bool,
}

impl BestFiles {
    pub fn new(max_results: usize, max_weight: usize) -> Self {
        Self {
            max_results,
            max_weight,
            kept: Mutex::default(),
            is_full: AtomicBool::new(false),
            last: RwLock::default(),
        }
    }

    /// Returns whether a file of this path could still be kept.
    pub fn wants(&self, path: &[u8]) -> bool {
        !self.is_full.load(Ordering::Acquire)
            || path <= self.last.read().unwrap_or_else(PoisonError::into_inner).as_slice()
    }

    /// Takes a file with matches.
    pub fn add(&self, path: &[u8], file: MatchedFile) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.wants(path) {
            kept.dropped = true;
            return;
        }
        kept.results += file.results;
        kept.weight += file.weight;
        kept.files.insert(path.to_vec(), file);
        while let Some(last) = kept.files.last_entry() {
            let (results, weight) = (last.get().results, last.get().weight);
            let fills = kept.results - results >= self.max_results || kept.weight - weight >= self.max_weight;
            if !fills {
                break;
            }
            kept.files.pop_last();
            kept.results -= results;
            kept.weight -= weight;
            kept.dropped = true;
        }
        if (kept.results >= self.max_results || kept.weight >= self.max_weight)
            && let Some((path, _)) = kept.files.last_key_value()
        {
            self.last.write().unwrap_or_else(PoisonError::into_inner).clone_from(path);
            self.is_full.store(true, Ordering::Release);
        }
    }

    /// Returns what was kept.
    pub fn into_kept(self) -> BestMatches {
        let mut kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        kept.dropped |= self.is_full.into_inner();
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(results: usize) -> MatchedFile {
        MatchedFile {
            lines: Vec::new(),
            count: results as u64,
            results,
            weight: results * 10,
            run: Vec::new(),
            tally: Tally::default(),
        }
    }

    fn kept(order: &[&str], max_results: usize, max_weight: usize) -> Vec<String> {
        let best = BestFiles::new(max_results, max_weight);
        for path in order {
            if best.wants(path.as_bytes()) {
                best.add(path.as_bytes(), file(2));
            }
        }
        best.into_kept().files.into_keys().map(|path| String::from_utf8(path).expect("UTF-8")).collect()
    }

    #[test]
    fn what_is_kept_does_not_depend_on_the_order_of_arrival() {
        for order in [["a", "b", "c", "d"], ["d", "c", "b", "a"], ["c", "a", "d", "b"]] {
            assert_eq!(kept(&order, 3, 1_000), ["a", "b"], "{order:?}");
            assert_eq!(kept(&order, 4, 1_000), ["a", "b"], "{order:?}");
            assert_eq!(kept(&order, 100, 50), ["a", "b", "c"], "{order:?}");
        }
    }
}
