//! A secret that a person has typed, for as long as it has to be held.

use std::fmt;

/// The longest secret, in bytes.
pub const MAX_SECRET_BYTES: usize = 4_096;

/// Bytes that are overwritten when they are dropped, and never shown.
///
/// Its room is taken at the beginning, so that it never moves and leaves no copy behind.
pub struct Secret(Vec<u8>);

impl Default for Secret {
    fn default() -> Self {
        Self(Vec::with_capacity(MAX_SECRET_BYTES))
    }
}

impl Secret {
    /// Adds a byte; gives `false` where there is no room for it.
    pub fn push(&mut self, byte: u8) -> bool {
        let has_room = self.0.len() < MAX_SECRET_BYTES;
        if has_room {
            self.0.push(byte);
        }
        has_room
    }

    /// Takes the last character away, all of its bytes.
    pub fn erase_character(&mut self) {
        // Bytes of the form 10xxxxxx continue with a character.
        while self.0.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
    }

    /// Takes everything away.
    pub fn clear(&mut self) {
        self.0.fill(0);
        self.0.clear();
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.resize(MAX_SECRET_BYTES, 0);
        self.0.fill(0);
        // The bytes count as read, so that the writes are not left out.
        std::hint::black_box(&self.0);
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_edited_by_characters_and_bounded() {
        let mut secret = Secret::default();
        for byte in "a\u{fc}\u{4f60}".bytes() {
            assert!(secret.push(byte));
        }
        secret.erase_character();
        assert_eq!(secret.bytes(), "a\u{fc}".as_bytes());
        secret.erase_character();
        assert_eq!(secret.bytes(), b"a");
        assert_eq!(format!("{secret:?}"), "Secret");
        while secret.push(b'x') {}
        assert_eq!(secret.bytes().len(), MAX_SECRET_BYTES);
        secret.clear();
        secret.erase_character();
        assert!(secret.bytes().is_empty());
    }
}
