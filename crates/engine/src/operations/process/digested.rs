//! The digest of what a process printed.

use std::sync::Arc;

use bailiwick_contract::Failure;
use bailiwick_platform::launch::kept::Status;
use bailiwick_providers::digest::{Digest, Digester};
use bailiwick_providers::process::Process;

/// How much is read at once, in bytes.
const PIECE_BYTES: usize = 256 << 10;

/// What a process printed from a position on, in short.
pub struct OutputDigest {
    /// The digest; none where the output is short.
    pub digest: Option<Digest>,
    /// How the process stood before it was read.
    pub status: Status,
    /// The position behind what was read.
    pub next: u64,
    /// How many bytes fell out of what is kept before they were read.
    pub skipped_bytes: u64,
}

/// Reads what is kept of a process's output and makes its digest, of at most so many bytes as JSON.
///
/// # Errors
/// Those of [`Process::read`].
pub fn digest(process: &Process, from: u64, room: usize) -> Result<OutputDigest, Failure> {
    // First its state: of what is over nothing is missed.
    let status = process.status()?;
    let words: Vec<&str> = process.facts.preview.split(' ').collect();
    let mut digester = Digester::for_argv(&words).within(room);
    let (mut next, mut skipped_bytes) = (from, 0);
    while next < status.end {
        let read = process.read(next, PIECE_BYTES)?;
        for frame in &read.frames {
            digester.push(frame.stream, &frame.bytes);
        }
        skipped_bytes += read.skipped_bytes;
        if read.next <= next {
            break;
        }
        next = read.next;
    }
    let exit_code = status.exit_code.filter(|_| !status.timed_out);
    Ok(OutputDigest { digest: digester.finish(exit_code), status, next, skipped_bytes })
}

/// Returns the digest of a process that has ended, if its output is of a known form and nothing of it is missing.
pub async fn digest_of_ended(process: &Arc<Process>, room: usize) -> Option<Digest> {
    let process = Arc::clone(process);
    let digested = tokio::task::spawn_blocking(move || digest(&process, 0, room)).await.ok()?.ok()?;
    digested.digest.filter(|digest| digest.is_recognised() && digested.skipped_bytes == 0)
}
