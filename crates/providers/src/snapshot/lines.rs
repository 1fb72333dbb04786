//! Counting the lines that were added and removed between two contents. Pure.
//!
//! Only the length of the longest common subsequence is needed, so nothing is kept of the way there.

use std::collections::HashMap;

/// How much of a content is checked to tell whether it is text.
pub(super) const HEAD_BYTES: usize = 8_000;
/// How many edits are looked through for the shortest way; the work grows with the square.
const MAX_EDITS: usize = 4_000;

/// Returns whether a content is no text, as Git does.
pub(super) fn is_binary(content: &[u8]) -> bool {
    memchr::memchr(0, &content[..content.len().min(HEAD_BYTES)]).is_some()
}

/// Counts the lines of a content.
pub(super) fn count(content: &[u8]) -> u64 {
    content.split_inclusive(|byte| *byte == b'\n').count() as u64
}

/// Counts the lines that were added and removed.
pub(super) fn difference(old: &[u8], new: &[u8]) -> (u64, u64) {
    let mut old: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
    let mut new: Vec<&[u8]> = new.split_inclusive(|byte| *byte == b'\n').collect();
    let start = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    old.drain(..start);
    new.drain(..start);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    old.truncate(old.len() - end);
    new.truncate(new.len() - end);
    let common = common_lines(&old, &new);
    ((new.len() - common) as u64, (old.len() - common) as u64)
}

/// Returns how many lines stay.
fn common_lines(old: &[&[u8]], new: &[&[u8]]) -> usize {
    // Lines by number; what only one side has never stays, and is left out.
    let numbers: HashMap<&[u8], usize> = old.iter().enumerate().map(|(at, line)| (*line, at)).collect();
    let new: Vec<usize> = new.iter().filter_map(|line| numbers.get(line).copied()).collect();
    let mut is_in_new = vec![false; old.len()];
    new.iter().for_each(|number| is_in_new[*number] = true);
    let old: Vec<usize> = old.iter().map(|line| numbers[line]).filter(|number| is_in_new[*number]).collect();
    shortest(&old, &new).unwrap_or_else(|| rising(&old, &new))
}

/// Returns the length of the longest common subsequence, by the shortest edit script (Myers' greedy algorithm);
/// `None` if that takes too many edits.
fn shortest(old: &[usize], new: &[usize]) -> Option<usize> {
    let all = old.len() + new.len();
    let most = all.min(MAX_EDITS);
    // How far into `old` each diagonal reaches; diagonal 0 is in the middle.
    let middle = most + 1;
    let mut reach = vec![0_usize; 2 * middle + 1];
    for edits in 0..=most {
        for diagonal in (middle - edits..=middle + edits).step_by(2) {
            let down = diagonal == middle - edits
                || (diagonal != middle + edits && reach[diagonal - 1] < reach[diagonal + 1]);
            let mut x = if down { reach[diagonal + 1] } else { reach[diagonal - 1] + 1 };
            // Never negative: a diagonal is reached by as many steps to the right as it lies right of the middle.
            let mut y = x + middle - diagonal;
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            reach[diagonal] = x;
            if x >= old.len() && y >= new.len() {
                return Some((all - edits) / 2);
            }
        }
    }
    None
}

/// Returns the length of a common subsequence of those lines that are there once on each side; not always the longest.
fn rising(old: &[usize], new: &[usize]) -> usize {
    let once = |side: &[usize]| {
        let mut places: HashMap<usize, Option<usize>> = HashMap::new();
        for (at, number) in side.iter().enumerate() {
            places.entry(*number).and_modify(|it| *it = None).or_insert(Some(at));
        }
        places
    };
    let (old_places, new_places) = (once(old), once(new));
    let mut ends: Vec<usize> = Vec::new();
    for number in old.iter().filter(|number| old_places[*number].is_some()) {
        let Some(Some(at)) = new_places.get(number) else { continue };
        let length = ends.partition_point(|end| end < at);
        if length == ends.len() { ends.push(*at) } else { ends[length] = *at }
    }
    ends.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_are_counted_as_git_counts_them() {
        for (old, new, counts) in [
            ("", "", (0, 0)),
            ("", "a\nb", (2, 0)),
            ("a\nb\n", "", (0, 2)),
            ("a\n", "a", (1, 1)),
            ("a\nb\nc\n", "a\nx\nc\n", (1, 1)),
            ("a\nb\nc\n", "c\na\nb\n", (1, 1)),
            ("a\na\na\n", "a\na\n", (0, 1)),
            ("a\r\n", "a\n", (1, 1)),
        ] {
            assert_eq!(difference(old.as_bytes(), new.as_bytes()), counts, "{old:?} {new:?}");
        }
        assert!(is_binary(b"a\0b") && !is_binary(b"a\xff\xfe"));
    }

    #[test]
    fn a_content_that_is_mixed_up_is_counted_in_bounded_work() {
        let line = |number: usize| format!("line {number}\n").into_bytes();
        let old: Vec<u8> = (0..50_000).flat_map(line).collect();
        let new: Vec<u8> = (0..50_000).map(|number| number * 7_919 % 50_000).flat_map(line).collect();
        let (added, removed) = difference(&old, &new);
        assert!(added == removed && added > 40_000 && added < 50_000, "{added}");
    }

    fn lines(text: &str) -> Vec<&[u8]> {
        text.as_bytes().split_inclusive(|byte| *byte == b'\n').collect()
    }

    fn longest_common(old: &[&[u8]], new: &[&[u8]]) -> usize {
        let mut row = vec![0; new.len() + 1];
        for line in old {
            let mut corner = 0;
            for at in 0..new.len() {
                let above = row[at + 1];
                row[at + 1] = if *line == new[at] { corner + 1 } else { row[at + 1].max(row[at]) };
                corner = above;
            }
        }
        row[new.len()]
    }

    proptest! {
        #[test]
        fn no_fewer_lines_could_be_told(old in "[a-d\n]{0,60}", new in "[a-d\n]{0,60}") {
            let (a, b) = (lines(&old), lines(&new));
            let common = longest_common(&a, &b);
            let expected = ((b.len() - common) as u64, (a.len() - common) as u64);
            prop_assert_eq!(difference(old.as_bytes(), new.as_bytes()), expected);
        }
    }
}
