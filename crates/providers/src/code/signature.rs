//! The one line that shows what a definition is.

use std::ops::Range;

use tree_sitter::Node;

use super::extent::start_of_blanks;

/// How long a signature can be, in characters.
const MAX_CHARS: usize = 200;
/// How long a header is read, in bytes.
const MAX_HEADER_BYTES: usize = 4_000;
/// How long a value can be so that it is told, in bytes.
const MAX_VALUE_BYTES: usize = 100;

/// Creates one line of a header. `from` is the node in which it begins, `end` the byte where the body begins.
/// `text` is what was parsed: the source, perhaps with blanks.
pub(super) fn signature(from: Node<'_>, end: usize, source: &[u8], text: &[u8]) -> String {
    let end = end.min(source.len());
    let start = start_of_blanks(after_attributes(from, end).min(end), source, text);
    let end = end.min(start + MAX_HEADER_BYTES);
    let header = &source[start..end];
    let mut line = String::new();
    let mut written = start;
    for comment in comments(from, start..end, header) {
        push(&mut line, &source[written..comment.start.max(written)]);
        line.push(' ');
        written = comment.end.clamp(written, end);
    }
    push(&mut line, &source[written..end]);
    tidy(&line)
}

/// Returns where a definition with a value ends its header: before a value that is long.
pub(super) fn header_end_with_value(whole: Node<'_>, value: Node<'_>) -> usize {
    let is_short = value.start_position().row == value.end_position().row
        && value.end_byte() - value.start_byte() <= MAX_VALUE_BYTES;
    if is_short { whole.end_byte() } else { value.start_byte() }
}

fn push(line: &mut String, bytes: &[u8]) {
    line.push_str(&String::from_utf8_lossy(bytes));
}

/// Collapses blanks, takes off what would begin the body, and cuts.
fn tidy(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(MAX_CHARS));
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    loop {
        let ends =
            line.ends_with(['{', ':', ';', ',', '\\']) || (line.ends_with('=') && !line.ends_with("=="));
        if !ends && !line.ends_with(' ') {
            break;
        }
        line.pop();
    }
    let cut = line.char_indices().nth(MAX_CHARS).is_some();
    if cut {
        let end = line.char_indices().nth(MAX_CHARS - 1).map_or(line.len(), |(at, _)| at);
        line.truncate(end);
        line.push('…');
    }
    line
}

/// Finds the comments in a header.
fn comments(from: Node<'_>, range: Range<usize>, header: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !header.contains(&b'/') && !header.contains(&b'#') {
        return found;
    }
    let mut cursor = from.walk();
    loop {
        let node = cursor.node();
        let inside = node.start_byte() < range.end && node.end_byte() > range.start;
        if inside && node.is_extra() && node.kind().contains("comment") {
            found.push(node.byte_range());
        } else if inside && cursor.goto_first_child() {
            continue;
        }
        loop {
            if cursor.node().start_byte() < range.end && cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

/// Finds where a header begins behind its attributes, annotations and decorators.
fn after_attributes(from: Node<'_>, end: usize) -> usize {
    let mut node = from;
    'down: loop {
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            if child.start_byte() >= end {
                return child.start_byte();
            }
            if is_attribute(child.kind()) || child.is_extra() {
                continue;
            }
            if child.kind() == "modifiers" && child.child_count() > 0 {
                if child.child(0).is_none_or(|first| !is_attribute(first.kind())) {
                    return child.start_byte();
                }
                let last = child.child_count() - 1;
                let only_attributes = child.child(last);
                if only_attributes.is_some_and(|it| is_attribute(it.kind())) {
                    continue;
                }
                node = child;
                continue 'down;
            }
            return child.start_byte();
        }
        return node.start_byte();
    }
}

/// Tells attributes, annotations and decorators by the names that the grammars give them.
pub(super) fn is_attribute(kind: &str) -> bool {
    matches!(
        kind,
        "decorator"
            | "annotation"
            | "marker_annotation"
            | "attribute"
            | "attribute_item"
            | "attribute_list"
            | "attribute_declaration"
            | "attribute_specifier"
    )
}
