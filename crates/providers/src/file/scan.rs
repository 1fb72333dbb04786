//! What is known of the content of large files: a page of one is read alone once the file was read for its hash and lines.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use bailiwick_contract::{Cancel, ErrorCode, Failure, hex, time};
use bailiwick_platform::fs::{FileId, Stat};

use super::text::{Encoding, LineEnding, byte_order_mark, line_ending_of};

/// How much is read at once.
const CHUNK_BYTES: usize = 1 << 18;
/// The place of every so many lines is remembered.
const LINES_APART: u64 = 4_096;
/// Of how many files something is remembered.
const MAX_FILES: usize = 256;
/// How long a file must not have changed: what changes again at once may have the same times.
const SETTLED_MS: i64 = 2_000;

/// What is known of a file that was read as a whole.
#[derive(Debug)]
pub(super) struct Scan {
    /// The SHA-256.
    pub sha256: String,
    /// What is known of its lines, if it is text in UTF-8.
    pub text: Option<ScannedText>,
    /// The beginning of the file.
    pub head: Vec<u8>,
}

/// What is known of the lines of a text.
#[derive(Debug)]
pub(super) struct ScannedText {
    pub bom_bytes: usize,
    pub total_lines: u64,
    pub line_ending: LineEnding,
    /// Where the lines 1, 1 + 4,096, … begin in the file.
    starts: Vec<u64>,
}

impl ScannedText {
    /// Returns where a line at or before another begins, and its number.
    pub fn before(&self, line: u64) -> (u64, u64) {
        let index =
            usize::try_from((line - 1) / LINES_APART).unwrap_or(usize::MAX).min(self.starts.len() - 1);
        (self.starts[index], index as u64 * LINES_APART + 1)
    }
}

/// What distinguishes one content from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ContentKey {
    id: FileId,
    size: u64,
    modified_ns: i128,
    changed_ns: i128,
}

type Slot = Arc<Mutex<Option<Arc<Scan>>>>;

/// The files that were read last; the newest last.
static SCANS: LazyLock<Mutex<VecDeque<(ContentKey, Slot)>>> = LazyLock::new(Mutex::default);

/// Returns what is known of an open file, and reads it if that is nothing yet; several who ask at once read it once.
///
/// # Errors
/// `cancelled`, `timeout`, `execution_failed`.
pub(super) fn scan(file: &mut File, stat: &Stat, cancel: &Cancel) -> Result<Arc<Scan>, Failure> {
    let key = ContentKey {
        id: stat.id,
        size: stat.size,
        modified_ns: stat.modified_ns,
        changed_ns: stat.changed_ns,
    };
    let changed_ms = i64::try_from(stat.modified_ns.max(stat.changed_ns) / 1_000_000).unwrap_or(i64::MAX);
    if time::now_ms().saturating_sub(changed_ms) < SETTLED_MS {
        return read(file, cancel).map(Arc::new);
    }
    let slot = slot(key);
    let mut known = slot.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(scan) = &*known {
        return Ok(Arc::clone(scan));
    }
    let scan = Arc::new(read(file, cancel)?);
    // What has changed meanwhile is known under no name.
    if Stat::of_file(file).is_ok_and(|now| now == *stat) {
        *known = Some(Arc::clone(&scan));
    }
    Ok(scan)
}

fn slot(key: ContentKey) -> Slot {
    let mut scans = SCANS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = scans.iter().position(|(it, _)| *it == key).and_then(|at| scans.remove(at));
    let (_, slot) = known.unwrap_or_else(|| (key, Slot::default()));
    if scans.len() >= MAX_FILES {
        scans.pop_front();
    }
    scans.push_back((key, Arc::clone(&slot)));
    slot
}

fn read(file: &mut File, cancel: &Cancel) -> Result<Scan, Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("the file cannot be read: {error}"))
    };
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    let mut hash = Sha256::new();
    let mut lines = Lines::default();
    let mut head = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        cancel.check()?;
        let read = file.read(&mut chunk).map_err(failed)?;
        if read == 0 {
            return Ok(Scan { sha256: hex(&hash.finalize()), text: lines.finish(), head });
        }
        if head.len() < 4_096 {
            head.extend(chunk[..read].iter().take(4_096 - head.len()));
        }
        hash.update(&chunk[..read]);
        lines.add(&chunk[..read]);
    }
}

/// Counts the lines of a text that comes in chunks.
#[derive(Default)]
struct Lines {
    is_no_text: bool,
    /// How many bytes came before.
    offset: u64,
    bom_bytes: usize,
    feeds: u64,
    after_returns: u64,
    last: Option<u8>,
    starts: Vec<u64>,
    /// The beginning of a character whose rest has not come.
    cut: Vec<u8>,
}

impl Lines {
    fn add(&mut self, chunk: &[u8]) {
        if self.is_no_text {
            return;
        }
        if self.offset == 0 {
            match byte_order_mark(chunk) {
                Some((Encoding::Utf8, bytes)) => self.bom_bytes = bytes,
                Some(_) => self.is_no_text = true,
                None => {}
            }
            self.starts.push(self.bom_bytes as u64);
        }
        if memchr::memchr(0, chunk).is_some() || !self.is_valid(chunk) {
            self.is_no_text = true;
            return;
        }
        for at in memchr::memchr_iter(b'\n', chunk) {
            self.feeds += 1;
            let before = if at > 0 { Some(chunk[at - 1]) } else { self.last };
            self.after_returns += u64::from(before == Some(b'\r'));
            if self.feeds.is_multiple_of(LINES_APART) {
                self.starts.push(self.offset + at as u64 + 1);
            }
        }
        self.last = chunk.last().copied().or(self.last);
        self.offset += chunk.len() as u64;
    }

    /// Returns whether a chunk continues the text before it.
    fn is_valid(&mut self, chunk: &[u8]) -> bool {
        let mut rest = chunk;
        // The few bytes that end a character which the chunk before began.
        while !self.cut.is_empty() && !rest.is_empty() {
            self.cut.push(rest[0]);
            rest = &rest[1..];
            match std::str::from_utf8(&self.cut) {
                Ok(_) => self.cut.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return false,
            }
        }
        match std::str::from_utf8(rest) {
            Ok(_) => true,
            Err(error) if error.error_len().is_none() => {
                self.cut.extend_from_slice(&rest[error.valid_up_to()..]);
                true
            }
            Err(_) => false,
        }
    }

    fn finish(self) -> Option<ScannedText> {
        if self.is_no_text || !self.cut.is_empty() || self.starts.is_empty() {
            return None;
        }
        let is_unended = self.offset > self.bom_bytes as u64 && self.last != Some(b'\n');
        Some(ScannedText {
            bom_bytes: self.bom_bytes,
            total_lines: self.feeds + u64::from(is_unended),
            line_ending: line_ending_of(self.feeds, self.after_returns),
            starts: self.starts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::lines_of;
    use super::*;

    #[test]
    fn chunks_of_any_size_say_the_same_as_the_whole() {
        let many = "a line\r\n".repeat(9_000) + "end";
        for text in ["", "x", "ä\nö\r\n\u{1f600}", "\u{feff}ab\n\n", "\r\n\r\n", many.as_str()] {
            for size in [1, 2, 3, 5, 4_097] {
                let mut lines = Lines::default();
                text.as_bytes()
                    .chunks(size.max(if text.starts_with('\u{feff}') { 3 } else { 1 }))
                    .for_each(|it| lines.add(it));
                let Some(found) = lines.finish() else {
                    assert!(text.is_empty());
                    continue;
                };
                let content = text.trim_start_matches('\u{feff}');
                let (total, ending) = lines_of(content.as_bytes());
                assert_eq!((found.total_lines, found.line_ending), (total, ending), "{size}");
                assert_eq!(found.bom_bytes, text.len() - content.len());
                for line in [1, 2, 4_096, 4_097, 8_193, 9_001] {
                    let (offset, number) = found.before(line);
                    let offset = usize::try_from(offset).expect("it is small");
                    assert!(number <= line);
                    let feeds = text[..offset].matches('\n').count() as u64;
                    assert_eq!(feeds + 1, number, "{line}");
                }
            }
        }
        for wrong in [&b"a\0b"[..], b"a\xff", b"a\xc3", b"\xff\xfea\0"] {
            for size in [1, 4] {
                let mut lines = Lines::default();
                wrong.chunks(size).for_each(|it| lines.add(it));
                assert!(lines.finish().is_none(), "{wrong:?}");
            }
        }
    }
}
