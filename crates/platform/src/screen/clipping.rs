//! What a clipboard has.

use std::sync::Arc;
use std::time::Duration;

/// A kind of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClippingKind {
    /// Text.
    Text,
    /// A picture, as the bytes of a PNG file.
    Image,
    /// Names of files, as URIs, one a line.
    Files,
}

/// How many bytes of a clipboard are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClippingLimits {
    /// Of text and of names of files.
    pub text: usize,
    /// Of a picture.
    pub image: usize,
}

impl ClippingLimits {
    /// Returns how many bytes of a kind are read.
    pub const fn of(self, kind: ClippingKind) -> usize {
        match kind {
            ClippingKind::Text | ClippingKind::Files => self.text,
            ClippingKind::Image => self.image,
        }
    }
}

/// What a clipboard has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clipping {
    /// Which types its owner offers.
    pub types: Vec<String>,
    /// The content of the kind that was asked for, or the first there is of text, files and a picture; none if the clipboard
    /// is empty or has nothing of it.
    pub content: Option<(ClippingKind, Vec<u8>)>,
}

/// The id by which a judge finds the owner of a clipboard among the windows of the instant.
pub const CLIPBOARD_OWNER: &str = "clipboard";

/// Content for a clipboard, in each form in which it is offered.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ClipboardContent {
    /// The forms: the name of each type, and its bytes.
    pub forms: Vec<(String, Arc<[u8]>)>,
}

impl std::fmt::Debug for ClipboardContent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.forms.iter().map(|(name, bytes)| (name, bytes.len()))).finish()
    }
}

impl ClipboardContent {
    /// Creates content of one kind: text, the bytes of a PNG file, or URIs of files, one a line.
    pub fn of(kind: ClippingKind, bytes: &[u8]) -> Self {
        let bytes: Arc<[u8]> = bytes.into();
        let names: &[&str] = match kind {
            ClippingKind::Text => &["UTF8_STRING", "text/plain;charset=utf-8", "text/plain"],
            ClippingKind::Image => &["image/png"],
            ClippingKind::Files => &["text/uri-list"],
        };
        let mut forms: Vec<_> = names.iter().map(|name| ((*name).to_owned(), Arc::clone(&bytes))).collect();
        if kind == ClippingKind::Files {
            // What file managers of GTK look for.
            let lines = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            let copied = format!("copy\n{}", lines.trim_end());
            forms.push(("x-special/gnome-copied-files".to_owned(), copied.into_bytes().into()));
        }
        Self { forms }
    }

    /// Returns how many bytes all forms have; what several share counts once.
    pub fn size(&self) -> usize {
        let is_new = |at: usize| !self.forms[..at].iter().any(|(_, it)| Arc::ptr_eq(it, &self.forms[at].1));
        (0..self.forms.len()).filter(|at| is_new(*at)).map(|at| self.forms[at].1.len()).sum()
    }
}

/// What became of content that this process has put on a clipboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClipboardUse {
    /// It is not on the clipboard any more: something else has been copied.
    Replaced,
    /// The program has not fetched it.
    Waiting,
    /// The program has fetched it, and has asked for nothing more since then.
    Fetched(Duration),
}
