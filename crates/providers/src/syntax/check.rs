//! Which errors of a text are new: those that an earlier text of the same file did not have.
//!
//! After an error, a grammar finds its way back somehow, and another edit can lead it another way. So errors are
//! paired: first those that say the same of the same line, then those of one changed place, then those of all
//! other places. What is left over is new.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use tree_sitter::Tree;

use super::fault::{MAX_FAULTS, has_faults};
use super::parse::middle;
use super::{Fault, Language, SyntaxTreeError, faults, parse, trees};

/// A text, and the version token of the content that it is.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// The text.
    pub text: &'a str,
    /// Its version.
    pub version: &'a str,
}

/// Lines that were changed, counted from 0: the first, and the one after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// In the text before.
    pub old: (usize, usize),
    /// In the text after.
    pub new: (usize, usize),
}

/// What is to be checked.
#[derive(Debug, Clone, Copy)]
pub struct SyntaxInput<'a> {
    /// The file's path, which shows its language.
    pub path: &'a str,
    /// The text before; `None` for a new file, all of whose errors count.
    pub before: Option<Side<'a>>,
    /// The text after.
    pub after: Side<'a>,
    /// What was changed; empty if it is not known.
    pub regions: &'a [Region],
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyntaxReport {
    /// The language.
    pub language: Language,
    /// The errors that are new, or why none could be looked for.
    pub new: Result<Vec<Fault>, SyntaxTreeError>,
    /// How many errors the text had before, as far as it was checked.
    pub before: usize,
    /// How many errors it has after.
    pub after: usize,
}

/// Checks a text; `None` if no grammar is built in for the file.
///
/// Where a file can be in one of several languages, the one counts that understands it best: in which the text
/// before has the fewest errors.
pub fn check(checked: &SyntaxInput<'_>, until: Instant) -> Option<SyntaxReport> {
    let mut best: Option<SyntaxReport> = None;
    for language in Language::of_path(checked.path) {
        let found = check_as(*language, checked, until);
        let is_well = found.after == 0 && found.new.is_ok();
        let rank = |found: &SyntaxReport| {
            let errors = if checked.before.is_some() { found.before } else { found.after };
            (errors, found.new.as_ref().map_or(usize::MAX, Vec::len))
        };
        if is_well || best.as_ref().is_none_or(|best| rank(&found) < rank(best)) {
            best = Some(found);
        }
        if is_well {
            break;
        }
    }
    best
}

fn check_as(language: Language, checked: &SyntaxInput<'_>, until: Instant) -> SyntaxReport {
    let mut found = SyntaxReport { language, new: Ok(Vec::new()), before: 0, after: 0 };
    let tree_before = checked.before.and_then(|before| trees::take(language, before.version));
    let after = checked.after;
    let earlier = checked.before.zip(tree_before.as_ref()).map(|(before, tree)| (before.text, tree));
    let has_earlier = earlier.is_some();
    let mut tree = match parse(language, after.text, earlier, until) {
        Ok(tree) => tree,
        Err(unparsed) => return SyntaxReport { new: Err(unparsed), ..found },
    };
    if has_earlier && has_faults(language, &tree, after.text) {
        // What was found from an earlier tree may depend on the way there.
        match parse(language, after.text, None, until) {
            Ok(whole) => tree = whole,
            Err(unparsed) => return SyntaxReport { new: Err(unparsed), ..found },
        }
    }
    let faults_after = faults(language, &tree, after.text);
    found.after = faults_after.len();
    trees::hold(language, after.version, tree);
    let faults_before = match before(language, checked, tree_before, faults_after.is_empty(), until) {
        Ok(faults_before) => faults_before,
        Err(unparsed) => return SyntaxReport { new: Err(unparsed), ..found },
    };
    found.before = faults_before.len();
    // A text that the grammar does not understand anyway tells nothing.
    if found.before < MAX_FAULTS {
        let whole = checked.regions.is_empty();
        let regions = match checked.before.filter(|_| whole) {
            Some(before) => whole_region(before.text, after.text),
            None => checked.regions.to_vec(),
        };
        let mut new = unpaired(checked, &regions, faults_before, faults_after);
        for fault in &mut new {
            let inside = |region: &&Region| (fault.line..fault.last_line).contains(&region.new.0);
            if let Some(region) = regions.iter().find(inside) {
                *fault = fault.at_line(region.new.0 + 1, after.text);
            }
        }
        found.new = Ok(new);
    }
    found
}

/// Finds the errors of the text before. If it has no tree and nothing is wrong after, none are looked for.
fn before(
    language: Language,
    checked: &SyntaxInput<'_>,
    tree: Option<Tree>,
    well_after: bool,
    until: Instant,
) -> Result<Vec<Fault>, SyntaxTreeError> {
    let Some(before) = checked.before else { return Ok(Vec::new()) };
    let tree = match tree {
        Some(tree) => tree,
        None if well_after && before.text.len() > SMALL_BYTES => return Ok(Vec::new()),
        None => parse(language, before.text, None, until)?,
    };
    Ok(faults(language, &tree, before.text))
}

/// How long a text can be so that it is parsed only to say that its errors are gone.
const SMALL_BYTES: usize = 32 << 10;

/// Pairs errors off, and gives those of the text after that are left over.
fn unpaired(
    checked: &SyntaxInput<'_>,
    regions: &[Region],
    mut old: Vec<Fault>,
    mut new: Vec<Fault>,
) -> Vec<Fault> {
    let Some(before) = checked.before else { return new };
    let line = |text: &str, fault: &Fault| -> String {
        text.lines().nth(fault.line - 1).unwrap_or_default().trim().to_owned()
    };
    let mut old: Vec<(Fault, String)> =
        old.drain(..).map(|it| (it.clone(), line(before.text, &it))).collect();
    new.retain(|fault| {
        let text = line(checked.after.text, fault);
        let same = old.iter().position(|(it, line)| it.message == fault.message && *line == text);
        same.inspect(|at| drop(old.remove(*at))).is_none()
    });
    if old.is_empty() || new.is_empty() {
        return new;
    }
    let place = |fault: &Fault, side: fn(&Region) -> (usize, usize)| {
        regions.iter().position(|region| {
            let (start, end) = side(region);
            (start..end.max(start + 1)).contains(&(fault.line - 1))
        })
    };
    // From behind, so that the first of several stays.
    for at in (0..new.len()).rev() {
        let new_place = place(&new[at], |region| region.new);
        if let Some(same) = old.iter().position(|(it, _)| place(it, |region| region.old) == new_place) {
            old.remove(same);
            new.remove(at);
        }
    }
    new
}

/// Returns all lines that differ as one region.
fn whole_region(before: &str, after: &str) -> Vec<Region> {
    let Some((old, new)) = middle(before, after) else { return Vec::new() };
    let line = |text: &str, at: usize| memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count();
    vec![Region {
        old: (line(before, old.start), line(before, old.end) + 1),
        new: (line(after, new.start), line(after, new.end) + 1),
    }]
}
