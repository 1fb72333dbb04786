//! A field that holds one text or several.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One text, or several.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl OneOrMany {
    /// Returns the texts; none where there is nothing.
    pub fn list(texts: Option<&Self>) -> &[String] {
        match texts {
            None => &[],
            Some(Self::One(text)) => std::slice::from_ref(text),
            Some(Self::Many(texts)) => texts,
        }
    }
}
