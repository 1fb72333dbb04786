//! The result of a run of Codex, within the size that a result may have.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::programs::{CommandChanges, PlannedCommand, Sandbox};
use bailiwick_contract::Detail;
use bailiwick_providers::codex::{CommandRow, Events, FileRow, ToolCall, Usage};

use super::job::CodexSandbox;

/// How much of standard error is given.
pub const STDERR_BYTES: usize = 4_000;
/// The fewest bytes of the final message that are kept when room is short.
const LEAST_MESSAGE_BYTES: usize = 2_000;

/// How Codex ended, and what it did.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The session; `options.resume` continues with it. `null` if Codex did not get so far.
    pub session_id: Option<String>,
    /// Codex's exit code; `null` if a signal ended it, or nothing was run.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// What Codex said last.
    pub final_message: Option<String>,
    /// The commands that it ran.
    pub commands: Vec<CommandRow>,
    /// The files that it says it changed by patches; `diffSummary` has what did change.
    pub file_changes: Vec<FileRow>,
    /// Calls of tools that are no commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// What it says went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// What the model used up; `null` if it was not told.
    pub usage: Option<Usage>,
    /// What changed in the working folder, as `{changedFiles, insertions, deletions, files, truncated}`, seen on disk;
    /// `null` if it could not be found out.
    #[schemars(with = "Option<super::difference::Difference>")]
    pub diff_summary: Option<Value>,
    /// What it changed in the folders of the scope, where `policy.undo` is `commands`, if anything: history.undo takes it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<CommandChanges>,
    /// The end of what Codex printed to standard error.
    pub stderr: String,
    /// How many of the lines that it printed were not understood.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown_events: u64,
    /// What held Codex.
    pub sandbox: Sandbox,
    /// What held the commands that Codex ran, inside of that.
    pub codex_sandbox: CodexSandbox,
    /// The version of Codex.
    pub codex_version: String,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// Whether something was left out or shortened for the size of the result.
    pub truncated: bool,
    /// `true` if nothing was run, since `options.dryRun` was set; `plan` says what would be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// With `options.dryRun`: the command that would start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Vec<PlannedCommand>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Outcome {
    /// Creates the result of nothing yet.
    pub fn begun(sandbox: Sandbox, codex_sandbox: CodexSandbox, codex_version: String) -> Self {
        Self {
            session_id: None,
            exit_code: None,
            signal: None,
            timed_out: false,
            final_message: None,
            commands: Vec::new(),
            file_changes: Vec::new(),
            tool_calls: Vec::new(),
            errors: Vec::new(),
            usage: None,
            diff_summary: None,
            changes: None,
            stderr: String::new(),
            unknown_events: 0,
            sandbox,
            codex_sandbox,
            codex_version,
            duration_ms: 0,
            truncated: false,
            dry_run: false,
            plan: None,
        }
    }

    /// Takes over what Codex told.
    pub fn told(&mut self, events: Events, detail: Detail) {
        self.file_changes = events.file_changes();
        self.commands = events.commands().cloned().collect();
        if detail == Detail::Concise {
            self.commands.iter_mut().for_each(|row| row.output = None);
        }
        self.truncated |= events.left_out > 0;
        self.session_id = events.session_id;
        self.final_message = events.final_message;
        self.tool_calls = events.tool_calls;
        self.errors = events.errors;
        self.usage = events.usage;
        self.unknown_events = events.unknown;
    }

    /// Says in a few words how it ended, for the history.
    pub fn ending(&self) -> String {
        let files = self.diff_summary.as_ref().and_then(|summary| summary["changedFiles"].as_u64());
        let files = files.map(|count| format!(", {count} files changed")).unwrap_or_default();
        match (&self.signal, self.exit_code) {
            _ if self.timed_out => format!("time over{files}"),
            (Some(signal), _) => format!("{signal}{files}"),
            (None, Some(code)) => format!("exit {code}{files}"),
            (None, None) => format!("end unknown{files}"),
        }
    }

    /// Leaves out what has no room: first what commands printed, then rows, last the end of the message.
    pub fn fit(&mut self, room: usize) {
        while self.bytes() > room && self.leave_something_out() {
            self.truncated = true;
        }
    }

    fn bytes(&self) -> usize {
        serde_json::to_string(self).map_or(0, |text| text.len())
    }

    fn leave_something_out(&mut self) -> bool {
        if self.commands.iter().any(|row| row.output.is_some()) {
            self.commands.iter_mut().for_each(|row| row.output = None);
            return true;
        }
        let files = self.diff_summary.as_mut().and_then(|summary| {
            summary["truncated"] = Value::Bool(true);
            summary["files"].as_array_mut()
        });
        let mut halved = false;
        if let Some(files) = files.filter(|files| files.len() > 10) {
            files.truncate(files.len() / 2);
            halved = true;
        }
        halved |= halve(&mut self.commands) | halve(&mut self.file_changes) | halve(&mut self.tool_calls);
        halved |= halve(&mut self.errors);
        if halved {
            return true;
        }
        if !self.stderr.is_empty() {
            self.stderr.clear();
            return true;
        }
        match &mut self.final_message {
            Some(message) if message.len() > LEAST_MESSAGE_BYTES => {
                message.truncate(message.floor_char_boundary(message.len() * 3 / 4));
                message.push('…');
                true
            }
            _ => false,
        }
    }
}

/// Leaves out the older half of a list.
fn halve<T>(rows: &mut Vec<T>) -> bool {
    let is_long = rows.len() > 10;
    if is_long {
        rows.drain(..rows.len() / 2);
    }
    is_long
}
