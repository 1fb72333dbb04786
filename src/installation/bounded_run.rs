//! Running another program to its end, with an end to every wait. For Bailiwick's own questions to this computer's
//! programs, such as their version; what clients ask for goes through the launcher.

use std::io::{self, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::limit::Limit;

/// More than this is not kept of what a program says.
const KEPT_BYTES: u64 = 4 << 20;
/// What a program that has ended said is there at once, unless something that it left has the pipe.
const REST: Duration = Duration::from_secs(2);

/// How a program ended.
#[derive(Debug)]
pub struct RunEnd {
    /// Its exit status.
    pub status: ExitStatus,
    /// What it said on standard output.
    pub out: String,
    /// What it said on standard error.
    pub err: String,
}

impl RunEnd {
    /// Returns what it said, on whichever stream, without blanks around it.
    pub fn said(&self) -> String {
        let parts = [self.out.trim(), self.err.trim()];
        parts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// Why a program did not come to its end.
#[derive(Debug)]
pub enum RunError {
    /// It could not be started.
    NotStarted(io::Error),
    /// It took too long, and was ended.
    TookTooLong,
}

/// Runs a program without input. One that takes too long is ended.
///
/// # Errors
/// See [`RunError`].
pub fn run_to_end(command: &mut Command, limit: &Limit, time: Duration) -> Result<RunEnd, RunError> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(RunError::NotStarted)?;
    let out = child.stdout.take().map(read_aside);
    let err = child.stderr.take().map(read_aside);
    let ended = limit.wait_for(time, || child.try_wait().transpose());
    let Some(Ok(status)) = ended else {
        // It may have ended on its own meanwhile.
        let _ = child.kill();
        let _ = child.wait();
        return Err(RunError::TookTooLong);
    };
    let said = |text: Option<Receiver<String>>| {
        text.and_then(|text| text.recv_timeout(REST).ok()).unwrap_or_default()
    };
    Ok(RunEnd { status, out: said(out), err: said(err) })
}

/// Reads a pipe on a thread of its own, so that the program is never stopped by a full one.
fn read_aside(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (says, hears) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What could not be read is not there; what is too much is thrown away.
        let _ = pipe.by_ref().take(KEPT_BYTES).read_to_end(&mut bytes);
        let _ = io::copy(&mut pipe, &mut io::sink());
        // Nobody hears it once the time is over.
        let _ = says.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    hears
}
