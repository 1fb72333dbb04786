//! What is waited for, and what became of it.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::approval::{Approvals, Progress};
use crate::process::Process;
use bailiwick_platform::launch::kept::Status;
use bailiwick_policy::PermittedPath;

use super::{Marks, Pattern, PatternMatch, WebAnswer};

/// One thing that is waited for.
#[derive(Debug)]
pub enum Condition {
    /// The process ends, with this exit code if one is named.
    Exit(Arc<Process>, Option<i32>),
    /// The process prints a line with the pattern, from this position on.
    Output(Arc<Process>, Arc<Pattern>, Marks),
    /// Something of the process listens on this port, in the process's own network.
    Port(Arc<Process>, u16),
    /// A GET to this port and path is answered: with this status, or with any from 200 to 399.
    Http(Arc<Process>, u16, String, Option<u16>),
    /// The process prints nothing for this long, counted from the beginning of the wait at the earliest.
    Quiet(Arc<Process>, Duration),
    /// The file comes, goes or changes.
    File(PermittedPath, FileState),
    /// The user has answered the ticket of this id, or its time is over.
    Approval(Approvals, String),
    /// This much time has passed since the beginning of the wait.
    Time(Duration),
}

impl Condition {
    /// Returns the process that it is about, if it is about one.
    pub fn process(&self) -> Option<&Arc<Process>> {
        match self {
            Self::Exit(process, ..)
            | Self::Output(process, ..)
            | Self::Port(process, ..)
            | Self::Http(process, ..)
            | Self::Quiet(process, ..) => Some(process),
            Self::File(..) | Self::Approval(..) | Self::Time(_) => None,
        }
    }
}

/// What a file is waited to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileState {
    /// It is there.
    Exists,
    /// It is not there.
    Absent,
    /// It is not as it was when the wait began: its content or facts changed, it came or it went.
    Changed,
}

/// How a condition stands.
#[derive(Debug)]
pub enum ConditionStatus {
    /// It may yet come true.
    Waiting,
    /// It has come true.
    Held(Evidence),
    /// It cannot come true any more, for this reason.
    Impossible(String),
}

/// What showed that a condition holds.
#[derive(Debug)]
pub enum Evidence {
    /// There is no more to say.
    Bare,
    /// How the process ended.
    Ended(Box<Status>),
    /// A line of output.
    Line(PatternMatch),
    /// An answer.
    Answered(Box<WebAnswer>),
    /// What became of a ticket.
    Decided(Progress),
}

/// Whether one condition is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionMode {
    /// One of them.
    Any,
    /// Each of them, at one time or another.
    All,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// What was waited for has happened.
    Held,
    /// The time was over first: `resume` continues from there.
    TimeOver,
    /// It cannot happen any more, since a process has ended.
    Impossible,
}
