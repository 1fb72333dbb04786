//! Running what was prepared: its streams read until the end, its time bounded, nothing left behind.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::launch::kept::Stream;
use bailiwick_platform::launch::{ActiveSandbox, Job, LaunchError, LaunchRequest, Launcher, PlanEnd, pipe};

use super::capture::{Capture, CapturedStream};
use super::prepare::{ReadyCommand, start_proxy};
use super::temporary::TemporaryFolder;
use crate::egress::{NetworkUse, Proxy};
use crate::repositories::Review;

/// How long programs have between being asked to end and being killed, at the time limit.
const GRACE: Duration = Duration::from_millis(1_500);
/// How long after that the end is waited for.
const AFTER_GRACE: Duration = Duration::from_secs(2);
/// How long the rest of the output is read when nothing is left that could write more.
const DRAIN: Duration = Duration::from_millis(500);
/// The buffer that each stream is read into, at first and once much arrives.
const BUFFER_BYTES: [usize; 2] = [4_096, 256 << 10];

/// Hears what a command prints while it runs.
pub type Listener<'a> = Box<dyn FnMut(Stream, &[u8]) + Send + 'a>;

/// How a command is run.
pub struct RunOptions<'a> {
    /// What it reads on standard input; none means nothing.
    pub stdin: Option<Vec<u8>>,
    /// When its time is over.
    pub deadline: Instant,
    /// What is kept of standard output.
    pub stdout: Capture,
    /// What is kept of standard error.
    pub stderr: Capture,
    /// Hears both streams, as they come.
    pub listener: Option<Listener<'a>>,
}

/// How a command ended.
#[derive(Debug)]
pub struct CommandEnd {
    /// Exit, signal, and what held it; none if even killing it was not confirmed in time.
    pub ended: Option<PlanEnd>,
    /// Whether its time was over before it ended on its own.
    pub timed_out: bool,
    /// What was kept of standard output.
    pub stdout: CapturedStream,
    /// What was kept of standard error.
    pub stderr: CapturedStream,
    /// From its start to its end.
    pub elapsed: Duration,
    /// What a person should know of it: before Git is used there again, and why it may have failed. A sentence each.
    pub warnings: Vec<String>,
    /// What it reached by its proxy, if it had one.
    pub network: Option<NetworkUse>,
}

/// Runs a prepared command to its end, or until its time is over.
///
/// When this is dropped before it is done, everything that was started is killed.
///
/// # Errors
/// `provider_unavailable` where it could not be started as it must be held.
pub async fn run(
    launcher: &Launcher,
    prepared: ReadyCommand,
    running: RunOptions<'_>,
) -> Result<CommandEnd, Failure> {
    let RunOptions { stdin, deadline, stdout, stderr, listener } = running;
    let mut listener = listener.unwrap_or_else(|| Box::new(|_, _| {}));
    let run = Run::start(launcher, prepared, stdin, [stdout, stderr]).await?;
    run.finish(deadline, &mut listener).await
}

/// A command that runs. Dropping it kills everything that was started.
#[derive(Debug)]
pub struct Run {
    pub(in super::super) job: Job,
    pub(in super::super) stdout: Output,
    pub(in super::super) stderr: Output,
    feeding: InputWriter,
    /// Removed when the command has ended.
    pub(in super::super) temporary: Option<TemporaryFolder>,
    pub(in super::super) review: Option<Review>,
    pub(in super::super) proxy: Option<Proxy>,
    began: Instant,
}

/// One of the streams that a command prints to.
#[derive(Debug)]
pub(in super::super) struct Output {
    pub(in super::super) reader: pipe::Receiver,
    capture: Capture,
    buffer: Vec<u8>,
    is_over: bool,
}

/// Writes standard input, until it is dropped.
#[derive(Debug, Default)]
struct InputWriter(Option<JoinHandle<()>>);

impl Drop for InputWriter {
    fn drop(&mut self) {
        if let Some(feeding) = &self.0 {
            feeding.abort();
        }
    }
}

impl Run {
    /// Starts a prepared command.
    ///
    /// # Errors
    /// `provider_unavailable` where it could not be started as it must be held.
    pub async fn start(
        launcher: &Launcher,
        prepared: ReadyCommand,
        stdin: Option<Vec<u8>>,
        [stdout, stderr]: [Capture; 2],
    ) -> Result<Self, Failure> {
        let (out_reader, out_writer) = pipe::from_program().map_err(|error| no_pipe(&error))?;
        let (err_reader, err_writer) = pipe::from_program().map_err(|error| no_pipe(&error))?;
        let (in_reader, in_writer) = match &stdin {
            None => (None, None),
            Some(_) => {
                let (reader, writer) = pipe::to_program().map_err(|error| no_pipe(&error))?;
                (Some(reader), Some(writer))
            }
        };
        let (proxy, proxy_end) = start_proxy(prepared.egress)?.unzip();
        let request = LaunchRequest {
            plan: prepared.plan,
            environment: prepared.environment,
            cwd: prepared.cwd,
            cwd_path: prepared.cwd_path,
            hold: prepared.hold,
            port: proxy_end.or(prepared.overlay),
            limits: prepared.limits,
            stdin: in_reader,
            stdout: out_writer,
            stderr: err_writer,
        };
        let began = Instant::now();
        let job = launcher.launch(request).await.map_err(|error| not_started(&error))?;
        // Apart from the output: what a program does not read need not be written.
        let feeding = in_writer.zip(stdin).map(|(writer, bytes)| tokio::spawn(feed(writer, bytes)));
        Ok(Self {
            job,
            stdout: Output::new(out_reader, stdout),
            stderr: Output::new(err_reader, stderr),
            feeding: InputWriter(feeding),
            temporary: prepared.temporary,
            review: prepared.review,
            proxy,
            began,
        })
    }

    /// Returns what holds it.
    pub fn held(&self) -> &ActiveSandbox {
        self.job.held()
    }

    /// Returns how long it has been running.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Reads what it prints until it has ended, or until a moment. Returns whether it has ended.
    pub async fn wait(&mut self, until: Instant, hear: &mut Listener<'_>) -> bool {
        self.wait_for_end(until, hear).await.is_some()
    }

    /// Runs it to its end, or until its time is over.
    ///
    /// # Errors
    /// `provider_unavailable` where a later part of it could not be started as it must be held.
    pub async fn finish(mut self, deadline: Instant, hear: &mut Listener<'_>) -> Result<CommandEnd, Failure> {
        let mut ended = self.wait_for_end(deadline, hear).await;
        let timed_out = ended.is_none();
        if timed_out {
            self.job.stop(GRACE);
            ended = self.wait_for_end(Instant::now() + GRACE + AFTER_GRACE, hear).await;
        }
        // Nothing is left that could write, but for what has left the supervisor's reach unheld.
        let _ = tokio::time::timeout(DRAIN, async {
            while !(self.stdout.is_over && self.stderr.is_over) {
                self.read(hear).await;
            }
        })
        .await;
        let elapsed = self.began.elapsed();
        let ended = ended.transpose().map_err(|error| not_started(&error))?;
        let has_failed = !timed_out && ended.as_ref().is_some_and(|ended| ended.exit_code != Some(0));
        let warnings = match self.review.take() {
            Some(review) if !review.reads_disk() => review.finish(has_failed),
            Some(review) => {
                tokio::task::spawn_blocking(move || review.finish(has_failed)).await.unwrap_or_default()
            }
            None => Vec::new(),
        };
        let (stdout, stderr) = (self.stdout.capture.finish(), self.stderr.capture.finish());
        let network = self.proxy.as_ref().map(Proxy::usage);
        Ok(CommandEnd { ended, timed_out, stdout, stderr, elapsed, warnings, network })
    }

    /// Leaves it to its keeper, which has its job. Returns what was kept of both streams.
    ///
    /// # Errors
    /// Where the job was given up.
    pub(in super::super) async fn leave(mut self) -> Result<[CapturedStream; 2], LaunchError> {
        self.job.keep().await?;
        // What it still reads is written for as long as it reads it.
        self.feeding.0 = None;
        if let Some(temporary) = self.temporary.take() {
            temporary.hand_over();
        }
        Ok([self.stdout.capture.finish(), self.stderr.capture.finish()])
    }

    async fn wait_for_end(
        &mut self,
        until: Instant,
        hear: &mut Listener<'_>,
    ) -> Option<Result<PlanEnd, LaunchError>> {
        let mut over = std::pin::pin!(tokio::time::sleep_until(until.into()));
        loop {
            let (stream, length) = tokio::select! {
                ended = self.job.ended() => return Some(ended),
                read = self.stdout.fill(), if !self.stdout.is_over => (Stream::Stdout, read),
                read = self.stderr.fill(), if !self.stderr.is_over => (Stream::Stderr, read),
                () = &mut over => return None,
            };
            self.take(stream, length, hear);
        }
    }

    /// Reads what comes next. One of the streams is not over.
    async fn read(&mut self, hear: &mut Listener<'_>) {
        let (stream, length) = tokio::select! {
            read = self.stdout.fill(), if !self.stdout.is_over => (Stream::Stdout, read),
            read = self.stderr.fill(), if !self.stderr.is_over => (Stream::Stderr, read),
        };
        self.take(stream, length, hear);
    }

    fn take(&mut self, stream: Stream, length: usize, hear: &mut Listener<'_>) {
        let output = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let bytes = &output.buffer[..length];
        output.capture.push(bytes);
        hear(stream, bytes);
        if length == output.buffer.len() && length < BUFFER_BYTES[1] {
            output.buffer.resize(BUFFER_BYTES[1], 0);
            pipe::widen(&output.reader);
        }
    }
}

impl Output {
    fn new(reader: pipe::Receiver, capture: Capture) -> Self {
        Self { reader, capture, buffer: vec![0; BUFFER_BYTES[0]], is_over: false }
    }

    /// Reads once into the buffer: a program whose output is not read stands still. Can be given up at any time.
    async fn fill(&mut self) -> usize {
        loop {
            match self.reader.read(&mut self.buffer).await {
                Ok(length) if length > 0 => return length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => {
                    self.is_over = true;
                    return 0;
                }
            }
        }
    }
}

/// Writes standard input, and closes it. A program need not read it to the end.
async fn feed(mut writer: pipe::Sender, bytes: Vec<u8>) {
    let _ = writer.write_all(&bytes).await;
}

fn no_pipe(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("nothing was run: no pipe can be made: {error}"))
}

/// Returns what the launcher's error means for a request.
pub fn not_started(error: &LaunchError) -> Failure {
    let failure = |code, text: &str| Failure::new(code, format!("{text}: {error}"));
    match error {
        LaunchError::Level(_) => failure(ErrorCode::ProviderUnavailable, "nothing was run")
            .detail("rule", "sandbox-level")
            .hint("For the user: `bailiwick status` says what this computer can hold commands with."),
        LaunchError::Launcher(_) => failure(ErrorCode::ProviderUnavailable, "nothing was run")
            .hint("Try again; if it stays so, restart the service."),
        LaunchError::Step { step, .. } => failure(ErrorCode::ProviderUnavailable, "the command was not run")
            .detail("step", step.as_str())
            .hint("For the user: `bailiwick doctor` checks what a sandbox needs of this computer."),
        LaunchError::ProgramChanged(_) => {
            Failure::new(ErrorCode::Conflict, "nothing was run: the program changed after it was checked")
                .hint("Try again when nothing else changes it.")
        }
        LaunchError::Lost => failure(ErrorCode::ExecutionFailed, "the end of the command is not known"),
    }
}
