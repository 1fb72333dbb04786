//! Output as a result shows it: text within a bound, cut in the middle, honest about what is not text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::file::json_len;

use super::capture::CapturedStream;

/// The beginning gets one part in so many of the room; what failed is told at the end.
pub const HEAD_SHARE: usize = 3;
/// Room for the mark at the cut.
const MARK_BYTES: usize = 96;
/// How far before or after a bound the end of a line is looked for, at most a quarter of what is shown.
const NEAR_BYTES: usize = 4_096;
/// What one byte that is no text takes in JSON: the replacement character in UTF-8.
const REPLACEMENT_BYTES: usize = 3;

/// One stream as it is shown.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct StreamExcerpt {
    /// The text, with a mark where something was left out; or base64.
    pub text: String,
    /// How many bytes were left out.
    pub left_out_bytes: u64,
    /// How many line feeds were among them.
    pub left_out_lines: u64,
    /// How many of the bytes that are shown were not UTF-8; each run of them stands as U+FFFD.
    pub not_utf8_bytes: u64,
}

/// Returns the room that two streams get of what there is for both: the smaller one its need, else half.
pub fn share(room: usize, first: usize, second: usize) -> (usize, usize) {
    let half = room / 2;
    if first.saturating_add(second) <= room {
        (first, second)
    } else if first <= half {
        (first, room - first)
    } else if second <= half {
        (room - second, second)
    } else {
        (half, room - half)
    }
}

/// Counts the bytes that a stream needs in a JSON string to be shown whole; at least so many as it has.
pub fn need(kept: &CapturedStream) -> usize {
    if !kept.is_whole() {
        return usize::MAX / 4;
    }
    [&kept.head, &kept.tail].into_iter().map(|bytes| text_len(bytes)).sum()
}

/// Counts what bytes take as text in a JSON string.
fn text_len(bytes: &[u8]) -> usize {
    let chunks = bytes.utf8_chunks();
    chunks.map(|chunk| json_len(chunk.valid().as_bytes()) + chunk.invalid().len() * REPLACEMENT_BYTES).sum()
}

/// Shows a stream as text of at most `room` bytes in JSON.
pub fn as_text(kept: CapturedStream, room: usize) -> StreamExcerpt {
    let whole = kept.is_whole();
    let (total_bytes, total_lines) = (kept.total_bytes, kept.total_line_feeds);
    let CapturedStream { mut head, mut tail, .. } = kept;
    if whole {
        head.append(&mut tail);
        if text_len(&head) <= room {
            let (text, not_utf8_bytes) = lossy(&head);
            return StreamExcerpt { text, not_utf8_bytes, ..StreamExcerpt::default() };
        }
    }
    let room = room.saturating_sub(MARK_BYTES);
    let head_end = head_end(&head, room / HEAD_SHARE);
    let end = if whole { &head[head_end..] } else { &tail[..] };
    let tail_start = tail_start(end, room - room / HEAD_SHARE);
    let (first, last) = (&head[..head_end], &end[tail_start..]);
    let left_out_bytes = total_bytes - (first.len() + last.len()) as u64;
    let left_out_lines = total_lines - (line_feeds(first) + line_feeds(last));
    let (mut text, head_not) = lossy(first);
    let (after, tail_not) = lossy(last);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&format!("[… {left_out_bytes} bytes, {left_out_lines} lines left out …]\n"));
    text.push_str(&after);
    StreamExcerpt { text, left_out_bytes, left_out_lines, not_utf8_bytes: head_not + tail_not }
}

/// Shows the beginning of a stream in base64, within `room` bytes.
pub fn as_base64(kept: &CapturedStream, room: usize) -> StreamExcerpt {
    let (first, second) = (&kept.head, &kept.tail);
    let mut bytes = first.clone();
    if kept.is_whole() {
        bytes.extend_from_slice(second);
    }
    bytes.truncate(room / 4 * 3);
    StreamExcerpt {
        text: STANDARD.encode(&bytes),
        left_out_bytes: kept.total_bytes - bytes.len() as u64,
        left_out_lines: kept.total_line_feeds - line_feeds(&bytes),
        not_utf8_bytes: bytes.utf8_chunks().map(|chunk| chunk.invalid().len() as u64).sum(),
    }
}

fn line_feeds(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

fn lossy(bytes: &[u8]) -> (String, u64) {
    let not_utf8: usize = bytes.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    (String::from_utf8_lossy(bytes).into_owned(), not_utf8 as u64)
}

/// Finds the end of the longest beginning that fits, at the end of a line if one is near.
fn head_end(bytes: &[u8], room: usize) -> usize {
    let (mut end, mut used) = (0, 0);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (length, cost) = first_character(rest);
        // A character that the kept bytes break off in the middle is left out whole.
        if length == 0 || used + cost > room {
            break;
        }
        end += length;
        used += cost;
        rest = &rest[length..];
    }
    let near = end.saturating_sub(NEAR_BYTES.min(end / 4));
    match memchr::memrchr(b'\n', &bytes[near..end]) {
        Some(at) => near + at + 1,
        None => end,
    }
}

/// Finds the start of the longest end that fits, at the start of a line if one is near.
fn tail_start(bytes: &[u8], room: usize) -> usize {
    let (mut start, mut used) = (bytes.len(), 0);
    while start > 0 {
        let (length, cost) = last_character(&bytes[..start]);
        if used + cost > room {
            break;
        }
        start -= length;
        used += cost;
    }
    // The kept bytes may begin in the middle of a character, whose rest is left out whole.
    start = start.max(bytes.iter().take(3).take_while(|byte| is_continuation(**byte)).count());
    let near = (start + NEAR_BYTES.min((bytes.len() - start) / 4)).min(bytes.len());
    match memchr::memchr(b'\n', &bytes[start..near]) {
        Some(at) => start + at + 1,
        None => start,
    }
}

/// Returns the length of the first character (or of a byte that is none) and what it takes in JSON; a length
/// of 0 where the bytes end within it.
fn first_character(bytes: &[u8]) -> (usize, usize) {
    let length = match bytes[0] {
        0..0x80 => return (1, json_len(&bytes[..1])),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let character = &bytes[..length.min(bytes.len())];
    match std::str::from_utf8(character) {
        Ok(_) => (length, length),
        Err(error) if error.error_len().is_none() => (0, 0),
        Err(_) => (1, REPLACEMENT_BYTES),
    }
}

/// Returns the length of the last character (or of a byte that is none) and what it takes in JSON.
fn last_character(bytes: &[u8]) -> (usize, usize) {
    let last = bytes.len() - 1;
    if bytes[last] < 0x80 {
        return (1, json_len(&bytes[last..]));
    }
    let start = (last.saturating_sub(3)..=last).rev().find(|at| !is_continuation(bytes[*at]));
    match start.map(|start| &bytes[start..]) {
        Some(character) if std::str::from_utf8(character).is_ok() => (character.len(), character.len()),
        _ => (1, REPLACEMENT_BYTES),
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::capture::Capture;
    use super::*;

    fn capture(bytes: &[u8], head: usize, tail: usize) -> CapturedStream {
        let mut capture = Capture::new(head, tail);
        capture.push(bytes);
        capture.finish()
    }

    #[test]
    fn what_fits_is_shown_as_it_is() {
        let shown = as_text(capture("größe\n".as_bytes(), 4, 100), 20);
        assert_eq!(shown, StreamExcerpt { text: "größe\n".to_owned(), ..StreamExcerpt::default() });
    }

    #[test]
    fn a_long_output_is_cut_in_the_middle_at_the_ends_of_lines() {
        let lines: String = (0..1_000).map(|number| format!("line {number}\n")).collect();
        let shown = as_text(capture(lines.as_bytes(), 300, 600), 600);
        let cut: Vec<&str> = shown.text.lines().filter(|line| !line.starts_with("line ")).collect();
        assert_eq!(cut.len(), 1, "{}", shown.text);
        assert_eq!(
            cut[0],
            format!("[… {} bytes, {} lines left out …]", shown.left_out_bytes, shown.left_out_lines)
        );
        assert!(shown.text.starts_with("line 0\nline 1\n"));
        assert!(shown.text.ends_with("line 998\nline 999\n"));
        assert_eq!(shown.left_out_lines + shown.text.lines().count() as u64 - 1, 1_000);
    }

    #[test]
    fn bytes_that_are_no_text_are_counted() {
        let shown = as_text(capture(b"a\xff\xfeb\n\xc3", 10, 10), 100);
        assert_eq!(shown.text, "a\u{fffd}\u{fffd}b\n\u{fffd}");
        assert_eq!(shown.not_utf8_bytes, 3);
        assert_eq!(as_base64(&capture(b"a\xff", 10, 0), 100).text, "Yf8=");
    }

    #[test]
    fn the_room_goes_to_the_one_that_needs_it() {
        assert_eq!(share(100, 30, 40), (30, 40));
        assert_eq!(share(100, 30, 400), (30, 70));
        assert_eq!(share(100, 300, 10), (90, 10));
        assert_eq!(share(101, 300, 400), (50, 51));
    }

    #[test]
    fn the_rest_of_a_character_that_the_kept_bytes_begin_with_is_left_out() {
        let (rest, end) = (&"😀".as_bytes()[1..], "\u{1}".repeat(5));
        let bytes = [rest, end.as_bytes()].concat();
        for room in 0..60 {
            let shown = String::from_utf8_lossy(&bytes[tail_start(&bytes, room)..]).into_owned();
            assert!(end.ends_with(&shown), "{room}: {shown:?}");
        }
    }

    proptest! {
        #[test]
        fn no_character_is_broken_and_the_bound_holds(
            text in r"[aö猫😀\n\t\u{1}]{0,300}",
            room in 0_usize..400,
            keep in 1_usize..400,
        ) {
            let head = keep / 3;
            let shown = as_text(capture(text.as_bytes(), head, keep - head), room);
            prop_assert_eq!(shown.not_utf8_bytes, 0);
            let broken = shown.text.contains('\u{fffd}');
            prop_assert!(!broken);
            prop_assert!(json_len(shown.text.as_bytes()) <= room.max(MARK_BYTES) , "{:?}", shown);
            prop_assert!(shown.left_out_bytes <= text.len() as u64);
        }

        #[test]
        fn what_is_shown_and_what_is_left_out_make_the_whole(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            room in 100_usize..400,
            keep in 1_usize..400,
        ) {
            let head = keep / 3;
            let shown = as_text(capture(&bytes, head, keep - head), room);
            prop_assert!(json_len(shown.text.as_bytes()) <= room, "{:?}", shown);
            if shown.left_out_bytes == 0 && bytes.len() <= keep {
                prop_assert_eq!(shown.text, String::from_utf8_lossy(&bytes));
            }
        }
    }
}
