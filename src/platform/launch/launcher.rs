//! The service's side of the launcher: starts it lazily, hands it jobs.

use std::path::PathBuf;

use super::{Job, LaunchError, LaunchRequest};

/// The helper process that starts commands. Making one starts nothing.
#[derive(Debug)]
pub struct Launcher {
    program: PathBuf,
}

impl Default for Launcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Launcher {
    /// Makes a launcher that is this program itself, started again at the first command.
    pub fn new() -> Self {
        Self::with_program(PathBuf::from("/proc/self/exe"))
    }

    /// Makes a launcher that is the given `bailiwick` program; for tests and benches, which are not.
    pub fn with_program(program: PathBuf) -> Self {
        Self { program }
    }

    /// Starts a plan. It runs when this returns.
    ///
    /// # Errors
    /// [`LaunchError`]; nothing was started then.
    pub async fn launch(&self, request: LaunchRequest) -> Result<Job, LaunchError> {
        drop(request);
        Err(LaunchError::Launcher(format!("{} is not started yet", self.program.display())))
    }
}
