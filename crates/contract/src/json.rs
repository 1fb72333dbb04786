//! JSON text that is made once and passed on as it is.

use serde::Serialize;
use serde_json::Value;

/// The JSON text of a value: compact, on one line, well formed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(String);

impl Json {
    /// Writes a value's JSON text.
    ///
    /// # Errors
    /// When the value has no JSON form.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::to_string(value).map(Self)
    }

    /// Gives the text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Reads the text into a tree.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).expect("the text was written from a value")
    }
}
