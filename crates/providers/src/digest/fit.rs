//! Making a list of failures fit: first the words go, then those of one file stand together, then columns.

use std::collections::HashMap;

use super::facts::{Found, cut};
use super::shape::Failure;

/// How far a list is cut down. Each is shorter than the one before it; none leaves out a failure or its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Each by itself, with messages of at most so many bytes.
    Each(usize),
    /// Those of one file and one message together; the names of one file together, without messages but the first.
    Alike(usize),
    /// Those of one file together.
    ByFile,
    /// The same without columns, and with names as short as they can be.
    Lines,
    /// The same, lines one after another as a range.
    Ranges,
}

/// From the longest to the shortest.
pub const LEVELS: &[Level] = &[
    Level::Each(400),
    Level::Each(160),
    Level::Alike(160),
    Level::Each(80),
    Level::Alike(80),
    Level::ByFile,
    Level::Lines,
    Level::Ranges,
];

/// Gives a list in the form of a level; the first one's message has at most `first` bytes.
pub fn at_level(found: &[Found], level: Level, first: usize) -> Vec<Failure> {
    let mut list = match level {
        Level::Each(bytes) => found.iter().map(|found| single(found, bytes)).collect(),
        Level::Alike(bytes) => together(found, level, bytes),
        Level::ByFile | Level::Lines | Level::Ranges => together(found, level, 0),
    };
    if let (Some(shown), Some(found)) = (list.first_mut(), found.first()) {
        shown.message = cut(&found.message, first);
    }
    list
}

fn single(found: &Found, message_bytes: usize) -> Failure {
    Failure {
        name: found.name.clone(),
        file: found.file.clone(),
        line: found.line,
        column: found.column,
        message: cut(&found.message, message_bytes),
        also: Vec::new(),
        prefix: None,
    }
}

/// Puts those together that have the same file, and at some levels the same message.
fn together(found: &[Found], level: Level, message_bytes: usize) -> Vec<Failure> {
    let by_message = matches!(level, Level::Alike(_));
    let mut groups: Vec<Vec<&Found>> = Vec::new();
    let mut known: HashMap<(Option<&str>, &str, bool), usize> = HashMap::new();
    for one in found {
        let message = if by_message && one.name.is_none() { one.message.as_str() } else { "" };
        // What has no place is told by its message alone.
        if one.name.is_none() && one.line.is_none() {
            groups.push(vec![one]);
            continue;
        }
        let at = *known.entry((one.file.as_deref(), message, one.name.is_some())).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.iter().map(|group| grouped(group, level, message_bytes)).collect()
}

fn grouped(group: &[&Found], level: Level, message_bytes: usize) -> Failure {
    let first = group[0];
    let unplaced = first.name.is_none() && first.line.is_none();
    let mut shown = single(first, if unplaced { message_bytes.max(80) } else { message_bytes });
    let short = matches!(level, Level::Lines | Level::Ranges);
    if short {
        shown.column = None;
    }
    if first.name.is_some() && group.len() > 1 {
        shown.message.clear();
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
fn prefix(first: &str, others: &[&Found], anywhere: bool) -> Option<String> {
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

/// Gives how many bytes two names have in common at their beginning.
fn common(first: &str, name: &str, anywhere: bool, parts: &[&str]) -> usize {
    let same = first.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
    let same = first.floor_char_boundary(same);
    if anywhere {
        return same;
    }
    parts.iter().filter_map(|part| first[..same].rfind(part).map(|at| at + part.len())).max().unwrap_or(0)
}

/// `LINE NAME`, with `~` for the prefix.
fn named(one: &Found, prefix: Option<&str>) -> String {
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
