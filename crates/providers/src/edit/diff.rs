//! Printing what edits change as a unified diff.

use std::ops::Range;

use super::merge::differences;
use super::splice::Splice;
use super::text::{Text, body, ending};

/// How many lines of context are around a change.
const CONTEXT: usize = 3;

/// A change of whole lines: those that went and those that came, counted from 0, the first and the one after the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Of the text before.
    pub old: (usize, usize),
    /// Of the text after.
    pub new: (usize, usize),
}

/// Prints changes as `git diff` would, with the file's names in front.
///
/// Where a name is `None`, the file is new or gone.
pub fn unified_diff(
    names: (Option<&str>, Option<&str>),
    old: &Text,
    new: &Text,
    changes: &[Change],
) -> String {
    print_all(names, old, new, changes)
}

/// As [`unified_diff`], of two texts of which nobody knows how one became the other.
pub fn text_diff(names: (Option<&str>, Option<&str>), old: &Text, new: &Text) -> String {
    print_all(names, old, new, &differences(old, new))
}

fn print_all(names: (Option<&str>, Option<&str>), old: &Text, new: &Text, changes: &[Change]) -> String {
    let side = |prefix: &str, name: Option<&str>| {
        name.map_or_else(|| "/dev/null".to_owned(), |name| format!("{prefix}/{name}"))
    };
    let mut diff = format!("--- {}\n+++ {}\n", side("a", names.0), side("b", names.1));
    let mut at = 0;
    while at < changes.len() {
        let mut last = at;
        while last + 1 < changes.len() && changes[last + 1].old.0 <= changes[last].old.1 + 2 * CONTEXT {
            last += 1;
        }
        print(&mut diff, old, new, &changes[at..=last]);
        at = last + 1;
    }
    diff
}

/// Returns the whole lines that pieces change, as small as whole lines allow. `new` is `old` with the pieces.
///
/// A piece may take the end of a line, and then the next line becomes part of it; behind a last line without an end, new
/// text continues that line.
pub(super) fn line_changes(old: &Text, new: &Text, splices: &[Splice]) -> Vec<Change> {
    let content = old.content();
    let feed_before = |at: usize| at == 0 || content.as_bytes()[at - 1] == b'\n';
    // Bytes of the old text from the start of a line to the end of one, and how many bytes came and went before their
    // start and before their end.
    type Count = (usize, usize);
    let mut found: Vec<(Range<usize>, Count, Count)> = Vec::new();
    let (mut came, mut went, mut last) = (0, 0, 0);
    let mut starts_line = true;
    for Splice { range, text } in splices {
        let joins = last == range.start && !starts_line;
        if last < range.start {
            starts_line = feed_before(range.start);
        }
        if !text.is_empty() {
            starts_line = text.ends_with('\n');
        }
        let start = old.line_start(range.start);
        let end = if starts_line && feed_before(range.end) { range.end } else { old.line_end(range.end) };
        let before = (came, went);
        (came, went, last) = (came + text.len(), went + range.len(), range.end);
        match found.last_mut() {
            Some((lines, _, after)) if joins || lines.end > start => {
                lines.end = lines.end.max(end);
                *after = (came, went);
            }
            _ => found.push((start..end, before, (came, went))),
        }
    }
    let changes = found.into_iter().map(|(lines, before, after)| Change {
        old: (old.lines_before(lines.start), old.lines_before(lines.end)),
        new: (
            new.lines_before(lines.start + before.0 - before.1),
            new.lines_before(lines.end + after.0 - after.1),
        ),
    });
    changes.filter_map(|change| smallest(old, new, change)).collect()
}

/// Leaves out the lines at both ends that are the same on both sides; nothing is left of a change that changes nothing.
fn smallest(old: &Text, new: &Text, change: Change) -> Option<Change> {
    let ((mut a, mut old_end), (mut b, mut new_end)) = (change.old, change.new);
    while a < old_end && b < new_end && old.line(a) == new.line(b) {
        (a, b) = (a + 1, b + 1);
    }
    while old_end > a && new_end > b && old.line(old_end - 1) == new.line(new_end - 1) {
        (old_end, new_end) = (old_end - 1, new_end - 1);
    }
    (a < old_end || b < new_end).then_some(Change { old: (a, old_end), new: (b, new_end) })
}

fn print(diff: &mut String, old: &Text, new: &Text, changes: &[Change]) {
    let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return };
    let before = first.old.0.min(first.new.0).min(CONTEXT);
    let after = (old.len() - last.old.1).min(new.len() - last.new.1).min(CONTEXT);
    let (old_start, new_start) = (first.old.0 - before, first.new.0 - before);
    let (old_count, new_count) = (last.old.1 + after - old_start, last.new.1 + after - new_start);
    let number = |start: usize, count: usize| if count == 0 { start } else { start + 1 };
    diff.push_str(&format!(
        "@@ -{},{old_count} +{},{new_count} @@\n",
        number(old_start, old_count),
        number(new_start, new_count)
    ));
    let mut line = |mark: char, line: &str| {
        diff.push(mark);
        diff.push_str(body(line));
        diff.push_str(if ending(line) == "\r\n" { "\r\n" } else { "\n" });
        if ending(line).is_empty() {
            diff.push_str("\\ No newline at end of file\n");
        }
    };
    let mut at = old_start;
    for change in changes {
        (at..change.old.0).for_each(|at| line(' ', old.line(at)));
        (change.old.0..change.old.1).for_each(|at| line('-', old.line(at)));
        (change.new.0..change.new.1).for_each(|at| line('+', new.line(at)));
        at = change.old.1;
    }
    (at..at + after).for_each(|at| line(' ', old.line(at)));
}
