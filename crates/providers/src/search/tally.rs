//! Counting what a content search did, so that a cut answer counts the same in every run.

use super::skip::{Skip, SkipCounts};

/// How many examples of a reason are named.
const MAX_EXAMPLES: usize = 3;

/// What was counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Files whose text was searched.
    pub searched: u64,
    /// Files with a match.
    pub matched_files: u64,
    /// Lines that match, as far as was looked.
    pub matched_lines: u64,
    /// What was left out.
    pub skipped: SkipCounts,
}

impl Tally {
    fn merge(&mut self, other: &Self) {
        self.searched += other.searched;
        self.matched_files += other.matched_files;
        self.matched_lines += other.matched_lines;
        self.skipped.merge(&other.skipped);
    }
}

/// One thread's counts, run by run.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    first: Vec<u8>,
    run: Tally,
    ended: Vec<(Vec<u8>, Tally)>,
    examples: Vec<(Skip, Vec<Vec<u8>>)>,
}

impl Ledger {
    /// Begins a run of paths with its first one.
    pub fn begin(&mut self, first: &[u8]) {
        if self.run != Tally::default() {
            let first = std::mem::take(&mut self.first);
            self.ended.push((first, std::mem::take(&mut self.run)));
        }
        self.first.clear();
        self.first.extend_from_slice(first);
    }

    /// Returns the first path of the run and what it has counted so far.
    pub fn run(&mut self) -> (&[u8], &mut Tally) {
        (&self.first, &mut self.run)
    }

    /// Counts something that is left out.
    pub fn skip(&mut self, path: &[u8], reason: Skip) {
        self.run.skipped.add(reason);
        if !reason.has_examples() {
            return;
        }
        let paths = match self.examples.iter().position(|(known, _)| *known == reason) {
            Some(at) => &mut self.examples[at].1,
            None => {
                self.examples.push((reason, Vec::new()));
                &mut self.examples.last_mut().expect("just pushed").1
            }
        };
        if paths.len() < MAX_EXAMPLES || paths.last().is_some_and(|last| path < last.as_slice()) {
            paths.push(path.to_vec());
            paths.sort_unstable();
            paths.truncate(MAX_EXAMPLES);
        }
    }
}

/// All threads' counts.
#[derive(Debug, Default)]
pub(super) struct Ledgers {
    runs: Vec<(Vec<u8>, Tally)>,
    examples: Vec<(Skip, Vec<u8>)>,
}

impl Ledgers {
    /// Takes one thread's counts.
    pub fn add(&mut self, mut ledger: Ledger) {
        ledger.begin(b"");
        self.runs.append(&mut ledger.ended);
        for (reason, paths) in ledger.examples {
            self.examples.extend(paths.into_iter().map(|path| (reason, path)));
        }
    }

    /// Sums everything up.
    pub fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.runs.iter().for_each(|(_, tally)| total.merge(tally));
        total
    }

    /// Sums up what is before the run that begins with `run`, and adds `tally`.
    pub fn through(&self, run: &[u8], tally: &Tally) -> Tally {
        let mut total = *tally;
        self.runs
            .iter()
            .filter(|(first, _)| first.as_slice() < run)
            .for_each(|(_, tally)| total.merge(tally));
        total
    }

    /// Returns the first examples of each reason, up to a path.
    pub fn examples(&mut self, last: Option<&[u8]>) -> Vec<(Skip, Vec<u8>)> {
        self.examples.sort_unstable();
        let mut examples: Vec<(Skip, Vec<u8>)> = Vec::new();
        for (reason, path) in &self.examples {
            let of_reason = examples.iter().filter(|(known, _)| known == reason).count();
            if of_reason < MAX_EXAMPLES && last.is_none_or(|last| path.as_slice() <= last) {
                examples.push((*reason, path.clone()));
            }
        }
        examples
    }
}
