//! Contents that were read a while ago, so that edits made for them can be merged with what came since.
//!
//! In memory only, and little: reading writes nothing to the disk. What is not held any more makes an edit for
//! an old version a conflict, as before. Callers decide what may be held: nothing sensitive.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Authors;

/// How many bytes are held in all.
const MAX_BYTES: usize = 4 << 20;
/// The largest content that is held: beyond it, memory that is not used again would be felt by reading.
pub const MAX_SEEN_BYTES: usize = 128 << 10;
/// How many contents are held.
const MAX_CONTENTS: usize = 256;
/// How long a content is held.
const MAX_AGE: Duration = Duration::from_secs(3_600);

struct Content {
    version: String,
    scope: String,
    path: String,
    /// Nothing if only the version is known.
    bytes: Option<Vec<u8>>,
    at: Instant,
}

/// The contents that one service has read.
#[derive(Default)]
pub struct ReadContents {
    /// Who has written what.
    pub authors: Authors,
    /// Oldest first, and how many bytes they have.
    contents: Mutex<(VecDeque<Content>, usize)>,
}

impl ReadContents {
    /// Holds a content that was read in a scope; of a large one only its version.
    pub fn hold(&self, scope: String, path: String, version: &str, bytes: Vec<u8>) {
        let bytes = Some(bytes).filter(|bytes| bytes.len() <= MAX_SEEN_BYTES);
        self.put(Content { version: version.to_owned(), scope, path, bytes, at: Instant::now() });
    }

    /// Remembers a version that a change in a scope makes.
    pub fn note(&self, scope: String, path: String, version: &str) {
        self.put(Content { version: version.to_owned(), scope, path, bytes: None, at: Instant::now() });
    }

    fn put(&self, mut content: Content) {
        let mut seen = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let (contents, sum) = &mut *seen;
        if let Some(at) = position(contents, &content.scope, &content.path, &content.version)
            && let Some(again) = contents.remove(at)
        {
            *sum -= again.size();
            content.bytes = content.bytes.or(again.bytes);
        }
        *sum += content.size();
        contents.push_back(content);
        let too_much = |contents: &VecDeque<Content>, sum: usize| {
            let old = contents.front().is_some_and(|oldest| oldest.at.elapsed() > MAX_AGE);
            old || sum > MAX_BYTES || contents.len() > MAX_CONTENTS
        };
        while too_much(contents, *sum)
            && let Some(oldest) = contents.pop_front()
        {
            *sum -= oldest.size();
        }
    }

    /// Returns a content that was read in a scope, by its path and version.
    pub fn find(&self, scope: &str, path: &str, version: &str) -> Option<Vec<u8>> {
        let seen = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let at = position(&seen.0, scope, path, version)?;
        seen.0.get(at).filter(|content| content.at.elapsed() <= MAX_AGE)?.bytes.clone()
    }

    /// Returns whether a file is in a version that was read or made in a scope; `None` where none of it was.
    pub fn is_known(&self, scope: &str, path: &str, version: &str) -> Option<bool> {
        let seen = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of_file = seen
            .0
            .iter()
            .filter(|it| it.path == path && it.scope == scope && it.at.elapsed() <= MAX_AGE)
            .peekable();
        of_file.peek()?;
        Some(of_file.any(|it| it.version == version))
    }
}

impl Content {
    fn size(&self) -> usize {
        self.bytes.as_ref().map_or(0, Vec::len)
    }
}

fn position(contents: &VecDeque<Content>, scope: &str, path: &str, version: &str) -> Option<usize> {
    contents.iter().rposition(|it| it.version == version && it.path == path && it.scope == scope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_found_by_scope_path_and_version_until_there_are_too_many() {
        let seen = ReadContents::default();
        let keep = |path: &str, bytes: Vec<u8>| seen.hold("app".to_owned(), path.to_owned(), "s-1", bytes);
        let find = |scope: &str, path: &str, version: &str| seen.find(scope, path, version);
        keep("a", b"one".to_vec());
        assert_eq!(find("app", "a", "s-1").as_deref(), Some(&b"one"[..]));
        assert_eq!(find("other", "a", "s-1"), None);
        assert_eq!((find("app", "b", "s-1"), find("app", "a", "s-2")), (None, None));
        keep("large", vec![0; MAX_SEEN_BYTES + 1]);
        assert_eq!(find("app", "large", "s-1"), None);
        for number in 0..=MAX_BYTES / MAX_SEEN_BYTES {
            keep(&number.to_string(), vec![0; MAX_SEEN_BYTES]);
        }
        assert_eq!(find("app", "a", "s-1"), None);
        let held: usize = seen.contents.lock().expect("nobody else has it").0.iter().map(Content::size).sum();
        assert!(held <= MAX_BYTES);
    }

    #[test]
    fn a_version_is_known_that_was_read_or_made() {
        let seen = ReadContents::default();
        let name = || ("app".to_owned(), "a".to_owned());
        assert!(seen.is_known("app", "a", "s-1").is_none(), "it was never read");
        let (scope, path) = name();
        seen.hold(scope, path, "s-1", b"one".to_vec());
        assert_eq!(seen.is_known("app", "a", "s-1"), Some(true));
        assert_eq!(seen.is_known("app", "a", "s-2"), Some(false));
        assert_eq!((seen.is_known("app", "b", "s-2"), seen.is_known("other", "a", "s-2")), (None, None));
        let (scope, path) = name();
        seen.note(scope, path, "s-2");
        assert_eq!(
            (seen.is_known("app", "a", "s-2"), seen.is_known("app", "a", "s-3")),
            (Some(true), Some(false))
        );
        let (scope, path) = name();
        seen.hold(scope, path, "s-3", vec![0; MAX_SEEN_BYTES + 1]);
        assert_eq!(seen.is_known("app", "a", "s-3"), Some(true));
        assert_eq!((seen.find("app", "a", "s-2"), seen.find("app", "a", "s-3")), (None, None));
        // A version that is made again keeps its content.
        let (scope, path) = name();
        seen.note(scope, path, "s-1");
        assert_eq!(seen.find("app", "a", "s-1").as_deref(), Some(&b"one"[..]));
    }
}
