//! Looking again and again at what tells nothing by itself: ports, web servers, files.

use std::sync::Arc;
use std::time::Duration;

use crate::contract::{ErrorCode, Failure};
use crate::platform::launch::kept::{Control, ControlError};
use crate::policy::PermittedPath;
use crate::providers::process::Process;

use super::condition::{Condition, Evidence, FileState};
use super::{file, web};

/// How long is waited between two looks, at first and at most.
const PAUSE: [Duration; 2] = [Duration::from_millis(25), Duration::from_millis(250)];

/// What is looked at.
pub(super) enum Probe {
    Port(Arc<Process>, u16),
    Http(Arc<Process>, u16, String, Option<u16>),
    File(PermittedPath, FileState, Option<String>),
}

impl Probe {
    /// Makes the probe of a condition that tells nothing by itself.
    pub fn of(condition: &Condition, version: Option<&str>) -> Option<Self> {
        match condition {
            Condition::Port(process, port) => Some(Self::Port(Arc::clone(process), *port)),
            Condition::Http(process, port, path, status) => {
                Some(Self::Http(Arc::clone(process), *port, path.clone(), *status))
            }
            Condition::File(path, state) => {
                Some(Self::File(path.clone(), *state, version.map(str::to_owned)))
            }
            Condition::Exit(..) | Condition::Output(..) | Condition::Quiet(..) | Condition::Time(_) => None,
        }
    }

    /// Looks until it holds. Ends only then: whoever waits for it gives it up.
    ///
    /// # Errors
    /// Where a file may not be looked at.
    pub async fn holds(self) -> Result<Evidence, Failure> {
        let mut control = None;
        let mut pause = PAUSE[0];
        loop {
            if let Some(evidence) = self.look(&mut control).await? {
                return Ok(evidence);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 5 / 4).min(PAUSE[1]);
        }
    }

    async fn look(&self, control: &mut Option<Control>) -> Result<Option<Evidence>, Failure> {
        match self {
            Self::Port(process, port) => {
                let Some(keeper) = connected(control, process).await else { return Ok(None) };
                match keeper.is_listening(*port).await {
                    Ok(is_listening) => Ok(is_listening.then_some(Evidence::Bare)),
                    Err(error) => Ok(lost(control, &error)),
                }
            }
            Self::Http(process, port, path, wanted) => {
                let Some(keeper) = connected(control, process).await else { return Ok(None) };
                let stream = match keeper.dial(*port).await {
                    Ok(stream) => stream,
                    Err(error) => return Ok(lost(control, &error)),
                };
                let status = web::status(stream, *port, path).await;
                let is_it =
                    |status: &u16| wanted.map_or((200..400).contains(status), |wanted| *status == wanted);
                Ok(status.filter(is_it).map(Evidence::Answered))
            }
            Self::File(path, state, before) => {
                let path = path.clone();
                let version =
                    tokio::task::spawn_blocking(move || file::version(&path)).await.map_err(|error| {
                        Failure::new(
                            ErrorCode::ExecutionFailed,
                            format!("the file could not be looked at: {error}"),
                        )
                    })??;
                let holds = match state {
                    FileState::Exists => !version.is_empty(),
                    FileState::Absent => version.is_empty(),
                    FileState::Changed => before.as_ref().is_some_and(|before| *before != version),
                };
                Ok(holds.then_some(Evidence::Bare))
            }
        }
    }
}

/// Gives the connection to the keeper, made anew where there is none. A process that has ended has no keeper; that
/// is noticed elsewhere.
async fn connected<'a>(control: &'a mut Option<Control>, process: &Process) -> Option<&'a mut Control> {
    if control.is_none() {
        *control = process.control().await.ok();
    }
    control.as_mut()
}

/// Takes note that the keeper did not say yes: without a connection, the next look makes one.
fn lost<T>(control: &mut Option<Control>, error: &ControlError) -> Option<T> {
    match error {
        ControlError::NotListening => {}
        _ => *control = None,
    }
    None
}
