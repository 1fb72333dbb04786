//! The type that says that a text went through the redactor.

/// A value without secrets of the known forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedValue<T>(pub(super) T);

impl RedactedValue<String> {
    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Wraps a word of this program.
    pub fn word(word: &'static str) -> Self {
        Self(word.to_owned())
    }
}
