//! Looking at the files of a root: which have changed since they were read, and what those define now.
//!
//! A file whose facts are the same is not opened. With a needle, files whose text lacks it are left for later, so
//! that a first question is answered long before everything was read.

use std::ffi::OsStr;
use std::io::Read as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use aho_corasick::AhoCorasick;

use crate::parser::ParserPool;
use crate::search::{Filter, Skip, Visitor, WalkedFile, walk};
use bailiwick_contract::{Access, Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::{FileKind, RelPath, Stat};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PermittedPath;

use super::super::{Definitions, MAX_BYTES, SourceProblem, language_of};
use super::entry::{Outcome, Stamp};
use super::table::{ReadFile, Table};
use super::watched::{Depth, RootWatches};

/// The largest program that is asked for its first line.
const MAX_SCRIPT_BYTES: u64 = 256 << 10;

/// A text that the files looked for must have, whatever its case.
#[derive(Debug, Clone)]
pub(super) struct Needle(AhoCorasick);

impl Needle {
    /// Creates a needle; `None` for a text whose case cannot be told byte by byte, or that nearly every file has.
    pub fn new(text: &str) -> Option<Self> {
        if !text.is_ascii() || text.len() < 2 {
            return None;
        }
        AhoCorasick::builder().ascii_case_insensitive(true).build([text]).ok().map(Self)
    }
}

/// One look at files.
pub(super) struct FileSurvey<'a> {
    pub table: &'a Mutex<Table>,
    pub watched: &'a Mutex<RootWatches>,
    pub parsers: &'a ParserPool,
    pub cancel: &'a Cancel,
    /// Tells this look from others.
    pub number: u32,
    pub needle: Option<&'a Needle>,
}

impl FileSurvey<'_> {
    /// Looks at a folder. Returns how many files were left for later.
    ///
    /// # Errors
    /// `cancelled`, `timeout`; for the root's own folder also what opening it gives.
    pub fn folder(&self, root: &PermittedPath, folder: &[u8], depth: Depth) -> Result<usize, Failure> {
        let place = match below(root, folder).and_then(|place| Ok((place.open_dir_itself()?, place))) {
            Ok(place) => place,
            Err(failure) if folder.is_empty() => return Err(failure),
            Err(_) => {
                // Gone, closed, or a link by now.
                lock(self.watched).forget(folder);
                lock(self.table).retain(folder, |_, _| false);
                return Ok(0);
            }
        };
        let (dir, place) = place;
        lock(self.watched).enter(folder, &dir);
        let deferred = AtomicUsize::new(0);
        let filter = Filter { access: Access::Search, hidden: false, ignored: false };
        let reader = || Reader { look: self, place: &place, depth, buffer: Vec::new(), deferred: &deferred };
        match walk(&place, dir, filter, self.cancel, reader) {
            Err(failure) if matches!(failure.code, ErrorCode::Cancelled | ErrorCode::Timeout) => {
                return Err(failure);
            }
            Err(failure) if folder.is_empty() => return Err(failure),
            // It went while it was checked: what is held of it goes below.
            Err(_) | Ok(_) => {}
        }
        let deferred = deferred.into_inner();
        if self.needle.is_none() || deferred == 0 {
            let prefix = if folder.is_empty() { 0 } else { folder.len() + 1 };
            lock(self.table).retain(folder, |path, entry| {
                let deeper = path.get(prefix..).is_some_and(|rest| rest.contains(&b'/'));
                entry.seen == self.number || (depth == Depth::Entries && deeper)
            });
        }
        Ok(deferred)
    }
}

/// Returns the place of a path that a walk has met, judged again.
///
/// # Errors
/// As [`PermittedPath::child`]; `invalid_request` for what is no path.
pub(crate) fn below(root: &PermittedPath, path: &[u8]) -> Result<PermittedPath, Failure> {
    let path = RelPath::parse(path).map_err(|problem| Failure::invalid("target", problem.to_string()))?;
    path.components().try_fold(root.clone(), |folder, name| folder.child(OsStr::from_bytes(name)))
}

/// Returns whether a file of this name may define something.
pub(super) fn may_define(name: &OsStr) -> bool {
    language_of(name.as_bytes(), b"").is_some() || !name.as_bytes().contains(&b'.')
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One thread's part of a look.
struct Reader<'a> {
    look: &'a FileSurvey<'a>,
    place: &'a PermittedPath,
    depth: Depth,
    buffer: Vec<u8>,
    deferred: &'a AtomicUsize,
}

impl Reader<'_> {
    /// Returns whether a file is worth opening, by its name and facts.
    fn is_candidate(file: &WalkedFile<'_>, stat: &Stat) -> bool {
        let is_script = stat.mode & 0o111 != 0 && stat.size <= MAX_SCRIPT_BYTES;
        stat.kind == FileKind::File && (is_script || language_of(file.name.as_bytes(), b"").is_some())
    }

    /// Reads a file; `None` where it could not be opened, or nothing may be held of it.
    fn read(&mut self, file: &WalkedFile<'_>) -> Option<Result<ReadFile, Deferral>> {
        let mut opened = file.dir.open_file(file.name).ok()?;
        let stat = opened.stat;
        let several_names = stat.links > 1;
        if several_names && self.place.rules().refuses_hard_links() {
            return None;
        }
        let stamp = Stamp::of(&stat).to_keep(now_ns());
        let read = |language, outcome, definitions| {
            Some(Ok(ReadFile { stamp, language, outcome, several_names, definitions }))
        };
        if stat.size > MAX_BYTES as u64 {
            return read(None, Outcome::TooLarge, Definitions::default());
        }
        self.buffer.clear();
        // One byte more, so that a file that grows meanwhile is noticed.
        (&mut opened.file).take(MAX_BYTES as u64 + 1).read_to_end(&mut self.buffer).ok()?;
        let text = self.buffer.as_slice();
        if self.look.needle.is_some_and(|needle| !needle.0.is_match(text)) {
            return Some(Err(Deferral));
        }
        let Some(language) = language_of(file.name.as_bytes(), text) else {
            return read(None, Outcome::NoSource, Definitions::default());
        };
        if memchr::memchr(0, text).is_some() {
            return read(None, Outcome::NoSource, Definitions::default());
        }
        let cancel = self.look.cancel;
        match self.look.parsers.definitions(language, text, cancel) {
            Ok(found) => {
                let outcome = if found.parsed_whole { Outcome::Whole } else { Outcome::WithErrors };
                read(Some(language), outcome, found)
            }
            Err(SourceProblem::Stopped) if cancel.is_raised() => None,
            Err(SourceProblem::Stopped) => read(Some(language), Outcome::TooSlow, Definitions::default()),
            Err(SourceProblem::TooLarge) => read(Some(language), Outcome::TooLarge, Definitions::default()),
            Err(SourceProblem::Minified) => read(Some(language), Outcome::Minified, Definitions::default()),
            Err(SourceProblem::Failed) => read(Some(language), Outcome::Failed, Definitions::default()),
            Err(SourceProblem::Unavailable) => {
                // That says nothing of the file: it is read again at the next look.
                let (stamp, outcome) = (Stamp { inode: 0, ..stamp }, Outcome::Failed);
                let definitions = Definitions::default();
                Some(Ok(ReadFile { stamp, language: Some(language), outcome, several_names, definitions }))
            }
        }
    }
}

/// A file was left for later.
struct Deferral;

impl Visitor for Reader<'_> {
    fn wants(&self, path: &[u8]) -> bool {
        match path.strip_suffix(b"/") {
            Some(folder) if self.depth == Depth::Entries => !lock(self.look.watched).knows(folder),
            Some(_) | None => true,
        }
    }

    fn begin(&mut self, _: &[u8]) {}

    fn file(&mut self, file: &WalkedFile<'_>) {
        if !may_define(file.name) {
            return;
        }
        let Ok(stat) = file.dir.stat(file.name) else { return };
        if !Self::is_candidate(file, &stat) {
            return;
        }
        if lock(self.look.table).meet(file.path, &Stamp::of(&stat), self.look.number) {
            return;
        }
        match self.read(file) {
            Some(Ok(read)) => lock(self.look.table).put(file.path, read, self.look.number),
            later => {
                if later.is_some() {
                    self.deferred.fetch_add(1, Ordering::Relaxed);
                }
                // What was held of it is of an earlier text.
                lock(self.look.table).remove(file.path);
            }
        }
    }

    fn folder(&mut self, _: &WalkedFile<'_>) {}

    fn entered(&mut self, path: &[u8], dir: &bailiwick_platform::fs::Dir) {
        lock(self.look.watched).enter(path, dir);
    }

    fn skipped(&mut self, _: &[u8], _: Skip) {}
}

/// Returns the time of the clock that files' times are of, or a little later.
pub(super) fn now_ns() -> i128 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(0))
}
