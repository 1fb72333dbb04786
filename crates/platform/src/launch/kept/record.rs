//! What a keeper writes down: output into the ring, and how things stand.

use std::fs::File;
use std::time::{Duration, Instant};

use super::files::Folder;
use super::mask::Mask;
use super::message::SOCKET_NAME;
use super::status::Key;
use super::{RingWriter, State, Status, StatusWriter, Stream};
use bailiwick_contract::time;

/// How long a few bytes are held back that may be the beginning of a secret; more are for as long as it takes.
const MAX_HELD_BACK: Duration = Duration::from_millis(50);

/// The ring and the status of a process.
#[derive(Debug)]
pub(in super::super) struct Record {
    ring: RingWriter,
    writer: StatusWriter,
    pub(in super::super) status: Status,
    has_changed: bool,
    stdout: MaskedStream,
    stderr: MaskedStream,
}

/// The mask of one stream.
#[derive(Debug, Default)]
struct MaskedStream {
    mask: Mask,
    /// Since when bytes are held back.
    since: Option<Instant>,
}

impl Record {
    /// Continues with the files that the service made.
    pub(in super::super) fn resume(
        status: File,
        folder: Folder,
        process_id: u32,
    ) -> std::io::Result<(Self, Key)> {
        let (writer, block) = StatusWriter::resume(status)?;
        let status = Status { process_id, ..block.status };
        // The budget comes with the order.
        let ring = RingWriter::begin(folder, 0);
        let (stdout, stderr) = (MaskedStream::default(), MaskedStream::default());
        Ok((Self { ring, writer, status, has_changed: false, stdout, stderr }, block.key))
    }

    /// Continues with the ring that the service began.
    ///
    /// # Errors
    /// Those of the file system.
    #[cfg(unix)]
    pub(in super::super) fn resume_ring(
        &mut self,
        folder: Folder,
        ring_bytes: u64,
        position: super::ring::RingPosition,
    ) -> std::io::Result<()> {
        self.ring = RingWriter::resume(folder, ring_bytes, position)?;
        Ok(())
    }

    /// Sets how much of the disk the ring may use.
    pub(in super::super) fn set_budget(&mut self, ring_bytes: u64) {
        self.ring.set_budget(ring_bytes);
    }

    /// Changes the status; written with the next [`Record::write`].
    pub(in super::super) fn change(&mut self) -> &mut Status {
        self.has_changed = true;
        &mut self.status
    }

    /// Writes down what was printed.
    pub(in super::super) fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let masked = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        if masked.mask.is_empty() {
            self.ring.push(stream, time::now_ms(), bytes);
        } else {
            let shown = masked.mask.push(bytes);
            masked.since = masked.mask.is_waiting().then(Instant::now);
            self.ring.push(stream, time::now_ms(), &shown);
        }
        self.has_changed = true;
    }

    /// Masks a secret from now on. Returns whether there was room for it.
    pub(in super::super) fn mask(&mut self, secret: &[u8]) -> bool {
        self.stdout.mask.add(secret) && self.stderr.mask.add(secret)
    }

    /// Returns when bytes must be written down that are held back.
    pub(in super::super) fn due(&self) -> Option<Instant> {
        let due = [&self.stdout, &self.stderr].into_iter().filter_map(|masked| masked.since).min();
        Some(due? + MAX_HELD_BACK)
    }

    /// Writes down what was held back long enough, or all of it because nothing follows.
    pub(in super::super) fn release(&mut self, all: bool) {
        for (stream, masked) in [(Stream::Stdout, &mut self.stdout), (Stream::Stderr, &mut self.stderr)] {
            let is_due = masked.since.is_some_and(|since| since.elapsed() >= MAX_HELD_BACK);
            if is_due || all {
                masked.since = None;
                let shown = if all { masked.mask.finish() } else { masked.mask.release() };
                if shown.is_empty() {
                    continue;
                }
                self.ring.push(stream, time::now_ms(), &shown);
                self.has_changed = true;
            }
        }
    }

    /// Gives back memory that only writing needs.
    pub(in super::super) fn rest(&mut self) {
        self.ring.rest();
    }

    /// Returns the position after the last byte.
    pub(in super::super) const fn end(&self) -> u64 {
        self.ring.end()
    }

    /// Returns whether the process's folder was removed: nobody can find the process any more.
    pub(in super::super) fn is_removed(&self) -> bool {
        self.writer.is_removed()
    }

    /// Writes the status, if it has changed.
    pub(in super::super) fn write(&mut self) {
        if std::mem::take(&mut self.has_changed) {
            self.ring.count_into(&mut self.status);
            // It is written again with the next change.
            let _ = self.writer.write(&self.status);
        }
    }

    /// Writes the last status.
    pub(in super::super) fn finish(&mut self, state: State) {
        self.release(true);
        let status = self.change();
        status.state = state;
        status.ended_at_ms = Some(time::now_ms());
        self.write();
        self.ring.remove_beside(SOCKET_NAME);
    }
}
