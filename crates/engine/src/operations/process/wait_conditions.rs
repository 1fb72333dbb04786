//! The conditions of a wait, as a client writes them: what each kind needs, and which process it is about.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_contract::{Access, ErrorCode, Failure, RawPath};
use bailiwick_policy::{InputPath, PermittedPath};
use bailiwick_providers::approval::Approvals;
use bailiwick_providers::process::{Cursor, Process, Processes};
use bailiwick_providers::wait::{
    Condition, FileState, MAX_PATH_BYTES, MAX_PATTERN_BYTES, Marks, Pattern, PatternError, is_path,
};

/// How many conditions one wait has.
pub(super) const MAX_CONDITIONS: usize = 32;
/// The longest time in a condition: a day.
const MAX_SECONDS: f64 = 86_400.0;
/// The shortest.
const MIN_SECONDS: f64 = 0.01;

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Until {
    /// The process ends; with `code`, only that exit code counts.
    Exit,
    /// It prints a line with `text`.
    Text,
    /// It prints a line in which the regular expression `pattern` is found.
    Regex,
    /// Something listens on `port`, in the process's own network.
    Port,
    /// A GET to `port` and `path` is answered with `status`.
    Http,
    /// The file `path` is there, is not, or changes.
    File,
    /// The process prints nothing for `seconds`.
    Quiet,
    /// The user answers `approval`.
    Approval,
    /// `seconds` pass.
    Time,
}

impl Until {
    /// Returns the name on the wire, and the fields that it has.
    const fn facts(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Exit => ("exit", &["process", "code"]),
            Self::Text => ("text", &["process", "text", "from"]),
            Self::Regex => ("regex", &["process", "pattern", "from"]),
            Self::Port => ("port", &["process", "port"]),
            Self::Http => ("http", &["process", "port", "path", "status"]),
            Self::File => ("file", &["path", "state"]),
            Self::Quiet => ("quiet", &["process", "seconds"]),
            Self::Approval => ("approval", &["approval"]),
            Self::Time => ("time", &["seconds"]),
        }
    }

    /// Returns the name on the wire.
    pub(super) const fn as_str(self) -> &'static str {
        self.facts().0
    }
}

/// One thing to wait for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RawCondition {
    /// The kind of condition.
    pub until: Until,
    /// The process; default the target. For every kind but `file`, `approval` and `time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// For `exit`: the exit code that counts; default any end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// For `text`: what a line has to contain, with upper and lower case as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// For `regex`: a regular expression in the syntax of Rust's `regex`, which is looked for in each line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// For `text` and `regex`: the position from which output counts, such as the `nextCursor` of process.read;
    /// default the beginning of what is kept, so that a line which was printed already counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<OutputPosition>,
    /// For `port` and `http`: the TCP port, 1 to 65535.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// For `file`: a path in the scope. For `http`: the path of the request; default `/`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// For `http`: the status that counts; default any from 200 to 399.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// For `file`: default `exists`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<FileState>,
    /// For `approval`: the `approvalId` of an answer `approval_required`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// For `quiet` and `time`: how long, up to a day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

/// A position in what a process prints, as a number or as the text that process.read gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OutputPosition {
    /// As a number.
    Number(u64),
    /// As text.
    Text(String),
}

impl RawCondition {
    /// Returns the condition that the target ends.
    pub(super) const fn end() -> Self {
        Self {
            until: Until::Exit,
            process: None,
            code: None,
            text: None,
            pattern: None,
            from: None,
            port: None,
            path: None,
            status: None,
            state: None,
            approval: None,
            seconds: None,
        }
    }

    /// Returns the path that the policy has to judge, if it has one.
    pub(super) fn path(&self, field: &'static str) -> Option<InputPath> {
        let path = self.path.clone().filter(|_| self.until == Until::File)?;
        Some(InputPath { field, path: RawPath(path), access: Access::Read })
    }

    /// Checks it and finds its process. `field` names it in messages; `patterns` is how many conditions have one;
    /// `judged` is its path, if it has one.
    ///
    /// # Errors
    /// `invalid_request`, `process_not_found`.
    pub(super) fn read(
        &self,
        field: &str,
        finder: &Finder<'_>,
        patterns: usize,
        judged: Option<PermittedPath>,
    ) -> Result<Condition, Failure> {
        let reader = Reader { raw: self, field, finder };
        reader.refuse_foreign_fields()?;
        Ok(match self.until {
            Until::Exit => Condition::Exit(reader.process()?, self.code),
            Until::Text => {
                let text = reader.needed("text", self.text.as_deref())?;
                let pattern = Pattern::text(text).map_err(|error| reader.no_pattern("text", &error))?;
                Condition::Output(reader.process()?, Arc::new(pattern), reader.from()?)
            }
            Until::Regex => {
                let text = reader.needed("pattern", self.pattern.as_deref())?;
                let pattern =
                    Pattern::regex(text, patterns).map_err(|error| reader.no_pattern("pattern", &error))?;
                Condition::Output(reader.process()?, Arc::new(pattern), reader.from()?)
            }
            Until::Port => Condition::Port(reader.process()?, reader.port()?),
            Until::Http => {
                let path = self.path.as_deref().unwrap_or("/");
                if !is_path(path) {
                    let expected =
                        format!("`/` and visible ASCII without blanks, at most {MAX_PATH_BYTES} bytes");
                    return Err(reader.wrong("path", &expected));
                }
                if self.status.is_some_and(|status| !(100..=599).contains(&status)) {
                    return Err(reader.wrong("status", "a number from 100 to 599"));
                }
                Condition::Http(reader.process()?, reader.port()?, path.to_owned(), self.status)
            }
            Until::File => {
                let path = judged.ok_or_else(|| reader.missing("path"))?;
                Condition::File(path, self.state.unwrap_or(FileState::Exists))
            }
            Until::Quiet => Condition::Quiet(reader.process()?, reader.seconds()?),
            Until::Approval => reader.approval()?,
            Until::Time => Condition::Time(reader.seconds()?),
        })
    }
}

/// Where processes are found.
pub(super) struct Finder<'a> {
    /// The processes of this computer.
    pub processes: &'a Processes,
    /// The scope.
    pub scope: &'a str,
    /// The process that conditions are about which name none.
    pub target: Option<&'a str>,
    /// Where tickets are found.
    pub approvals: &'a Approvals,
    /// Whose tickets are found.
    pub caller: &'a str,
}

/// Reads one condition.
struct Reader<'a> {
    raw: &'a RawCondition,
    field: &'a str,
    finder: &'a Finder<'a>,
}

impl Reader<'_> {
    fn refuse_foreign_fields(&self) -> Result<(), Failure> {
        let raw = self.raw;
        let given = [
            ("process", raw.process.is_some()),
            ("code", raw.code.is_some()),
            ("text", raw.text.is_some()),
            ("pattern", raw.pattern.is_some()),
            ("from", raw.from.is_some()),
            ("port", raw.port.is_some()),
            ("path", raw.path.is_some()),
            ("status", raw.status.is_some()),
            ("state", raw.state.is_some()),
            ("approval", raw.approval.is_some()),
            ("seconds", raw.seconds.is_some()),
        ];
        let (kind, fields) = raw.until.facts();
        match given.iter().find(|(name, is_given)| *is_given && !fields.contains(name)) {
            None => Ok(()),
            Some((name, _)) => Err(self
                .failure(name, &format!("a condition with `until` `{kind}` has no field `{name}`"))
                .detail("accepted", fields.to_vec())
                .hint(format!("Its fields are {}.", fields.join(", ")))),
        }
    }

    fn process(&self) -> Result<Arc<Process>, Failure> {
        let id = self.raw.process.as_deref().or(self.finder.target).ok_or_else(|| {
            let kind = self.raw.until.as_str();
            self.failure("process", &format!("`until` `{kind}` waits for a process, and none is named"))
                .hint("Set `process` to the processId that process.start gave, or send it as the target.")
        })?;
        let found = self.finder.processes.find(self.finder.scope, id);
        found.map_err(|failure| failure.detail("field", format!("{}.process", self.field)))
    }

    /// Finds a ticket of the caller's own, in this scope.
    fn approval(&self) -> Result<Condition, Failure> {
        let id = self.needed("approval", self.raw.approval.as_deref())?;
        let found = self.finder.approvals.find(id).map_err(|error| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("the approvals cannot be read: {error}"))
        })?;
        let is_own = found.is_some_and(|(ticket, _)| {
            ticket.caller_id == self.finder.caller && ticket.scope == self.finder.scope
        });
        if !is_own {
            let failure =
                Failure::new(ErrorCode::NotFound, "no request of yours waits for approval by that id");
            return Err(failure
                .detail("field", format!("{}.approval", self.field))
                .hint("Use the `approvalId` of the answer, or send the request again."));
        }
        Ok(Condition::Approval(self.finder.approvals.clone(), id.to_owned()))
    }

    fn port(&self) -> Result<u16, Failure> {
        self.raw.port.filter(|port| *port > 0).ok_or_else(|| self.wrong("port", "a number from 1 to 65535"))
    }

    fn from(&self) -> Result<Marks, Failure> {
        let cursor = match &self.raw.from {
            None => Cursor::default(),
            Some(OutputPosition::Number(position)) => Cursor::at(*position),
            Some(OutputPosition::Text(text)) => Cursor::parse(&format!("{}.from", self.field), text)?,
        };
        Ok([cursor.stdout, cursor.stderr])
    }

    fn seconds(&self) -> Result<Duration, Failure> {
        let seconds = self.raw.seconds.ok_or_else(|| self.missing("seconds"))?;
        if (MIN_SECONDS..=MAX_SECONDS).contains(&seconds) {
            Ok(Duration::from_secs_f64(seconds))
        } else {
            Err(self.wrong("seconds", &format!("a number from {MIN_SECONDS} to {MAX_SECONDS}")))
        }
    }

    fn needed<'a>(&self, name: &str, text: Option<&'a str>) -> Result<&'a str, Failure> {
        text.filter(|text| !text.is_empty()).ok_or_else(|| self.missing(name))
    }

    fn missing(&self, name: &str) -> Failure {
        let kind = self.raw.until.as_str();
        self.failure(name, &format!("`until` `{kind}` needs `{name}`, which is missing"))
            .hint(format!("Add `{name}` to `{}`.", self.field))
    }

    fn wrong(&self, name: &str, expected: &str) -> Failure {
        self.failure(name, &format!("`{}.{name}` must be {expected}", self.field))
    }

    fn no_pattern(&self, name: &str, error: &PatternError) -> Failure {
        let failure = self.failure(name, &format!("`{}.{name}` cannot be looked for: {error}", self.field));
        match error {
            PatternError::Length => failure.hint(format!("Use at most {MAX_PATTERN_BYTES} bytes of it.")),
            PatternError::LineBreak => {
                failure.hint("Wait for one line of it, or for each in a condition of its own.")
            }
            PatternError::Regex(_) => {
                failure.hint("Use the syntax of Rust's regex, without look-around and back-references; make it shorter if it is too large.")
            }
        }
    }

    fn failure(&self, name: &str, message: &str) -> Failure {
        Failure::invalid(&format!("{}.{name}", self.field), message)
    }
}
