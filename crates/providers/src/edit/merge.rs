//! Merging edits into a file that was changed since it was read: both changes, or a conflict.

use std::collections::HashMap;

use serde_json::json;

use bailiwick_contract::{ErrorCode, Failure};

use super::apply::{ChangedPlace, EditedText};
use super::diff::{Change, line_changes};
use super::failure::anchored;
use super::splice::{Splice, splice};
use super::text::Text;

/// The most pairs of lines that are compared between two lines that are surely the same.
const MAX_PAIRS: usize = 1_000_000;
/// How many lines of each side of a conflict are shown.
const SHOWN_LINES: usize = 12;

/// Puts the edits of `ours`, which were made on `base`, into `theirs`, which came of `base` too.
///
/// # Errors
/// `conflict` with the lines of both, if they change the same lines or lines beside each other.
pub fn merge(base: &Text, ours: &EditedText, theirs: &Text) -> Result<EditedText, Failure> {
    let other = differences(base, theirs);
    let mut splices = Vec::with_capacity(ours.changes.len());
    for change in &ours.changes {
        let (start, end) = change.old;
        if let Some(with) = other.iter().find(|it| it.old.0 <= end && start <= it.old.1) {
            return Err(conflict(base, &ours.text, theirs, change, with));
        }
        let distance = distance(&other, start);
        let line = |line: usize| theirs.start(line.saturating_add_signed(distance));
        let text =
            ours.text.content()[ours.text.start(change.new.0)..ours.text.start(change.new.1)].to_owned();
        splices.push(Splice { range: line(start)..line(end), text });
    }
    let landed = ours.landed.iter().map(|it| ChangedPlace {
        new_start: it.new_start.saturating_add_signed(distance(&other, it.old_start - 1)),
        ..it.clone()
    });
    let landed = landed.collect();
    let text = theirs.with_content(splice(theirs.content(), &splices));
    let changes = line_changes(theirs, &text, &splices);
    Ok(EditedText { text, landed, changes })
}

/// Tells by how many lines a line of the base has moved.
fn distance(other: &[Change], line: usize) -> isize {
    let before = other.iter().take_while(|it| it.old.1 <= line && it.old.0 <= line);
    before
        .map(|it| {
            let (new, old) = (it.new.1 - it.new.0, it.old.1 - it.old.0);
            new.checked_signed_diff(old).expect("files are shorter than half the address space")
        })
        .sum()
}

fn conflict(base: &Text, ours: &Text, theirs: &Text, own: &Change, other: &Change) -> Failure {
    let shown = |text: &Text, (start, end): (usize, usize)| json!({"startLine": start + 1, "lines": anchored(text, start, end.min(start + SHOWN_LINES))});
    Failure::new(
        ErrorCode::Conflict,
        "the file was changed since `ifVersion`, in the same lines or beside them".to_owned(),
    )
    .detail("rule", "merge-conflict")
    .detail("base", shown(base, (own.old.0.min(other.old.0), own.old.1.max(other.old.1))))
    .detail("yours", shown(ours, own.new))
    .detail("theirs", shown(theirs, other.new))
    .hint("`details.theirs` shows the lines as they are now: make the edit on them, without `ifVersion`.")
}

/// Finds the lines that differ: those that are there once on both sides hold the rest in place.
pub(super) fn differences(old: &Text, new: &Text) -> Vec<Change> {
    let mut found = Vec::new();
    let (mut a, mut b) = (0, 0);
    for (next_a, next_b) in fixed_lines(old, new).into_iter().chain([(old.len(), new.len())]) {
        between(old, new, (a, next_a), (b, next_b), &mut found);
        (a, b) = (next_a + 1, next_b + 1);
    }
    // What touches is one change.
    let mut joined: Vec<Change> = Vec::new();
    for change in found {
        match joined.last_mut() {
            Some(last) if last.old.1 == change.old.0 && last.new.1 == change.new.0 => {
                (last.old.1, last.new.1) = (change.old.1, change.new.1);
            }
            _ => joined.push(change),
        }
    }
    joined
}

/// Finds lines that are there only once on each side, in an order that both sides have.
fn fixed_lines(old: &Text, new: &Text) -> Vec<(usize, usize)> {
    let once = |text: &Text| -> HashMap<String, Option<usize>> {
        let mut lines: HashMap<String, Option<usize>> = HashMap::with_capacity(text.len());
        for at in 0..text.len() {
            lines.entry(text.line(at).to_owned()).and_modify(|it| *it = None).or_insert(Some(at));
        }
        lines
    };
    let (old_lines, new_lines) = (once(old), once(new));
    let mut pairs: Vec<(usize, usize)> =
        old_lines.iter().filter_map(|(line, at)| Some(((*at)?, (*new_lines.get(line)?)?))).collect();
    pairs.sort_unstable();
    // The longest run that rises on both sides: for each length, the pair that ends lowest.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    for at in 0..pairs.len() {
        let length = ends.partition_point(|end| pairs[*end].1 < pairs[at].1);
        before[at] = length.checked_sub(1).map(|length| ends[length]);
        if length == ends.len() { ends.push(at) } else { ends[length] = at }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        run.push(pairs[at]);
        next = before[at];
    }
    run.reverse();
    run
}

/// Compares two short runs of lines by their longest common subsequence.
fn between(old: &Text, new: &Text, a: (usize, usize), b: (usize, usize), found: &mut Vec<Change>) {
    let (mut a, mut b) = (a, b);
    while a.0 < a.1 && b.0 < b.1 && old.line(a.0) == new.line(b.0) {
        (a.0, b.0) = (a.0 + 1, b.0 + 1);
    }
    while a.0 < a.1 && b.0 < b.1 && old.line(a.1 - 1) == new.line(b.1 - 1) {
        (a.1, b.1) = (a.1 - 1, b.1 - 1);
    }
    let (rows, columns) = (a.1 - a.0, b.1 - b.0);
    if rows == 0 || columns == 0 || rows.saturating_mul(columns) > MAX_PAIRS {
        if rows + columns > 0 {
            found.push(Change { old: a, new: b });
        }
        return;
    }
    let width = columns + 1;
    let mut longest = vec![0_u32; (rows + 1) * width];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            longest[row * width + column] = if old.line(a.0 + row) == new.line(b.0 + column) {
                longest[(row + 1) * width + column + 1] + 1
            } else {
                longest[(row + 1) * width + column].max(longest[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    while row < rows || column < columns {
        let (start_row, start_column) = (row, column);
        while (row < rows || column < columns)
            && !(row < rows && column < columns && old.line(a.0 + row) == new.line(b.0 + column))
        {
            let down = row < rows
                && (column == columns
                    || longest[(row + 1) * width + column] >= longest[row * width + column + 1]);
            if down { row += 1 } else { column += 1 }
        }
        if row > start_row || column > start_column {
            found.push(Change { old: (a.0 + start_row, a.0 + row), new: (b.0 + start_column, b.0 + column) });
        }
        while row < rows && column < columns && old.line(a.0 + row) == new.line(b.0 + column) {
            (row, column) = (row + 1, column + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_contract::Cancel;
    use proptest::prelude::*;

    use super::super::{Basis, Edits, TextEdit, apply};
    use super::*;

    /// Changes some lines; each line has a number that says which.
    fn changed(lines: &[String], changes: &[(usize, u8)], mark: &str) -> String {
        let mut lines = lines.to_vec();
        for (at, kind) in changes.iter().rev() {
            match kind {
                0 => lines[*at] = format!("{mark} in place of {at}\n"),
                1 => drop(lines.remove(*at)),
                _ => lines.insert(*at, format!("{mark} before {at}\n")),
            }
        }
        lines.concat()
    }

    proptest! {
        #[test]
        fn changes_apart_from_each_other_are_both_in(
            like in proptest::collection::vec(0..4_u8, 30),
            own in 0..10_usize,
            own_kind in 0..3_u8,
            others in proptest::collection::btree_map(13..28_usize, 0..3_u8, 0..3),
            first in 0..2_u8,
        ) {
            // Lines of which many are like others.
            let lines: Vec<String> =
                like.iter().enumerate().map(|(at, like)| match like {
                    0 => "}\n".to_owned(),
                    1 => "\n".to_owned(),
                    _ => format!("line {at}\n"),
                }).collect();
            let base = Text::new(lines.concat());
            let mut theirs: Vec<(usize, u8)> = others.into_iter().collect();
            let mut own = vec![(own, own_kind)];
            if first == 1 {
                std::mem::swap(&mut own, &mut theirs);
            }
            let (ours, other) = (changed(&lines, &own, "ours"), changed(&lines, &theirs, "theirs"));
            let ours = Text::new(ours);
            let changes = differences(&base, &ours);
            let applied = EditedText { text: ours, landed: Vec::new(), changes };
            let both: Vec<(usize, u8)> = own.iter().chain(&theirs).copied().collect();
            let mut expected = lines.clone();
            let mut sorted: Vec<(usize, u8, bool)> = both
                .iter()
                .enumerate()
                .map(|(at, (line, kind))| (*line, *kind, at < own.len()))
                .collect();
            sorted.sort_unstable();
            for (at, kind, ours) in sorted.iter().rev() {
                let mark = if *ours { "ours" } else { "theirs" };
                match kind {
                    0 => expected[*at] = format!("{mark} in place of {at}\n"),
                    1 => drop(expected.remove(*at)),
                    _ => expected.insert(*at, format!("{mark} before {at}\n")),
                }
            }
            // A difference of ours can touch theirs; then it must say so.
            if let Ok(merged) = merge(&base, &applied, &Text::new(other)) {
                prop_assert_eq!(merged.text.content(), expected.concat());
            }
        }
    }

    proptest! {
        /// The end of the file is a place like any other: an edit that leaves it without a final line end, or joins
        /// lines, is merged with all that it brings.
        #[test]
        fn edits_of_line_ends_are_merged_whole(
            lines in proptest::collection::vec("[abc]{3,4}", 6..12),
            ended in any::<bool>(),
            from in 4..12_usize,
            cut in 0..3_usize,
            new in "[XY\n]{0,4}",
            crlf in any::<bool>(),
        ) {
            let end = if crlf { "\r\n" } else { "\n" };
            let lines: Vec<String> = lines.iter().enumerate().map(|(at, line)| format!("{at:02}:{line}{end}")).collect();
            let mut base = lines.concat();
            if !ended {
                base.truncate(base.len() - end.len());
            }
            let from: usize = lines[..from.min(lines.len() - 1)].iter().map(String::len).sum();
            let old = &base[from..];
            let old = &old[..old.len() - cut.min(old.len() - 1)];
            let edit = TextEdit { number: 1, old: old.to_owned(), new, expect: 1 };
            prop_assume!(edit.old != edit.new);
            let cancel = Cancel::after(std::time::Duration::from_secs(3_600));
            let base = Text::new(base);
            let ours = apply(&base, Edits::Texts(&[edit]), Basis::Current, &cancel).expect("its lines are numbered");
            let with_first = |text: &str| format!("theirs{end}{text}");
            let theirs = Text::new(with_first(base.content()));
            let merged = merge(&base, &ours, &theirs).expect("they are apart");
            let expected = with_first(ours.text.content());
            prop_assert_eq!(merged.text.content(), &expected);
            // What is printed of it makes the same.
            let printed = super::super::unified_diff((Some("x"), Some("x")), &theirs, &merged.text, &merged.changes);
            let files = super::super::parse_patch(&printed).expect("it is a patch");
            let super::super::PatchAction::Update { hunks, .. } = &files[0].action else { panic!("{printed}") };
            let again = apply(&theirs, Edits::Hunks(hunks), Basis::Current, &cancel).expect("it was made for this text");
            prop_assert_eq!(again.text.content(), &expected, "{}", printed);
        }
    }

    #[test]
    fn a_last_line_without_an_end_is_merged() {
        let base = Text::new("a\nb\nc\nd\ne\nf\n".to_owned());
        let theirs = Text::new("A\nb\nc\nd\ne\nf\n".to_owned());
        for (old, new, expected) in [
            ("e\nf\n", "e\nF", "A\nb\nc\nd\ne\nF"),
            ("e\nf\n", "e\nf\ng\nh", "A\nb\nc\nd\ne\nf\ng\nh"),
            ("d\n", "d", "A\nb\nc\nde\nf\n"),
        ] {
            let edit = TextEdit { number: 1, old: old.to_owned(), new: new.to_owned(), expect: 1 };
            let cancel = Cancel::after(std::time::Duration::from_secs(3_600));
            let ours = apply(&base, Edits::Texts(&[edit]), Basis::Current, &cancel).expect("it fits");
            let merged = merge(&base, &ours, &theirs).expect("they are apart");
            assert_eq!(merged.text.content(), expected);
        }
    }

    #[test]
    fn an_edit_is_merged_or_conflicts() {
        let base = Text::new("one\ntwo\nthree\nfour\nfive\n".to_owned());
        let edit = |old: &str, new: &str| {
            let edit = TextEdit { number: 1, old: old.to_owned(), new: new.to_owned(), expect: 1 };
            apply(
                &base,
                Edits::Texts(&[edit]),
                Basis::Current,
                &Cancel::after(std::time::Duration::from_secs(3_600)),
            )
            .expect("it fits")
        };
        let theirs = Text::new("zero\none\ntwo\nthree\nfour\n5\n".to_owned());
        let merged = merge(&base, &edit("two\nthree\n", "two\n3\n"), &theirs).expect("they are apart");
        assert_eq!(merged.text.content(), "zero\none\ntwo\n3\nfour\n5\n");
        assert_eq!(merged.landed[0].new_start, 3);
        for (old, new) in [("five", "FIVE"), ("four", "4"), ("one", "1")] {
            assert_eq!(
                merge(&base, &edit(old, new), &theirs).expect_err("they touch").rule(),
                Some("merge-conflict")
            );
        }
    }
}
