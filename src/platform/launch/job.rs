//! A running plan, from the service's side.

use std::time::Duration;

use tokio::net::UnixStream;

use super::held::{layer, open};
use super::protect::Placeholders;
use super::wire::{MAX_MESSAGE_BYTES, Report, STOP};
use super::{Ended, Held, LaunchError, held};

/// A running plan. Dropping it kills everything that belongs to it, at once.
#[derive(Debug)]
pub struct Job {
    control: Control,
    held: Held,
    ended: Option<Result<Ended, LaunchError>>,
    placeholders: Placeholders,
}

impl Job {
    /// Waits until the supervisor says that the plan runs.
    pub(super) async fn begin(socket: UnixStream, placeholders: Placeholders) -> Result<Self, LaunchError> {
        let mut control = Control { socket, received: Vec::new() };
        match control.next_report().await? {
            Report::Running { level, network, degraded, layers, open } => {
                let held = Held {
                    level,
                    network,
                    degraded,
                    layers: held::Names(layers).show(layer::NAMES),
                    open: held::Names(open).show(open::NAMES),
                };
                Ok(Self { control, held, ended: None, placeholders })
            }
            Report::Failed(error) => Err(error),
            Report::Ended { .. } => Err(LaunchError::Lost),
        }
    }

    /// Tells what holds the plan.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Waits until the plan has ended and nothing of it is left. May be called again, and gives the same.
    ///
    /// Can be cancelled and called again.
    ///
    /// # Errors
    /// [`LaunchError`] where a later step could not be started, or the supervisor is lost.
    pub async fn ended(&mut self) -> Result<Ended, LaunchError> {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let ended = match self.control.next_report().await {
            Ok(Report::Ended { exit_code, signal, left_killed }) => {
                Ok(Ended { exit_code, signal, held: self.held.clone(), left_killed })
            }
            Ok(Report::Failed(error)) | Err(error) => Err(error),
            Ok(Report::Running { .. }) => Err(LaunchError::Lost),
        };
        self.placeholders = Placeholders::default();
        self.ended = Some(ended.clone());
        ended
    }

    /// Asks all processes to end (SIGTERM), and kills what is left after a grace period.
    ///
    /// Nothing of the plan is started any more. [`Job::ended`] tells when it is over.
    pub fn stop(&self, grace: Duration) {
        let grace_ms = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
        let mut message = [0; 5];
        message[0] = STOP;
        message[1..].copy_from_slice(&grace_ms.to_le_bytes());
        // Where the supervisor is gone there is nothing to stop. The buffer of the socket is empty but for
        // other such messages.
        let _ = self.control.socket.try_write(&message);
    }
}

/// The service's end of the job's life. The supervisor kills all when it closes.
#[derive(Debug)]
struct Control {
    socket: UnixStream,
    /// What has arrived of the next report. Kept here, so that a wait can be given up at any point.
    received: Vec<u8>,
}

impl Control {
    async fn next_report(&mut self) -> Result<Report, LaunchError> {
        loop {
            if let Some(report) = self.take_report()? {
                return Ok(report);
            }
            self.socket.readable().await.map_err(|_| LaunchError::Lost)?;
            let mut chunk = [0; 4096];
            match self.socket.try_read(&mut chunk) {
                Ok(0) => return Err(LaunchError::Lost),
                Ok(length) => self.received.extend_from_slice(&chunk[..length]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return Err(LaunchError::Lost),
            }
        }
    }

    /// Takes a report from what has arrived, if it is there as a whole.
    fn take_report(&mut self) -> Result<Option<Report>, LaunchError> {
        let Some((length, rest)) = self.received.split_first_chunk() else { return Ok(None) };
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| LaunchError::Lost)?;
        if length > MAX_MESSAGE_BYTES {
            return Err(LaunchError::Lost);
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let report = Report::decode(body).map_err(|_| LaunchError::Lost)?;
        self.received.drain(..8 + length);
        Ok(Some(report))
    }
}
