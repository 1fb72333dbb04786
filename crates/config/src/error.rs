//! Why a file of the user's decisions is not accepted.

use std::fmt;
use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, Failure};

/// Why `config.json` or `tokens.json` is refused: where, what is wrong, and the smallest fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The file.
    pub file: PathBuf,
    /// The place in it, such as `line 4, column 7` or `scopes[0].id`; empty for the file as a whole.
    pub place: String,
    /// The field alone, such as `scopes[0].id`; empty where it is not about one.
    pub field: Box<str>,
    /// What is wrong and what was expected. No path outside the file's own words, no secret.
    pub problem: String,
    /// What to do, imperative.
    pub fix: String,
    /// Whether the file is simply not there.
    pub missing: bool,
}

impl ConfigError {
    /// Creates an error about a place in a file.
    pub fn new(file: &Path, place: &str, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            place: place.to_owned(),
            field: place.rsplit(", ").next().and_then(quoted).unwrap_or_default().into(),
            problem: problem.into(),
            fix: fix.into(),
            missing: false,
        }
    }

    /// Tells the user: with the file.
    pub fn for_person(&self) -> Failure {
        Failure::new(ErrorCode::ProviderUnavailable, self.to_string()).hint(self.fix.clone())
    }

    /// Tells a client: with the place, without the file's path and without the user's own words.
    pub fn for_client(&self) -> Failure {
        let name = self.file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        let place = if self.place.is_empty() { String::new() } else { format!(" at {}", self.place) };
        Failure::new(ErrorCode::ProviderUnavailable, format!("nothing is served: {name} is broken{place}"))
            .detail("rule", "broken-config")
            .hint(
                "For the user: `bailiwick status` says what is wrong; the service continues when it is fixed.",
            )
    }
}

/// The field of a place, which is in backquotes.
fn quoted(place: &str) -> Option<&str> {
    place.strip_prefix('`')?.strip_suffix('`')
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if !self.place.is_empty() {
            write!(f, ", {}", self.place)?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for ConfigError {}
