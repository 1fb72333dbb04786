//! What an operation says about itself while it holds.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A board on which a running operation writes how far it is. Cheap to clone; all clones share the board.
///
/// Anyone who wants to know looks; nothing is sent. So an operation may write as often as it likes.
#[derive(Clone, Default)]
pub struct Progress(Arc<ProgressState>);

/// What a text becomes before others see it.
type Filter = Box<dyn Fn(String) -> String + Send + Sync>;

#[derive(Default)]
struct ProgressState {
    said: Mutex<Option<String>>,
    filter: OnceLock<Filter>,
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Progress").field(&self.said()).finish()
    }
}

impl Progress {
    /// Writes how far the operation is, in a few words, over what was written before.
    pub fn say(&self, words: impl Into<String>) {
        let words = words.into();
        let words = match self.0.filter.get() {
            Some(filter) => filter(words),
            None => words,
        };
        *self.0.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(words);
    }

    /// Has every text go through a function before it is written; the first one stays.
    pub fn filter(&self, filter: impl Fn(String) -> String + Send + Sync + 'static) {
        // Of two, the first filters.
        let _ = self.0.filter.set(Box::new(filter));
    }

    /// Returns what was written last; `None` if the operation says nothing about itself.
    pub fn said(&self) -> Option<String> {
        self.0.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
