//! Memory that an X server writes pictures into, and this process reads.
//!
//! It is read by `pread`, never mapped here: the server holds the same file and could cut it off, which would kill a
//! process that had it mapped. It is a file without a name in memory: pictures do not reach a disk.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::MemfdFlags;

/// A piece of memory that the server knows by a number.
#[derive(Debug)]
pub(super) struct Segment {
    /// The number that the server knows it by.
    pub number: u32,
    file: File,
    bytes: u64,
}

impl Segment {
    /// Makes memory, and gives it with the handle for the server.
    pub(super) fn new(number: u32, bytes: u64) -> io::Result<(Self, OwnedFd)> {
        let file = rustix::fs::memfd_create("bailiwick-screen", MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&file, bytes)?;
        let server = file.try_clone()?;
        Ok((Self { number, file: file.into(), bytes }, server))
    }

    /// Returns whether so many bytes have room.
    pub(super) fn holds(&self, bytes: u64) -> bool {
        bytes <= self.bytes
    }

    fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }
}

/// The pieces of one connection that are not in use.
#[derive(Debug, Default)]
pub(super) struct Pool {
    free: Mutex<Vec<Segment>>,
}

impl Pool {
    /// Takes a piece that holds so many bytes out, and the numbers of those that the server can forget.
    pub(super) fn take(&self, bytes: u64) -> (Option<Segment>, Vec<Segment>) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let chosen = free.iter().position(|segment| segment.holds(bytes));
        let chosen = chosen.map(|at| free.swap_remove(at));
        (chosen, std::mem::take(&mut *free))
    }

    fn put(&self, segment: Segment) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(segment);
    }
}

/// A piece in use. It goes back when the picture in it is not needed any more.
#[derive(Debug)]
pub(super) struct Lease {
    segment: Option<Segment>,
    pool: Arc<Pool>,
}

impl Lease {
    /// Holds a piece until it is dropped.
    pub(super) fn new(segment: Segment, pool: Arc<Pool>) -> Self {
        Self { segment: Some(segment), pool }
    }

    /// Returns the number that the server knows it by.
    pub(super) fn number(&self) -> u32 {
        self.segment.as_ref().map_or(0, |segment| segment.number)
    }

    /// Reads a part of it.
    pub(super) fn read(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match &self.segment {
            Some(segment) => segment.read(buffer, offset),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(segment) = self.segment.take() {
            self.pool.put(segment);
        }
    }
}
