//! Systems on which no process is kept yet: nothing was left by one, and there is none to speak to.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::net::TcpStream;

use super::{ControlError, Event, RingRead, Status, Stream, TerminalSize};

/// What a process left on disk. There is none on this system.
#[derive(Debug)]
pub struct Kept(Infallible);

impl Kept {
    /// Finds nothing.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn open(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Finds nothing.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn look(_: &Path) -> io::Result<Status> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub fn status(&self) -> io::Result<Status> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub fn read(&self, _: u64, _: usize) -> io::Result<RingRead> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub fn tail(&self, _: usize) -> io::Result<RingRead> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub fn start(&self) -> io::Result<u64> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub fn since(&self, _: i64) -> io::Result<u64> {
        match self.0 {}
    }
}

/// Writes what a program prints. There is no ring on this system.
#[derive(Debug)]
pub struct RingWriter(Infallible);

impl RingWriter {
    /// Makes nothing.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn create(_: &Path, _: u64) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Cannot be called.
    pub fn push(&mut self, _: Stream, _: i64, _: &[u8]) {
        match self.0 {}
    }

    /// Cannot be called.
    pub const fn end(&self) -> u64 {
        match self.0 {}
    }

    /// Cannot be called.
    pub const fn count_into(&self, _: &mut Status) {
        match self.0 {}
    }
}

/// Writes the status of a process. There is none on this system.
#[derive(Debug)]
pub struct StatusWriter(Infallible);

impl StatusWriter {
    /// Makes nothing.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn create(_: &Path, _: &Status) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub fn write(&mut self, _: &Status) -> io::Result<()> {
        match self.0 {}
    }
}

/// A connection to the keeper of a process. There is none on this system.
#[derive(Debug)]
pub struct Control(Infallible);

#[expect(clippy::unused_async, reason = "they are the same calls on every system")]
impl Control {
    /// Finds no keeper.
    ///
    /// # Errors
    /// Always [`ControlError::Gone`].
    pub async fn connect(_: &Path) -> Result<Self, ControlError> {
        Err(ControlError::Gone)
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn input(&mut self, _: &[u8]) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn secret(&mut self, _: &[u8]) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn close_input(&mut self) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn resize(&mut self, _: TerminalSize) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn signal(&mut self, _: i32) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn stop(&mut self, _: i32, _: Duration) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn is_listening(&mut self, _: u16) -> Result<bool, ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn dial(&mut self, _: u16) -> Result<TcpStream, ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn watch(&mut self) -> Result<(), ControlError> {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn next_event(&mut self) -> Result<Event, ControlError> {
        match self.0 {}
    }
}
