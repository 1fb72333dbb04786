//! What there is to ask of any manager.

use std::path::Path;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::service_manager::{ServiceManager, service_manager};

use super::job::Job;
use super::launchd::Launchd;
use super::programs::{ProgramOutput, Programs};
use super::systemd::Systemd;
use super::task::TaskScheduler;
use crate::installation::home::Home;

/// The state of the service, as its manager reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceStatus {
    /// Whether the manager knows it.
    pub is_known: bool,
    /// Whether it runs.
    pub is_running: bool,
    /// In the manager's own words.
    pub words: String,
}

/// Where the service's own words are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// In systemd's journal.
    Journal,
    /// In a file of the state folder.
    File,
}

/// Keeps services of a person's session. Each of these has one file that describes the service.
pub trait Manager {
    /// Which one it is.
    fn kind(&self) -> ServiceManager;

    /// How people know it.
    fn name(&self) -> &'static str;

    /// The file that describes the service to it.
    fn file(&self) -> &Path;

    /// What that file is to hold.
    ///
    /// # Errors
    /// `invalid_request` for paths that its form cannot say.
    fn text(&self, job: &Job) -> Result<String, Failure>;

    /// Has the system's own tool read the file; none where it has no such tool.
    ///
    /// # Errors
    /// As [`Programs::ask`].
    fn checked(&self) -> Option<Result<ProgramOutput, Failure>>;

    /// Returns why it cannot be asked; none if it can.
    ///
    /// # Errors
    /// `unsupported_platform` where its program is missing.
    fn unreachable(&self) -> Result<Option<String>, Failure>;

    /// Returns the state of the service.
    ///
    /// # Errors
    /// As [`Programs::ask`].
    fn standing(&self) -> Result<ServiceStatus, Failure>;

    /// Has it take up the file, and run the service from now on. One that runs and whose file is as it was is left alone.
    ///
    /// # Errors
    /// What it says; `conflict` where it knows another service of that name.
    fn take_up(&self, is_changed: bool) -> Result<(), Failure>;

    /// Starts the service.
    ///
    /// # Errors
    /// What it says.
    fn start(&self) -> Result<(), Failure>;

    /// Ends the service, which starts again with the next session.
    ///
    /// # Errors
    /// What it says.
    fn stop(&self) -> Result<(), Failure>;

    /// Ends the service, and forgets it; its file is removed afterwards.
    ///
    /// # Errors
    /// What it says.
    fn forget(&self) -> Result<(), Failure>;

    /// Where the service's own words are.
    fn words(&self) -> Words;

    /// What to do where it cannot be asked.
    fn way_to_it(&self) -> &'static str;

    /// What to know once the service is installed.
    fn after_install(&self) -> Option<&'static str>;
}

/// Returns the manager of this system.
///
/// # Errors
/// `provider_unavailable` where the user has no home folder.
pub fn manager(home: &Home) -> Result<Box<dyn Manager>, Failure> {
    let programs = Programs::default();
    Ok(match service_manager() {
        ServiceManager::Systemd => Box::new(Systemd::find(programs)?),
        ServiceManager::Launchd => Box::new(Launchd::find(programs)?),
        ServiceManager::TaskScheduler => Box::new(TaskScheduler::find(home, programs)),
    })
}

/// Makes what a manager refused a failure.
///
/// # Errors
/// `execution_failed` unless it did what it was asked.
pub fn done(name: &str, said: &ProgramOutput) -> Result<(), Failure> {
    if said.ok {
        return Ok(());
    }
    let text = if said.text.is_empty() { "it does not say why" } else { &said.text };
    Err(Failure::new(ErrorCode::ExecutionFailed, format!("{name}: {text}"))
        .hint("`bailiwick service logs` shows what the service said."))
}

/// Creates the failure where there is no place for a manager's file.
pub fn no_home() -> Failure {
    Failure::new(
        ErrorCode::ProviderUnavailable,
        "HOME is not set, so there is no place for the service's file",
    )
    .hint("Set HOME to your home folder.")
}
