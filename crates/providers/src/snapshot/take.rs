//! Taking a snapshot: the facts of every file beneath a folder, and their contents while there is room.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::search::{Filter, Skip, Visitor, WalkedFile, walk};
use bailiwick_contract::{Access, Cancel, Failure};
use bailiwick_platform::fs::{FileError, FileKind, Stat};
use bailiwick_policy::{PathRules, PermittedPath};

use super::contents::{ContentLocation, Contents, Writer};

/// What a walk of a snapshot leaves out: names that begin with a dot are files like others.
pub(super) const FILTER: Filter = Filter { access: Access::Read, hidden: true, ignored: false };

/// How far the clock of files may be behind.
const TICK_NS: i128 = 20_000_000;

/// How much a snapshot takes in.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotLimits {
    /// The most files.
    pub files: usize,
    /// The largest file whose content is kept, or read to be compared.
    pub file_bytes: u64,
    /// How much content is kept in all.
    pub kept_bytes: u64,
    /// How long taking may last, and comparing.
    pub time: Duration,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self { files: 200_000, file_bytes: 1 << 20, kept_bytes: 256 << 20, time: Duration::from_secs(10) }
    }
}

/// A folder as it was.
#[derive(Debug)]
pub struct Snapshot {
    /// The folder, links resolved.
    pub(super) folder: PermittedPath,
    pub(super) limits: SnapshotLimits,
    /// When it was begun, in nanoseconds since the epoch.
    pub(super) begun_ns: i128,
    /// The files, by their path beneath the root.
    pub(super) files: HashMap<Box<[u8]>, Entry>,
    /// `None` where nothing could be kept.
    pub(super) contents: Option<Contents>,
    /// Whether not all files are in it.
    pub(super) truncated: bool,
}

/// A file as it was.
#[derive(Debug)]
pub(super) struct Entry {
    pub stat: Stat,
    /// Its content, or where it leads to if it is a link.
    pub content: Option<ContentLocation>,
    /// Whether the scope's rules close its content.
    pub closed: bool,
}

impl Snapshot {
    /// Takes the state of a folder. `state` is Bailiwick's state folder, where contents are kept.
    ///
    /// A disk that is full makes no failure: contents are then not kept, and lines not counted later.
    ///
    /// # Errors
    /// As [`PermittedPath::open_dir`]; `cancelled` and `timeout`.
    pub fn take(
        folder: &PermittedPath,
        state: &Path,
        limits: SnapshotLimits,
        cancel: &Cancel,
    ) -> Result<Self, Failure> {
        let (dir, folder) = folder.open_dir()?;
        let contents = Contents::make(state, limits.kept_bytes).ok();
        // Files have a coarser clock than programs: what is made a moment later must not seem older.
        let begun_ns = contents.as_ref().and_then(Contents::made_ns).unwrap_or_else(|| now_ns() - TICK_NS);
        let bounds = Bounds::new(limits);
        let takers = walk(&folder, dir, FILTER, cancel, || SnapshotWriter {
            bounds: &bounds,
            rules: folder.rules(),
            found: Vec::new(),
            writer: contents.as_ref().map(Writer::new),
            buffer: Vec::new(),
        })?;
        let mut files = HashMap::with_capacity(bounds.count.load(Ordering::Relaxed));
        let mut is_kept = true;
        for taker in takers {
            is_kept &= taker.writer.is_none_or(Writer::finish);
            files.extend(taker.found);
        }
        if !is_kept {
            files.values_mut().for_each(|entry| entry.content = None);
        }
        let truncated = bounds.is_passed();
        Ok(Self { folder, limits, begun_ns, files, contents: contents.filter(|_| is_kept), truncated })
    }

    /// Returns the content that a file had, by its path beneath the root; `None` if it was not there or not kept.
    pub fn content(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.content_of(self.files.get(path)?)
    }

    pub(super) fn content_of(&self, entry: &Entry) -> Option<Vec<u8>> {
        self.contents.as_ref()?.read(entry.content?)
    }
}

fn now_ns() -> i128 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos()).unwrap_or(0)
}

/// How many files were met, by all threads, and whether that is enough.
#[derive(Debug)]
pub(super) struct Bounds {
    limits: SnapshotLimits,
    count: AtomicUsize,
    passed: AtomicBool,
    end: Instant,
}

impl Bounds {
    pub fn new(limits: SnapshotLimits) -> Self {
        let (count, passed) = (AtomicUsize::new(0), AtomicBool::new(false));
        Self { limits, count, passed, end: Instant::now() + limits.time }
    }

    /// Counts a file; `false` if it is one too many, or too late.
    pub fn take(&self) -> bool {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        // The clock is asked once in a while only.
        if count >= self.limits.files || (count.is_multiple_of(64) && Instant::now() >= self.end) {
            self.passed.store(true, Ordering::Relaxed);
        }
        !self.is_passed()
    }

    pub fn is_passed(&self) -> bool {
        self.passed.load(Ordering::Relaxed)
    }

    /// Returns whether there is no time left, whatever was counted.
    pub fn is_late(&self) -> bool {
        if Instant::now() >= self.end {
            self.passed.store(true, Ordering::Relaxed);
            return true;
        }
        false
    }
}

/// Reads a file that was just met, at most `most` bytes; `None` where it is larger, or changes meanwhile.
pub(super) fn read_whole<'a>(
    mut file: impl Read,
    stat: &Stat,
    most: u64,
    buffer: &'a mut Vec<u8>,
) -> Option<&'a [u8]> {
    if stat.size > most {
        return None;
    }
    let size = usize::try_from(stat.size).ok()?;
    // One byte more, so that one call shows the end.
    if buffer.len() <= size {
        buffer.resize((size + 1).next_power_of_two(), 0);
    }
    let mut read = 0;
    while read <= size {
        match file.read(&mut buffer[read..=size]) {
            Ok(0) => break,
            Ok(bytes) => {
                read += bytes;
                if read == size {
                    break;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
    (read == size).then(|| &buffer[..size])
}

/// Returns whether nothing of a file's content may be checked, though its name is open.
pub(super) fn is_closed(stat: &Stat, rules: &PathRules) -> bool {
    stat.kind == FileKind::File && stat.links > 1 && rules.refuses_hard_links()
}

struct SnapshotWriter<'a> {
    bounds: &'a Bounds,
    rules: &'a PathRules,
    found: Vec<(Box<[u8]>, Entry)>,
    writer: Option<Writer<'a>>,
    buffer: Vec<u8>,
}

impl SnapshotWriter<'_> {
    fn add(&mut self, path: &[u8], stat: Stat, content: Option<ContentLocation>, closed: bool) {
        self.found.push((path.into(), Entry { stat, content, closed }));
    }

    fn look(&mut self, file: &WalkedFile<'_>) -> Result<(Stat, Option<ContentLocation>, bool), FileError> {
        // What cannot be opened still has facts.
        let Ok(opened) = file.dir.open_file(file.name) else {
            return Ok((file.dir.stat(file.name)?, None, false));
        };
        let stat = opened.stat;
        if is_closed(&stat, self.rules) {
            return Ok((stat, None, true));
        }
        let Some(writer) = &mut self.writer else { return Ok((stat, None, false)) };
        let most = self.bounds.limits.file_bytes;
        let content = read_whole(opened.file, &stat, most, &mut self.buffer);
        Ok((stat, content.and_then(|content| writer.add(content)), false))
    }
}

impl Visitor for SnapshotWriter<'_> {
    fn wants(&self, _: &[u8]) -> bool {
        !self.bounds.is_passed()
    }

    fn begin(&mut self, _: &[u8]) {}

    fn file(&mut self, file: &WalkedFile<'_>) {
        if self.bounds.take()
            && let Ok((stat, content, closed)) = self.look(file)
        {
            self.add(file.path, stat, content, closed);
        }
    }

    fn folder(&mut self, _: &WalkedFile<'_>) {}

    fn skipped(&mut self, _: &[u8], _: Skip) {}

    fn skipped_entry(&mut self, entry: &WalkedFile<'_>, reason: Skip) {
        let closed = reason == Skip::Closed;
        if !(closed || reason == Skip::Link) || !self.bounds.take() {
            return;
        }
        let Ok(stat) = entry.dir.stat(entry.name) else { return };
        match stat.kind {
            FileKind::File if closed => self.add(entry.path, stat, None, true),
            FileKind::Symlink => {
                let leads_to = if closed { None } else { entry.dir.read_link(entry.name).ok() };
                let writer = self.writer.as_mut();
                let content = leads_to.zip(writer).and_then(|(leads_to, writer)| writer.add(&leads_to));
                self.add(entry.path, stat, content, closed);
            }
            _ => {}
        }
    }
}
