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
    /// The longest time that a request may ask for, and the scope that says so.
    most: Option<(Duration, Arc<str>)>,
}

impl Cancel {
    /// Creates a flag that counts as raised after `timeout`.
    pub fn after(timeout: Duration) -> Self {
        Self { cancelled: Arc::default(), deadline: Instant::now() + timeout, timeout, most: None }
    }

    /// Notes the longest time that a request may ask for in a scope, for what is said when the time is over.
    #[must_use]
    pub fn within(self, most: Option<(Duration, Arc<str>)>) -> Self {
        Self { most, ..self }
    }

    /// Raises the flag.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
    }

    /// Returns the moment at which the work must have ended.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns whether the work should stop, without the reason.
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

    /// Creates the failure for a deadline that has passed.
    pub fn timed_out(&self) -> Failure {
        let seconds = self.timeout.as_secs_f64();
        let failure = Failure::new(ErrorCode::Timeout, format!("the time limit of {seconds} s was reached"));
        let failure = failure.detail("limitSeconds", seconds);
        match self.more_time() {
            TimeLimitRaise::ByRequest(words) => failure.hint(format!("Ask for less at a time; {words}.")),
            TimeLimitRaise::ByUser(words) => {
                failure.hint("Ask for less at a time.").hint(format!("For the user: {words}."))
            }
        }
    }

    /// Says that the time limit has ended something, and how there is more time.
    pub fn limit_words(&self, what: &str) -> String {
        let seconds = self.timeout.as_secs_f64();
        match self.more_time() {
            TimeLimitRaise::ByRequest(words) => format!("{what} at its time limit of {seconds} s; {words}"),
            TimeLimitRaise::ByUser(words) => {
                format!("{what} at its time limit of {seconds} s, the scope's longest. For the user: {words}")
            }
        }
    }

    fn more_time(&self) -> TimeLimitRaise {
        match &self.most {
            Some((most, scope)) if self.timeout >= *most => TimeLimitRaise::ByUser(format!(
                "`bailiwick scope edit {scope} --limit runtime-seconds=N` allows more"
            )),
            Some((most, _)) => {
                let most = most.as_secs_f64();
                TimeLimitRaise::ByRequest(format!("`options.timeoutSeconds` gives more, at most {most} here"))
            }
            None => TimeLimitRaise::ByRequest("`options.timeoutSeconds` gives more".to_owned()),
        }
    }
}

/// Who can raise a time limit, and how.
enum TimeLimitRaise {
    ByRequest(String),
    ByUser(String),
}
