//! Images: recognized by their first bytes, whatever their name says.

/// The largest image that is sent, in bytes before base64; what every client takes.
pub const MAX_IMAGE_BYTES: u64 = 750_000;

/// Recognizes PNG, JPEG, GIF and WebP.
///
/// # Source
/// The signatures of PNG (RFC 2083 §3.1), JPEG (ITU T.81: SOI and a marker), GIF89a and the WebP container.
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
