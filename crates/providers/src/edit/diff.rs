//! Printing what edits change as a unified diff.

use super::apply::Landed;
use super::merge::differences;
use super::text::{Text, body, ending};

/// How many lines of context stand around a change.
const CONTEXT: usize = 3;

/// A change: the lines that went and the lines that came, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub old: (usize, usize),
    pub new: (usize, usize),
}

/// Prints the difference of two texts as `git diff` would, with the file's names in front.
///
/// Where a name is `None`, the file is new or gone.
pub fn unified_diff(
    names: (Option<&str>, Option<&str>),
    old: &Text,
    new: &Text,
    landed: &[Landed],
) -> String {
    print_all(names, old, new, &changes(old, new, landed))
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

/// Gives the lines that edits changed, of the text before and of the text after: counted from 0, the first
/// and the one after the last.
pub fn changed_lines(old: &Text, new: &Text, landed: &[Landed]) -> Vec<((usize, usize), (usize, usize))> {
    changes(old, new, landed).into_iter().map(|change| (change.old, change.new)).collect()
}

/// Makes the changes as small as whole lines allow.
pub(super) fn changes(old: &Text, new: &Text, landed: &[Landed]) -> Vec<Change> {
    let whole = [(0, old.len(), 0, new.len())];
    let places: Vec<(usize, usize, usize, usize)> = if landed.is_empty() {
        whole.to_vec()
    } else {
        landed.iter().map(|it| (it.old_start - 1, it.old_lines, it.new_start - 1, it.new_lines)).collect()
    };
    let mut changes = Vec::new();
    for (old_start, old_lines, new_start, new_lines) in places {
        // A change at the end of the file can reach the end of the line before it.
        let (mut a, mut b) = (old_start.min(old.len()), new_start.min(new.len()));
        if a > 0 && b > 0 && a <= old.len() && old.line(a - 1) != new.line(b - 1) {
            (a, b) = (a - 1, b - 1);
        }
        let (mut old_end, mut new_end) =
            ((old_start + old_lines).min(old.len()), (new_start + new_lines).min(new.len()));
        while a < old_end && b < new_end && old.line(a) == new.line(b) {
            (a, b) = (a + 1, b + 1);
        }
        while old_end > a && new_end > b && old.line(old_end - 1) == new.line(new_end - 1) {
            (old_end, new_end) = (old_end - 1, new_end - 1);
        }
        if a < old_end || b < new_end {
            changes.push(Change { old: (a, old_end), new: (b, new_end.max(b)) });
        }
    }
    changes
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
