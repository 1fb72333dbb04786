//! Names of files as bytes, by the same calls on every system.
//!
//! On Unix they are the system's own bytes. On Windows they are the bytes of the name's text in UTF-8: a name that is
//! no text there (it holds half of a surrogate pair) has bytes that lead back to no file, so that it can be listed
//! but never opened.

#[cfg(unix)]
pub use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Whether names are any bytes; else they are texts.
pub const ARE_BYTES: bool = cfg!(unix);

#[cfg(windows)]
pub use text::{OsStrExt, OsStringExt};

#[cfg(windows)]
mod text {
    use std::ffi::{OsStr, OsString};

    /// What stands for bytes that are no text: no file can have this name.
    const NO_NAME: &str = "\0";

    /// Borrowed names.
    pub trait OsStrExt {
        /// Creates a name of bytes.
        fn from_bytes(bytes: &[u8]) -> &Self;

        /// Returns the bytes of a name.
        fn as_bytes(&self) -> &[u8];
    }

    impl OsStrExt for OsStr {
        fn from_bytes(bytes: &[u8]) -> &Self {
            Self::new(std::str::from_utf8(bytes).unwrap_or(NO_NAME))
        }

        fn as_bytes(&self) -> &[u8] {
            self.as_encoded_bytes()
        }
    }

    /// Owned names.
    pub trait OsStringExt {
        /// Creates a name of bytes.
        fn from_vec(bytes: Vec<u8>) -> Self;

        /// Returns the bytes of a name.
        fn into_vec(self) -> Vec<u8>;
    }

    impl OsStringExt for OsString {
        fn from_vec(bytes: Vec<u8>) -> Self {
            String::from_utf8(bytes).unwrap_or_else(|_| NO_NAME.to_owned()).into()
        }

        fn into_vec(self) -> Vec<u8> {
            self.into_encoded_bytes()
        }
    }
}
