//! Redaction at the door of the store: known forms of secrets never reach the disk.
//!
//! A [`Redacted`] text is made here and nowhere else, and the store accepts nothing else. What is
//! replaced becomes `[redacted:kind:hmac8]`; the last part is keyed with a secret of this installation,
//! so that equal secrets can be seen to be equal and nothing else can be learned.
//!
//! Order: a cheap search for the fixed words of all rules; only the rules whose words occur are run;
//! then whatever looks random. A text is redacted before it is shortened.

mod door;
mod key;
mod random;
mod rules;
mod scan;

pub use scan::Redactor;

/// A value without secrets of the known forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<T>(T);

impl Redacted<String> {
    /// Gives the text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Wraps a word of this program.
    pub fn word(word: &'static str) -> Self {
        Self(word.to_owned())
    }
}

#[cfg(test)]
mod tests;
