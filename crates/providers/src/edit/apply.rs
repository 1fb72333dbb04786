//! Putting edits into a text: all of them, or none.

use bailiwick_contract::{Cancel, ErrorCode, Failure};

use super::anchored::{self, LineEdit};
use super::assign::{HunkPlacement, place_hunks};
use super::diff::{Change, line_changes};
use super::evidence::says;
use super::failure::{Name, refused};
use super::hunk::{Hunk, Mark};
use super::matching::{Index, Shift, keep_typography};
use super::prefix::without_prefixes;
use super::replace::{self, TextEdit};
use super::splice::{Splice, splice};
use super::tabs::keep_blanks;
use super::text::{Text, body, ending};
use super::tier::{Basis, TieBreak, Tier};

/// How many empty lines after a hunk can be its context.
const MOST_BLANK_LINES: usize = 4;
/// What the other lines of a hunk have to say where those are not there.
const WITHOUT_BLANK_LINES: usize = 12;

/// The edits of one file, in one of three kinds.
#[derive(Debug, Clone, Copy)]
pub enum Edits<'a> {
    /// Old text and new text.
    Texts(&'a [TextEdit]),
    /// Hunks of a patch.
    Hunks(&'a [Hunk]),
    /// Lines by their anchors.
    Lines(&'a [LineEdit]),
}

/// The text as it is after the edits.
#[derive(Debug)]
pub struct EditedText {
    /// The new text.
    pub text: Text,
    /// What became of each edit, in the order of the places.
    pub landed: Vec<ChangedPlace>,
    /// The lines that differ.
    pub changes: Vec<Change>,
}

/// One place that was changed. Lines are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedPlace {
    /// The number of the edit, or of the hunk, counted from 1.
    pub number: usize,
    /// How closely it fits.
    pub tier: Tier,
    /// What decided, if it fits several places.
    pub chosen: Option<TieBreak>,
    /// By how many lines its anchors have moved.
    pub moved_by: isize,
    /// The first line that it covered.
    pub old_start: usize,
    /// How many lines it covered.
    pub old_lines: usize,
    /// The first line that it covers now.
    pub new_start: usize,
    /// How many lines it covers now.
    pub new_lines: usize,
}

/// An edit that has its place.
#[derive(Debug)]
pub(super) struct PlacedEdit {
    pub number: usize,
    pub tier: Tier,
    pub chosen: Option<TieBreak>,
    pub moved_by: isize,
    /// The lines that it covers: the first, and the one after the last.
    pub lines: (usize, usize),
    /// The bytes that it covers; no other edit may cover them too.
    pub covers: std::ops::Range<usize>,
    pub splices: Vec<Splice>,
}

/// Applies edits. `basis` says for which version of the text they were made; `cancel` ends the search for their places.
///
/// # Errors
/// `timeout`, `cancelled`; `conflict` if an edit does not fit; `invalid_request` if edits overlap or new text cannot be taken.
pub fn apply(text: &Text, edits: Edits<'_>, basis: Basis, cancel: &Cancel) -> Result<EditedText, Failure> {
    let mut index = Index::new(text, cancel);
    let (kind, mut fitted) = match edits {
        Edits::Texts(edits) => ("edit", replace::fit(&mut index, edits, basis)?),
        Edits::Hunks(hunks) => ("hunk", fit_hunks(&mut index, hunks, basis)?),
        Edits::Lines(edits) => ("edit", anchored::fit(text, edits, basis == Basis::Current)?),
    };
    // In the order of the text; edits of one place stay in their order.
    fitted.sort_by_key(|it| (it.covers.start, it.covers.end, it.number));
    for pair in fitted.windows(2) {
        if pair[0].covers.end > pair[1].covers.start {
            let name = |number| Name { kind, number };
            let (before, after) = (name(pair[0].number), name(pair[1].number));
            return Err(refused(after, "overlap", format!("{before} and {after} change the same text"))
                .hint("Put both into one. Every edit sees the file as it was before the call."));
        }
    }
    for it in &fitted {
        for splice in &it.splices {
            check_new_text(text, Name { kind, number: it.number }, &splice.text)?;
        }
    }
    let splices: Vec<Splice> = fitted.iter().flat_map(|it| it.splices.iter().cloned()).collect();
    let text_after = text.with_content(splice(text.content(), &splices));
    let landed = landed(text, &text_after, fitted);
    let changes = line_changes(text, &text_after, &splices);
    Ok(EditedText { text: text_after, landed, changes })
}

/// Names the lines that each edit covered, and those that it covers now.
fn landed(text: &Text, after: &Text, fitted: Vec<PlacedEdit>) -> Vec<ChangedPlace> {
    let splices: Vec<&Splice> = fitted.iter().flat_map(|it| &it.splices).collect();
    // How much came and went before each splice.
    let mut sums = vec![(0, 0)];
    for splice in &splices {
        let (came, went) = sums[sums.len() - 1];
        sums.push((came + splice.text.len(), went + splice.range.len()));
    }
    // Where a place is, behind so many splices. One within a splice is near it.
    let moved = |place: usize, splices: usize| {
        let (came, went) = sums[splices];
        after.content().floor_char_boundary((place + came).saturating_sub(went))
    };
    let mut own = 0;
    let mut landed = Vec::with_capacity(fitted.len());
    for it in &fitted {
        let (start, end) = it.lines;
        // Several edits may be in one line: of these only what is before it moves it.
        let before = splices.partition_point(|splice| splice.range.end <= text.start(start));
        let at = moved(text.start(start), before.min(own));
        own += it.splices.len();
        let within =
            |splice: &&Splice| splice.range.end <= text.start(end) && splice.range.start < text.start(end);
        let last = moved(text.start(end), splices.partition_point(within).max(own));
        // New lines behind a last line without an end begin with the end that it lacks.
        let begins_inside = at > 0 && !after.content()[..at].ends_with('\n') && start < text.len();
        let new_start = after.lines_before(at) - usize::from(begins_inside);
        landed.push(ChangedPlace {
            number: it.number,
            tier: it.tier,
            chosen: it.chosen,
            moved_by: it.moved_by,
            old_start: start + 1,
            old_lines: end - start,
            new_start: new_start + 1,
            new_lines: after.lines_before(last).saturating_sub(new_start),
        });
    }
    landed
}

/// Refuses new text that no file should get.
fn check_new_text(text: &Text, name: Name, new: &str) -> Result<(), Failure> {
    if new.contains('\0') {
        return Err(refused(
            name,
            "nul",
            format!("{name}: its new text contains a NUL, which no text file has"),
        )
        .hint("Use file.write with `contentBase64` for binary files."));
    }
    if let Some(character) = text.unstorable(new) {
        return Err(unstorable(text, character, &format!("{name}: its new text"))
            .detail(if name.kind == "hunk" { "hunk" } else { "edit" }, name.number));
    }
    match redaction_marks(new).find(|mark| !text.content().contains(mark)) {
        None => Ok(()),
        Some(mark) => Err(refused(
            name,
            "redaction-mark",
            format!("{name}: its new text holds `{mark}`, which means a secret and is not the secret"),
        )
        .hint("Change the lines around it and leave the line with the secret as it is.")),
    }
}

/// Creates the refusal of text with a character that the file's encoding does not have.
pub fn unstorable(text: &Text, character: char, what: &str) -> Failure {
    let encoding = text.encoding().describe();
    let code = u32::from(character);
    let message = format!("{what} holds `{character}` (U+{code:04X}), which has no form in {encoding}");
    Failure::new(ErrorCode::InvalidRequest, message)
        .detail("rule", "not-in-encoding")
        .detail("character", character.to_string())
        .hint(format!("Use characters of {encoding}, in which the file is stored."))
        .hint("Or store the whole file in UTF-8, by file.write.")
}

/// Finds the marks that the redaction puts in place of secrets: `[redacted:kind:8 hex digits]`.
pub fn redaction_marks(text: &str) -> impl Iterator<Item = &str> {
    const START: &str = "[redacted:";
    const HASH_DIGITS: usize = 8;
    text.match_indices(START).filter_map(|(at, _)| {
        let rest = &text[at + START.len()..];
        let kind = rest.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'-').count();
        let hash = rest[kind..].strip_prefix(':')?;
        let digits = hash.bytes().take_while(u8::is_ascii_hexdigit).count();
        let end = at + START.len() + kind + 1 + HASH_DIGITS + 1;
        let whole = kind > 0 && digits == HASH_DIGITS && hash[HASH_DIGITS..].starts_with(']');
        whole.then(|| &text[at..end])
    })
}

fn fit_hunks(index: &mut Index<'_>, hunks: &[Hunk], basis: Basis) -> Result<Vec<PlacedEdit>, Failure> {
    let text = index.text();
    let hunks: Vec<Hunk> = hunks
        .iter()
        .map(|hunk| {
            let hunk = without_prefixes(index, hunk)?;
            with_blank_lines(index, hunk, basis)
        })
        .collect::<Result<_, _>>()?;
    let placed = place_hunks(index, &hunks, basis)?;
    Ok(hunks
        .iter()
        .zip(placed)
        .enumerate()
        .map(|(at, (hunk, placed))| fit_hunk(text, hunk, &placed, at + 1))
        .collect())
}

/// Takes the empty lines after a hunk as context, as many of them as are in the file. If none is, they were no lines of the
/// hunk, or the place is gone: then the others have to say something.
fn with_blank_lines(index: &mut Index<'_>, hunk: Hunk, basis: Basis) -> Result<Hunk, Failure> {
    if hunk.blank_after == 0 || hunk.old().is_empty() {
        return Ok(hunk);
    }
    for count in (1..=hunk.blank_after.min(MOST_BLANK_LINES)).rev() {
        let longer = hunk.with_blank_after(count);
        for tier in Tier::OF_TEXT {
            if !index.find(&longer.old(), tier)?.is_empty() {
                return Ok(longer);
            }
        }
    }
    let old = hunk.old();
    let enough = basis != Basis::Outdated && says(&old, 1, WITHOUT_BLANK_LINES);
    // With them it is nowhere.
    Ok(hunk.with_blank_after(usize::from(!enough)))
}

/// Creates the pieces of a hunk that has its place. Lines of context are never touched.
pub(super) fn fit_hunk(text: &Text, hunk: &Hunk, placed: &HunkPlacement, number: usize) -> PlacedEdit {
    let mut line = placed.at.line;
    let mut splices = Vec::new();
    let mut at = 0;
    while at < hunk.lines.len() {
        if hunk.lines[at].0 == Mark::Context {
            (line, at) = (line + 1, at + 1);
            continue;
        }
        let run = hunk.lines[at..].iter().take_while(|(mark, _)| *mark != Mark::Context).count();
        let changes = &hunk.lines[at..at + run];
        let of = |wanted| -> Vec<&str> {
            let lines = changes.iter().filter(|(mark, _)| *mark == wanted);
            lines.map(|(_, line)| line.as_str()).collect()
        };
        let (removed, added) = (of(Mark::Remove), of(Mark::Add));
        let new = new_lines(text, placed, line, &removed, &added);
        let range = text.start(line)..text.start(line + removed.len());
        splices.push(Splice { range, text: new });
        line += removed.len();
        at += run;
    }
    let lines = (placed.at.line, placed.at.line + placed.lines);
    PlacedEdit {
        number,
        tier: placed.tier,
        chosen: placed.chosen,
        moved_by: 0,
        lines,
        covers: text.start(lines.0)..text.start(lines.1),
        splices,
    }
}

/// Creates the text of new lines that take the place of `removed` at a line of the file.
fn new_lines(text: &Text, placed: &HunkPlacement, line: usize, removed: &[&str], added: &[&str]) -> String {
    let after = line + removed.len();
    let at_end = after == text.len();
    // In an exact fit the new lines end as they were written.
    let verbatim = placed.tier == Tier::Exact && placed.lines > 0;
    let mut new = String::new();
    if at_end && removed.is_empty() && !added.is_empty() && text.is_unended() {
        // The last line gets an end, and the new last line has none.
        new.push_str(text.ending_near(line));
    }
    for (at, written) in added.iter().enumerate() {
        let last = at + 1 == added.len();
        if verbatim {
            new.push_str(written);
            if ending(written).is_empty() && !(last && at_end) {
                new.push_str(text.ending_near(line));
            }
            continue;
        }
        let there = (at < removed.len()).then(|| text.line(line + at));
        let bare = body(written);
        let bare = if placed.tier == Tier::Exact { bare } else { bare.strip_suffix('\r').unwrap_or(bare) };
        let mut shifted = placed.at.shift.apply(bare).unwrap_or(bare.into());
        if placed.tier == Tier::Unicode
            && removed.len() == added.len()
            && let Some(there) = there
        {
            let old = placed.at.shift.apply(body(removed[at])).unwrap_or_default();
            shifted = keep_typography(body(there), &old, &shifted).into();
        }
        if placed.tier == Tier::Tabs
            && removed.len() == added.len()
            && let Some(there) = there
        {
            shifted = keep_blanks(body(there), body(removed[at]), &shifted).into();
        }
        new.push_str(&shifted);
        let own = there.map_or("", ending);
        if last && at_end {
            // The file ends as it did, unless the edit itself gives the last line an end, or takes it away.
            let gives =
                removed.last().is_some_and(|old| ending(old).is_empty() != ending(written).is_empty());
            let ends = if gives { !ending(written).is_empty() } else { !text.is_unended() };
            if !ends {
                continue;
            }
        }
        new.push_str(if own.is_empty() { text.ending_near(after.saturating_sub(1)) } else { own });
    }
    if verbatim && at_end && removed.is_empty() && text.is_unended() && new.ends_with('\n') {
        new.truncate(body(&new).len());
    }
    new
}

impl HunkPlacement {
    /// Creates the place of lines that are known already.
    pub(super) fn at(line: usize, lines: usize, tier: Tier, shift: Shift) -> Self {
        Self { at: super::matching::Match { line, shift }, lines, tier, chosen: None }
    }
}
