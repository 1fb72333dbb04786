//! What requests put on a clipboard.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::registry::prelude::*;
use bailiwick_platform::screen::{ClipboardContent, ClippingKind};

/// The most bytes.
pub(super) const MAX_BYTES: usize = 10 << 20;
/// How every PNG file begins.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// What to put there: one of these.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// Text, 10 MiB at most.
    pub text: Option<String>,
    /// A picture: a PNG file in base64.
    pub image: Option<String>,
    /// Files as `file:///` URIs. No file is read.
    pub files: Vec<String>,
}

impl Input {
    /// Reads what is to be put there, and returns it with its size.
    ///
    /// # Errors
    /// `invalid_request` for nothing, for several kinds, and for what is too large or no picture or file.
    pub fn content(&self) -> Result<(ClipboardContent, usize), Failure> {
        let (kind, bytes, field) = match (&self.text, &self.image, self.files.as_slice()) {
            (Some(text), None, []) => (ClippingKind::Text, text.clone().into_bytes(), "input.text"),
            (None, Some(image), []) => (ClippingKind::Image, picture(image)?, "input.image"),
            (None, None, files @ [_, ..]) => (ClippingKind::Files, lines(files)?, "input.files"),
            _ => {
                return Err(Failure::invalid("input", "one of `text`, `image` and `files` is needed")
                    .hint("Add `text` to `input`; clipboard.clear takes off what is there."));
            }
        };
        if bytes.len() > MAX_BYTES {
            let why = format!("it has {} bytes; the clipboard takes {MAX_BYTES} at most", bytes.len());
            return Err(Failure::invalid(field, why));
        }
        Ok((ClipboardContent::of(kind, &bytes), bytes.len()))
    }
}

fn picture(base64: &str) -> Result<Vec<u8>, Failure> {
    let bytes = STANDARD.decode(base64).ok().filter(|bytes| bytes.starts_with(PNG));
    bytes.ok_or_else(|| Failure::invalid("input.image", "`input.image` must be a PNG file in base64"))
}

fn lines(files: &[String]) -> Result<Vec<u8>, Failure> {
    let is_file =
        |uri: &&String| uri.starts_with("file:///") && !uri.chars().any(|it| it.is_control() || it == ' ');
    if let Some(at) = files.iter().position(|uri| !is_file(&uri)) {
        return Err(Failure::invalid(
            &format!("input.files[{at}]"),
            "a file is named by its URI, such as `file:///home/me/a%20b.txt`",
        ));
    }
    Ok(files.iter().flat_map(|uri| [uri.as_bytes(), b"\r\n"].concat()).collect())
}
