//! Earlier contents, one behind the other in a private file that has no name.
//!
//! Without a name nobody else opens it, and the system takes it back when it is closed, also after a crash.

#![expect(clippy::disallowed_methods, reason = "the file is Bailiwick's own, in its state folder")]

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use bailiwick_contract::id;
use bailiwick_platform::fs::modes::{FileExt, MetadataExt};
use bailiwick_platform::fs::{create_private_dir, new_private_file};

/// How much is gathered before it is written.
const BLOCK_BYTES: usize = 1 << 20;

/// The contents of one snapshot.
#[derive(Debug)]
pub(super) struct Contents {
    file: File,
    end: AtomicU64,
    max_bytes: u64,
}

/// Where a content lies.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContentLocation {
    at: u64,
    bytes: usize,
}

impl Contents {
    /// Creates the file, in Bailiwick's state folder.
    pub fn make(state: &Path, max_bytes: u64) -> io::Result<Self> {
        let folder = state.join("snapshots");
        create_private_dir(&folder)?;
        // What a crash left between the two calls below. Taking another's name away a moment early does no harm.
        for entry in fs::read_dir(&folder)?.flatten() {
            let _ = fs::remove_file(entry.path());
        }
        let path = folder.join(id::new_id());
        let file = new_private_file(&path)?;
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(Self { file, end: AtomicU64::new(0), max_bytes })
    }

    /// Returns when it was made, by the clock of files, in nanoseconds since the epoch.
    pub fn made_ns(&self) -> Option<i128> {
        let facts = self.file.metadata().ok()?;
        Some(i128::from(facts.ctime()) * 1_000_000_000 + i128::from(facts.ctime_nsec()))
    }

    /// Returns whether a content of this size still has room.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.end.load(Ordering::Relaxed).saturating_add(bytes) <= self.max_bytes
    }

    /// Reads a content; `None` if it cannot be read.
    pub fn read(&self, place: ContentLocation) -> Option<Vec<u8>> {
        let mut bytes = vec![0; place.bytes];
        self.file.read_exact_at(&mut bytes, place.at).ok()?;
        Some(bytes)
    }
}

/// Adds contents; each thread has its own.
#[derive(Debug)]
pub(super) struct Writer<'a> {
    contents: &'a Contents,
    block: Vec<u8>,
    /// Where the block lies, and how much of the file is its own.
    at: u64,
    block_bytes: usize,
    failed: bool,
}

impl<'a> Writer<'a> {
    /// Creates a writer.
    pub fn new(contents: &'a Contents) -> Self {
        Self { contents, block: Vec::new(), at: 0, block_bytes: 0, failed: false }
    }

    /// Adds a content. It can be read when the writer is done.
    pub fn add(&mut self, content: &[u8]) -> Option<ContentLocation> {
        if self.block.len() + content.len() > self.block_bytes {
            self.begin_block(content.len())?;
        }
        let place = ContentLocation { at: self.at + self.block.len() as u64, bytes: content.len() };
        self.block.extend_from_slice(content);
        Some(place)
    }

    /// Writes what is gathered, and takes a new block of the file.
    fn begin_block(&mut self, content_bytes: usize) -> Option<()> {
        self.write();
        let bytes = content_bytes.max(BLOCK_BYTES);
        if self.failed || !self.contents.has_room(bytes as u64) {
            return None;
        }
        self.at = self.contents.end.fetch_add(bytes as u64, Ordering::Relaxed);
        self.block_bytes = bytes;
        self.block.reserve(bytes);
        Some(())
    }

    fn write(&mut self) {
        self.failed |= self.contents.file.write_all_at(&self.block, self.at).is_err();
        self.block.clear();
        self.block_bytes = 0;
    }

    /// Writes the rest; `false` if something could not be written, and no place can be relied on.
    pub fn finish(mut self) -> bool {
        self.write();
        !self.failed
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_platform::fs::modes::HAS_BITS;

    use super::*;

    #[test]
    fn contents_are_read_back_and_leave_no_file() {
        let state = std::env::temp_dir().join(format!("bailiwick-contents-{}", id::new_id()));
        let contents = Contents::make(&state, 4 << 20).expect("it is made");
        let mut writer = Writer::new(&contents);
        let texts: Vec<Vec<u8>> = (0_u8..200).map(|byte| vec![byte; usize::from(byte) * 90]).collect();
        let places: Vec<ContentLocation> =
            texts.iter().map(|text| writer.add(text).expect("there is room")).collect();
        assert!(writer.add(&vec![0; 4 << 20]).is_none(), "what has no room is not kept");
        assert!(writer.finish());
        for (text, place) in texts.iter().zip(places) {
            assert_eq!(contents.read(place).as_ref(), Some(text));
        }
        let names = || fs::read_dir(state.join("snapshots")).expect("it is there").count();
        // Where a name goes with the last handle, as under wine, it is there until the contents are closed.
        assert!(names() == 0 || !HAS_BITS);
        drop(contents);
        assert_eq!(names(), 0);
        bailiwick_platform::fs::remove_tree(&state).expect("it was made above");
    }
}
