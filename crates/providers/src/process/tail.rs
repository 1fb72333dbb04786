//! The lines of what a process printed, and the last of them.

use crate::file::json_len;
use bailiwick_contract::Failure;
use bailiwick_platform::launch::kept::{RingRead, Stream};

use super::Cursor;
use super::text::{Piece, TextPage, TextRange, take};

/// How much of the end is checked first.
const FIRST_BYTES: u64 = 32 << 10;

/// A line, or what there is of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The stream.
    pub stream: Stream,
    /// When it began to arrive, in milliseconds since the epoch.
    pub at_ms: i64,
    /// The text, with its line feed if it has one.
    pub text: String,
}

/// Returns the lines of text in the order in which they began. Lines of two streams that arrived mixed stay whole.
pub fn lines(pieces: Vec<Piece>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    // The line of each stream that has no line feed yet.
    let mut open: [Option<usize>; 2] = [None, None];
    for Piece { stream, at_ms, text } in pieces {
        let open = &mut open[usize::from(stream == Stream::Stderr)];
        for part in text.split_inclusive('\n') {
            match *open {
                Some(at) => lines[at].text.push_str(part),
                None => {
                    *open = Some(lines.len());
                    lines.push(Line { stream, at_ms, text: part.to_owned() });
                }
            }
            if part.ends_with('\n') {
                *open = None;
            }
        }
    }
    lines
}

/// Reads the last lines: of each stream, or of both together. `end` is the position after the last byte.
///
/// # Errors
/// Those of `read`.
pub fn last_lines(
    count: usize,
    of_each: bool,
    end: u64,
    wanted: TextRange,
    mut read: impl FnMut(u64, usize) -> Result<RingRead, Failure>,
) -> Result<TextPage, Failure> {
    let mut bytes = FIRST_BYTES;
    loop {
        let from = end.saturating_sub(bytes);
        let all = TextRange { room: usize::MAX / 4, ..wanted };
        let mut taken = take(Cursor::at(from), all, &mut read)?;
        let is_all = from == 0 || taken.skipped_bytes > 0;
        let mut lines = lines(std::mem::take(&mut taken.pieces));
        if !is_all {
            // The first of each stream began before.
            for stream in [Stream::Stdout, Stream::Stderr] {
                if let Some(at) = lines.iter().position(|line| line.stream == stream) {
                    lines.remove(at);
                }
            }
        }
        let has = |stream| lines.iter().filter(|line| line.stream == stream).count();
        let is_enough = match (wanted.stream, of_each) {
            (Some(stream), _) => has(stream) >= count,
            (None, true) => has(Stream::Stdout) >= count && has(Stream::Stderr) >= count,
            (None, false) => lines.len() >= count,
        };
        if !is_all && !is_enough {
            bytes = bytes.saturating_mul(4);
            continue;
        }
        taken.skipped_bytes = 0;
        taken.is_cut = false;
        let mut counts = [0; 2];
        let mut room = wanted.room;
        let mut kept = Vec::new();
        for line in lines.into_iter().rev() {
            let seen = &mut counts[if of_each { usize::from(line.stream == Stream::Stderr) } else { 0 }];
            *seen += 1;
            if *seen > count {
                continue;
            }
            let Line { stream, at_ms, text } = line;
            let cost = json_len(text.as_bytes()) + wanted.line_bytes;
            if cost > room {
                taken.is_cut = true;
                if kept.is_empty() {
                    // One line alone is too long: its end is given.
                    kept.push(Piece { stream, at_ms, text: end_of(&text, room) });
                }
                break;
            }
            room -= cost;
            kept.push(Piece { stream, at_ms, text });
        }
        kept.reverse();
        taken.pieces = kept;
        return Ok(taken);
    }
}

/// Returns the end of a text that fits.
fn end_of(text: &str, room: usize) -> String {
    let mut used = 0;
    let fits = text.char_indices().rev().take_while(|(_, character)| {
        used += json_len(character.encode_utf8(&mut [0; 4]).as_bytes());
        used <= room
    });
    let start = fits.last().map_or(text.len(), |(at, _)| at);
    text[start..].to_owned()
}
