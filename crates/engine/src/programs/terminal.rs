//! The terminal of a process, as requests and results write it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_contract::Failure;
use bailiwick_platform::emulator::{MAX_COLUMNS, MAX_ROWS};
use bailiwick_platform::launch::kept;

/// The terminal that a process gets, unless its size is named.
const TERMINAL: kept::TerminalSize = kept::TerminalSize { rows: 24, columns: 80 };
/// The largest terminal: what is drawn on it takes memory.
const MAX_TERMINAL: TerminalSize = TerminalSize { rows: MAX_ROWS, columns: MAX_COLUMNS };

/// Whether there is a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "`true`, `false` or `{\"rows\": 24, \"columns\": 80}`")]
pub enum TerminalInput {
    /// One of 24 rows and 80 columns, or none.
    Flag(bool),
    /// One of this size.
    Size(TerminalSize),
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalSize {
    /// Lines; 1 to 500.
    pub rows: u16,
    /// Characters in a line; 1 to 1000.
    pub columns: u16,
}

impl TerminalInput {
    /// Returns the terminal that is asked for.
    ///
    /// # Errors
    /// As [`TerminalSize::check`].
    pub fn size(self, field: &str) -> Result<Option<kept::TerminalSize>, Failure> {
        match self {
            Self::Flag(false) => Ok(None),
            Self::Flag(true) => Ok(Some(TERMINAL)),
            Self::Size(size) => size.check(field).map(Some),
        }
    }
}

impl TerminalSize {
    /// Refuses sizes that no terminal has.
    ///
    /// # Errors
    /// `invalid_request` that names the field.
    pub fn check(self, field: &str) -> Result<kept::TerminalSize, Failure> {
        let Self { rows, columns } = self;
        let fits = (1..=MAX_TERMINAL.rows).contains(&rows) && (1..=MAX_TERMINAL.columns).contains(&columns);
        if !fits {
            return Err(Failure::invalid(
                field,
                format!("no terminal has {rows} rows and {columns} columns"),
            )
            .hint("Use 1 to 500 rows and 1 to 1000 columns."));
        }
        Ok(kept::TerminalSize { rows, columns })
    }
}

impl From<kept::TerminalSize> for TerminalSize {
    fn from(size: kept::TerminalSize) -> Self {
        Self { rows: size.rows, columns: size.columns }
    }
}
