//! Definitions that were found in several ways, in one list in the order of the text.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use super::definition::{Definition, Position};
use super::extent::narrow;
use super::kind::Kind;

/// How long a signature can be, in characters.
const MAX_SIGNATURE: usize = 200;

/// Adds of what another reading found what the first reading left out: what is blank in its text.
pub(super) fn add_left_out(list: &mut Vec<Definition>, others: Vec<Definition>, text: &[u8]) {
    let is_blank = |definition: &Definition| text.get(definition.name_byte as usize) == Some(&b' ');
    let mut places: Vec<Option<u32>> = Vec::with_capacity(others.len());
    let known = list.iter().enumerate().rev();
    let by_name: HashMap<u32, u32> = known.map(|(at, it)| (it.name_byte, narrow(at))).collect();
    for definition in others {
        if !is_blank(&definition) {
            // By their names: the other reading may reach further.
            places.push(by_name.get(&definition.name_byte).copied());
            continue;
        }
        places.push(Some(narrow(list.len())));
        let container = definition.container.and_then(|at| places.get(at as usize).copied().flatten());
        list.push(Definition { container, ..definition });
    }
    arrange(list);
}

/// Adds macros that no tree has, those that are defined within a function or an expression, and gives all of them their
/// ends.
pub(super) fn add_macros(list: &mut Vec<Definition>, macros: &[(Range<usize>, usize)], source: &[u8]) {
    if macros.is_empty() {
        return;
    }
    let mut known: Vec<(u32, usize)> = list.iter().enumerate().map(|(at, it)| (it.name_byte, at)).collect();
    known.sort_unstable();
    let (mut row, mut counted) = (0, 0);
    let before = list.len();
    for (name, end) in macros {
        row += memchr::memchr_iter(b'\n', &source[counted..name.start]).count();
        counted = name.start;
        let end = name.end + source[name.end..*end].trim_ascii_end().len();
        let last_line = narrow(row + 1 + memchr::memchr_iter(b'\n', &source[name.start..end]).count());
        if let Ok(at) = known.binary_search_by_key(&narrow(name.start), |(byte, _)| *byte) {
            let definition = &mut list[known[at].1];
            definition.bytes.end = definition.bytes.end.max(narrow(end));
            definition.last_line = definition.last_line.max(last_line);
            continue;
        }
        let own = &source[name.clone()];
        if super::kinds::is_guard(own, source[name.end..end].trim_ascii()) {
            continue;
        }
        let line = memchr::memrchr(b'\n', &source[..name.start]).map_or(0, |feed| feed + 1);
        let first = line + source[line..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let text = source[first..end].split(|byte| *byte == b'\n').next().unwrap_or_default();
        list.push(Definition {
            name: String::from_utf8_lossy(own).into_owned(),
            kind: Kind::Macro,
            container: None,
            owner: None,
            signature: of_line(text),
            bytes: narrow(first)..narrow(end),
            name_at: Position {
                line: narrow(row + 1),
                column: narrow(characters(&source[line..name.start]) + 1),
            },
            name_byte: narrow(name.start),
            first_line: narrow(row + 1),
            last_line,
            declared_only: false,
        });
    }
    if list.len() > before {
        arrange(list);
    }
}

/// Creates a signature of a line.
pub(super) fn of_line(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let words: Vec<&str> = text.split_whitespace().collect();
    let whole = words.join(" ");
    whole.trim_end_matches(['{', ' ', ';', ',', '=', '\\']).chars().take(MAX_SIGNATURE).collect()
}

/// Counts the characters of a text.
pub(super) fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

/// Brings a list into the order of the text: each behind what holds it.
pub(super) fn arrange(list: &mut Vec<Definition>) {
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(|at| (list[*at].bytes.start, Reverse(list[*at].bytes.end), *at));
    let mut places = vec![0; list.len()];
    for (place, at) in order.iter().enumerate() {
        places[*at] = narrow(place);
    }
    let mut all: Vec<Option<Definition>> = list.drain(..).map(Some).collect();
    for (place, at) in order.iter().enumerate() {
        let Some(mut definition) = all[*at].take() else { continue };
        definition.container = definition
            .container
            .and_then(|container| places.get(container as usize).copied())
            .filter(|container| (*container as usize) < place);
        list.push(definition);
    }
}
