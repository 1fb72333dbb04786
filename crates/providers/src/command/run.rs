//! Running what was prepared: its streams read until the end, its time bounded, nothing left behind.

use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::launch::kept::Stream;
use bailiwick_platform::launch::{Ended, LaunchError, LaunchRequest, Launcher, pipe};

use super::capture::{Capture, Kept};
use super::prepare::Prepared;

/// How long programs have between being asked to end and being killed, at the time limit.
const GRACE: Duration = Duration::from_millis(1_500);
/// How long after that the end is waited for.
const AFTER_GRACE: Duration = Duration::from_secs(2);
/// How long the rest of the output is read when nothing is left that could write more.
const DRAIN: Duration = Duration::from_millis(500);
/// The buffer that each stream is read into, at first and once much arrives.
const BUFFER_BYTES: [usize; 2] = [4_096, 65_536];

/// Hears what a command prints while it runs.
pub type Listener<'a> = Box<dyn FnMut(Stream, &[u8]) + Send + 'a>;

/// How a command is run.
pub struct Running<'a> {
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
pub struct Ran {
    /// Exit, signal, and what held it; none if even killing it was not confirmed in time.
    pub ended: Option<Ended>,
    /// Whether its time was over before it ended by itself.
    pub timed_out: bool,
    /// What was kept of standard output.
    pub stdout: Kept,
    /// What was kept of standard error.
    pub stderr: Kept,
    /// From its start to its end.
    pub elapsed: Duration,
    /// What a person should know of it: before Git is used there again, and why it may have failed. A sentence each.
    pub warnings: Vec<String>,
}

/// Runs a prepared command to its end, or until its time is over.
///
/// When this is dropped before it is done, everything that was started is killed.
///
/// # Errors
/// `provider_unavailable` where it could not be started as it must be held.
pub async fn run(launcher: &Launcher, prepared: Prepared, running: Running<'_>) -> Result<Ran, Failure> {
    let Running { stdin, deadline, mut stdout, mut stderr, listener } = running;
    // Both streams are read by one task, so that neither waits for the other.
    let listener = listener.map(Mutex::new);
    // Removed when the command has ended.
    let _temporary = prepared.temporary;
    let review = prepared.review;
    let (out_reader, out_writer) = pipe::from_program().map_err(|error| no_pipe(&error))?;
    let (err_reader, err_writer) = pipe::from_program().map_err(|error| no_pipe(&error))?;
    let (in_reader, in_writer) = match &stdin {
        None => (None, None),
        Some(_) => {
            let (reader, writer) = pipe::to_program().map_err(|error| no_pipe(&error))?;
            (Some(reader), Some(writer))
        }
    };
    let request = LaunchRequest {
        plan: prepared.plan,
        environment: prepared.environment,
        cwd: prepared.cwd,
        cwd_path: prepared.cwd_path,
        hold: prepared.hold,
        limits: prepared.limits,
        stdin: in_reader,
        stdout: out_writer,
        stderr: err_writer,
    };
    let began = Instant::now();
    let mut job = launcher.launch(request).await.map_err(|error| not_started(&error))?;

    let mut timed_out = false;
    let ended = {
        let mut streams = std::pin::pin!(async {
            let hear = |stream| {
                let listener = listener.as_ref();
                move |bytes: &[u8]| {
                    if let Some(mut listener) = listener.and_then(|listener| listener.lock().ok()) {
                        listener(stream, bytes);
                    }
                }
            };
            tokio::join!(
                read(out_reader, &mut stdout, hear(Stream::Stdout)),
                read(err_reader, &mut stderr, hear(Stream::Stderr)),
            );
        });
        // Apart from the others: what a program does not read need not be written.
        let mut feeding = std::pin::pin!(feed(in_writer, stdin.as_deref().unwrap_or_default()));
        let (mut read_all, mut fed_all) = (false, stdin.is_none());
        let mut until = deadline;
        let ended = loop {
            tokio::select! {
                () = &mut streams, if !read_all => read_all = true,
                () = &mut feeding, if !fed_all => fed_all = true,
                ended = job.ended() => break Some(ended),
                () = tokio::time::sleep_until(until.into()) => {
                    if timed_out {
                        break None;
                    }
                    timed_out = true;
                    job.stop(GRACE);
                    until = Instant::now() + GRACE + AFTER_GRACE;
                }
            }
        };
        if !read_all {
            // Nothing is left that could write, but for what has left the supervisor's reach unheld.
            let _ = tokio::time::timeout(DRAIN, &mut streams).await;
        }
        ended
    };
    let elapsed = began.elapsed();
    let ended = ended.transpose().map_err(|error| not_started(&error))?;
    let has_failed = !timed_out && ended.as_ref().is_some_and(|ended| ended.exit_code != Some(0));
    let warnings = match review {
        Some(review) => {
            tokio::task::spawn_blocking(move || review.finish(has_failed)).await.unwrap_or_default()
        }
        None => Vec::new(),
    };
    Ok(Ran { ended, timed_out, stdout: stdout.finish(), stderr: stderr.finish(), elapsed, warnings })
}

/// Reads a stream to its end, always: a program whose output is not read stands still.
async fn read(mut reader: pipe::Receiver, capture: &mut Capture, mut hear: impl FnMut(&[u8])) {
    let mut buffer = vec![0; BUFFER_BYTES[0]];
    loop {
        match reader.read(&mut buffer).await {
            Ok(0) => return,
            Ok(length) => {
                capture.push(&buffer[..length]);
                hear(&buffer[..length]);
                if length == buffer.len() && length < BUFFER_BYTES[1] {
                    buffer.resize(BUFFER_BYTES[1], 0);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Writes standard input, and closes it. A program need not read it to the end.
async fn feed(writer: Option<pipe::Sender>, bytes: &[u8]) {
    if let Some(mut writer) = writer {
        let _ = writer.write_all(bytes).await;
    }
}

fn no_pipe(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("nothing was run: no pipe can be made: {error}"))
}

/// Says what the launcher's error means for a request.
pub fn not_started(error: &LaunchError) -> Failure {
    let failure = |code, text: &str| Failure::new(code, format!("{text}: {error}"));
    match error {
        LaunchError::Level(_) => failure(ErrorCode::ProviderUnavailable, "nothing was run")
            .detail("rule", "sandbox-level")
            .hint("For the user: `bailiwick status` says what this computer can hold commands with."),
        LaunchError::Launcher(_) => failure(ErrorCode::ProviderUnavailable, "nothing was run")
            .hint("Try again; if it stays so, restart the service."),
        LaunchError::Step { step, .. } => {
            failure(ErrorCode::ProviderUnavailable, "the command was not run").detail("step", step.as_str())
        }
        LaunchError::ProgramChanged(_) => {
            Failure::new(ErrorCode::Conflict, "nothing was run: the program changed after it was checked")
                .hint("Try again when nothing else changes it.")
        }
        LaunchError::Lost => failure(ErrorCode::ExecutionFailed, "the end of the command is not known"),
    }
}
