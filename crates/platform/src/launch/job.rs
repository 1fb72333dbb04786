//! A running plan, from the service's side.

use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use tokio::io::Interest;
use tokio::net::UnixStream;

use super::handing;
use super::kept::AdoptRequest;
use super::kept::start::KeeperStart;
use super::protect::Placeholders;
use super::wire::{ADOPT, KEEP, MAX_MESSAGE_BYTES, Report, STOP};
use super::{ActiveSandbox, LaunchError, PlanEnd};
use bailiwick_contract::command::{Containment, Network};

/// How long killing may take before what stands for protected names is taken away nevertheless.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// A running plan. Dropping it kills everything that belongs to it, at once.
#[derive(Debug)]
pub struct Job {
    /// None once it is dropped.
    control: Option<Control>,
    held: ActiveSandbox,
    ended: Option<Result<PlanEnd, LaunchError>>,
    placeholders: Placeholders,
    /// The process that took it.
    launcher: Option<u32>,
}

impl Drop for Job {
    fn drop(&mut self) {
        let Some(control) = self.control.take() else { return };
        let placeholders = std::mem::take(&mut self.placeholders);
        if self.ended.is_some() || placeholders.is_empty() {
            return;
        }
        // What stands for a protected name must stand until the last process is killed.
        let Ok(socket) = control.socket.into_std() else { return };
        let _ = socket.shutdown(Shutdown::Write);
        std::thread::spawn(move || {
            let mut socket = socket;
            let _ = socket.set_nonblocking(false);
            let _ = socket.set_read_timeout(Some(MAX_WAIT));
            while std::io::Read::read(&mut socket, &mut [0; 256]).is_ok_and(|length| length > 0) {}
            drop(placeholders);
        });
    }
}

impl Job {
    /// Sends the order, and waits until the supervisor says that the plan runs.
    pub(super) async fn begin(
        socket: UnixStream,
        launcher: Option<u32>,
        order: &[u8],
        placeholders: Placeholders,
    ) -> Result<Self, LaunchError> {
        let control = Control { socket, received: Vec::new() };
        let unknown = ActiveSandbox {
            level: Containment::None,
            network: Network::Full,
            degraded: true,
            layers: Vec::new(),
            open: Vec::new(),
        };
        // From here on giving up the wait kills what was started.
        let mut job = Self { control: Some(control), held: unknown, ended: None, placeholders, launcher };
        job.control()?.send(order).await;
        let error = match job.control()?.next_report().await {
            Ok(Report::Failed(error)) | Err(error) => error,
            Ok(report) => match report.held() {
                Some(held) => {
                    job.held = held;
                    return Ok(job);
                }
                None => LaunchError::Lost,
            },
        };
        job.ended = Some(Err(error.clone()));
        Err(error)
    }

    /// Leaves the plan to its keeper, which has reported that it has it. Returns what holds it.
    ///
    /// # Errors
    /// Where it was given up before.
    pub async fn keep(mut self) -> Result<ActiveSandbox, LaunchError> {
        self.control()?.send(&[KEEP]).await;
        Ok(self.held.clone())
    }

    /// Asks the supervisor to become a keeper. Returns its number; none if the plan has ended before.
    pub(super) async fn adopt(&mut self, request: &AdoptRequest<'_>, adopting: &KeeperStart) -> Option<u32> {
        let mut head = [0; 5];
        head[0] = ADOPT;
        let length = u32::try_from(adopting.message.len()).unwrap_or(u32::MAX);
        head[1..].copy_from_slice(&length.to_le_bytes());
        let pipes = [request.stdout.as_fd(), request.stderr.as_fd()];
        let handed: Vec<_> = pipes.into_iter().chain(adopting.descriptors.iter().map(AsFd::as_fd)).collect();
        let control = self.control.as_mut()?;
        control.hand(&head, &handed).await;
        control.send(&adopting.message).await;
        let report = control.next_report().await;
        match report {
            Ok(Report::Adopted { process_id }) => Some(process_id),
            report => {
                self.ended = Some(self.end_of(report));
                None
            }
        }
    }

    /// Gives up waiting for the supervisor, which is killed with this.
    pub(super) fn give_up(&mut self) -> Option<u32> {
        self.control = None;
        self.ended = Some(Err(LaunchError::Lost));
        None
    }

    pub(super) fn take_placeholders(&mut self) -> Placeholders {
        std::mem::take(&mut self.placeholders)
    }

    pub(super) const fn launcher(&self) -> Option<u32> {
        self.launcher
    }

    fn control(&mut self) -> Result<&mut Control, LaunchError> {
        self.control.as_mut().ok_or(LaunchError::Lost)
    }

    /// Returns what holds the plan.
    pub fn held(&self) -> &ActiveSandbox {
        &self.held
    }

    /// Waits until the plan has ended and nothing of it is left. May be called again, and gives the same.
    ///
    /// Can be cancelled and called again.
    ///
    /// # Errors
    /// [`LaunchError`] where a later step could not be started, or the supervisor is lost.
    pub async fn ended(&mut self) -> Result<PlanEnd, LaunchError> {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let report = self.control()?.next_report().await;
        let ended = self.end_of(report);
        self.ended = Some(ended.clone());
        ended
    }

    /// Returns the end that the last report tells. Nothing of the plan is left then.
    fn end_of(&mut self, report: Result<Report, LaunchError>) -> Result<PlanEnd, LaunchError> {
        self.placeholders = Placeholders::default();
        match report {
            Ok(Report::Ended { exit_code, signal, left_killed, memory_excess }) => {
                Ok(PlanEnd { exit_code, signal, held: self.held.clone(), left_killed, memory_excess })
            }
            Ok(Report::Failed(error)) | Err(error) => Err(error),
            Ok(Report::Running { .. } | Report::Adopted { .. }) => Err(LaunchError::Lost),
        }
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
        if let Some(control) = &self.control {
            let _ = control.socket.try_write(&message);
        }
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
    async fn send(&mut self, message: &[u8]) {
        let mut rest = message;
        while !rest.is_empty() {
            let sent = match self.socket.writable().await {
                Ok(()) => self.socket.try_write(rest),
                Err(error) => Err(error),
            };
            match sent {
                Ok(length) => rest = &rest[length..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                // Where the supervisor has failed already, its report says why.
                Err(_) => return,
            }
        }
    }

    /// Sends a short message with descriptors, as a whole.
    async fn hand(&mut self, message: &[u8], handed: &[BorrowedFd<'_>]) {
        loop {
            let sent = match self.socket.writable().await {
                // What is handed over goes with the first bytes; the buffer has room for so few.
                Ok(()) => self
                    .socket
                    .try_io(Interest::WRITABLE, || Ok(handing::send(self.socket.as_fd(), message, handed)?)),
                Err(error) => Err(error),
            };
            match sent {
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                // Where the supervisor has failed already, its report says why.
                Ok(_) | Err(_) => return,
            }
        }
    }

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
