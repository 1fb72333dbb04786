//! What is asked for, and what is told of a process that lasts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::RingWriter;
use crate::handle::Handle;
use crate::launch::pipe::Receiver;
use crate::launch::{ActiveSandbox, MemoryExcess, ProcessLimits, SandboxRequest, Step};

/// The most bytes of input in one request, and the most that wait for the program to read them.
pub const MAX_INPUT_BYTES: usize = 64 << 10;

/// Which stream of a program bytes came from. A terminal has one stream only, which counts as `Stdout`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// What standard input is, where there is no terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// `/dev/null`.
    Null,
    /// A pipe, which [`super::Control::input`] writes to.
    Pipe,
}

/// How long a process may last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lifetime {
    /// It outlives the service that started it.
    Durable,
    /// It is killed when the service that started it ends, for whatever reason.
    Service,
}

/// A plan to run that lasts, with everything that it gets.
#[derive(Debug)]
pub struct KeeperRequest {
    /// The pipelines, in order; at least one.
    pub plan: Vec<Step>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The working folder, opened.
    pub cwd: Handle,
    /// The path of the working folder. Inside a sandbox it is opened by this path and must be the same folder.
    pub cwd_path: PathBuf,
    /// How strongly the plan is held.
    pub hold: SandboxRequest,
    /// As in [`LaunchRequest`](crate::launch::LaunchRequest).
    pub proxy: Option<Handle>,
    /// What it may use up.
    pub limits: ProcessLimits,
    /// The folder of the process; made if it is missing. It holds no status, ring or control socket yet.
    pub folder: PathBuf,
    /// What standard input is, where there is no terminal.
    pub input: Input,
    /// The size of the terminal that all standard streams are; none for pipes.
    pub terminal: Option<TerminalSize>,
    /// How many bytes of disk the ring may use. At least half of it is always kept.
    pub ring_bytes: u64,
    /// How long it may last.
    pub lifetime: Lifetime,
    /// How long the plan may run: then it is asked to end, and killed a little later.
    pub max_time: Duration,
    /// A folder that is removed with everything in it when the plan has ended.
    pub temporary: Option<PathBuf>,
}

/// What makes a process that lasts of a running job.
#[derive(Debug)]
pub struct AdoptRequest<'a> {
    /// The folder of the process. It holds the ring, but no status or control socket yet.
    pub folder: &'a Path,
    /// What the job printed so far.
    pub ring: &'a RingWriter,
    /// How many bytes of disk the ring may use.
    pub ring_bytes: u64,
    /// Where standard output is read. Nobody else reads it any more.
    pub stdout: &'a Receiver,
    /// Where standard error is read.
    pub stderr: &'a Receiver,
    /// When the job was started, in milliseconds since 1970.
    pub started_at_ms: i64,
    /// How long it may last.
    pub lifetime: Lifetime,
    /// How long the plan may run from now on.
    pub max_time: Duration,
    /// A folder that is removed with everything in it when the plan has ended.
    pub temporary: Option<&'a Path>,
}

/// What has become of a job that was to be a process that lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdoptionOutcome {
    /// A keeper has it. It is killed with the job until [`Job::keep`](crate::launch::Job::keep).
    Kept,
    /// It has ended before, which [`Job::ended`](crate::launch::Job::ended) tells. Nothing is in the folder but the ring.
    Ended,
}

/// How things stand with a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is being started.
    Starting,
    /// It runs.
    Running,
    /// It has ended, and nothing of it is left.
    Ended,
    /// It could not be started, or a later step of the plan could not. Nothing of it is left.
    Failed,
    /// Its keeper was killed, so that its end is not known.
    Lost,
}

impl State {
    /// Returns whether nothing will change any more.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Ended | Self::Failed | Self::Lost)
    }

    /// Returns its name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Ended => "ended",
            Self::Failed => "failed",
            Self::Lost => "lost",
        }
    }
}

/// How things stand with a process, and what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Whether it runs.
    pub state: State,
    /// The number of its keeper, outside of any namespace; 0 where it had none.
    pub process_id: u32,
    /// When it was started, in milliseconds since 1970.
    pub started_at_ms: i64,
    /// When it ended.
    pub ended_at_ms: Option<i64>,
    /// The exit code of the last command that ran, unless a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended the last command that ran.
    pub signal: Option<i32>,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// How many processes were still there at the end, and were killed.
    pub left_killed: u32,
    /// What it took when it was ended for taking more memory than it may.
    pub memory_excess: Option<MemoryExcess>,
    /// What is in force around it.
    pub held: ActiveSandbox,
    /// How many bytes it printed to standard output or its terminal.
    pub stdout_bytes: u64,
    /// How many bytes it printed to standard error.
    pub stderr_bytes: u64,
    /// The position after the last byte: of both streams together, in the order of their arrival.
    pub end: u64,
    /// How many of these bytes could not be written to disk.
    pub lost_bytes: u64,
    /// The size of its terminal; none for pipes.
    pub terminal: Option<TerminalSize>,
    /// Why it failed. Cut to 160 bytes.
    pub failure: Option<String>,
}

/// Bytes of one stream that arrived together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The stream.
    pub stream: Stream,
    /// When they arrived, in milliseconds since 1970.
    pub at_ms: i64,
    /// The position of the first byte.
    pub position: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A part of what a process printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RingRead {
    /// What was printed, in the order of arrival.
    pub frames: Vec<Frame>,
    /// Where the next reading begins.
    pub next: u64,
    /// How many bytes lay before or between, and are not kept any more or could not be written.
    pub skipped_bytes: u64,
    /// The position after the last byte that was printed so far.
    pub end: u64,
}

/// Why a running process could not be spoken to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// The process has ended, or its keeper was killed.
    #[error("the process has ended")]
    Gone,
    /// The program does not read its input, and as much waits for it as can.
    #[error("the program does not read its input, and {MAX_INPUT_BYTES} bytes wait already")]
    Full,
    /// The program has no input, or it was closed.
    #[error("the program has no open input")]
    NoInput,
    /// The program has no terminal.
    #[error("the program has no terminal")]
    NoTerminal,
    /// The input is longer than one call takes ([`MAX_INPUT_BYTES`]).
    #[error("one call takes {MAX_INPUT_BYTES} bytes of input at most")]
    TooLong,
    /// Nothing listens at the port.
    #[error("nothing listens at this port")]
    NotListening,
    /// The system refused it.
    #[error("{0}")]
    System(String),
}

/// What a watched process tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It has printed more; several times count as one.
    Output {
        /// The position after the last byte.
        end: u64,
    },
    /// It has ended, and its last status is written.
    Ended,
}
