//! Limits and the options that mean the same for every operation that has them.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Failure;

/// The time that an operation may take when neither scope nor request says less.
pub const DEFAULT_TIMEOUT_SECONDS: u64 = 30;
/// The longest time that `options.timeoutSeconds` can ask for, where the scope allows it.
pub const MAX_TIMEOUT_SECONDS: u64 = 3_600;
/// The size of a result when the request does not say: 45,000 bytes, what every client takes whole.
pub const DEFAULT_OUTPUT_BYTES: u64 = 45_000;
/// The largest result that a scope gives unless its policy says otherwise.
pub const SCOPE_OUTPUT_BYTES: u64 = 1_000_000;

/// How much a result says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// What a client needs to continue (the default).
    #[default]
    Concise,
    /// Everything that is known.
    Full,
}

/// One of the shared options; an operation lists those that it honours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommonOption {
    /// `timeoutSeconds`: stop after this time. Every operation honours it.
    TimeoutSeconds,
    /// `maxOutputBytes`: bound the result. Every operation honours it.
    MaxOutputBytes,
    /// `dryRun`: say what would be done and do nothing.
    DryRun,
    /// `cursor`: continue where an earlier result was cut.
    Cursor,
    /// `detail`: `concise` or `full`.
    Detail,
}

impl CommonOption {
    /// Every shared option.
    pub const ALL: &'static [Self] =
        &[Self::TimeoutSeconds, Self::MaxOutputBytes, Self::DryRun, Self::Cursor, Self::Detail];

    /// Returns those of an operation that names these: every operation honours two more.
    pub fn honoured(named: &[Self]) -> impl Iterator<Item = Self> {
        let is_universal = |option| matches!(option, Self::TimeoutSeconds | Self::MaxOutputBytes);
        Self::ALL.iter().copied().filter(move |option| is_universal(*option) || named.contains(option))
    }

    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TimeoutSeconds => "timeoutSeconds",
            Self::MaxOutputBytes => "maxOutputBytes",
            Self::DryRun => "dryRun",
            Self::Cursor => "cursor",
            Self::Detail => "detail",
        }
    }

    /// Describes the option of an operation that has this time limit by default.
    pub fn describe(self, timeout_seconds: u64) -> String {
        let text = match self {
            Self::TimeoutSeconds => {
                return format!(
                    "Stop after this many seconds (1 to 3600; default {timeout_seconds}, cut to the scope's limit)."
                );
            }
            Self::MaxOutputBytes => {
                "Bound the result to this many bytes (1000 or more; default 45000, cut to the scope's limit)."
            }
            Self::DryRun => "Say what would be done, and do nothing.",
            Self::Cursor => "The `nextCursor` of an earlier result: continue from there.",
            Self::Detail => "`concise` (default) or `full`.",
        };
        text.to_owned()
    }
}

/// Reads a number of a request's options, `default` where it is not given.
///
/// # Errors
/// `invalid_request` that names the option and its range.
pub fn within(
    option: &str,
    given: Option<usize>,
    default: usize,
    range: RangeInclusive<usize>,
) -> Result<usize, Failure> {
    let number = given.unwrap_or(default);
    if range.contains(&number) {
        return Ok(number);
    }
    let (field, (least, most)) = (format!("options.{option}"), range.into_inner());
    let expected = format!("a whole number from {least} to {most}");
    Err(Failure::invalid(&field, format!("`{field}` must be {expected}"))
        .hint(format!("Set `{field}` to {expected}, or leave it out.")))
}

/// The shared options of one request, as asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommonOptions {
    /// The time limit asked for, in seconds.
    pub timeout_seconds: Option<u64>,
    /// The result size asked for, in bytes.
    pub max_output_bytes: Option<u64>,
    /// Whether nothing may be done.
    pub dry_run: bool,
    /// Where to continue.
    pub cursor: Option<String>,
    /// How much to say.
    pub detail: Detail,
}

impl CommonOptions {
    /// Reads the shared options that an operation honours, out of its options.
    ///
    /// # Errors
    /// `invalid_request` that names the option, for a wrong type or range, or for a shared option that
    /// the operation does not honour.
    pub fn read(options: &Map<String, Value>, honoured: &[CommonOption]) -> Result<Self, Failure> {
        let mut taken = Self::default();
        for option in CommonOption::honoured(honoured) {
            let name = option.as_str();
            let Some(value) = options.get(name) else { continue };
            if value.is_null() || value.as_str() == Some("") {
                continue;
            }
            let wrong = |expected: &str| {
                Failure::invalid(&format!("options.{name}"), format!("`options.{name}` must be {expected}"))
                    .hint(format!("Set `options.{name}` to {expected}, or leave it out."))
            };
            match option {
                CommonOption::TimeoutSeconds => {
                    let expected = "a whole number from 1 to 3600";
                    let seconds = value.as_u64().ok_or_else(|| wrong(expected))?;
                    if !(1..=MAX_TIMEOUT_SECONDS).contains(&seconds) {
                        return Err(wrong(expected));
                    }
                    taken.timeout_seconds = Some(seconds);
                }
                CommonOption::MaxOutputBytes => {
                    let expected = "a whole number of 1000 or more";
                    let bytes = value.as_u64().ok_or_else(|| wrong(expected))?;
                    if bytes < 1_000 {
                        return Err(wrong(expected));
                    }
                    taken.max_output_bytes = Some(bytes);
                }
                CommonOption::DryRun => {
                    taken.dry_run = value.as_bool().ok_or_else(|| wrong("true or false"))?;
                }
                CommonOption::Cursor => {
                    let expected = "a `nextCursor` of an earlier result";
                    taken.cursor = Some(value.as_str().ok_or_else(|| wrong(expected))?.to_owned());
                }
                CommonOption::Detail => {
                    taken.detail = match value.as_str() {
                        Some("concise") => Detail::Concise,
                        Some("full") => Detail::Full,
                        _ => return Err(wrong("\"concise\" or \"full\"")),
                    };
                }
            }
        }
        Ok(taken)
    }
}

/// The limits that hold for one request, after the scope's were applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The time until the operation is stopped.
    pub timeout: Duration,
    /// The bytes that `data` may take as JSON.
    pub max_output_bytes: usize,
}
