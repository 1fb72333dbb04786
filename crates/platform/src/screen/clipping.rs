//! What a clipboard has.

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
