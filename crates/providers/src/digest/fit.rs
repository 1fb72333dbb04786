//! Making a list of failures fit: those of one file are together, then the words of some go, then columns.

use std::collections::HashMap;

use super::facts::{DigestItem, cut};
use super::shape::Failure;

/// How those failures are shown whose messages do not fit. Each level is shorter than the one before it; none leaves out a
/// failure or its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Those of one file together.
    ByFile,
    /// The same without columns, and with names as short as they can be.
    Lines,
    /// The same, lines one after another as a range.
    Ranges,
}

/// From the longest to the shortest.
const LEVELS: [Level; 3] = [Level::ByFile, Level::Lines, Level::Ranges];
/// The shortest messages that are shown where all failures have one, in bytes.
const LEAST_OF_ALL: usize = 48;
/// The longest messages that are shown where only some failures have one, in bytes.
const MOST_OF_SOME: usize = 80;

/// The form of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// How many failures, the first ones, have their message.
    told: usize,
    /// How long these messages are at most, in bytes.
    bytes: usize,
    /// Whether those of one file and one message are together.
    alike: bool,
    /// How the others are shown.
    rest: Level,
}

/// Finds the form of a list that says most and fits; `fits` is asked for many. None if not even the shortest fits.
pub fn best(
    found: &[DigestItem],
    longest: usize,
    mut fits: impl FnMut(Vec<Failure>) -> bool,
) -> Option<Form> {
    let mut takes = |form: &Form| fits(list(found, *form));
    let bare = |rest: Level| Form { told: 0, bytes: 0, alike: false, rest };
    let rest = LEVELS.into_iter().find(|rest| takes(&bare(*rest)))?;
    let all = |alike: bool, bytes: usize| Form { told: found.len(), bytes, alike, rest };
    let mut longest_of = |alike: bool| most(LEAST_OF_ALL, longest, |bytes| takes(&all(alike, bytes)));
    let (each, alike) = match longest_of(false) {
        Some(bytes) if bytes == longest => (Some(bytes), None),
        each => (each, longest_of(true)),
    };
    // What is together is harder to read, and is so only for longer messages.
    match (each, alike) {
        (Some(each), alike) if each >= MOST_OF_SOME || alike.is_none_or(|it| it <= each) => {
            return Some(all(false, each));
        }
        (_, Some(alike)) => return Some(all(true, alike)),
        (_, None) => {}
    }
    let some = |told: usize| Form { told, bytes: MOST_OF_SOME.min(longest), alike: true, rest };
    let told = most(1, found.len(), |told| takes(&some(told)));
    Some(told.map_or(bare(rest), some))
}

/// Finds the longest messages with which a form still fits.
pub fn widened(
    found: &[DigestItem],
    form: Form,
    longest: usize,
    mut fits: impl FnMut(Vec<Failure>) -> bool,
) -> Form {
    let with = |bytes: usize| Form { bytes, ..form };
    most(form.bytes, longest, |bytes| fits(list(found, with(bytes)))).map_or(form, with)
}

/// Finds the largest number for which something holds, if what holds for a number holds for those below it.
fn most(least: usize, largest: usize, mut holds: impl FnMut(usize) -> bool) -> Option<usize> {
    if least > largest || !holds(least) {
        return None;
    }
    if holds(largest) {
        return Some(largest);
    }
    let (mut low, mut high) = (least, largest);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(low)
}

/// Returns a list in a form.
pub fn list(found: &[DigestItem], form: Form) -> Vec<Failure> {
    let (told, others) = found.split_at(form.told.min(found.len()));
    let mut list = if form.alike {
        together(told, form.rest, Some(form.bytes))
    } else {
        told.iter().map(|found| single(found, form.bytes)).collect()
    };
    list.extend(together(others, form.rest, None));
    list
}

fn single(found: &DigestItem, message_bytes: usize) -> Failure {
    Failure {
        name: found.name.clone(),
        file: found.file.clone(),
        line: found.line,
        column: found.column,
        message: cut(&found.message, message_bytes),
        required_from: found.required_from.clone(),
        also: Vec::new(),
        prefix: None,
    }
}

/// What failures have in common that are together: file, place where it is required, message, and whether they have names.
type Common<'a> = (Option<&'a str>, Option<&'a str>, String, bool);

/// Puts those together that have the same file, and with `bytes` the same message, too, which they keep.
fn together(found: &[DigestItem], level: Level, bytes: Option<usize>) -> Vec<Failure> {
    let mut groups: Vec<Vec<&DigestItem>> = Vec::new();
    let mut known: HashMap<Common<'_>, usize> = HashMap::new();
    for one in found {
        // What has no place is told by its message alone.
        if one.name.is_none() && one.line.is_none() {
            groups.push(vec![one]);
            continue;
        }
        let message = bytes.map(|bytes| cut(&one.message, bytes)).unwrap_or_default();
        let common = (one.file.as_deref(), one.required_from.as_deref(), message, one.name.is_some());
        let at = *known.entry(common).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    let level = if bytes.is_some() { Level::ByFile } else { level };
    groups.iter().map(|group| grouped(group, level, bytes.unwrap_or(0))).collect()
}

fn grouped(group: &[&DigestItem], level: Level, message_bytes: usize) -> Failure {
    let first = group[0];
    let unplaced = first.name.is_none() && first.line.is_none();
    let mut shown = single(first, if unplaced { message_bytes.max(MOST_OF_SOME) } else { message_bytes });
    let short = matches!(level, Level::Lines | Level::Ranges);
    if short {
        shown.column = None;
    }
    if let Some(name) = &first.name {
        shown.prefix = prefix(name, &group[1..], short);
        shown.also = group[1..].iter().map(|one| named(one, shown.prefix.as_deref())).collect();
    } else if level == Level::Ranges {
        let mut lines: Vec<u64> = group[1..].iter().filter_map(|one| one.line).collect();
        lines.sort_unstable();
        lines.dedup();
        shown.also = joined(ranges(&lines));
    } else {
        let mut places: Vec<String> = Vec::new();
        for one in &group[1..] {
            let place = match (one.line, one.column) {
                (Some(line), Some(column)) if !short => format!("{line}:{column}"),
                (Some(line), _) => line.to_string(),
                (None, _) => continue,
            };
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
        shown.also = joined(places);
    }
    shown
}

fn joined(places: Vec<String>) -> Vec<String> {
    if places.is_empty() { Vec::new() } else { vec![places.join(" ")] }
}

/// Finds the beginning of the first name whose leaving out of the others saves most; none where that is little.
/// Unless `anywhere`, it ends where a part of the name does, so that the rest reads well.
fn prefix(first: &str, others: &[&DigestItem], anywhere: bool) -> Option<String> {
    let names: Vec<&str> = others.iter().filter_map(|one| one.name.as_deref()).collect();
    if names.iter().any(|name| name.starts_with('~')) {
        return None;
    }
    let parts = ["::", " > ", " › ", "/", ".", " ", "["];
    let mut lengths: Vec<usize> = names.iter().map(|name| common(first, name, anywhere, &parts)).collect();
    lengths.sort_unstable();
    // With the names sorted by what they share, all from one on share at least as much as it.
    let saved = lengths
        .iter()
        .enumerate()
        .map(|(at, length)| (length.saturating_sub(1) * (lengths.len() - at), *length));
    let (saved, length) = saved.max()?;
    (saved > length + r#","prefix":"""#.len()).then(|| first[..length].to_owned())
}

/// Returns how many bytes two names have in common at their beginning.
fn common(first: &str, name: &str, anywhere: bool, parts: &[&str]) -> usize {
    let same = first.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
    let same = first.floor_char_boundary(same);
    if anywhere {
        return same;
    }
    parts.iter().filter_map(|part| first[..same].rfind(part).map(|at| at + part.len())).max().unwrap_or(0)
}

/// `LINE NAME`, with `~` for the prefix.
fn named(one: &DigestItem, prefix: Option<&str>) -> String {
    let name = one.name.as_deref().unwrap_or_default();
    let shown = match prefix.and_then(|prefix| name.strip_prefix(prefix)) {
        Some(rest) => format!("~{rest}"),
        None => name.to_owned(),
    };
    match one.line {
        Some(line) => format!("{line} {shown}"),
        None => shown,
    }
}

/// `1-4 7 9-10` of sorted lines.
fn ranges(lines: &[u64]) -> Vec<String> {
    let runs = lines.chunk_by(|one, next| next - one == 1);
    runs.map(|run| match run {
        [one] => one.to_string(),
        [one, other] => format!("{one} {other}"),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    })
    .collect()
}
