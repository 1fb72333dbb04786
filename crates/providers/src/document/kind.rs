//! Which documents there are, and how they are recognised.

use serde::{Deserialize, Serialize};

/// The largest document that is converted, in bytes.
pub const MAX_DOCUMENT_BYTES: u64 = 32 << 20;

/// A kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DocumentKind {
    /// Pages.
    Pdf,
    /// A text of Word, or of what writes such.
    Docx,
    /// Sheets of Excel, or of what writes such.
    Xlsx,
}

impl DocumentKind {
    /// Recognises a document by its name and its first bytes.
    pub fn of(path: &str, content: &[u8]) -> Option<Self> {
        if content.starts_with(b"%PDF-") {
            return Some(Self::Pdf);
        }
        if !content.starts_with(b"PK\x03\x04") {
            return None;
        }
        let (_, ending) = path.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "docx" | "docm" | "dotx" => Some(Self::Docx),
            "xlsx" | "xlsm" | "xltx" => Some(Self::Xlsx),
            _ => None,
        }
    }

    /// Returns its name in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Docx => "docx",
            Self::Xlsx => "xlsx",
        }
    }
}
