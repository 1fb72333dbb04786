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
