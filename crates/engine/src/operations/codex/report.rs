//! What a started Codex has told so far, read from what its process left on disk.

use std::sync::Arc;

use crate::registry::Context;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::launch::kept::{Status, Stream};
use bailiwick_providers::codex::{Events, Record, Step};
use bailiwick_providers::process::Process;

use super::outcome::STDERR_BYTES;

/// How much is read at a time.
const PIECE_BYTES: usize = 64 << 10;
/// The most lines whose steps are kept for a reader.
const MAX_STEPS: usize = 20_000;

/// What was told.
pub struct CodexReport {
    /// How the process stood before anything was read.
    pub status: Status,
    /// All of it.
    pub events: Events,
    /// What was done, each with the number of its line.
    pub steps: Vec<(u64, Step)>,
    /// How many lines there were.
    pub lines: u64,
    /// How much at the beginning is not kept any more.
    pub skipped_bytes: u64,
    /// The end of standard error.
    pub stderr: String,
}

/// A started Codex.
pub struct CodexProcess {
    /// Its process.
    pub process: Arc<Process>,
    /// What is known of it.
    pub record: Record,
}

impl CodexProcess {
    /// Finds the runs of a scope that were started, newest first.
    pub fn all(cx: &Context, scope: &str) -> Vec<Self> {
        let processes = cx.service.processes.list(scope).into_iter();
        processes
            .filter_map(|process| Some(Self { record: Record::read(process.folder())?, process }))
            .collect()
    }

    /// Finds the run of a process.
    ///
    /// # Errors
    /// `process_not_found`, also for a process that is no Codex.
    pub fn of_process(cx: &Context, scope: &str, id: &str) -> Result<Self, Failure> {
        let process = cx.service.processes.find(scope, id)?;
        match Record::read(process.folder()) {
            Some(record) => Ok(Self { process, record }),
            None => Err(Failure::new(ErrorCode::ProcessNotFound, format!("process {id} is no Codex"))
                .hint("process.read reads other processes; codex.list gives the runs of Codex.")),
        }
    }

    /// Returns the session, from the record or from what was told.
    pub fn session_id(&self) -> Option<String> {
        self.record.session_id.clone().or_else(|| self.told().ok()?.events.session_id)
    }

    /// Reads everything that was told.
    ///
    /// # Errors
    /// Those of the process's files.
    pub fn told(&self) -> Result<CodexReport, Failure> {
        // First its state: of what is over nothing is missed.
        let status = self.process.status()?;
        let events = Events::in_place(self.record.folder.clone(), self.process.facts.folder.clone());
        let mut told = CodexReport {
            status,
            events,
            steps: Vec::new(),
            lines: 0,
            skipped_bytes: 0,
            stderr: String::new(),
        };
        let (mut next, mut line, mut stderr) = (0, Vec::new(), Vec::new());
        while next < told.status.end {
            let read = self.process.read(next, PIECE_BYTES)?;
            if read.skipped_bytes > 0 {
                told.skipped_bytes += read.skipped_bytes;
                // What is left of a line that began before cannot be read.
                line.clear();
            }
            for frame in &read.frames {
                match frame.stream {
                    Stream::Stdout => told.take(&frame.bytes, &mut line),
                    Stream::Stderr => keep_end(&mut stderr, &frame.bytes),
                }
            }
            if read.next <= next {
                break;
            }
            next = read.next;
        }
        if told.status.state.is_final() && !line.is_empty() {
            told.line(&line);
        }
        told.stderr = String::from_utf8_lossy(&stderr).into_owned();
        Ok(told)
    }
}

impl CodexReport {
    fn take(&mut self, mut bytes: &[u8], line: &mut Vec<u8>) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, rest) = bytes.split_at(end);
            line.extend_from_slice(head);
            bytes = &rest[1..];
            self.line(&std::mem::take(line));
        }
        line.extend_from_slice(bytes);
    }

    fn line(&mut self, line: &[u8]) {
        let number = self.lines;
        self.lines += 1;
        if let Some(step) = self.events.line(line)
            && self.steps.len() < MAX_STEPS
        {
            self.steps.push((number, step));
        }
    }
}

fn keep_end(kept: &mut Vec<u8>, bytes: &[u8]) {
    kept.extend_from_slice(bytes);
    if kept.len() > STDERR_BYTES {
        kept.drain(..kept.len() - STDERR_BYTES);
    }
}
