//! Who has written a file last, so that nobody writes over it who does not know what is there.
//!
//! In memory, and for a while: what other programs write is not known here.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many files are remembered.
const MAX_FILES: usize = 4_096;
/// How many callers are remembered of a file.
const MAX_CALLERS: usize = 16;
/// How long a file is remembered.
const MAX_AGE: Duration = Duration::from_secs(3_600);

/// The files that callers of one service have written.
#[derive(Default)]
pub struct Authors {
    files: Mutex<HashMap<(String, String), LastWriter>>,
}

struct LastWriter {
    version: String,
    /// Those who know this version: who has written it, and who has read it since.
    callers: VecDeque<String>,
    at: Instant,
}

impl Authors {
    /// Remembers that a caller has written a version of a file.
    pub fn write(&self, scope: String, path: String, version: &str, caller: &str) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() >= MAX_FILES {
            files.retain(|_, written| written.at.elapsed() <= MAX_AGE);
        }
        if files.len() >= MAX_FILES
            && let Some(oldest) =
                files.iter().min_by_key(|(_, written)| written.at).map(|(key, _)| key.clone())
        {
            files.remove(&oldest);
        }
        let callers = VecDeque::from([caller.to_owned()]);
        files.insert((scope, path), LastWriter { version: version.to_owned(), callers, at: Instant::now() });
    }

    /// Remembers that a caller has read a version of a file.
    pub fn read(&self, scope: &str, path: &str, version: &str, caller: &str) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(written) = files.get_mut(&(scope.to_owned(), path.to_owned())) else { return };
        if written.version == version && !written.callers.iter().any(|it| it == caller) {
            if written.callers.len() >= MAX_CALLERS {
                written.callers.pop_front();
            }
            written.callers.push_back(caller.to_owned());
        }
    }

    /// Returns whether another caller has written this version of a file, and this one has not read it since.
    pub fn is_unknown_to(&self, scope: &str, path: &str, version: &str, caller: &str) -> bool {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.get(&(scope.to_owned(), path.to_owned())).is_some_and(|written| {
            written.version == version
                && written.at.elapsed() <= MAX_AGE
                && !written.callers.iter().any(|it| it == caller)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_known_to_who_wrote_it_and_to_who_has_read_it() {
        let authors = Authors::default();
        let write = |path: &str, version: &str, caller: &str| {
            authors.write("app".to_owned(), path.to_owned(), version, caller);
        };
        let unknown =
            |path: &str, version: &str, caller: &str| authors.is_unknown_to("app", path, version, caller);
        assert!(!unknown("a", "s-1", "one"), "nobody that we know of has written it");
        write("a", "s-1", "one");
        assert!(!unknown("a", "s-1", "one") && unknown("a", "s-1", "two"));
        assert!(!unknown("a", "s-2", "two"), "another program has written since");
        assert!(!authors.is_unknown_to("other", "a", "s-1", "two"));
        authors.read("app", "a", "s-0", "two");
        assert!(unknown("a", "s-1", "two"), "what it has read was older");
        authors.read("app", "a", "s-1", "two");
        assert!(!unknown("a", "s-1", "two") && unknown("a", "s-1", "three"));
        write("a", "s-2", "two");
        assert!(unknown("a", "s-2", "one") && !unknown("a", "s-2", "two"));
        for number in 0..MAX_FILES {
            write(&number.to_string(), "s-1", "one");
        }
        assert!(authors.files.lock().expect("nobody else has it").len() <= MAX_FILES);
    }
}
