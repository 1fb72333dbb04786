//! Edits of lines that are named by their anchors, all of one version of the file.

use std::collections::HashMap;

use bailiwick_contract::Failure;

use super::anchor::{Anchor, anchor, line_hash};
use super::apply::PlacedEdit;
use super::failure::{Failures, Name, anchored as shown, conflict, refused};
use super::prefix::strip_new;
use super::splice::Splice;
use super::text::{Text, body, ending, lines_of};
use super::tier::Tier;

/// How many lines around a stale anchor are shown.
const AROUND: usize = 4;
/// How many letters, digits or signs a line needs so that its hash shows where it went.
const TELLING_CHARS: usize = 8;

/// A range of lines, or the place after a line, and what comes there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEdit {
    /// Its number in the request, counted from 1.
    pub number: usize,
    /// The first line that goes; for `insert`, the line after which the new ones come.
    pub start: Anchor,
    /// The last line that goes; the first one if left out.
    pub end: Option<Anchor>,
    /// Whether the lines come after `start`, which stays.
    pub insert: bool,
    /// The new lines; an end of the last one may be left out. Empty: the lines only go.
    pub new: String,
}

/// Finds the lines of every edit. `numbers_hold` says that the anchors are of this very version.
///
/// # Errors
/// `conflict` with fresh anchors if one is stale, or if it could stand for another line now;
/// `invalid_request` if an edit contradicts itself.
pub(super) fn fit(text: &Text, edits: &[LineEdit], numbers_hold: bool) -> Result<Vec<PlacedEdit>, Failure> {
    let moved_by = distance(text, edits)?;
    if !numbers_hold {
        // Also where lines have moved: by how much others did says nothing of one that is like many.
        check_telling(text, edits)?;
    }
    let mut failures = Failures::default();
    let mut fitted = Vec::with_capacity(edits.len());
    for edit in edits {
        fitted.extend(failures.take(fit_one(text, edit, moved_by))?);
    }
    failures.check()?;
    Ok(fitted)
}

fn anchors(edits: &[LineEdit]) -> impl Iterator<Item = (&LineEdit, &Anchor)> {
    edits
        .iter()
        .flat_map(|edit| {
            std::iter::once((edit, &edit.start)).chain(edit.end.iter().map(move |end| (edit, end)))
        })
        .filter(|(_, anchor)| anchor.line > 0)
}

fn holds(text: &Text, anchor: &Anchor, distance: isize) -> bool {
    let line = anchor.line.checked_add_signed(distance).unwrap_or(0);
    (1..=text.len()).contains(&line) && line_hash(text.line(line - 1)) == anchor.hash
}

/// Finds by how many lines the anchors have moved: not at all, or all of them by the same, beyond doubt.
fn distance(text: &Text, edits: &[LineEdit]) -> Result<isize, Failure> {
    if anchors(edits).all(|(_, anchor)| holds(text, anchor, 0)) {
        return Ok(0);
    }
    let hashes: Vec<String> = (0..text.len()).map(|at| line_hash(text.line(at))).collect();
    // Four digits alone are no proof: two lines or more that say something must agree, each of which is
    // the only one with its hash.
    let mut telling: Vec<(usize, usize)> = anchors(edits)
        .filter_map(|(_, anchor)| {
            let mut found = (0..hashes.len()).filter(|at| hashes[*at] == anchor.hash);
            let (only, None) = (found.next()?, found.next()) else { return None };
            let says = body(text.line(only)).chars().filter(|it| !it.is_whitespace()).count();
            (says >= TELLING_CHARS).then_some((anchor.line, only + 1))
        })
        .collect();
    telling.sort_unstable();
    telling.dedup();
    if let [first, _, ..] = telling[..]
        && let Some(distance) = first.1.checked_signed_diff(first.0)
        && telling.iter().all(|(was, is)| is.checked_signed_diff(*was) == Some(distance))
        && anchors(edits).all(|(_, anchor)| holds(text, anchor, distance))
    {
        return Ok(distance);
    }
    let mut failures = Failures::default();
    let mut last = None;
    for (edit, anchor) in anchors(edits).filter(|(_, anchor)| !holds(text, anchor, 0)) {
        // One of each edit says enough.
        if last.replace(edit.number) != Some(edit.number) {
            failures.take::<()>(Err(stale(text, edit, anchor, &hashes)))?;
        }
    }
    failures.check()?;
    Ok(0)
}

/// Says that an anchor is stale, with the lines that are there now.
fn stale(text: &Text, edit: &LineEdit, stale: &Anchor, hashes: &[String]) -> Failure {
    let name = Name { kind: "line edit", number: edit.number };
    let there = match stale.line {
        line if line > text.len() => format!("the file has {} lines", text.len()),
        line => format!("line {line} is {} now", anchor(line as u64, text.line(line - 1))),
    };
    let from = stale.line.saturating_sub(1 + AROUND).min(text.len().saturating_sub(2 * AROUND));
    let message = format!("{name}: the anchor {}:{} is stale: {there}", stale.line, stale.hash);
    let mut failure = conflict(name, "stale-anchor", message)
        .detail("lines", shown(text, from, stale.line + AROUND))
        .hint("`details.lines` shows the lines with fresh anchors: use those.");
    let now: Vec<usize> = (0..hashes.len()).filter(|at| hashes[*at] == stale.hash).take(3).collect();
    if !now.is_empty() {
        let places: Vec<_> = now.iter().map(|at| super::failure::place(text, *at, 3)).collect();
        failure = failure.detail("nearest", places);
    }
    failure
}

/// Refuses edits whose lines are like others: an empty line is also where another one has moved to.
fn check_telling(text: &Text, edits: &[LineEdit]) -> Result<(), Failure> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for at in 0..text.len() {
        *counts.entry(line_hash(text.line(at))).or_default() += 1;
    }
    let mut failures = Failures::default();
    let like = |anchor: &Anchor| counts.get(&anchor.hash).copied().unwrap_or_default();
    for edit in edits.iter().filter(|edit| edit.start.line > 0) {
        let fewest = like(&edit.start).min(edit.end.as_ref().map_or(usize::MAX, like));
        if fewest > 1 {
            let name = Name { kind: "line edit", number: edit.number };
            let message = format!(
                "{name}: {fewest} lines have the hash of its anchor, so it could be another line than was read"
            );
            failures.take::<()>(Err(conflict(name, "repeated-anchor", message)
                .hint("Set `options.ifVersion` to the `version` that came with the anchors.")
                .hint("Or name a range that begins or ends with a line that is there only once.")))?;
        }
    }
    failures.check()
}

fn fit_one(text: &Text, edit: &LineEdit, moved_by: isize) -> Result<PlacedEdit, Failure> {
    let name = Name { kind: "line edit", number: edit.number };
    let line = |anchor: &Anchor| match anchor.line {
        0 => 0,
        line => line.saturating_add_signed(moved_by),
    };
    let (start, end) = if edit.insert {
        (line(&edit.start), line(&edit.start))
    } else {
        (line(&edit.start).saturating_sub(1), line(edit.end.as_ref().unwrap_or(&edit.start)))
    };
    if !edit.insert && edit.start.line == 0 {
        return Err(refused(name, "line-zero", format!("{name}: there is no line 0"))
            .hint("Use `after` with \"0\" to put lines at the start of the file."));
    }
    if end < start || (!edit.insert && end == start) {
        return Err(refused(name, "range", format!("{name}: its `end` is before its `start`")));
    }
    let new = strip_new(text, &edit.new)
        .map_err(|problem| refused(name, "line-prefixes", format!("{name}: {problem}")))?;
    if edit.insert && new.is_empty() {
        return Err(refused(name, "no-change", format!("{name}: it has no new lines")));
    }
    let range = text.start(start)..text.start(end);
    let splice = Splice { text: with_endings(text, start, end, &new), range: range.clone() };
    Ok(PlacedEdit {
        number: edit.number,
        tier: Tier::Anchor,
        chosen: None,
        moved_by,
        lines: (start, end),
        covers: range,
        splices: vec![splice],
    })
}

/// Ends new lines as those end whose place they take, or as those around them do.
fn with_endings(text: &Text, start: usize, end: usize, new: &str) -> String {
    let lines = lines_of(new);
    let same_count = lines.len() == end - start;
    let mut result = String::with_capacity(new.len() + lines.len());
    let at_end = end == text.len() && text.is_unended();
    if at_end && start == end && !lines.is_empty() {
        result.push_str(text.ending_near(start));
    }
    for (at, line) in lines.iter().enumerate() {
        let bare = body(line);
        result.push_str(bare);
        if at_end && at + 1 == lines.len() {
            break;
        }
        let own = if same_count { ending(text.line(start + at)) } else { "" };
        let near = if start == end { start.saturating_sub(1) } else { (start + at).min(end - 1) };
        result.push_str(if own.is_empty() { text.ending_near(near) } else { own });
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(number: usize, line: usize, of: &str) -> LineEdit {
        let start = Anchor { line, hash: line_hash(of) };
        LineEdit { number, start, end: None, insert: false, new: "new\n".to_owned() }
    }

    #[test]
    fn a_line_like_others_does_not_move_with_the_rest() {
        let now = b"added\nfn first_function() {\n}\nfn second_function() {\n}\n}\n".to_vec();
        let text = Text::decode(now).expect("it is text");
        let mut edits = vec![edit(1, 1, "fn first_function() {\n"), edit(2, 3, "fn second_function() {\n")];
        let fitted = fit(&text, &edits, false).expect("both lines are there once");
        assert_eq!(fitted.iter().map(|it| it.lines).collect::<Vec<_>>(), [(1, 2), (3, 4)]);
        edits.push(edit(3, 4, "}\n"));
        let failure = fit(&text, &edits, false).map(|it| it.len()).expect_err("it could be another");
        assert_eq!(failure.rule(), Some("repeated-anchor"));
    }
}
