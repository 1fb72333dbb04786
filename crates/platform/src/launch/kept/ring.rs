//! The ring: what a program printed, in two files that take turns.
//!
//! Each has at most half of the budget. When one is full, the other is emptied and written from its beginning,
//! so that at least half of the budget is always kept. A file is made when it is first needed. Bytes are in frames with stream, time and position; a
//! frame is written at once and has a checksum, so that readers need no lock.

use std::fs::File;
use std::io;
use std::path::Path;

use super::files::Folder;
use super::{Frame, Status, Stream};
use crate::checksum::checksum;
use crate::fs::modes::FileExt;

/// The names of the files in the folder of a process.
pub(in super::super) const NAMES: [&str; 2] = ["ring-a", "ring-b"];

/// The bytes before the frames of a file.
pub(super) const SEGMENT_HEAD_BYTES: usize = 24;
/// The bytes before the content of a frame.
pub(super) const FRAME_HEAD_BYTES: usize = 40;
/// What a file begins with; the last digit is the version of the format.
const MAGIC: u64 = u64::from_le_bytes(*b"bwring 1");
/// The most bytes in one frame.
const MAX_FRAME_BYTES: usize = 64 << 10;
/// The least that a file may have: several frames.
const MIN_SEGMENT_BYTES: u64 = 4 << 10;

/// Where a ring is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in super::super) struct RingPosition {
    /// Which file is written; none before the first byte.
    pub(in super::super) active: Option<usize>,
    /// Where the next frame begins in it.
    pub(in super::super) offset: u64,
    /// The number of the active file's content.
    pub(in super::super) generation: u64,
    pub(in super::super) stdout_bytes: u64,
    pub(in super::super) stderr_bytes: u64,
    pub(in super::super) lost_bytes: u64,
}

/// Writes what a program prints. Never fails: what cannot be written is counted as lost.
#[derive(Debug)]
pub struct RingWriter {
    folder: Folder,
    segments: [Option<File>; 2],
    /// How many bytes each file may have.
    segment_bytes: u64,
    /// Which file is written; none before the first byte.
    active: Option<usize>,
    /// Where the next frame begins in it.
    offset: u64,
    /// The number of the active file's content.
    generation: u64,
    stdout_bytes: u64,
    stderr_bytes: u64,
    lost_bytes: u64,
    /// Used again for each frame.
    frame: Vec<u8>,
}

impl RingWriter {
    /// Begins a ring in the folder of a process, which has none yet.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(folder: &Path, ring_bytes: u64) -> io::Result<Self> {
        Ok(Self::begin(Folder::open(folder)?, ring_bytes))
    }

    /// Begins a ring in an open folder.
    pub(in super::super) fn begin(folder: Folder, ring_bytes: u64) -> Self {
        let mut ring = Self {
            folder,
            segments: [None, None],
            segment_bytes: 0,
            active: None,
            offset: 0,
            generation: 0,
            stdout_bytes: 0,
            stderr_bytes: 0,
            lost_bytes: 0,
            frame: Vec::new(),
        };
        ring.set_budget(ring_bytes);
        ring
    }

    /// Returns where it is, for another process to continue with.
    #[cfg(unix)]
    pub(in super::super) const fn position(&self) -> RingPosition {
        RingPosition {
            active: self.active,
            offset: self.offset,
            generation: self.generation,
            stdout_bytes: self.stdout_bytes,
            stderr_bytes: self.stderr_bytes,
            lost_bytes: self.lost_bytes,
        }
    }

    /// Continues with a ring that another process began in an open folder.
    ///
    /// # Errors
    /// Those of the file system.
    #[cfg(unix)]
    pub(in super::super) fn resume(
        folder: Folder,
        ring_bytes: u64,
        position: RingPosition,
    ) -> io::Result<Self> {
        let mut ring = Self::begin(folder, ring_bytes);
        for (segment, name) in ring.segments.iter_mut().zip(NAMES) {
            *segment = match ring.folder.write(name) {
                Ok(file) => Some(file),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
        }
        if position.active.is_some_and(|active| ring.segments[active].is_none()) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let RingPosition { active, offset, generation, stdout_bytes, stderr_bytes, lost_bytes } = position;
        (ring.active, ring.offset, ring.generation) = (active, offset, generation);
        (ring.stdout_bytes, ring.stderr_bytes, ring.lost_bytes) = (stdout_bytes, stderr_bytes, lost_bytes);
        Ok(ring)
    }

    /// Sets how much of the disk may be used from now on.
    pub(in super::super) fn set_budget(&mut self, ring_bytes: u64) {
        self.segment_bytes = (ring_bytes / 2).max(MIN_SEGMENT_BYTES);
    }

    /// Adds what was printed. Where there is no room for it on the disk it is lost, and counted.
    pub fn push(&mut self, stream: Stream, at_ms: i64, bytes: &[u8]) {
        let room = usize::try_from(self.segment_bytes / 4).unwrap_or(MAX_FRAME_BYTES);
        for piece in bytes.chunks(MAX_FRAME_BYTES.min(room)) {
            if self.push_frame(stream, at_ms, piece).is_err() {
                self.lost_bytes += piece.len() as u64;
            }
            match stream {
                Stream::Stdout => self.stdout_bytes += piece.len() as u64,
                Stream::Stderr => self.stderr_bytes += piece.len() as u64,
            }
        }
    }

    /// Removes another file of the process's folder.
    pub(in super::super) fn remove_beside(&self, name: &str) {
        // It is of no use any more, and does no harm.
        let _ = self.folder.remove(name);
    }

    /// Gives back memory that only writing needs.
    pub(in super::super) fn rest(&mut self) {
        self.frame = Vec::new();
    }

    /// Returns the position after the last byte.
    pub const fn end(&self) -> u64 {
        self.stdout_bytes + self.stderr_bytes
    }

    /// Puts the counts of bytes into a status.
    pub const fn count_into(&self, status: &mut Status) {
        status.stdout_bytes = self.stdout_bytes;
        status.stderr_bytes = self.stderr_bytes;
        status.end = self.end();
        status.lost_bytes = self.lost_bytes;
    }

    fn push_frame(&mut self, stream: Stream, at_ms: i64, bytes: &[u8]) -> io::Result<()> {
        let length = (FRAME_HEAD_BYTES + bytes.len()) as u64;
        let active = match self.active {
            Some(active) if self.offset + length <= self.segment_bytes => active,
            _ => self.turn()?,
        };
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        encode_frame(&mut frame, self.generation, stream, at_ms, self.end(), bytes);
        let written = self.write_at_offset(active, &frame);
        self.frame = frame;
        written
    }

    /// Empties the other file and continues there. Returns which it is.
    fn turn(&mut self) -> io::Result<usize> {
        let next = self.active.map_or(0, |active| 1 - active);
        let generation = self.generation + 1;
        match &self.segments[next] {
            Some(file) => file.set_len(0)?,
            None => self.segments[next] = Some(self.folder.create(NAMES[next])?),
        }
        let mut head = Vec::with_capacity(SEGMENT_HEAD_BYTES);
        head.extend_from_slice(&MAGIC.to_le_bytes());
        head.extend_from_slice(&generation.to_le_bytes());
        let sum = checksum(&[&head]);
        head.extend_from_slice(&sum.to_le_bytes());
        let before = std::mem::replace(&mut self.offset, 0);
        if let Err(error) = self.write_at_offset(next, &head) {
            // The old one may have room for a smaller frame.
            self.offset = before;
            return Err(error);
        }
        self.generation = generation;
        self.active = Some(next);
        Ok(next)
    }

    /// Writes all of it, or leaves the file as it was.
    fn write_at_offset(&mut self, segment: usize, bytes: &[u8]) -> io::Result<()> {
        let Some(file) = &self.segments[segment] else { return Err(io::ErrorKind::NotFound.into()) };
        if let Err(error) = file.write_all_at(bytes, self.offset) {
            // A part of it may be there.
            let _ = file.set_len(self.offset);
            return Err(error);
        }
        self.offset += bytes.len() as u64;
        Ok(())
    }
}

/// Reads the number of a file's content; none if there is none.
pub(super) fn generation(file: &File) -> io::Result<Option<u64>> {
    let mut head = [0; SEGMENT_HEAD_BYTES];
    match file.read_exact_at(&mut head, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let ([magic, generation, sum], _) = head.as_chunks::<8>() else { return Ok(None) };
    let is_whole = *magic == MAGIC.to_le_bytes() && checksum(&[&head[..16]]).to_le_bytes() == *sum;
    Ok(is_whole.then(|| u64::from_le_bytes(*generation)))
}

fn encode_frame(out: &mut Vec<u8>, generation: u64, stream: Stream, at_ms: i64, position: u64, bytes: &[u8]) {
    let stream: u64 = match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    };
    let word = stream << 32 | bytes.len() as u64;
    for number in [word, generation, at_ms.cast_unsigned(), position] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    let sum = checksum(&[out, bytes]);
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(bytes);
}

/// The head of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameHead {
    pub(super) stream: Stream,
    pub(super) length: usize,
    pub(super) at_ms: i64,
    pub(super) position: u64,
}

/// What is found where a frame may begin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FrameScan<'a> {
    /// A whole frame.
    Frame(FrameHead, &'a [u8]),
    /// Not enough to tell: so many bytes are needed. Where there are no more, it is the end.
    More(usize),
    /// None: a frame that is being written, or what was there before.
    Nothing,
}

/// Reads the frame that bytes begin with.
pub(super) fn find_frame(bytes: &[u8], generation: u64) -> FrameScan<'_> {
    let Some((head, rest)) = bytes.split_first_chunk::<FRAME_HEAD_BYTES>() else {
        return FrameScan::More(FRAME_HEAD_BYTES);
    };
    let ([word, written, at_ms, position, sum], _) = head.as_chunks::<8>() else { return FrameScan::Nothing };
    let word = u64::from_le_bytes(*word);
    let stream = match word >> 32 {
        0 => Stream::Stdout,
        1 => Stream::Stderr,
        _ => return FrameScan::Nothing,
    };
    let length = usize::try_from(word & u64::from(u32::MAX)).unwrap_or(usize::MAX);
    if length == 0 || length > MAX_FRAME_BYTES || u64::from_le_bytes(*written) != generation {
        return FrameScan::Nothing;
    }
    let Some(content) = rest.get(..length) else { return FrameScan::More(FRAME_HEAD_BYTES + length) };
    if checksum(&[&head[..FRAME_HEAD_BYTES - 8], content]).to_le_bytes() != *sum {
        return FrameScan::Nothing;
    }
    let at_ms = u64::from_le_bytes(*at_ms).cast_signed();
    let head = FrameHead { stream, length, at_ms, position: u64::from_le_bytes(*position) };
    FrameScan::Frame(head, content)
}

impl FrameHead {
    /// Returns a part of the frame.
    pub(super) fn part(self, content: &[u8], from: usize, to: usize) -> Frame {
        Frame {
            stream: self.stream,
            at_ms: self.at_ms,
            position: self.position + from as u64,
            bytes: content[from..to].to_vec(),
        }
    }
}
