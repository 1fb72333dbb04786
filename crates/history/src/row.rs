//! A row as it is stored: redacted, bounded, and the bytes that its hash is made of.
//!
//! Every text is a [`RedactedValue`] or a word of this program; there is no other way into the store.

use sha2::{Digest, Sha256};

use super::redact::RedactedValue;

/// A SHA-256.
pub type Hash = [u8; 32];

/// What the hash of the first row is chained to.
pub const GENESIS: Hash = [0; 32];

/// What a row tells of. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A permitted operation is about to have an effect.
    Received = 1,
    /// An operation ended.
    Finished = 2,
    /// Retention removed older rows; `template` holds the end of the removed range.
    Retention = 3,
    /// The history tells of itself, such as that a damaged store was set aside.
    Notice = 4,
}

/// One row, ready to be stored.
#[derive(Debug, Clone)]
pub struct Row {
    pub id: RedactedValue<String>,
    pub kind: Kind,
    pub at_ms: i64,
    pub duration_us: i64,
    pub bytes: i64,
    pub has_effect: bool,
    pub machine: RedactedValue<String>,
    pub caller: RedactedValue<String>,
    pub client: Option<RedactedValue<String>>,
    pub session: Option<RedactedValue<String>>,
    pub transport: &'static str,
    pub scope: RedactedValue<String>,
    pub op: RedactedValue<String>,
    pub target: Option<RedactedValue<String>>,
    pub capability: Option<&'static str>,
    pub stage: Option<RedactedValue<String>>,
    pub rule: Option<RedactedValue<String>>,
    pub code: Option<&'static str>,
    pub summary: Option<RedactedValue<String>>,
    pub error: Option<RedactedValue<String>>,
    pub template: Option<RedactedValue<String>>,
}

/// The names of the whole-number columns, in the order of [`Row::numbers`].
pub const NUMBERS: [&str; 5] = ["kind", "at_ms", "duration_us", "bytes", "has_effect"];
/// The names of the text columns, in the order of [`Row::texts`].
pub const TEXTS: [&str; 16] = [
    "id",
    "machine",
    "caller",
    "client",
    "session",
    "transport",
    "scope",
    "op",
    "target",
    "capability",
    "stage",
    "rule",
    "code",
    "summary",
    "error",
    "template",
];

impl Row {
    /// Returns whether the row has to survive a loss of power when it is answered. Where the end of an operation is lost
    /// with the power, the history says that it is unfinished, which is true.
    pub fn needs_sync(&self) -> bool {
        self.has_effect && self.kind == Kind::Received
    }

    /// Returns the whole-number columns.
    pub fn numbers(&self) -> [i64; NUMBERS.len()] {
        [self.kind as i64, self.at_ms, self.duration_us, self.bytes, i64::from(self.has_effect)]
    }

    /// Returns the text columns.
    pub fn texts(&self) -> [Option<&str>; TEXTS.len()] {
        fn optional(text: &Option<RedactedValue<String>>) -> Option<&str> {
            text.as_ref().map(RedactedValue::text)
        }
        [
            Some(self.id.text()),
            Some(self.machine.text()),
            Some(self.caller.text()),
            optional(&self.client),
            optional(&self.session),
            Some(self.transport),
            Some(self.scope.text()),
            Some(self.op.text()),
            optional(&self.target),
            self.capability,
            optional(&self.stage),
            optional(&self.rule),
            self.code,
            optional(&self.summary),
            optional(&self.error),
            optional(&self.template),
        ]
    }
}

/// Chains a row to the one before: SHA-256 over the hash before and every column.
///
/// Each text is preceded by its length, so that no two rows have the same bytes.
pub fn chain(
    before: &Hash,
    seq: i64,
    numbers: &[i64; NUMBERS.len()],
    texts: &[Option<&str>; TEXTS.len()],
) -> Hash {
    let mut bytes = Vec::with_capacity(768);
    bytes.extend_from_slice(b"bailiwick history 1\n");
    bytes.extend_from_slice(before);
    bytes.extend_from_slice(&seq.to_le_bytes());
    for number in numbers {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for text in texts {
        let length = text.map_or(u64::MAX, |text| text.len() as u64);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
    }
    Sha256::digest(&bytes).into()
}
