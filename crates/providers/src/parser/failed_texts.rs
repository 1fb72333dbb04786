//! The texts on which workers have died or were killed lately: they are not tried again for a while.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many texts are known.
const MAX_TEXTS: usize = 256;
/// How long one is known. A busy computer can make a worker miss its deadline, too.
const KNOWN_FOR: Duration = Duration::from_secs(60);

/// How a worker ended on a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkerFailure {
    /// It died.
    Died,
    /// It was killed at its deadline.
    Killed,
}

/// Texts by their hashes, the oldest first.
#[derive(Debug, Default)]
pub(super) struct FailedTexts {
    texts: Mutex<VecDeque<(u64, WorkerFailure, Instant)>>,
    hasher: RandomState,
}

impl FailedTexts {
    /// Returns what became of a worker with these texts, if they are known.
    pub fn find(&self, kind: &str, texts: [&[u8]; 2]) -> Option<WorkerFailure> {
        let mut known = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        while known.front().is_some_and(|(_, _, since)| since.elapsed() > KNOWN_FOR) {
            known.pop_front();
        }
        if known.is_empty() {
            return None;
        }
        let hash = self.hash(kind, texts);
        known.iter().find(|(other, _, _)| *other == hash).map(|(_, trouble, _)| *trouble)
    }

    /// Adds texts.
    pub fn add(&self, kind: &str, texts: [&[u8]; 2], trouble: WorkerFailure) {
        let hash = self.hash(kind, texts);
        let mut known = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() == MAX_TEXTS {
            known.pop_front();
        }
        known.push_back((hash, trouble, Instant::now()));
    }

    fn hash(&self, kind: &str, texts: [&[u8]; 2]) -> u64 {
        self.hasher.hash_one((kind, texts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_texts_are_known_by_kind_and_content() {
        let failed = FailedTexts::default();
        assert_eq!(failed.find("rust", [b"a", b""]), None);
        failed.add("rust", [b"a", b""], WorkerFailure::Died);
        assert_eq!(failed.find("rust", [b"a", b""]), Some(WorkerFailure::Died));
        assert_eq!(failed.find("rust", [b"", b"a"]), None);
        assert_eq!(failed.find("go", [b"a", b""]), None);
        for number in 0..MAX_TEXTS {
            failed.add("rust", [number.to_string().as_bytes(), b""], WorkerFailure::Killed);
        }
        assert_eq!(failed.find("rust", [b"a", b""]), None, "the oldest has gone");
    }
}
