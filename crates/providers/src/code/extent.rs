//! How far a definition reaches: its doc comment, its attributes, and the statement around it.

use std::ops::Range;

use tree_sitter::Node;

/// How far back is looked for what was left out of a text, in bytes.
const MAX_BLANKS: usize = 400;

/// Comments and attributes that are above something, without an empty line between.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeadingLines {
    start: usize,
    start_row: usize,
    end_row: usize,
}

impl LeadingLines {
    /// Adds a comment or an attribute to what stood above it, if that touches it.
    pub fn with(above: Option<Self>, node: Node<'_>) -> Self {
        let (start, start_row) = (node.start_byte(), node.start_position().row);
        let end_row = last_row(node);
        match above.filter(|above| start_row <= above.end_row + 1) {
            Some(above) => Self { end_row, ..above },
            None => Self { start, start_row, end_row },
        }
    }

    /// Returns itself if it touches what comes next.
    pub fn touching(self, next: Node<'_>) -> Option<Self> {
        (next.start_position().row <= self.end_row + 1).then_some(self)
    }
}

/// From where to where a definition reaches, in bytes and rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    start: usize,
    end: usize,
    start_row: usize,
    end_row: usize,
}

impl Extent {
    /// Returns the extent of a node and what is above it.
    pub fn of(node: Node<'_>, lead: Option<LeadingLines>) -> Self {
        let (start, start_row) =
            lead.map_or((node.start_byte(), node.start_position().row), |lead| (lead.start, lead.start_row));
        Self { start, end: node.end_byte(), start_row, end_row: node.end_position().row }
    }

    /// Lets it begin with what was left out before it on its first line.
    pub fn behind_blanks(self, source: &[u8], text: &[u8]) -> Self {
        Self { start: start_of_blanks(self.start, source, text), ..self }
    }

    /// Returns the bytes, and the first and the last line, counted from 1; without blanks that the grammar counts in.
    pub fn reach(&self, source: &[u8]) -> (Range<u32>, u32, u32) {
        let text = source.get(self.start..self.end.min(source.len())).unwrap_or_default();
        let length = text.trim_ascii_end().len();
        // What the grammar reads behind the end of the text is one line end.
        let behind = usize::from(self.end > source.len());
        let feeds = memchr::memchr_iter(b'\n', &text[length..]).count() + behind;
        let last_row = self.end_row.saturating_sub(feeds).max(self.start_row);
        (narrow(self.start)..narrow(self.start + length), narrow(self.start_row + 1), narrow(last_row + 1))
    }
}

/// Returns where that begins which was left out of a text before a place on the same line, or the place.
pub(super) fn start_of_blanks(at: usize, source: &[u8], text: &[u8]) -> usize {
    let mut start = at;
    let before = text.get(..at).unwrap_or_default();
    for (place, byte) in before.iter().enumerate().rev().take(MAX_BLANKS) {
        if !matches!(byte, b' ' | b'\t') {
            break;
        }
        if source.get(place).is_some_and(|byte| !byte.is_ascii_whitespace()) {
            start = place;
        }
    }
    start
}

/// Returns the row of a node's last byte.
pub(super) fn last_row(node: Node<'_>) -> usize {
    let (start, end) = (node.start_position(), node.end_position());
    if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row }
}

/// Creates a number of a source small; sources have at most 2 MiB.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
