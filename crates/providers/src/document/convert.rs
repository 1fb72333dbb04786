//! What a worker does with a document: a function of its bytes, within bounds.

use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{DocumentKind, docx, pdf, xlsx};

/// The longest text that a document is converted to, in bytes; the rest is left out.
pub(in super::super) const MAX_TEXT_BYTES: usize = 4 << 20;

/// The text of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    /// Lines, the last of which ends too.
    pub text: String,
    /// Whether the rest was left out: the text is too long, or took too long.
    pub is_cut: bool,
    /// How many pages of a PDF could not be read.
    pub unread_pages: u32,
}

/// Why a document has no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConvertError {
    /// It is damaged, or not what its name says.
    Damaged,
    /// It is encrypted.
    Encrypted,
    /// It took too long.
    Stopped,
    /// The worker died of it.
    Failed,
    /// No worker could be started.
    Unavailable,
}

/// Converts a document. What takes longer than until a moment is cut there.
pub(in super::super) fn convert(
    kind: DocumentKind,
    content: &[u8],
    until: Instant,
) -> Result<DocumentText, ConvertError> {
    let mut text = Text { text: String::new(), is_cut: false, until };
    let unread_pages = match kind {
        DocumentKind::Pdf => pdf::convert(content, &mut text)?,
        DocumentKind::Docx => docx::convert(content, &mut text).map(|()| 0)?,
        DocumentKind::Xlsx => xlsx::convert(content, &mut text).map(|()| 0)?,
    };
    let Text { mut text, is_cut, .. } = text;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(DocumentText { text, is_cut, unread_pages })
}

/// A text that grows within its bounds.
pub(super) struct Text {
    text: String,
    is_cut: bool,
    until: Instant,
}

impl Text {
    /// Adds a piece without control characters but tabs and line feeds, which nobody would see.
    pub(super) fn push(&mut self, piece: &str) {
        if self.is_full() {
            return;
        }
        for c in piece.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')) {
            if self.text.len() + c.len_utf8() > MAX_TEXT_BYTES {
                self.is_cut = true;
                return;
            }
            self.text.push(c);
        }
    }

    /// Ends the line, unless the text is at the beginning of one.
    pub(super) fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.push("\n");
        }
    }

    /// Returns whether no more is to be added, and takes note of it.
    pub(super) fn is_full(&mut self) -> bool {
        self.is_cut |= Instant::now() >= self.until;
        self.is_cut
    }
}
