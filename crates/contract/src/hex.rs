//! Bytes as text in lower-case hexadecimal.

use std::fmt::Write;

/// Writes bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a String takes all that is written");
    }
    text
}
