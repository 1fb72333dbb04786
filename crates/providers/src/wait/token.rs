//! The token with which a wait continues where another one stopped.
//!
//! It holds no secret and refers to no memory of a service: positions, times, and which conditions have held. It
//! gives no right either: whatever it names is judged again, and a caller who makes one up deceives nobody but
//! itself. So its checksum has no key; it is there to tell a damaged token from a whole one.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use bailiwick_contract::Failure;

use super::Marks;

/// The form of tokens that this build makes and reads.
const VERSION: u8 = 1;
/// The longest token that is read: 32 conditions take a tenth of it.
const MAX_BYTES: usize = 32 << 10;
/// How long the checksum is.
const CHECKSUM_BYTES: usize = 8;

/// Where a wait stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    #[serde(rename = "v")]
    version: u8,
    /// Stands for the conditions; see [`Token::fingerprint`].
    #[serde(rename = "c")]
    fingerprint: String,
    /// When the first of the waits began, in milliseconds since the epoch.
    #[serde(rename = "b")]
    pub began_ms: i64,
    /// How each condition stood, in their order.
    #[serde(rename = "s")]
    pub saved: Vec<SavedCondition>,
}

/// How a condition stood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedCondition {
    /// Whether it has held.
    #[serde(rename = "h", default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
    /// Up to where output was checked.
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub marks: Option<Marks>,
    /// The version that a file had at the beginning; empty if there was none.
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

impl Token {
    /// Creates one.
    pub fn new(fingerprint: String, began_ms: i64, saved: Vec<SavedCondition>) -> Self {
        Self { version: VERSION, fingerprint, began_ms, saved }
    }

    /// Returns what stands for conditions in a token: those of two waits are the same if this is.
    pub fn fingerprint<T: Serialize>(conditions: &T) -> String {
        let text = serde_json::to_vec(conditions).expect("conditions have a JSON form");
        URL_SAFE_NO_PAD.encode(&Sha256::digest(&text)[..12])
    }

    /// Writes it.
    pub fn encode(&self) -> String {
        let mut bytes = serde_json::to_vec(self).expect("a token has a JSON form");
        let checksum = Sha256::digest(&bytes);
        bytes.extend_from_slice(&checksum[..CHECKSUM_BYTES]);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads it, for a wait on `count` conditions with this fingerprint.
    ///
    /// # Errors
    /// `invalid_request` for what no wait gave, or one on other conditions.
    pub fn decode(text: &str, fingerprint: &str, count: usize, now_ms: i64) -> Result<Self, Failure> {
        let token = read(text).ok_or_else(|| {
            Failure::invalid("input.resume", "`input.resume` is not what a wait has given")
                .hint("Send `resume` as it came, or leave it out to start over.")
        })?;
        if token.fingerprint != fingerprint || token.saved.len() != count || token.began_ms > now_ms {
            return Err(Failure::invalid(
                "input.resume",
                "`input.resume` belongs to a wait on other conditions",
            )
            .hint("Send the same conditions, in the same order, or leave `resume` out."));
        }
        Ok(token)
    }
}

fn read(text: &str) -> Option<Token> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (json, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    if Sha256::digest(json)[..CHECKSUM_BYTES] != *checksum {
        return None;
    }
    serde_json::from_slice(json).ok().filter(|token: &Token| token.version == VERSION)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn token() -> Token {
        let held = SavedCondition { held: true, ..SavedCondition::default() };
        let output = SavedCondition { marks: Some([7, u64::MAX]), ..SavedCondition::default() };
        let file = SavedCondition { version: Some(String::new()), ..SavedCondition::default() };
        Token::new("same".to_owned(), 1_000, vec![held, output, file])
    }

    #[test]
    fn a_token_reads_as_it_was_written() {
        assert_eq!(Token::decode(&token().encode(), "same", 3, 1_000), Ok(token()));
    }

    #[test]
    fn a_token_for_other_conditions_or_of_the_future_is_refused() {
        let text = token().encode();
        assert!(Token::decode(&text, "other", 3, 1_000).is_err());
        assert!(Token::decode(&text, "same", 2, 1_000).is_err());
        assert!(Token::decode(&text, "same", 3, 999).is_err());
    }

    proptest! {
        #[test]
        fn a_token_that_was_changed_is_refused(at in 0_usize..200, to in "[A-Za-z0-9_-]") {
            let text = token().encode();
            let at = at % text.len();
            let changed = format!("{}{to}{}", &text[..at], &text[at + 1..]);
            prop_assume!(changed != text);
            prop_assert!(Token::decode(&changed, "same", 3, 1_000).is_err());
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in ".{0,80}") {
            prop_assert!(Token::decode(&text, "same", 3, 1_000).is_err());
        }
    }
}
