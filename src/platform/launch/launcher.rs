//! The service's side of the launcher: starts it lazily, hands it jobs.

use std::path::PathBuf;

#[cfg(target_os = "linux")]
use super::connection::Connection;
use super::{Job, LaunchError, LaunchRequest};

/// The helper process that starts commands. Making one starts nothing.
#[derive(Debug)]
pub struct Launcher {
    program: PathBuf,
    #[cfg(target_os = "linux")]
    connection: tokio::sync::Mutex<Option<Connection>>,
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
        Self {
            program,
            #[cfg(target_os = "linux")]
            connection: tokio::sync::Mutex::new(None),
        }
    }

    /// Starts a plan. Its first pipeline runs when this returns. Dropping the future kills what was started.
    ///
    /// # Errors
    /// [`LaunchError`]; nothing is running then.
    #[cfg(target_os = "linux")]
    pub async fn launch(&self, request: LaunchRequest) -> Result<Job, LaunchError> {
        if let Some(missing) = super::levels().missing(request.hold.level) {
            return Err(LaunchError::Level(missing.to_owned()));
        }
        let (order, descriptors, placeholders) = super::connection::split(request)?;
        let control = {
            let mut connection = self.connection.lock().await;
            Connection::send(&mut connection, &self.program, &order, &descriptors).await?
        };
        drop(descriptors);
        Job::begin(control, &order.encode(), placeholders).await
    }

    /// Starts nothing: this system has no launcher yet.
    ///
    /// # Errors
    /// [`LaunchError::Unsupported`].
    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_async, reason = "it is the same call on every system")]
    pub async fn launch(&self, _: LaunchRequest) -> Result<Job, LaunchError> {
        Err(LaunchError::Unsupported(super::levels::NOTHING))
    }

    /// Gives the process id of the running launcher; for tests, which kill it.
    #[cfg(target_os = "linux")]
    pub async fn process_id(&self) -> Option<u32> {
        self.connection.lock().await.as_ref().map(Connection::process_id)
    }
}

/// Becomes the launcher if this process was started as one: never, as this system has none yet.
#[cfg(not(target_os = "linux"))]
pub fn serve_if_asked() -> Option<std::process::ExitCode> {
    None
}
