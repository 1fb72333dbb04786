//! Starting plans: as a job of the system whose only handle this process has, so that it is its life.

use std::path::PathBuf;

use super::keeper;
use super::opened::Folder;
use super::plan::{JobControl, Plan, Streams};
use super::role;
use super::sys::ConsoleKey;
use crate::launch::kept::{AdoptRequest, AdoptionOutcome, KeeperRequest};
use crate::launch::{ActiveSandbox, Job, LaunchError, LaunchRequest};

/// What starts commands. Making one starts nothing.
#[derive(Debug)]
pub struct Launcher {
    /// This program, which is started again for what needs a process of its own.
    program: PathBuf,
}

impl Default for Launcher {
    fn default() -> Self {
        Self::new()
    }
}

impl Launcher {
    /// Creates a launcher that starts this program itself where it needs another process.
    pub fn new() -> Self {
        Self::with_program(std::env::current_exe().unwrap_or_default())
    }

    /// Creates a launcher with another `bailiwick` program; for tests and benches, which are not.
    pub fn with_program(program: PathBuf) -> Self {
        Self { program }
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
        crate::launch::levels::check(&request.hold)?;
        let LaunchRequest { plan, environment, cwd, cwd_path, hold, limits, stdin, stdout, stderr, .. } =
            request;
        let folder = Folder::hold(&cwd_path, &cwd)?;
        let plan = Plan::new(plan, &environment, folder, &hold, Streams::Apart { stdin, stdout, stderr })?;
        let program = self.program.clone();
        // What is asked by nobody is killed when its time is over.
        let ask = move |processes: &[u32]| {
            let _: std::io::Result<()> = role::type_at(&program, processes, false, ConsoleKey::Break);
        };
        Job::begin(plan, JobControl::new(limits)?, ask).await
    }

    /// Whether a running job can become a process that lasts on this system.
    pub const CAN_ADOPT: bool = false;

    /// Refuses to make a process that lasts of a running job: what prints is read by this process alone.
    ///
    /// # Errors
    /// [`LaunchError`], always; the job runs as before.
    #[expect(clippy::unused_async, reason = "as on other systems")]
    pub async fn adopt(&self, _: &mut Job, _: &AdoptRequest<'_>) -> Result<AdoptionOutcome, LaunchError> {
        Err(LaunchError::Launcher("a running job cannot become a process here".to_owned()))
    }

    /// Starts a plan that lasts, under a keeper. Its first pipeline runs when this returns. Dropping the future
    /// before kills what was started. Returns what holds it.
    ///
    /// # Errors
    /// [`LaunchError`]; nothing is running then.
    pub async fn start_kept(&self, request: KeeperRequest) -> Result<ActiveSandbox, LaunchError> {
        crate::launch::levels::check(&request.hold)?;
        keeper::start(&self.program, request).await
    }
}
