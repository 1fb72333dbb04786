//! Old text and new text: the old text must be there exactly as often as expected.

use bailiwick_contract::Failure;

use super::apply::{PlacedEdit, fit_hunk};
use super::assign::HunkPlacement;
use super::evidence::{Doubt, doubt, is_done};
use super::failure::{Failures, Name, no_match, refused, weak_match, wrong_count};
use super::matching::{Index, Match, as_hunk, find_text};
use super::prefix::strip_pair;
use super::splice::Splice;
use super::text::{Text, body, ending, lines_of};
use super::tier::{Basis, Tier};

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// Its number in the request, counted from 1.
    pub number: usize,
    /// The text that is there.
    pub old: String,
    /// The text that comes in its place.
    pub new: String,
    /// In how many places it must be; [`ALL_PLACES`] for as many as there are.
    pub expect: usize,
}

/// An edit changes every place that is its old text exactly, but for line ends.
pub const ALL_PLACES: usize = usize::MAX;
/// How many places one edit changes at most.
const MAX_PLACES: usize = 10_000;

/// Finds the places of every edit.
///
/// # Errors
/// `conflict` if edits do not fit, `invalid_request` if one says nothing; all of them together.
pub(super) fn fit(
    index: &mut Index<'_>,
    edits: &[TextEdit],
    basis: Basis,
) -> Result<Vec<PlacedEdit>, Failure> {
    let mut fitted = Vec::new();
    let mut failures = Failures::default();
    for edit in edits {
        let name = Name { kind: "edit", number: edit.number };
        let mut fit = || {
            let (old, new) = strip_pair(index.text(), &edit.old, &edit.new)
                .map_err(|problem| refused(name, "line-prefixes", format!("{name}: {problem}")))?;
            check(name, edit, &old, &new)?;
            fit_one(index, name, edit, &old, &new, basis)
        };
        fitted.extend(failures.take(fit())?.into_iter().flatten());
    }
    failures.check()?;
    Ok(fitted)
}

fn check(name: Name, edit: &TextEdit, old: &str, new: &str) -> Result<(), Failure> {
    if old.is_empty() {
        return Err(refused(name, "empty-old", format!("{name}: `old` is empty"))
            .hint("Name the text beside which the new text belongs, and repeat it in `new`.")
            .hint("Use file.create or file.write for a new or empty file."));
    }
    if edit.expect == 0 {
        return Err(refused(name, "expect", format!("{name}: `expect` must be 1 or more")));
    }
    if old == new {
        return Err(refused(name, "no-change", format!("{name}: `old` and `new` are the same")));
    }
    Ok(())
}

fn fit_one(
    index: &mut Index<'_>,
    name: Name,
    edit: &TextEdit,
    old: &str,
    new: &str,
    basis: Basis,
) -> Result<Vec<PlacedEdit>, Failure> {
    let text = index.text();
    for tier in Tier::OF_TEXT {
        let mut places = match tier {
            Tier::Exact => {
                let starts = find_text(text.content(), old, index.cancel())?;
                check_count(name, edit, text, old, starts.iter().map(|at| text.line_at(*at)))?;
                by_bytes(text, tier, &starts, old.len(), name, old, new)
            }
            Tier::LineEndings => by_line_endings(index, name, edit, old, new)?,
            Tier::TrailingSpace | Tier::Indentation | Tier::Tabs | Tier::Unicode | Tier::Anchor => {
                by_lines(index, tier, name, edit, old, new, basis)?
            }
        };
        if edit.expect == ALL_PLACES {
            let mut end = 0;
            places.retain(|it| {
                let is_free = it.covers.start >= end;
                end = if is_free { it.covers.end } else { end };
                is_free
            });
            match tier {
                _ if !places.is_empty() => return Ok(places),
                Tier::Exact => continue,
                // What only looks like the old text may be something else.
                _ => break,
            }
        }
        // Looser tiers fit no less: what is too often now will not become rarer.
        if places.len() > edit.expect || (places.len() == edit.expect && overlap(&places)) {
            let starts: Vec<usize> = places.iter().map(|it| it.lines.0).collect();
            return Err(wrong_count(name, text, &starts, lines_of(old).len(), edit.expect));
        }
        if places.len() == edit.expect {
            return Ok(places);
        }
        if tier == Tier::Unicode && !places.is_empty() {
            let starts: Vec<usize> = places.iter().map(|it| it.lines.0).collect();
            return Err(wrong_count(name, text, &starts, lines_of(old).len(), edit.expect));
        }
    }
    Err(no_match(name, text, &lines_of(old)))
}

/// Refuses more places than expected, before anything is made for each of them.
fn check_count(
    name: Name,
    edit: &TextEdit,
    text: &Text,
    old: &str,
    lines: impl ExactSizeIterator<Item = usize>,
) -> Result<(), Failure> {
    if lines.len() <= edit.expect.min(MAX_PLACES) {
        return Ok(());
    }
    if edit.expect == ALL_PLACES {
        let message =
            format!("{name}: `old` is in {} places, more than the {MAX_PLACES} of one edit", lines.len());
        return Err(refused(name, "too-many-places", message));
    }
    let starts: Vec<usize> = lines.collect();
    Err(wrong_count(name, text, &starts, lines_of(old).len(), edit.expect))
}

fn overlap(places: &[PlacedEdit]) -> bool {
    places.windows(2).any(|pair| pair[0].covers.end > pair[1].covers.start)
}

fn by_bytes(
    text: &Text,
    tier: Tier,
    starts: &[usize],
    length: usize,
    name: Name,
    old: &str,
    new: &str,
) -> Vec<PlacedEdit> {
    starts
        .iter()
        .map(|start| {
            let range = *start..start + length;
            let new = with_endings(text, &range, tier, old, new);
            fitted(text, name, tier, range, new)
        })
        .collect()
}

fn fitted(text: &Text, name: Name, tier: Tier, range: std::ops::Range<usize>, new: String) -> PlacedEdit {
    let first = text.line_at(range.start);
    let last = text.line_at(range.end.saturating_sub(1).max(range.start));
    PlacedEdit {
        number: name.number,
        tier,
        chosen: None,
        moved_by: 0,
        lines: (first, last + 1),
        covers: range.clone(),
        splices: vec![Splice { range, text: new }],
    }
}

/// Compares with every line end taken as a line feed; parts of lines may fit too.
fn by_line_endings(
    index: &Index<'_>,
    name: Name,
    edit: &TextEdit,
    old: &str,
    new: &str,
) -> Result<Vec<PlacedEdit>, Failure> {
    let text = index.text();
    let content = text.content();
    let plain = content.replace("\r\n", "\n");
    let old_plain = old.replace("\r\n", "\n");
    // Where the returns were that are gone, as offsets in the text without them.
    let gone: Vec<usize> =
        content.match_indices("\r\n").enumerate().map(|(before, (at, _))| at - before).collect();
    let offset = |at: usize| at + gone.partition_point(|gone| *gone < at);
    let mut places = Vec::new();
    let starts = find_text(&plain, &old_plain, index.cancel())?;
    check_count(name, edit, text, old, starts.iter().map(|at| text.line_at(offset(*at))))?;
    for start in starts {
        let range = offset(start)..offset(start + old_plain.len());
        let new = with_endings(text, &range, Tier::LineEndings, old, new);
        places.push(fitted(text, name, Tier::LineEndings, range, new));
    }
    if places.is_empty() && old_plain.ends_with('\n') && text.is_unended() {
        // The file's last line may lack the end that the old text has.
        let trimmed = &old_plain[..old_plain.len() - 1];
        if let Some(start) = plain.len().checked_sub(trimmed.len()).filter(|_| plain.ends_with(trimmed))
            && !trimmed.is_empty()
        {
            let range = offset(start)..content.len();
            let new = with_endings(text, &range, Tier::LineEndings, old, new);
            places.push(fitted(text, name, Tier::LineEndings, range, body(&new).to_owned()));
        }
    }
    Ok(places)
}

fn by_lines(
    index: &mut Index<'_>,
    tier: Tier,
    name: Name,
    edit: &TextEdit,
    old: &str,
    new: &str,
    basis: Basis,
) -> Result<Vec<PlacedEdit>, Failure> {
    let text = index.text();
    let hunk = as_hunk(old, new);
    let lines = lines_of(old);
    let found: Vec<Match> =
        index.find(&lines, tier)?.into_iter().filter(|at| hunk.takes(&at.shift)).collect();
    check_count(name, edit, text, old, found.iter().map(|at| at.line))?;
    if let Some((at, doubt)) = found.iter().find_map(|at| Some((at, doubt(&lines, tier, &at.shift, basis)?)))
    {
        return Err(weak_match(name, text, at.line, &lines, doubt));
    }
    if tier > Tier::TrailingSpace {
        for at in &found {
            if is_done(index, &lines_of(new), at.line, lines.len())? {
                return Err(weak_match(name, text, at.line, &lines, Doubt::Done));
            }
        }
    }
    Ok(found
        .into_iter()
        .map(|at| {
            fit_hunk(text, &hunk, &HunkPlacement::at(at.line, lines.len(), tier, at.shift), name.number)
        })
        .collect())
}

/// Returns new text the line ends of the text that it replaces.
///
/// Old text that fits exactly and holds a line end has said how lines end there: then the new text is
/// taken as it is.
fn with_endings(text: &Text, range: &std::ops::Range<usize>, tier: Tier, old: &str, new: &str) -> String {
    if !new.contains('\n') || (tier == Tier::Exact && old.contains('\n')) {
        return new.to_owned();
    }
    let there: Vec<&str> = lines_of(&text.content()[range.clone()]);
    let (olds, news) = (lines_of(old), lines_of(new));
    let same = |a: &&str, b: &&str| body(a) == body(b);
    let first = olds.iter().zip(&news).take_while(|(a, b)| same(a, b)).count();
    let last = olds[first..].iter().rev().zip(news[first..].iter().rev());
    let last = last.take_while(|(a, b)| same(a, b)).count();
    let mut before = "";
    let mut result = String::with_capacity(new.len() + news.len());
    for (at, line) in news.iter().enumerate() {
        result.push_str(body(line));
        if ending(line).is_empty() {
            continue;
        }
        let from_end = news.len() - at;
        let own = if at < first {
            there.get(at).map(|line| ending(line))
        } else if from_end <= last {
            there.len().checked_sub(from_end).map(|at| ending(there[at]))
        } else {
            there.get(at).filter(|_| olds.len() == news.len()).map(|line| ending(line))
        };
        let own = own.filter(|ending| !ending.is_empty()).unwrap_or(before);
        before = if own.is_empty() { text.ending_near(text.line_at(range.start)) } else { own };
        result.push_str(before);
    }
    result
}
