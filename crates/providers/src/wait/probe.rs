//! Looking again and again at what tells nothing on its own: ports, web servers, files.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;

use crate::approval::{Approvals, Progress};
use crate::process::Process;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::launch::kept::Control;
use bailiwick_policy::PermittedPath;

use super::condition::{Condition, Evidence, FileState};
use super::{file, web};

/// How long is waited between two looks, at first and at most.
const PAUSE: [Duration; 2] = [Duration::from_millis(25), Duration::from_millis(250)];
/// How long is waited until it is checked again whether an approval has come or gone, which costs one system call.
const PEEK_EVERY: Duration = Duration::from_millis(10);
/// After so many checks the approval is read in any case: its time may be over.
const PEEKS: u32 = 50;

/// How long a keeper may take to answer.
const MAX_ANSWER: Duration = Duration::from_secs(2);
/// How many questions are asked of keepers at the same time.
static ASKED: Semaphore = Semaphore::const_new(8);

/// What is checked.
pub(super) enum Probe {
    Port(Arc<Process>, u16),
    Http(Arc<Process>, u16, String, Option<u16>),
    File(PermittedPath, FileState, Option<String>),
    Approval(Approvals, String),
}

impl Probe {
    /// Creates the probe of a condition that tells nothing on its own.
    pub fn of(condition: &Condition, version: Option<&str>) -> Option<Self> {
        match condition {
            Condition::Port(process, port) => Some(Self::Port(Arc::clone(process), *port)),
            Condition::Http(process, port, path, status) => {
                Some(Self::Http(Arc::clone(process), *port, path.clone(), *status))
            }
            Condition::File(path, state) => {
                Some(Self::File(path.clone(), *state, version.map(str::to_owned)))
            }
            Condition::Approval(approvals, ticket) => Some(Self::Approval(approvals.clone(), ticket.clone())),
            Condition::Exit(..) | Condition::Output(..) | Condition::Quiet(..) | Condition::Time(_) => None,
        }
    }

    /// Looks until it holds. Ends only then: anyone who waits for it gives it up.
    ///
    /// # Errors
    /// Where a file may not be checked.
    pub async fn holds(self) -> Result<Evidence, Failure> {
        let mut pause = PAUSE[0];
        loop {
            let before = self.changed_at();
            if let Some(evidence) = self.look().await? {
                return Ok(evidence);
            }
            if matches!(self, Self::Approval(..)) {
                for _ in 0..PEEKS {
                    tokio::time::sleep(PEEK_EVERY).await;
                    if self.changed_at() != before {
                        break;
                    }
                }
            } else {
                tokio::time::sleep(pause).await;
                pause = (pause * 5 / 4).min(PAUSE[1]);
            }
        }
    }

    /// Returns when an approval last came or went, if this waits for one.
    fn changed_at(&self) -> Option<SystemTime> {
        match self {
            Self::Approval(approvals, _) => approvals.changed_at(),
            Self::Port(..) | Self::Http(..) | Self::File(..) => None,
        }
    }

    async fn look(&self) -> Result<Option<Evidence>, Failure> {
        match self {
            Self::Port(process, port) => {
                let listens = asked(process, async |keeper| keeper.is_listening(*port).await.ok()).await;
                Ok(listens.filter(|listens| *listens).map(|_| Evidence::Bare))
            }
            Self::Http(process, port, path, wanted) => {
                let stream = asked(process, async |keeper| keeper.dial(*port).await.ok()).await;
                let Some(stream) = stream else { return Ok(None) };
                let answer = web::ask(stream, *port, path).await;
                let is_it = |answer: &web::WebAnswer| {
                    wanted.map_or((200..400).contains(&answer.status), |wanted| answer.status == wanted)
                };
                Ok(answer.filter(is_it).map(|answer| Evidence::Answered(Box::new(answer))))
            }
            Self::Approval(approvals, ticket) => {
                let (approvals, ticket) = (approvals.clone(), ticket.clone());
                let found = tokio::task::spawn_blocking(move || approvals.find(&ticket)).await;
                let found = found.ok().and_then(Result::ok).ok_or_else(|| {
                    Failure::new(ErrorCode::ProviderUnavailable, "the approvals could not be read")
                })?;
                let progress = found.map_or(Progress::Gone, |(_, progress)| progress);
                Ok((progress != Progress::Open).then_some(Evidence::Decided(progress)))
            }
            Self::File(path, state, before) => {
                let path = path.clone();
                let version =
                    tokio::task::spawn_blocking(move || file::version(&path)).await.map_err(|error| {
                        Failure::new(
                            ErrorCode::ExecutionFailed,
                            format!("the file could not be read: {error}"),
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

/// Asks the keeper of a process something. `None` where it does not answer: that a process has ended, and has none
/// any more, is noticed elsewhere.
///
/// The connection is made for the question and closed after it: a keeper has few, and others need them too.
async fn asked<T>(process: &Process, ask: impl AsyncFnOnce(&mut Control) -> Option<T>) -> Option<T> {
    let _turn = ASKED.acquire().await.ok()?;
    let answer = async {
        let mut keeper = process.control().await.ok()?;
        ask(&mut keeper).await
    };
    tokio::time::timeout(MAX_ANSWER, answer).await.ok().flatten()
}
