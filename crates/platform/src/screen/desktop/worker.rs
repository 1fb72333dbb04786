//! Has questions to the system answered on a thread of their own, by a deadline: any of them may hang.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use crate::screen::ScreenError;

/// So many questions may wait; one more is refused at once.
const MOST_WAITING: usize = 4;

/// Answers one question at a time.
#[derive(Debug, Default)]
pub(super) struct Worker {
    turn: Arc<Mutex<()>>,
    waiting: Arc<AtomicUsize>,
}

impl Worker {
    /// Asks, and waits so long for the answer. A question that hangs keeps its thread, and those after it wait in vain.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        display: &str,
        patience: Duration,
        act: impl FnOnce() -> Result<T, ScreenError> + Send + 'static,
    ) -> Result<T, ScreenError> {
        let late = || ScreenError::Timeout(display.to_owned());
        let count = Arc::clone(&self.waiting);
        if count.fetch_add(1, Ordering::AcqRel) >= MOST_WAITING {
            count.fetch_sub(1, Ordering::AcqRel);
            return Err(late());
        }
        let waiting = QueueSlot(count);
        let (answer, answered) = mpsc::sync_channel(1);
        let turn = Arc::clone(&self.turn);
        let thread = thread::Builder::new().name("screen".to_owned());
        let begun = thread.spawn(move || {
            let _waiting = waiting;
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            // Nobody may be listening any more.
            let _ = answer.send(act());
        });
        if let Err(error) = begun {
            return Err(ScreenError::Failed {
                display: display.to_owned(),
                step: "a thread for it",
                why: error.kind().to_string(),
            });
        }
        match answered.recv_timeout(patience) {
            Ok(answer) => answer,
            Err(mpsc::RecvTimeoutError::Timeout) => Err(late()),
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(ScreenError::Lost(display.to_owned())),
        }
    }
}

/// One that waits; none more once it is dropped.
struct QueueSlot(Arc<AtomicUsize>);

impl Drop for QueueSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_hangs_costs_its_time_and_few_threads() {
        let worker = Worker::default();
        let (end, ended) = mpsc::channel::<()>();
        let hung = worker.ask("x", Duration::from_millis(20), move || {
            let _ = ended.recv();
            Ok(1)
        });
        assert_eq!(hung, Err(ScreenError::Timeout("x".to_owned())));
        for _ in 0..MOST_WAITING * 2 {
            let next = worker.ask("x", Duration::from_millis(20), || Ok(2));
            assert_eq!(next, Err(ScreenError::Timeout("x".to_owned())));
            assert!(worker.waiting.load(Ordering::Acquire) <= MOST_WAITING);
        }
        end.send(()).expect("it waits for this");
        // The ones that waited go first.
        while worker.waiting.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
        assert_eq!(worker.ask("x", Duration::from_secs(20), || Ok(3)), Ok(3));
    }

    #[test]
    fn a_question_that_panics_is_a_loss_and_the_next_is_answered() {
        let worker = Worker::default();
        let lost: Result<(), _> =
            worker.ask("x", Duration::from_secs(20), || std::panic::resume_unwind(Box::new(())));
        assert_eq!(lost, Err(ScreenError::Lost("x".to_owned())));
        assert_eq!(worker.ask("x", Duration::from_secs(20), || Ok(3)), Ok(3));
    }
}
