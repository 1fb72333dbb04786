//! Systems on which nothing can be started yet. It says so, and nothing else.

use std::convert::Infallible;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use super::kept::KeptRequest;
use super::levels::NOTHING;
use super::{Ended, Held, LaunchError, LaunchRequest};

/// What starts commands. There is nothing here that could.
#[derive(Debug, Default)]
pub struct Launcher;

#[expect(clippy::unused_async, reason = "they are the same calls on every system")]
impl Launcher {
    /// Makes a launcher that starts nothing.
    pub fn new() -> Self {
        Self
    }

    /// Makes a launcher that starts nothing.
    pub fn with_program(_: PathBuf) -> Self {
        Self
    }

    /// Starts nothing.
    ///
    /// # Errors
    /// Always [`LaunchError::Unsupported`].
    pub async fn launch(&self, _: LaunchRequest) -> Result<Job, LaunchError> {
        Err(LaunchError::Unsupported(NOTHING))
    }

    /// Starts nothing.
    ///
    /// # Errors
    /// Always [`LaunchError::Unsupported`].
    pub async fn start_kept(&self, _: KeptRequest) -> Result<Held, LaunchError> {
        Err(LaunchError::Unsupported(NOTHING))
    }
}

/// A running plan. There is none on this system.
#[derive(Debug)]
pub struct Job(Infallible);

#[expect(clippy::unused_async, reason = "they are the same calls on every system")]
impl Job {
    /// Cannot be called.
    pub fn held(&self) -> &Held {
        match self.0 {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None.
    pub async fn ended(&mut self) -> Result<Ended, LaunchError> {
        match self.0 {}
    }

    /// Cannot be called.
    pub fn stop(&self, _: Duration) {
        match self.0 {}
    }
}

/// Becomes the launcher if this process was started as one: never, as this system has none yet.
pub fn serve_if_asked() -> Option<ExitCode> {
    None
}
