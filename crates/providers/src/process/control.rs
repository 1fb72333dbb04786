//! Speaking to the keeper of a process: its input, its end, and what it tells on its own.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::launch::kept::{Control, ControlError, Status};

use super::{Change, Process, changes};

impl Process {
    /// Connects to its keeper.
    ///
    /// # Errors
    /// `conflict` where it has ended, `provider_unavailable` where the keeper does not answer.
    pub async fn control(&self) -> Result<Control, Failure> {
        if self.status()?.state.is_final() {
            return Err(self.has_ended());
        }
        match Control::connect(self.folder()).await {
            Ok(control) => Ok(control),
            // It may have ended this very moment.
            Err(error) => Err(match self.status() {
                Ok(status) if status.state.is_final() => self.has_ended(),
                _ => self.unreachable(&error),
            }),
        }
    }

    /// Tells of every change from now on, without polling: one connection to the keeper serves all that listen.
    ///
    /// The first value is its state now. Of a process that is over there is no further one.
    pub fn changes(self: &Arc<Self>) -> watch::Receiver<Change> {
        changes::subscribe(self)
    }

    /// Asks all of it to end by a signal, kills what is left after the grace, and waits until nothing is left.
    ///
    /// Returns how it ended, and whether it was over already.
    ///
    /// # Errors
    /// As [`Process::control`].
    pub async fn stop(self: &Arc<Self>, signal: i32, grace: Duration) -> Result<(Status, bool), Failure> {
        let status = self.status()?;
        if status.state.is_final() {
            return Ok((status, true));
        }
        let mut changes = self.changes();
        match self.control().await {
            Ok(mut control) => {
                let asked = control.stop(signal, grace).await;
                // Where the connection breaks, the wait below shows why.
                drop(asked);
                let _ = changes.wait_for(|change| change.ended).await;
                Ok((self.status()?, false))
            }
            Err(failure) => match self.status()? {
                status if status.state.is_final() => Ok((status, true)),
                _ => Err(failure),
            },
        }
    }

    fn has_ended(&self) -> Failure {
        Failure::new(ErrorCode::Conflict, format!("process {} has ended", self.facts.id))
            .hint("process.read still gives what it printed.")
    }

    fn unreachable(&self, error: &ControlError) -> Failure {
        Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("the keeper of process {} does not answer: {error}", self.facts.id),
        )
        .hint("Try again in a moment.")
    }
}
