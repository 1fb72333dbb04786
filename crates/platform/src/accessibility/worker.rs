//! The one thread that asks programs for their elements, and has the elements: they stay on it. Anyone who asks waits with a
//! deadline. What nobody waits for any more is not done.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::accessibility::AccessibilityError;
use crate::program_error::ProgramError;

/// So many questions may wait; one more is refused at once.
const MOST_WAITING: usize = 16;
/// What is waited longer than the work may take by its own deadlines.
const GRACE: Duration = Duration::from_millis(500);
/// What the thread has is dropped when nobody has asked for so long: no snapshot lasts longer.
const IDLE: Duration = Duration::from_secs(3600);

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// The thread, once it was needed, with a state that it makes itself.
pub(super) struct Worker<S> {
    jobs: Mutex<Option<SyncSender<Job<S>>>>,
    new: fn() -> S,
}

impl<S> fmt::Debug for Worker<S> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Worker").finish_non_exhaustive()
    }
}

impl<S: 'static> Worker<S> {
    /// Makes it ready, without a thread.
    pub(super) const fn new(new: fn() -> S) -> Self {
        Self { jobs: Mutex::new(None), new }
    }

    /// Has work done, and waits for it.
    pub(super) fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce(&mut S) -> Result<T, AccessibilityError> + Send + 'static,
    ) -> Result<T, AccessibilityError> {
        let (sender, receiver) = sync_channel(1);
        let latest = Instant::now() + limit;
        let job: Job<S> = Box::new(move |state| {
            let is_late = Instant::now() >= latest;
            let answer = if is_late { Err(ProgramError::Unresponsive.into()) } else { work(state) };
            // Anyone who has stopped waiting wants no answer.
            let _ = sender.try_send(answer);
        });
        self.send(job)?;
        match receiver.recv_timeout(limit + GRACE) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Err(ProgramError::Unresponsive.into()),
            Err(RecvTimeoutError::Disconnected) => Err(ProgramError::Lost.into()),
        }
    }

    fn send(&self, mut job: Job<S>) -> Result<(), AccessibilityError> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = jobs.as_ref() {
            job = match sender.try_send(job) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(_)) => return Err(ProgramError::Unresponsive.into()),
                // The thread has panicked.
                Err(TrySendError::Disconnected(job)) => job,
            };
        }
        let (sender, receiver) = sync_channel(MOST_WAITING);
        let new = self.new;
        let thread = thread::Builder::new().name("accessibility".to_owned());
        thread.spawn(move || serve(&receiver, new)).map_err(|_| ProgramError::Lost)?;
        let sent = sender.try_send(job).map_err(|_| ProgramError::Lost.into());
        *jobs = Some(sender);
        sent
    }
}

fn serve<S>(jobs: &Receiver<Job<S>>, new: fn() -> S) {
    let mut state = new();
    loop {
        match jobs.recv_timeout(IDLE) {
            Ok(job) => job(&mut state),
            Err(RecvTimeoutError::Timeout) => state = new(),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn what_waited_too_long_is_not_done() {
        let worker: Worker<u32> = Worker::new(|| 0);
        let (begun, began) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        thread::scope(|scope| {
            scope.spawn(|| {
                worker.run(LONG, move |_| {
                    let _ = begun.send(());
                    let _ = ended.recv();
                    Ok(())
                })
            });
            began.recv().expect("it begins");
            let late = worker.run(Duration::from_millis(20), |count| {
                *count += 1;
                Ok(())
            });
            assert_eq!(late, Err(ProgramError::Unresponsive.into()));
            end.send(()).expect("it waits for this");
        });
        assert_eq!(worker.run(LONG, |count| Ok(*count)), Ok(0));
    }

    #[test]
    fn a_question_that_panics_is_a_loss_and_the_next_is_answered_by_another_thread() {
        let worker: Worker<u32> = Worker::new(|| 0);
        assert_eq!(worker.run(LONG, |count| Ok(std::mem::replace(count, 5))), Ok(0));
        let lost: Result<(), _> = worker.run(LONG, |_| std::panic::resume_unwind(Box::new(())));
        assert_eq!(lost, Err(ProgramError::Lost.into()));
        let answer = loop {
            match worker.run(LONG, |count| Ok(*count)) {
                // The thread may not have ended yet.
                Err(AccessibilityError::Program(ProgramError::Lost)) => {}
                answer => break answer,
            }
        };
        assert_eq!(answer, Ok(0));
    }
}
