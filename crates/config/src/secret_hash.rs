//! The hash of a secret, which is kept in its place.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use bailiwick_contract::hex;

/// The SHA-256 of a random secret; in files 64 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretHash([u8; 32]);

impl SecretHash {
    /// Returns the hash of a secret.
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |it: u8| (it as char).to_digit(16);
            *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
        }
        Some(Self(hash))
    }
}

impl ConstantTimeEq for SecretHash {
    /// Compares all bytes, and looks once at how they differ: byte by byte takes much longer.
    fn ct_eq(&self, other: &Self) -> Choice {
        self.0
            .iter()
            .zip(&other.0)
            .fold(0, |difference, (one, other)| difference | (one ^ other))
            .ct_eq(&0_u8)
    }
}

impl Serialize for SecretHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for SecretHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        // The text itself is not quoted: it may be a secret that was put here.
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a SHA-256 in 64 hex digits was expected"))
    }
}
