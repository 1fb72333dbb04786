//! Reading what a process left: its status and its ring. Never writes, and never waits for the writer.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::files::{self, Folder};
use super::ring::{self, FrameScan, SEGMENT_HEAD_BYTES, find_frame, generation};
use super::status::{self, Key};
use super::{Frame, RingRead, State, Status};
use crate::fs::modes::FileExt;

/// How many bytes of a file are read at a time.
const CHUNK_BYTES: usize = 256 << 10;
/// After how many bytes of a file a place is remembered.
const BYTES_BETWEEN_MARKS: u64 = 128 << 10;
/// How many places are remembered.
const MAX_MARKS: usize = 256;
/// How often a reading starts over that the writer overtook.
const MAX_TRIES: usize = 20;

/// What a process left on disk, opened. Stays readable when its folder is removed.
#[derive(Debug)]
pub struct ProcessFiles {
    status: File,
    folder: Folder,
    /// The files of the ring, as far as there are any.
    segments: [OnceLock<File>; 2],
    /// The last status, once nothing changes any more.
    last: Mutex<Option<Status>>,
    /// Where frames begin, so that a reading need not search from the beginning of a file.
    marks: Mutex<Vec<Mark>>,
}

/// A place where a frame begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    generation: u64,
    position: u64,
    offset: u64,
}

/// The writer emptied a file that was being read.
struct RingOvertaken;

impl ProcessFiles {
    /// Opens what is in the folder of a process.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let folder = Folder::open(folder)?;
        let kept = Self {
            status: folder.read(status::NAME)?,
            folder,
            segments: [OnceLock::new(), OnceLock::new()],
            last: Mutex::new(None),
            marks: Mutex::new(Vec::new()),
        };
        drop(kept.segments()?);
        Ok(kept)
    }

    /// Returns the files of the ring that there are.
    fn segments(&self) -> io::Result<impl Iterator<Item = &File>> {
        for (segment, name) in self.segments.iter().zip(ring::NAMES) {
            if segment.get().is_none() {
                match self.folder.read(name) {
                    // Another reading may be first.
                    Ok(file) => drop(segment.set(file)),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(self.segments.iter().filter_map(OnceLock::get))
    }

    /// Returns how things stand. Costs two system calls while the process lives, none once its end was seen.
    ///
    /// # Errors
    /// Those of the file system; `InvalidData` if the status was damaged.
    pub fn status(&self) -> io::Result<Status> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(status) = &*last {
            return Ok(status.clone());
        }
        let status = current(&self.status)?;
        if status.state.is_final() {
            *last = Some(status.clone());
        }
        Ok(status)
    }

    /// Returns how things stand with the process of a folder, and leaves nothing open: for many that nobody reads.
    ///
    /// # Errors
    /// As [`ProcessFiles::open`] and [`ProcessFiles::status`]; the ring is not looked at.
    pub fn look(folder: &Path) -> io::Result<Status> {
        current(&files::read(&folder.join(status::NAME))?)
    }

    /// Returns what anyone who connects to the keeper must say.
    pub(super) fn key(folder: &Path) -> io::Result<Key> {
        Ok(status::read(&files::read(&folder.join(status::NAME))?)?.key)
    }

    /// Reads what was printed from a position on, `max_bytes` at most.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn read(&self, from: u64, max_bytes: usize) -> io::Result<RingRead> {
        for _ in 0..MAX_TRIES {
            let end = self.status()?.end;
            let mut reading = Reading { at: from, room: max_bytes, frames: Vec::new(), skipped_bytes: 0 };
            match self.read_into(&mut reading)? {
                Ok(()) => {}
                Err(RingOvertaken) => continue,
            }
            if reading.room > 0 && reading.at < end {
                // Everything before `end` was written before `end` was read, or it is lost.
                reading.skipped_bytes += end - reading.at;
                reading.at = end;
            }
            let Reading { at, frames, skipped_bytes, .. } = reading;
            return Ok(RingRead { frames, next: at, skipped_bytes, end: end.max(at) });
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "more is printed than can be read"))
    }

    /// Reads the last bytes that were printed. Nothing counts as skipped but what is missing of these.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn tail(&self, max_bytes: usize) -> io::Result<RingRead> {
        let from = self.status()?.end.saturating_sub(max_bytes as u64);
        self.read(from, max_bytes)
    }

    /// Returns the position of the first byte that is kept; the end if none is.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn start(&self) -> io::Result<u64> {
        self.find(|_| true)
    }

    /// Returns the position of the first kept byte that was printed at a time or later; the end if none was.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn since(&self, at_ms: i64) -> io::Result<u64> {
        self.find(|frame| frame.at_ms >= at_ms)
    }

    fn find(&self, is_it: impl Fn(&Frame) -> bool) -> io::Result<u64> {
        let mut from = 0;
        loop {
            let read = self.read(from, CHUNK_BYTES)?;
            if let Some(found) = read.frames.iter().find(|frame| is_it(frame)) {
                return Ok(found.position);
            }
            if read.frames.is_empty() {
                return Ok(read.end);
            }
            from = read.next;
        }
    }

    fn read_into(&self, reading: &mut Reading) -> io::Result<Result<(), RingOvertaken>> {
        let mut segments = Vec::with_capacity(2);
        for file in self.segments()? {
            segments.extend(generation(file)?.map(|generation| (generation, file)));
        }
        segments.sort_by_key(|(generation, _)| *generation);
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        marks.retain(|mark| segments.iter().any(|(generation, _)| *generation == mark.generation));
        for (at, (number, file)) in segments.iter().enumerate() {
            // Nothing of the older file is wanted if the newer one begins before.
            let later =
                segments.get(at + 1).map(|(number, file)| first_position(file, *number)).transpose()?;
            if later.flatten().is_some_and(|first| first <= reading.at) {
                continue;
            }
            reading.read_segment(file, *number, &mut marks)?;
            if generation(file)? != Some(*number) {
                return Ok(Err(RingOvertaken));
            }
            if reading.room == 0 {
                break;
            }
        }
        let excess = marks.len().saturating_sub(MAX_MARKS);
        marks.drain(..excess);
        *self.marks.lock().unwrap_or_else(PoisonError::into_inner) = marks;
        Ok(Ok(()))
    }
}

/// Reads a status, and whether somebody still writes it.
fn current(file: &File) -> io::Result<Status> {
    let mut status = status::read(file)?.status;
    if !status.state.is_final() && !files::is_locked(file)? {
        // It may have ended between the two looks.
        status = status::read(file)?.status;
        if !status.state.is_final() {
            status.state = State::Lost;
        }
    }
    Ok(status)
}

fn first_position(file: &File, generation: u64) -> io::Result<Option<u64>> {
    let mut bytes = vec![0; ring::FRAME_HEAD_BYTES];
    loop {
        let length = fill(file, &mut bytes, SEGMENT_HEAD_BYTES as u64)?;
        match find_frame(&bytes[..length], generation) {
            FrameScan::Frame(head, _) => return Ok(Some(head.position)),
            FrameScan::More(needed) if length == bytes.len() => bytes.resize(needed, 0),
            FrameScan::More(_) | FrameScan::Nothing => return Ok(None),
        }
    }
}

/// Reads until a buffer is full or the file ends.
fn fill(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A reading in progress.
struct Reading {
    /// The position of the next byte that is wanted.
    at: u64,
    /// How many more bytes are wanted.
    room: usize,
    frames: Vec<Frame>,
    skipped_bytes: u64,
}

impl Reading {
    fn read_segment(&mut self, file: &File, generation: u64, marks: &mut Vec<Mark>) -> io::Result<()> {
        let near = marks.iter().filter(|mark| mark.generation == generation && mark.position <= self.at);
        let mut offset = near.map(|mark| mark.offset).max().unwrap_or(SEGMENT_HEAD_BYTES as u64);
        let mut chunk = vec![0; CHUNK_BYTES.min(self.room.saturating_add(8 << 10))];
        let mut marked = offset;
        loop {
            let length = fill(file, &mut chunk, offset)?;
            let mut used = 0;
            loop {
                match find_frame(&chunk[used..length], generation) {
                    FrameScan::Frame(head, content) => {
                        let begins = offset + used as u64;
                        let is_last = self.take(head, content);
                        if begins > marked + BYTES_BETWEEN_MARKS || is_last {
                            let mark = Mark { generation, position: head.position, offset: begins };
                            remember(marks, mark);
                            marked = begins;
                        }
                        if is_last {
                            return Ok(());
                        }
                        used += ring::FRAME_HEAD_BYTES + head.length;
                    }
                    FrameScan::More(needed) if length == chunk.len() => {
                        if chunk.len() < needed {
                            chunk.resize(needed, 0);
                        }
                        break;
                    }
                    FrameScan::More(_) | FrameScan::Nothing => {
                        // The next reading continues here.
                        let mark = Mark { generation, position: self.at, offset: offset + used as u64 };
                        remember(marks, mark);
                        return Ok(());
                    }
                }
            }
            offset += used as u64;
        }
    }

    /// Takes what is wanted of a frame. Returns whether nothing more is wanted after it.
    fn take(&mut self, head: ring::FrameHead, content: &[u8]) -> bool {
        let after = head.position + head.length as u64;
        if after <= self.at {
            return false;
        }
        self.skipped_bytes += head.position.saturating_sub(self.at);
        self.at = self.at.max(head.position);
        let from = usize::try_from(self.at - head.position).unwrap_or(head.length);
        let to = head.length.min(from.saturating_add(self.room));
        if to > from {
            self.frames.push(head.part(content, from, to));
        }
        self.at = head.position + to as u64;
        self.room -= to - from;
        self.room == 0
    }
}

fn remember(marks: &mut Vec<Mark>, mark: Mark) {
    if !marks.contains(&mark) {
        marks.push(mark);
    }
}
