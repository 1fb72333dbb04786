//! What an operation says about itself while it holds.

use std::sync::{Arc, Mutex, PoisonError};

/// A board on which a running operation writes how far it is. Cheap to clone; all clones share the board.
///
/// Anyone who wants to know looks; nothing is sent. So an operation may write as often as it likes.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Mutex<Option<String>>>);

impl Progress {
    /// Writes how far the operation is, in a few words, over what was written before.
    pub fn say(&self, words: impl Into<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(words.into());
    }

    /// Returns what was written last; `None` if the operation says nothing about itself.
    pub fn said(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
