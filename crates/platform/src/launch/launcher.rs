//! The service's side of the launcher: starts it lazily, hands it jobs.

use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::UnixStream;

use super::connection::{Connection, Parcel};
use super::kept::start::KeeperStart;
use super::kept::{AdoptRequest, AdoptionOutcome, KeeperRequest};
use super::protect::Placeholders;
use super::{ActiveSandbox, Job, LaunchError, LaunchRequest};

/// How long it may take until a job runs. As a rule that is milliseconds.
const MAX_START: Duration = Duration::from_secs(10);

/// The helper process that starts commands. Making one starts nothing.
#[derive(Debug)]
pub struct Launcher {
    program: PathBuf,
    connection: tokio::sync::Mutex<Option<Connection>>,
    /// A pipe whose writing end nobody else has: by its end keepers learn of the end of this value.
    life: std::sync::OnceLock<(std::os::fd::OwnedFd, std::os::fd::OwnedFd)>,
}

impl Default for Launcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Launcher {
    /// Creates a launcher that is this program itself, started again at the first command.
    pub fn new() -> Self {
        Self::with_program(own_program())
    }

    /// Creates a launcher that is the given `bailiwick` program; for tests and benches, which are not.
    pub fn with_program(program: PathBuf) -> Self {
        Self { program, connection: tokio::sync::Mutex::new(None), life: std::sync::OnceLock::new() }
    }

    /// Returns the program that is started again.
    pub fn program(&self) -> &std::path::Path {
        &self.program
    }

    /// Starts a plan. Its first pipeline runs when this returns. Dropping the future kills what was started.
    ///
    /// # Errors
    /// [`LaunchError`]; nothing is running then.
    pub async fn launch(&self, request: LaunchRequest) -> Result<Job, LaunchError> {
        super::levels::check(&request.hold)?;
        let (order, parcel, placeholders) = super::connection::split(request)?;
        let (control, process) = self.send(&parcel, &[]).await?;
        drop(parcel);
        self.begin(control, process, &order.encode(), placeholders).await
    }

    /// Hands a job to the launcher. Returns the job's socket, and which process took it.
    async fn send(
        &self,
        parcel: &Parcel,
        also: &[BorrowedFd<'_>],
    ) -> Result<(UnixStream, Option<u32>), LaunchError> {
        let mut connection = self.connection.lock().await;
        let control = Connection::send(&mut connection, &self.program, parcel, also).await?;
        Ok((control, connection.as_ref().and_then(Connection::process_id)))
    }

    /// Waits until a job runs. A launcher that says nothing for long is given up: the next job gets another one.
    async fn begin(
        &self,
        control: UnixStream,
        process: Option<u32>,
        order: &[u8],
        placeholders: Placeholders,
    ) -> Result<Job, LaunchError> {
        let begin = Job::begin(control, process, order, placeholders);
        match tokio::time::timeout(MAX_START, begin).await {
            Ok(begun) => begun,
            Err(_) => {
                let mut connection = self.connection.lock().await;
                if connection.as_ref().and_then(Connection::process_id) == process {
                    *connection = None;
                }
                let why = format!("it has not started the job after {} seconds", MAX_START.as_secs());
                Err(LaunchError::Launcher(why))
            }
        }
    }

    /// Starts a plan that lasts, under a keeper. Its first pipeline runs when this returns. Dropping the future
    /// before kills what was started. Returns what holds it.
    ///
    /// # Errors
    /// [`LaunchError`]; nothing is running then.
    pub async fn start_kept(&self, request: KeeperRequest) -> Result<ActiveSandbox, LaunchError> {
        super::levels::check(&request.hold)?;
        let start = super::kept::start::Start::new(request, self.life()?)?;
        let (control, process) = self.send(&start.parcel, &start.also()).await?;
        let super::kept::start::Start { order, parcel, placeholders } = start;
        placeholders.hand_over();
        drop(parcel);
        self.begin(control, process, &order.encode(), Placeholders::default()).await?.keep().await
    }

    /// Whether a running job can become a process that lasts on this system.
    pub const CAN_ADOPT: bool = true;

    /// Creates a process that lasts of a running job, in the same sandbox, under a keeper. Until [`Job::keep`] it ends with
    /// the job.
    ///
    /// # Errors
    /// [`LaunchError`] where it cannot be tried; the job runs as before then.
    pub async fn adopt(
        &self,
        job: &mut Job,
        request: &AdoptRequest<'_>,
    ) -> Result<AdoptionOutcome, LaunchError> {
        let adopting = KeeperStart::new(request, job.held().clone(), self.life()?)?;
        let asked = tokio::time::timeout(MAX_START, job.adopt(request, &adopting)).await;
        let Some(process_id) = asked.unwrap_or_else(|_| job.give_up()) else {
            adopting.remove();
            return Ok(AdoptionOutcome::Ended);
        };
        let placeholders = job.take_placeholders();
        let connection = self.connection.lock().await;
        // Where the launcher is gone that forked it, the next job there removes what stands for protected names.
        if let Some(connection) = connection.as_ref().filter(|it| it.process_id() == job.launcher()) {
            let _ = connection.adopt(process_id, &placeholders).await;
        }
        placeholders.hand_over();
        Ok(AdoptionOutcome::Kept)
    }

    fn life(&self) -> Result<BorrowedFd<'_>, LaunchError> {
        use std::os::fd::AsFd;
        let failed = |error: std::io::Error| LaunchError::Launcher(error.to_string());
        if self.life.get().is_none() {
            let (reader, writer) = std::io::pipe().map_err(failed)?;
            // Another call may be first: then this pipe is closed again.
            let _ = self.life.set((reader.into(), writer.into()));
        }
        let (reader, _) = self.life.get().ok_or_else(|| failed(std::io::ErrorKind::BrokenPipe.into()))?;
        Ok(reader.as_fd())
    }

    /// Returns the process id of the running launcher; for tests, which kill it.
    pub async fn process_id(&self) -> Option<u32> {
        self.connection.lock().await.as_ref().and_then(Connection::process_id)
    }
}

/// Returns this program, as it was when it was started.
#[cfg(target_os = "linux")]
fn own_program() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

/// Returns the path of this program.
#[cfg(not(target_os = "linux"))]
fn own_program() -> PathBuf {
    // Without a path of its own it is looked for as its caller found it.
    std::env::current_exe().unwrap_or_else(|_| PathBuf::from("bailiwick"))
}
