//! Who has written a file last, so that nobody writes over it who does not know what is there, and who has read it
//! before, so that they hear of it.
//!
//! In memory, and for a while: what other programs write is not known here.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::file::rest_of;

/// How many files are remembered.
const MAX_FILES: usize = 4_096;
/// How many callers are remembered of a file.
const MAX_CALLERS: usize = 16;
/// How long a file is remembered.
const MAX_AGE: Duration = Duration::from_secs(3_600);
/// How many files a caller hears of at once.
const MAX_NEWS: usize = 32;
/// Of how many callers it is remembered what they have to hear.
const MAX_UNHEARD: usize = 1_024;

/// The files that callers of one service have written.
#[derive(Default)]
pub struct Authors {
    files: Mutex<HashMap<(String, String), LastWriter>>,
    readers: Mutex<Readers>,
    /// How many callers have something to hear, so that the others need no lock.
    unheard: AtomicUsize,
}

/// Who has read which file, and who has to hear that one was changed.
#[derive(Default)]
struct Readers {
    files: HashMap<(String, String), (VecDeque<String>, Instant)>,
    /// The changed files, by scope and caller.
    news: HashMap<(String, String), FileChanges>,
}

/// The files that were changed since a caller has read them.
struct FileChanges {
    files: BTreeSet<String>,
    /// When the last of them was changed.
    at: Instant,
}

impl FileChanges {
    fn is_old(&self, now: Instant) -> bool {
        now.duration_since(self.at) > MAX_AGE
    }
}

struct LastWriter {
    version: String,
    /// Those who know this version: who has written it, and who has read it since.
    callers: VecDeque<String>,
    at: Instant,
}

impl Authors {
    /// Remembers that a caller has written a version of a file. Others hear of it by [`Authors::change`].
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

    /// Remembers that a caller has changed, moved or removed a file: the others who have read it hear of it.
    pub fn change(&self, scope: &str, path: &str, caller: &str) {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        self.has_heard(&mut readers, scope, path, caller);
        let Readers { files, news } = &mut *readers;
        // What is in a folder that goes is changed, too.
        let is_changed = |(of, name): &(String, String)| of == scope && rest_of(name, path).is_some();
        files.retain(|key, (callers, at)| {
            if !is_changed(key) {
                return true;
            }
            let is_old = at.elapsed() > MAX_AGE;
            for other in callers.iter().filter(|it| *it != caller && !is_old) {
                add_news(news, (key.0.clone(), other.clone()), &key.1);
            }
            callers.retain(|it| it == caller);
            !callers.is_empty()
        });
        self.unheard.store(readers.news.len(), Ordering::Release);
    }

    /// Returns the files that others have changed since a caller has read them, once.
    pub fn news(&self, scope: impl FnOnce() -> String, caller: impl FnOnce() -> String) -> BTreeSet<String> {
        if self.unheard.load(Ordering::Acquire) == 0 {
            return BTreeSet::new();
        }
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let news = readers.news.remove(&(scope(), caller()));
        self.unheard.store(readers.news.len(), Ordering::Release);
        news.filter(|news| !news.is_old(Instant::now())).map(|news| news.files).unwrap_or_default()
    }

    /// Forgets that a caller was to hear of a file: it knows what is there now.
    fn has_heard(&self, readers: &mut Readers, scope: &str, path: &str, caller: &str) {
        if readers.news.is_empty() {
            return;
        }
        let key = (scope.to_owned(), caller.to_owned());
        if let Some(news) = readers.news.get_mut(&key) {
            news.files.remove(path);
            if news.files.is_empty() {
                readers.news.remove(&key);
            }
        }
        self.unheard.store(readers.news.len(), Ordering::Release);
    }

    fn note_reader(&self, scope: &str, path: &str, caller: &str) {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        self.has_heard(&mut readers, scope, path, caller);
        let key = (scope.to_owned(), path.to_owned());
        if readers.files.len() >= MAX_FILES && !readers.files.contains_key(&key) {
            readers.files.retain(|_, (_, at)| at.elapsed() <= MAX_AGE / 2);
            if readers.files.len() >= MAX_FILES {
                readers.files.clear();
            }
        }
        let (callers, at) = readers.files.entry(key).or_insert_with(|| (VecDeque::new(), Instant::now()));
        *at = Instant::now();
        if !callers.iter().any(|it| it == caller) {
            if callers.len() >= MAX_CALLERS {
                callers.pop_front();
            }
            callers.push_back(caller.to_owned());
        }
    }

    /// Remembers that a caller has read a version of a file.
    pub fn read(&self, scope: &str, path: &str, version: &str, caller: &str) {
        self.note_reader(scope, path, caller);
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

/// Adds a file to the news of a caller in a scope. Of too many callers, the one with the oldest hears of nothing.
fn add_news(all: &mut HashMap<(String, String), FileChanges>, caller: (String, String), file: &str) {
    if all.len() >= MAX_UNHEARD && !all.contains_key(&caller) {
        all.retain(|_, news| !news.is_old(Instant::now()));
        if all.len() >= MAX_UNHEARD
            && let Some(oldest) = all.iter().min_by_key(|(_, news)| news.at).map(|(key, _)| key.clone())
        {
            all.remove(&oldest);
        }
    }
    let news =
        all.entry(caller).or_insert_with(|| FileChanges { files: BTreeSet::new(), at: Instant::now() });
    news.at = Instant::now();
    if news.files.len() < MAX_NEWS {
        news.files.insert(file.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_read_a_file_hears_once_that_another_changed_it() {
        let authors = Authors::default();
        let news = |caller: &str| authors.news(|| "app".to_owned(), || caller.to_owned());
        // As a write does it.
        let write = |version: &str, caller: &str| {
            authors.change("app", "a", caller);
            authors.write("app".to_owned(), "a".to_owned(), version, caller);
        };
        authors.read("app", "a", "s-1", "one");
        authors.read("app", "a", "s-1", "two");
        assert!(news("one").is_empty());
        write("s-2", "two");
        assert!(news("two").is_empty() && authors.news(|| "lib".to_owned(), || "one".to_owned()).is_empty());
        assert_eq!(news("one"), BTreeSet::from(["a".to_owned()]));
        assert!(news("one").is_empty(), "it was heard");
        write("s-3", "two");
        assert!(news("one").is_empty(), "it has not read it since");
        // Who reads or writes it again knows what is there.
        authors.read("app", "a", "s-3", "one");
        authors.change("app", "a", "two");
        authors.read("app", "a", "s-4", "one");
        assert!(news("one").is_empty());
        authors.change("app", "a", "two");
        write("s-5", "one");
        assert!(news("one").is_empty());
        for number in 0..2 * MAX_FILES {
            authors.read("app", &number.to_string(), "s-1", "one");
        }
        assert!(authors.readers.lock().expect("nobody else has it").files.len() <= MAX_FILES);
    }

    #[test]
    fn what_nobody_fetches_is_forgotten() {
        let authors = Authors::default();
        let count = || {
            let readers = authors.readers.lock().expect("nobody else has it");
            (readers.files.len(), readers.news.len())
        };
        for number in 0..MAX_UNHEARD + 8 {
            authors.read("app", "a", "s-1", &number.to_string());
            authors.change("app", "a", "writer");
        }
        assert_eq!(count(), (0, MAX_UNHEARD), "nobody knows the file, and the oldest news are gone");
        let news = |caller: &str| authors.news(|| "app".to_owned(), || caller.to_owned());
        assert!(news("0").is_empty());
        assert_eq!(news(&MAX_UNHEARD.to_string()), BTreeSet::from(["a".to_owned()]));
        let news = FileChanges { files: BTreeSet::new(), at: Instant::now() };
        assert!(!news.is_old(news.at + MAX_AGE) && news.is_old(news.at + MAX_AGE * 2));
    }

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
