//! A running plan, from the service's side.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use super::plan::{End, JobControl, Plan};
use crate::launch::{ActiveSandbox, LaunchError, PlanEnd};

/// A running plan. Dropping it kills everything that belongs to it, at once.
#[derive(Debug)]
pub struct Job {
    reins: Arc<JobControl>,
    held: ActiveSandbox,
    end: watch::Receiver<Option<End>>,
}

/// Kills a plan when it is dropped before somebody takes it over.
struct Guard(Option<Arc<JobControl>>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(reins) = self.0.take() {
            reins.stop(Duration::ZERO);
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.reins.stop(Duration::ZERO);
    }
}

impl Job {
    /// Starts a plan on a thread of its own, and waits until its first pipeline runs.
    pub(super) async fn begin(
        plan: Plan,
        reins: JobControl,
        ask: impl Fn(&[u32]) + Send + Sync + 'static,
    ) -> Result<Self, LaunchError> {
        let reins = Arc::new(reins);
        // From here on giving up the wait kills what was started.
        let mut guard = Guard(Some(Arc::clone(&reins)));
        let (say_began, began) = oneshot::channel();
        let (say_end, mut end) = watch::channel(None);
        let running = Arc::clone(&reins);
        std::thread::Builder::new()
            .name("plan".to_owned())
            .spawn(move || {
                let ended = plan.run(&running, &ask, |held| {
                    let _ = say_began.send(held.clone());
                });
                let _ = say_end.send(Some(ended));
            })
            .map_err(|error| LaunchError::Launcher(error.to_string()))?;
        match began.await {
            Ok(held) => {
                guard.0 = None;
                Ok(Self { reins, held, end })
            }
            // It ended before anything ran.
            Err(_) => Err(match end.wait_for(Option::is_some).await.as_deref() {
                Ok(Some(End { status: Err(error), .. })) => error.clone(),
                _ => LaunchError::Lost,
            }),
        }
    }

    /// Refuses to leave the plan to a keeper, which it never has.
    ///
    /// # Errors
    /// Always.
    #[expect(clippy::unused_async, reason = "as on other systems")]
    pub async fn keep(self) -> Result<ActiveSandbox, LaunchError> {
        Err(LaunchError::Lost)
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
    /// [`LaunchError`] where a later step could not be started.
    pub async fn ended(&mut self) -> Result<PlanEnd, LaunchError> {
        let end = match self.end.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(end)) => end.clone(),
            _ => return Err(LaunchError::Lost),
        };
        let status = end.status?;
        Ok(PlanEnd {
            exit_code: status.exit_code,
            signal: status.signal,
            held: self.held.clone(),
            left_killed: end.left_killed,
            // The system lets the job have no more than its limit, and ends nothing for it.
            memory_excess: None,
        })
    }

    /// Asks all processes to end (Ctrl-Break), and kills what is left after a grace period.
    ///
    /// Nothing of the plan is started any more. [`Job::ended`] tells when it is over.
    pub fn stop(&self, grace: Duration) {
        self.reins.stop(grace);
    }
}
