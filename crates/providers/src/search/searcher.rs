//! Searching the text of files: in this process, file by file, as ripgrep does.
//!
//! A file that fits is read whole into a buffer that its thread keeps; a larger one streams through the
//! searcher's own. Nothing is mapped into memory. A file with a NUL byte is binary, and nothing of it is
//! shown; UTF-16 with a byte order mark is text.

use std::io::{self, Read};

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};

use bailiwick_contract::{Access, Cancel, Failure};
use bailiwick_platform::fs::{Dir, ReadableFile};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::{OpenedFile, PathRules, PermittedPath};

use super::best::{BestFiles, MatchedFile};
use super::globs::Globs;
use super::listing::Filter;
use super::matches::{FileBounds, FileSink, MatchMode};
use super::query::{ContentQuery, FileTypes};
use super::skip::Skip;
use super::tally::{Ledger, Ledgers, Tally};
use super::walk::{Visitor, WalkedFile, reason, walk};

/// The largest file that is searched, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// The largest file that is read whole, in bytes.
const WHOLE_FILE_BYTES: u64 = 1 << 20;
/// How much one thread may hold of a file that streams: its longest line, or all of it for a query
/// over lines.
const MAX_HELD_BYTES: usize = 16 << 20;

/// A question to [`search`].
#[derive(Debug, Clone)]
pub struct Search {
    /// What to look for.
    pub query: ContentQuery,
    /// What is wanted of each file.
    pub mode: MatchMode,
    /// Which files to look into, by path.
    pub globs: Globs,
    /// Which files to look into, by type.
    pub types: Option<FileTypes>,
    /// How many lines to show before each match.
    pub before: usize,
    /// How many lines to show after each match.
    pub after: usize,
    /// How many matching lines to take from one file.
    pub max_per_file: usize,
    /// How many results to keep: lines, files or counts.
    pub max_results: usize,
    /// How many bytes of results to keep, about.
    pub max_weight: usize,
    /// Whether names that start with a dot are checked.
    pub hidden: bool,
    /// Whether ignored names are checked.
    pub ignored: bool,
    /// Where to continue.
    pub after_place: Option<ResultPosition>,
}

/// A place in the order of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultPosition {
    /// The path of a file beneath the root.
    pub path: Vec<u8>,
    /// How many of its results come before the place.
    pub results: usize,
}

/// What [`search`] gives.
#[derive(Debug)]
pub struct SearchAnswer {
    /// Files with matches, by path; all there are, or the first.
    pub files: Vec<(Vec<u8>, MatchedFile)>,
    /// Whether there are more than these.
    pub more: bool,
    ledgers: Ledgers,
}

impl SearchAnswer {
    /// Returns the counts of the whole search. They are the same in every run only if nothing was cut.
    pub fn tally(&self) -> Tally {
        self.ledgers.total()
    }

    /// Returns the counts up to a file of the answer.
    pub fn tally_through(&self, file: &MatchedFile) -> Tally {
        self.ledgers.through(&file.run, &file.tally)
    }

    /// Returns a few examples of what was left out, up to a path.
    pub fn examples(&mut self, last: Option<&[u8]>) -> Vec<(Skip, Vec<u8>)> {
        self.ledgers.examples(last)
    }
}

/// Searches the files beneath a permitted folder.
///
/// # Errors
/// As [`PermittedPath::open_dir`]; `cancelled`, `timeout`.
pub fn search(
    path: &PermittedPath,
    dir: Dir,
    question: &Search,
    cancel: &Cancel,
) -> Result<SearchAnswer, Failure> {
    let best = BestFiles::new(question.max_results, question.max_weight);
    let filter = Filter { access: Access::Search, hidden: question.hidden, ignored: question.ignored };
    let worker = || Worker::new(question, path.rules(), cancel, &best);
    let ledgers = walk(path, dir, filter, cancel, worker)?.into_iter().map(|worker| worker.ledger).collect();
    Ok(answer(ledgers, best))
}

/// Searches one permitted file, whatever its name.
///
/// # Errors
/// `cancelled`, `timeout`.
pub fn search_file(file: OpenedFile, question: &Search, cancel: &Cancel) -> Result<SearchAnswer, Failure> {
    let best = BestFiles::new(question.max_results, question.max_weight);
    let mut worker = Worker::new(question, file.path.rules(), cancel, &best);
    let path = file.path.rel().as_bytes();
    worker.begin(path);
    worker.look_into(path, ReadableFile { file: file.file, stat: file.stat });
    let ledgers = vec![worker.ledger];
    cancel.check()?;
    Ok(answer(ledgers, best))
}

fn answer(all: Vec<Ledger>, best: BestFiles) -> SearchAnswer {
    let mut ledgers = Ledgers::default();
    all.into_iter().for_each(|ledger| ledgers.add(ledger));
    let kept = best.into_kept();
    SearchAnswer { files: kept.files.into_iter().collect(), more: kept.dropped, ledgers }
}

/// One thread's part of a search.
struct Worker<'a> {
    question: &'a Search,
    rules: &'a PathRules,
    cancel: &'a Cancel,
    best: &'a BestFiles,
    matcher: RegexMatcher,
    searcher: Searcher,
    /// The first bytes hold the file; the rest is kept for larger ones.
    buffer: Vec<u8>,
    ledger: Ledger,
}

impl<'a> Worker<'a> {
    fn new(question: &'a Search, rules: &'a PathRules, cancel: &'a Cancel, best: &'a BestFiles) -> Self {
        let wants_lines = question.mode == MatchMode::Lines;
        let searcher = SearcherBuilder::new()
            .line_number(wants_lines)
            .multi_line(question.query.multiline)
            .before_context(if wants_lines { question.before } else { 0 })
            .after_context(if wants_lines { question.after } else { 0 })
            .memory_map(MmapChoice::never())
            .heap_limit(Some(MAX_HELD_BYTES))
            .bom_sniffing(true)
            .build();
        Self {
            question,
            rules,
            cancel,
            best,
            matcher: question.query.matcher.clone(),
            searcher,
            buffer: Vec::new(),
            ledger: Ledger::default(),
        }
    }

    /// Searches an open file and keeps what it finds.
    fn look_into(&mut self, path: &[u8], mut opened: ReadableFile) {
        if opened.stat.links > 1 && self.rules.refuses_hard_links() {
            return self.ledger.skip(path, Skip::Closed);
        }
        if opened.stat.size > MAX_FILE_BYTES {
            return self.ledger.skip(path, Skip::TooLarge);
        }
        // Results of this file that an earlier answer has given.
        let given = match &self.question.after_place {
            Some(place) if place.path == path => place.results,
            _ => 0,
        };
        let bounds = FileBounds {
            given,
            max_lines: self.question.max_per_file.saturating_sub(given).min(self.question.max_results),
            max_weight: self.question.max_weight,
        };
        let mut sink = FileSink::new(&self.matcher, self.question.mode, bounds);
        let searched = if opened.stat.size <= WHOLE_FILE_BYTES {
            match read_whole(&mut opened, &mut self.buffer) {
                Ok(size) => search_bytes(&mut self.searcher, &self.matcher, &self.buffer[..size], &mut sink),
                Err(error) => Err(error),
            }
        } else {
            self.searcher.set_binary_detection(BinaryDetection::quit(0));
            let file = Stream { file: opened.file.take(MAX_FILE_BYTES), cancel: self.cancel };
            self.searcher.search_reader(&self.matcher, file, &mut sink)
        };
        match searched {
            // The searcher says so when a line, or a file that must be held whole, is too large.
            Err(error) if error.kind() == io::ErrorKind::Other => {
                return self.ledger.skip(path, Skip::TooLarge);
            }
            Err(_) => return self.ledger.skip(path, Skip::Unreadable),
            Ok(()) if sink.binary => return self.ledger.skip(path, Skip::Binary),
            Ok(()) => {}
        }
        let FileSink { lines, count, mut weight, .. } = sink;
        let (first, tally) = self.ledger.run();
        tally.searched += 1;
        if count == 0 {
            return;
        }
        tally.matched_files += 1;
        tally.matched_lines += count;
        let results = match self.question.mode {
            MatchMode::Lines => lines.len(),
            MatchMode::Files | MatchMode::Counts => {
                weight = path.len();
                1_usize.saturating_sub(given)
            }
        };
        if results > 0 {
            let (run, tally) = (first.to_vec(), *tally);
            self.best.add(path, MatchedFile { lines, count, results, weight, run, tally });
        }
    }
}

/// Reads a file into the first bytes of the buffer. Returns how many there are.
fn read_whole(opened: &mut ReadableFile, buffer: &mut Vec<u8>) -> io::Result<usize> {
    if opened.stat.size == 0 {
        return Ok(0);
    }
    // One byte more than the file has shows that nothing was added since.
    let wanted = usize::try_from(opened.stat.size).unwrap_or(usize::MAX).saturating_add(1);
    if buffer.len() < wanted {
        buffer.resize(wanted.next_power_of_two().max(1 << 16), 0);
    }
    let mut size = 0;
    loop {
        if size == buffer.len() {
            // It grows while it is read: what has come by now is what is searched.
            return Ok(size);
        }
        match opened.file.read(&mut buffer[size..]) {
            Ok(0) => return Ok(size),
            Ok(read) => {
                size += read;
                // A regular file gives less than asked for only at its end.
                if size + 1 == wanted && size < buffer.len() {
                    return Ok(size);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn search_bytes(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    bytes: &[u8],
    sink: &mut FileSink<'_>,
) -> io::Result<()> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        searcher.set_binary_detection(BinaryDetection::quit(0));
        return searcher.search_reader(matcher, bytes, sink);
    }
    if memchr::memchr(0, bytes).is_some() {
        sink.binary = true;
        return Ok(());
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    searcher.set_binary_detection(BinaryDetection::none());
    searcher.search_slice(matcher, text, sink)
}

/// A file that streams; stops when the search must.
struct Stream<'a> {
    file: io::Take<std::fs::File>,
    cancel: &'a Cancel,
}

impl Read for Stream<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_raised() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the search was stopped"));
        }
        self.file.read(buffer)
    }
}

impl Visitor for Worker<'_> {
    fn wants(&self, path: &[u8]) -> bool {
        if let Some(place) = &self.question.after_place {
            let is_folder = path.last() == Some(&b'/');
            let holds_place = is_folder && place.path.starts_with(path);
            if path < place.path.as_slice() && !holds_place {
                return false;
            }
        }
        self.question.mode == MatchMode::Counts || self.best.wants(path)
    }

    fn begin(&mut self, first: &[u8]) {
        self.ledger.begin(first);
    }

    fn file(&mut self, file: &WalkedFile<'_>) {
        debug_assert!(file.path.ends_with(file.name.as_bytes()));
        let chosen = self.question.types.as_ref().is_none_or(|types| types.choose(file.name))
            && self.question.globs.choose(file.path);
        if !chosen {
            return;
        }
        match file.dir.open_file(file.name) {
            Ok(opened) => self.look_into(file.path, opened),
            Err(error) => self.ledger.skip(file.path, reason(&error)),
        }
    }

    fn folder(&mut self, _: &WalkedFile<'_>) {}

    fn skipped(&mut self, path: &[u8], reason: Skip) {
        self.ledger.skip(path, reason);
    }
}
