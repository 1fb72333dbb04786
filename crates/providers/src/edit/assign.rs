//! Which place each hunk of a patch means, where it fits several.
//!
//! A place is taken if it is the only one, if it is the only one in the order of the hunks, if the
//! patch itself names it (a line after `@@`, the end of the file), or if credible line numbers point at it
//! ([`by_number`]). Otherwise the hunk is refused: there is no nearest and no first.

use bailiwick_contract::Failure;

use super::failure::{Name, ambiguous, conflict, no_match, refused};
use super::hunk::Hunk;
use super::matching::{Index, Match};
use super::text::{Text, body};
use super::tier::{Chosen, Tier};

/// How many lines a hunk needs so that its line number may decide.
const LINES_FOR_NUMBERS: usize = 3;

/// In how many places a hunk may fit, before nothing else is asked which is meant.
const MAX_PLACES: usize = 10_000;

/// Where a hunk goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Where, and how it is indented.
    pub at: Match,
    /// How many lines of the file it covers.
    pub lines: usize,
    /// How closely it fits.
    pub tier: Tier,
    /// What decided, if it fits several places.
    pub chosen: Option<Chosen>,
}

struct Candidates {
    tier: Tier,
    found: Vec<Match>,
    lines: usize,
    chosen: Option<Chosen>,
}

/// Places every hunk. `numbers_hold` says that the patch was made for this very version of the file.
///
/// # Errors
/// `conflict` for the first hunk that fits nowhere, or several places.
pub fn place_hunks(
    index: &mut Index<'_>,
    hunks: &[Hunk],
    numbers_hold: bool,
) -> Result<Vec<Placed>, Failure> {
    let text = index.text();
    let mut all = Vec::with_capacity(hunks.len());
    for (at, hunk) in hunks.iter().enumerate() {
        all.push(candidates(index, name(at), hunk, numbers_hold)?);
    }
    if all.iter().any(|it| it.found.len() > 1) {
        by_order(&mut all);
    }
    for at in 0..all.len() {
        if all[at].found.len() > 1 {
            let place = by_number(text, &all, hunks, at, numbers_hold);
            let candidates = &mut all[at];
            match place {
                Some(place) => {
                    candidates.found = vec![place];
                    candidates.chosen = Some(Chosen::LineNumber);
                }
                None => {
                    let starts: Vec<usize> = candidates.found.iter().map(|it| it.line).collect();
                    return Err(ambiguous(name(at), text, &starts, candidates.lines));
                }
            }
        }
    }
    let placed: Vec<Placed> = all
        .into_iter()
        .filter_map(|mut it| {
            let at = it.found.pop()?;
            Some(Placed { at, lines: it.lines, tier: it.tier, chosen: it.chosen })
        })
        .collect();
    let mut order: Vec<usize> = (0..placed.len()).collect();
    order.sort_by_key(|at| (placed[*at].at.line, *at));
    for pair in order.windows(2) {
        let (before, after) = (&placed[pair[0]], &placed[pair[1]]);
        if before.at.line + before.lines > after.at.line {
            return Err(refused(
                name(pair[1]),
                "overlap",
                format!("{} and {} change the same lines", name(pair[0]), name(pair[1])),
            )
            .hint("Put both into one hunk. Every hunk sees the file as it was before the call."));
        }
    }
    Ok(placed)
}

fn name(at: usize) -> Name {
    Name { kind: "hunk", number: at + 1 }
}

fn candidates(
    index: &mut Index<'_>,
    name: Name,
    hunk: &Hunk,
    numbers_hold: bool,
) -> Result<Candidates, Failure> {
    let text = index.text();
    let old = hunk.old();
    if old.is_empty() {
        return insertion(text, name, hunk, numbers_hold);
    }
    for tier in Tier::OF_TEXT {
        let found = index.find(&old, tier)?;
        if found.is_empty() {
            continue;
        }
        if found.len() > MAX_PLACES {
            let starts: Vec<usize> = found.iter().map(|it| it.line).collect();
            return Err(ambiguous(name, text, &starts, old.len()));
        }
        // Where the new lines cannot be indented as the old ones are, the hunk does not fit.
        let found: Vec<Match> = found.into_iter().filter(|at| hunk.takes(&at.shift)).collect();
        if found.is_empty() {
            continue;
        }
        let mut candidates = Candidates { tier, found, lines: old.len(), chosen: None };
        if candidates.found.len() > 1 {
            narrow(text, hunk, &mut candidates);
        } else if hunk.at_end && candidates.found[0].line + old.len() != text.len() {
            return Err(conflict(
                name,
                "not-at-end",
                format!("{name}: it says `*** End of File`, and its lines are elsewhere"),
            )
            .hint("Leave `*** End of File` out."));
        }
        return Ok(candidates);
    }
    Err(no_match(name, text, &old))
}

/// Finds where lines go that come without any others around them.
fn insertion(text: &Text, name: Name, hunk: &Hunk, numbers_hold: bool) -> Result<Candidates, Failure> {
    let at = match hunk.hint {
        _ if text.is_empty() => Some((0, None)),
        _ if hunk.at_end => Some((text.len(), Some(Chosen::EndOfFile))),
        Some(line) if numbers_hold && line <= text.len() => Some((line, Some(Chosen::LineNumber))),
        _ => None,
    };
    let Some((line, chosen)) = at else {
        return Err(refused(
            name,
            "no-context",
            format!("{name}: it has only new lines, so nothing tells where they belong"),
        )
        .hint("Add lines of context before or after them, as they are in the file.")
        .hint("Or set `options.ifVersion`, so that the line numbers of a unified diff hold."));
    };
    let found = vec![Match { line, shift: super::matching::Shift::None }];
    Ok(Candidates { tier: Tier::Exact, found, lines: 0, chosen })
}

/// Keeps the places that the patch itself names.
fn narrow(text: &Text, hunk: &Hunk, candidates: &mut Candidates) {
    if hunk.at_end {
        candidates.found.retain(|at| at.line + candidates.lines == text.len());
        candidates.chosen = Some(Chosen::EndOfFile);
        return;
    }
    let Some(header) = hunk.headers.last() else { return };
    let sections = sections(text, &hunk.headers[..hunk.headers.len() - 1], header);
    let inside: Vec<&Match> = candidates
        .found
        .iter()
        .filter(|at| {
            sections.iter().any(|(start, end)| at.line >= *start && at.line + candidates.lines <= *end)
        })
        .collect();
    if let [only] = inside[..] {
        candidates.found = vec![only.clone()];
        candidates.chosen = Some(Chosen::Header);
    }
}

/// Finds the parts of a text that a header opens: what follows it, indented further.
fn sections(text: &Text, outer: &[String], header: &str) -> Vec<(usize, usize)> {
    let bounds = match outer.split_last() {
        None => vec![(0, text.len())],
        Some((last, outer)) => sections(text, outer, last),
    };
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (start, end) in bounds {
        for index in start..end {
            let line = body(text.line(index));
            if line.trim() != header.trim() {
                continue;
            }
            let close = (index + 1..end).find(|at| {
                let inner = body(text.line(*at));
                !inner.trim().is_empty() && depth(inner) <= depth(line)
            });
            // The line that closes the section belongs to it.
            found.push((index, close.map_or(end, |at| (at + 1).min(end))));
        }
    }
    found
}

/// Keeps the places that are left when the hunks must follow each other, if that leaves one for each.
fn by_order(all: &mut [Candidates]) {
    // From the end: how many ways there are to place this hunk here and all that follow after it.
    let mut ways: Vec<Vec<u8>> = Vec::with_capacity(all.len());
    let mut later: Option<(Vec<usize>, Vec<u8>)> = None;
    for it in all.iter().rev() {
        let own: Vec<u8> = it
            .found
            .iter()
            .map(|at| match &later {
                None => 1,
                Some((starts, sums)) => {
                    let from = starts.partition_point(|start| *start < at.line + it.lines);
                    sums.get(from).copied().unwrap_or(0)
                }
            })
            .collect();
        // Sums from each place on; two are as good as many.
        let mut sums = own.clone();
        for at in (0..sums.len().saturating_sub(1)).rev() {
            sums[at] = (sums[at] + sums[at + 1]).min(2);
        }
        later = Some((it.found.iter().map(|at| at.line).collect(), sums));
        ways.push(own);
    }
    ways.reverse();
    let total = later.and_then(|(_, sums)| sums.first().copied()).unwrap_or(0);
    if total != 1 {
        return;
    }
    let mut from = 0;
    for (it, ways) in all.iter_mut().zip(ways) {
        let Some(at) = (0..it.found.len()).find(|at| it.found[*at].line >= from && ways[*at] == 1) else {
            return;
        };
        if it.found.len() > 1 {
            it.chosen = Some(Chosen::Order);
        }
        let place = it.found[at].clone();
        from = place.line + it.lines;
        it.found = vec![place];
    }
}

/// Finds the place that the hunk's line number means, if it is credible.
///
/// A number counts for the version that the patch was made for; or moved by as many lines as the hunks around it, which fit
/// one place only; or, where no other hunk says anything, exactly where it points. The last needs a hunk of some lines whose
/// shape is right there, and line 1 is never meant so: it is what is written by who does not know the number.
fn by_number(
    text: &Text,
    all: &[Candidates],
    hunks: &[Hunk],
    at: usize,
    numbers_hold: bool,
) -> Option<Match> {
    let hint = hunks[at].hint?;
    let it = &all[at];
    let distance = |other: usize| -> Option<isize> {
        let [only] = &all[other].found[..] else { return None };
        let fits_one_place = all[other].chosen.is_none() || all[other].chosen == Some(Chosen::Order);
        fits_one_place.then_some(())?;
        only.line.checked_signed_diff(hunks[other].hint?)
    };
    let before = (0..at).rev().find_map(distance);
    let after = (at + 1..all.len()).find_map(distance);
    let distance = match (before, after) {
        _ if numbers_hold => 0,
        (Some(before), Some(after)) if before != after => return None,
        (Some(distance), _) | (None, Some(distance)) => distance,
        (None, None) if hint > 0 && it.tier <= Tier::LineEndings => 0,
        (None, None) => return None,
    };
    let line = hint.checked_add_signed(distance)?;
    let place = it.found.iter().find(|place| place.line == line)?;
    // A hunk with less context on one side was made at that end of the file.
    let (leading, trailing) = hunks[at].context();
    let fits_shape = match leading.cmp(&trailing) {
        std::cmp::Ordering::Less => line == 0,
        std::cmp::Ordering::Greater => line + it.lines == text.len(),
        std::cmp::Ordering::Equal => true,
    };
    // Little text fits by chance.
    let credible = if numbers_hold { hint > 0 || fits_shape } else { it.lines >= LINES_FOR_NUMBERS && fits_shape };
    credible.then(|| place.clone())
}

#[cfg(test)]
mod tests {
    use bailiwick_contract::Cancel;
    use proptest::prelude::*;

    use super::super::{Edits, PatchAction, apply, parse_patch};
    use super::*;

    /// Applies a patch; gives the text after it, or the rule that refuses it.
    fn patched(file: &str, patch: &str, numbers_hold: bool) -> Result<String, String> {
        let files = parse_patch(patch).expect("it is a patch");
        let PatchAction::Update { hunks, .. } = &files[0].action else { panic!("{patch}") };
        let cancel = Cancel::after(std::time::Duration::from_secs(3_600));
        apply(&Text::new(file.to_owned()), Edits::Hunks(hunks), numbers_hold, &cancel)
            .map(|applied| applied.text.content().to_owned())
            .map_err(|failure| failure.rule().unwrap_or_default().to_owned())
    }

    #[test]
    fn line_one_is_no_hint() {
        let file = format!("alpha\nbeta\ngamma\n{}alpha\nbeta\ngamma\n", "filler\n".repeat(8));
        for numbers in ["@@ -1,1 +1,1 @@", "@@ -1,3 +1,3 @@", "@@ -1 +1 @@", "@@", "@@ -12,2 +12,2 @@", "@@ -11,3 +11,3 @@"] {
            let patch = format!("--- a/m\n+++ b/m\n{numbers}\n alpha\n-beta\n+BETA\n gamma\n");
            assert_eq!(patched(&file, &patch, false), Err("ambiguous".to_owned()), "{numbers}");
        }
        // Exactly there, and with counts that fit.
        let patch = "--- a/m\n+++ b/m\n@@ -12,3 +12,3 @@\n alpha\n-beta\n+BETA\n gamma\n";
        let (head, tail) = file.split_at(file.rfind("beta").expect("it is there"));
        assert_eq!(patched(&file, patch, false), Ok(format!("{head}BETA{}", &tail[4..])));
    }

    proptest! {
        /// What decides between copies: the offset of another hunk, or a number that fits; never one of placeholders.
        #[test]
        fn numbers_decide_only_where_they_are_credible(
            copies in 2..5_usize,
            meant in 0..5_usize,
            drift in 0..40_usize,
            neighbour in any::<bool>(),
            placeholder in any::<bool>(),
        ) {
            let meant = meant % copies;
            let copy = "one\ntwo\nthree\n";
            let file = |change: Option<usize>, last: &str| -> String {
                let copies = (0..copies).map(|at| {
                    let text = if change == Some(at) { copy.replace("two", "TWO") } else { copy.to_owned() };
                    format!("{text}{}", "filler\n".repeat(7))
                });
                format!("{}{last}\n", copies.collect::<String>())
            };
            let drifted = |text: String| format!("{}{text}", "drift\n".repeat(drift));
            let start = 1 + meant * 10;
            let end = copies * 10 + 1;
            let numbers = |line: usize, count: usize| match placeholder {
                true => "@@ -1,1 +1,1 @@".to_owned(),
                false => format!("@@ -{line},{count} +{line},{count} @@"),
            };
            let mut patch = format!("--- a/m\n+++ b/m\n{}\n one\n-two\n+TWO\n three\n", numbers(start, 3));
            if neighbour {
                patch.push_str(&format!("{}\n-last\n+LAST\n", numbers(end, 1)));
            }
            let result = patched(&drifted(file(None, "last")), &patch, false);
            let expected = drifted(file(Some(meant), if neighbour { "LAST" } else { "last" }));
            if neighbour && !placeholder {
                prop_assert_eq!(result, Ok(expected));
            } else if drift % 10 != 0 || placeholder || meant == 0 {
                // It points at no copy, or is no number at all; or at the first line.
                let exact = !placeholder && drift == 0 && meant > 0;
                prop_assert_eq!(result, if exact { Ok(expected) } else { Err("ambiguous".to_owned()) });
            } else if drift == 0 {
                prop_assert_eq!(result, Ok(expected));
            }
        }
    }
}
