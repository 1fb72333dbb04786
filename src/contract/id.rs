//! Identifiers: ULIDs as text, so that they sort by the time they were made.

/// Makes a new identifier: 26 characters of Crockford base 32, unique and ordered by millisecond.
///
/// # Source
/// The ULID specification: 48 bits of Unix time in milliseconds, then 80 random bits.
pub fn new_id() -> String {
    ulid::Ulid::generate().to_string()
}

/// Tells whether a text has the shape of an identifier made by [`new_id`].
pub fn is_id(text: &str) -> bool {
    ulid::Ulid::from_string(text).is_ok()
}
