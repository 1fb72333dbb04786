//! Stopping work: a flag with a deadline that long operations look at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{ErrorCode, Failure};

/// Tells an operation when to stop. Cheap to clone; all clones share the flag.
#[derive(Debug, Clone)]
pub struct Cancel {
    cancelled: Arc<AtomicBool>,
    deadline: Instant,
    timeout: Duration,
}

impl Cancel {
    /// Makes a flag that counts as raised after `timeout`.
    pub fn after(timeout: Duration) -> Self {
        Self { cancelled: Arc::default(), deadline: Instant::now() + timeout, timeout }
    }

    /// Raises the flag.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    /// Gives the moment at which the work must have ended.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Tells whether the work should stop, without the reason.
    pub fn is_raised(&self) -> bool {
        self.cancelled.load(Ordering::Acquire) || Instant::now() >= self.deadline
    }

    /// Ends the work if it should stop: `cx.cancel.check()?`.
    ///
    /// # Errors
    /// `cancelled` or `timeout`.
    pub fn check(&self) -> Result<(), Failure> {
        if self.cancelled.load(Ordering::Acquire) {
            return Err(Failure::new(ErrorCode::Cancelled, "the request was cancelled"));
        }
        if Instant::now() >= self.deadline {
            return Err(self.timed_out());
        }
        Ok(())
    }

    /// Makes the failure for a deadline that has passed.
    pub fn timed_out(&self) -> Failure {
        let seconds = self.timeout.as_secs_f64();
        Failure::new(ErrorCode::Timeout, format!("the time limit of {seconds} s was reached"))
            .hint("Ask for less at a time, or raise `options.timeoutSeconds` within the scope's limit.")
    }
}
