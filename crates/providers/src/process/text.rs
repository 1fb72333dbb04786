//! What a process printed, as text: from a cursor on, within a bound, no character and no sequence torn.
//!
//! What was given is never given again: the cursor after a reading is behind exactly what it gave.

use std::ops::ControlFlow;

use crate::file::json_len;
use bailiwick_contract::Failure;
use bailiwick_platform::launch::kept::{Frame, RingRead, Stream};

use super::Cursor;
use super::unit::{Unit, next};

/// How many bytes are read at a time.
const CHUNK_BYTES: usize = 64 << 10;
/// What stands for bytes that are no text.
const REPLACEMENT: &str = "\u{fffd}";

/// What is wanted.
#[derive(Debug, Clone, Copy)]
pub struct TextRange {
    /// The stream; none for both.
    pub stream: Option<Stream>,
    /// Whether control sequences of terminals are taken out.
    pub strip_ansi: bool,
    /// How many bytes the text may take in JSON.
    pub room: usize,
    /// What each line takes beside its text.
    pub line_bytes: usize,
    /// Whether the process is over, so that nothing is waited for.
    pub is_over: bool,
}

/// Text of one stream that arrived together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The stream.
    pub stream: Stream,
    /// When it arrived, in milliseconds since the epoch.
    pub at_ms: i64,
    /// The text.
    pub text: String,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPage {
    /// The text, in the order of arrival.
    pub pieces: Vec<Piece>,
    /// Where the next reading begins.
    pub cursor: Cursor,
    /// How many bytes fell out before they were read; of both streams, where they lie side by side.
    pub skipped_bytes: u64,
    /// Whether there is more already.
    pub is_cut: bool,
    /// How many of the bytes were no text.
    pub not_utf8_bytes: u64,
}

/// Reads text from a cursor on. `read` gives the bytes from a position on, as the ring does.
///
/// # Errors
/// Those of `read`.
pub fn take(
    cursor: Cursor,
    wanted: TextRange,
    mut read: impl FnMut(u64, usize) -> Result<RingRead, Failure>,
) -> Result<TextPage, Failure> {
    let mut taking = TextDecoder::new(cursor, wanted);
    let mut from = match wanted.stream {
        Some(stream) => cursor.of(stream),
        None => cursor.stdout.min(cursor.stderr),
    };
    // What is printed meanwhile is for the next reading.
    let mut until = None;
    loop {
        let RingRead { frames, next, skipped_bytes, end } = read(from, CHUNK_BYTES)?;
        let end = *until.get_or_insert(end);
        if skipped_bytes > 0 {
            taking.gap(skipped_bytes);
        }
        for frame in frames {
            if taking.frame(frame).is_break() {
                return Ok(taking.finish());
            }
        }
        taking.read_to(next);
        if next >= end || next <= from {
            if wanted.is_over {
                taking.flush();
            }
            return Ok(taking.finish());
        }
        from = next;
    }
}

/// What one stream has given so far.
#[derive(Debug, Default)]
struct Lane {
    /// The beginning of a unit that continues with the next bytes, and the position of its first byte.
    pending: Vec<u8>,
    pending_at: u64,
    /// Whether what comes next may begin in the middle of a character.
    is_broken: bool,
}

struct TextDecoder {
    wanted: TextRange,
    cursor: Cursor,
    room: usize,
    lanes: [Lane; 2],
    taken: TextPage,
}

impl TextDecoder {
    fn new(cursor: Cursor, wanted: TextRange) -> Self {
        let taken =
            TextPage { pieces: Vec::new(), cursor, skipped_bytes: 0, is_cut: false, not_utf8_bytes: 0 };
        Self { wanted, cursor, room: wanted.room, lanes: Default::default(), taken }
    }

    fn wants(&self, stream: Stream) -> bool {
        self.wanted.stream.is_none_or(|wanted| wanted == stream)
    }

    /// Notes that bytes are missing here.
    fn gap(&mut self, bytes: u64) {
        self.taken.skipped_bytes += bytes;
        self.flush();
        for lane in &mut self.lanes {
            lane.is_broken = true;
        }
    }

    /// Takes a frame. Breaks where there is no room for more.
    fn frame(&mut self, frame: Frame) -> ControlFlow<()> {
        let Frame { stream, at_ms, position, bytes } = frame;
        let after = position + bytes.len() as u64;
        if !self.wants(stream) || after <= self.cursor.of(stream) {
            return ControlFlow::Continue(());
        }
        let given = usize::try_from(self.cursor.of(stream).saturating_sub(position)).unwrap_or(0);
        let mut fresh = &bytes[given..];
        let mut position = position + given as u64;
        let lane = &mut self.lanes[lane_of(stream)];
        if std::mem::take(&mut lane.is_broken) {
            let rest = fresh.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
            fresh = &fresh[rest..];
            position += rest as u64;
        }
        let (mut buffer, pending_at) = (std::mem::take(&mut lane.pending), lane.pending_at);
        let old = buffer.len();
        buffer.extend_from_slice(fresh);
        // The position of each place in the buffer: no unit ends within what was pending.
        let position_of =
            |at: usize| if at < old { pending_at + at as u64 } else { position + (at - old) as u64 };

        let mut used = 0;
        while let Some(unit) = next(&buffer[used..]) {
            let (length, whole) = self.unit(stream, at_ms, unit);
            used += length;
            if !whole {
                self.cut(stream, position_of(used), position);
                return ControlFlow::Break(());
            }
        }
        let lane = &mut self.lanes[lane_of(stream)];
        lane.pending_at = position_of(used);
        lane.pending = buffer.split_off(used);
        self.cursor.set(stream, if lane.pending.is_empty() { after } else { lane.pending_at });
        ControlFlow::Continue(())
    }

    /// Takes what there is room for of a unit. Returns how many bytes that is, and whether it is all.
    fn unit(&mut self, stream: Stream, at_ms: i64, unit: Unit<'_>) -> (usize, bool) {
        match unit {
            Unit::Text(text) => {
                let fits = self.fitting(stream, text);
                self.push(stream, at_ms, &text[..fits]);
                (fits, fits == text.len())
            }
            Unit::Sequence(bytes) if self.wanted.strip_ansi => (bytes.len(), true),
            Unit::Sequence(bytes) | Unit::Invalid(bytes) => {
                let text = match unit {
                    Unit::Sequence(_) => String::from_utf8_lossy(bytes).into_owned(),
                    _ => REPLACEMENT.to_owned(),
                };
                // The first is always taken: a reading that gives nothing would never come further.
                if json_len(text.as_bytes()) > self.room && !self.taken.pieces.is_empty() {
                    return (0, false);
                }
                let invalid: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
                self.taken.not_utf8_bytes += invalid as u64;
                self.push(stream, at_ms, &text);
                (bytes.len(), true)
            }
        }
    }

    /// Counts the bytes of the longest beginning of a text that there is room for.
    fn fitting(&self, stream: Stream, text: &str) -> usize {
        let begins = self.taken.pieces.last().is_none_or(|last| last.stream != stream);
        let lines =
            if self.wanted.line_bytes == 0 { 0 } else { memchr::memchr_iter(b'\n', text.as_bytes()).count() };
        let first = if begins { self.wanted.line_bytes } else { 0 };
        if json_len(text.as_bytes()) + first + lines * self.wanted.line_bytes <= self.room {
            return text.len();
        }
        let (mut end, mut used) = (0, first);
        for character in text.chars() {
            let mut encoded = [0; 4];
            used += json_len(character.encode_utf8(&mut encoded).as_bytes());
            used += if character == '\n' { self.wanted.line_bytes } else { 0 };
            if used > self.room && !(end == 0 && self.taken.pieces.is_empty()) {
                break;
            }
            end += character.len_utf8();
        }
        end
    }

    fn push(&mut self, stream: Stream, at_ms: i64, text: &str) {
        if text.is_empty() {
            return;
        }
        let line_feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let mut cost = json_len(text.as_bytes()) + line_feeds * self.wanted.line_bytes;
        match self.taken.pieces.last_mut() {
            Some(last) if last.stream == stream && last.at_ms == at_ms => last.text.push_str(text),
            last => {
                if last.is_none_or(|last| last.stream != stream) {
                    cost += self.wanted.line_bytes;
                }
                self.taken.pieces.push(Piece { stream, at_ms, text: text.to_owned() });
            }
        }
        self.room = self.room.saturating_sub(cost);
    }

    /// Ends where there is no more room, at a place of one stream. The other has nothing up to there that was not taken.
    fn cut(&mut self, stream: Stream, at: u64, frame_at: u64) {
        self.taken.is_cut = true;
        self.cursor.set(stream, at);
        let other = match stream {
            Stream::Stdout => Stream::Stderr,
            Stream::Stderr => Stream::Stdout,
        };
        if self.wants(other) && self.lanes[lane_of(other)].pending.is_empty() {
            self.cursor.set(other, self.cursor.of(other).max(frame_at).max(at));
        }
    }

    /// Notes that everything before a position was read.
    fn read_to(&mut self, position: u64) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            if self.wants(stream) && self.lanes[lane_of(stream)].pending.is_empty() {
                self.cursor.set(stream, self.cursor.of(stream).max(position));
            }
        }
    }

    /// Gives up waiting for the rest of what is pending.
    fn flush(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let lane = &mut self.lanes[lane_of(stream)];
            let (pending, at) = (std::mem::take(&mut lane.pending), lane.pending_at);
            if pending.is_empty() {
                continue;
            }
            let unit = match pending[0] {
                0x1b => Unit::Sequence(&pending),
                _ => Unit::Invalid(&pending),
            };
            let at_ms = self.taken.pieces.last().map_or(0, |last| last.at_ms);
            let (length, _) = self.unit(stream, at_ms, unit);
            match length {
                0 => {
                    self.taken.is_cut = true;
                    self.cursor.set(stream, at);
                }
                _ => self.cursor.set(stream, at + pending.len() as u64),
            }
        }
        // Nothing is pending any more: the streams stand side by side again.
        if !self.taken.is_cut && self.wanted.stream.is_none() {
            self.cursor = Cursor::at(self.cursor.stdout.max(self.cursor.stderr));
        }
    }

    fn finish(mut self) -> TextPage {
        self.taken.cursor = self.cursor;
        self.taken
    }
}

const fn lane_of(stream: Stream) -> usize {
    match stream {
        Stream::Stdout => 0,
        Stream::Stderr => 1,
    }
}
