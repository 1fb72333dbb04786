//! Pointer and keyboard of a display are used by one request at a time: keys of two never mix.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_contract::{Cancel, Failure};

/// More requests than this do not wait for one display.
const MAX_WAITING: usize = 8;
/// A request waits for its turn for so long.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often a request that waits looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// The turns at all displays.
#[derive(Debug, Default)]
pub struct InputLanes {
    lanes: Mutex<BTreeMap<String, Arc<Lane>>>,
}

/// The turns at one display.
#[derive(Debug, Default)]
struct Lane {
    queue: Mutex<Queue>,
    moved: Condvar,
}

/// Who waits, by number; the first has the turn.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<u64>,
    next: u64,
}

/// A turn, until it is dropped.
#[derive(Debug)]
pub struct InputTurn {
    lane: Arc<Lane>,
    number: u64,
}

/// Why there is no turn.
#[derive(Debug)]
pub enum NoTurn {
    /// Too many wait, or the one before takes too long.
    Busy,
    /// The request was cancelled, or its time is over.
    Ended(Failure),
}

impl InputLanes {
    /// Waits for the turn at a display.
    ///
    /// # Errors
    /// [`NoTurn`].
    pub fn wait(&self, display: &str, cancel: &Cancel) -> Result<InputTurn, NoTurn> {
        let lane = Arc::clone(lock(&self.lanes).entry(display.to_owned()).or_default());
        let mut queue = lock(&lane.queue);
        if queue.waiting.len() > MAX_WAITING {
            return Err(NoTurn::Busy);
        }
        let number = queue.next;
        queue.next += 1;
        queue.waiting.push_back(number);
        // From here on its place in the queue is given up with it.
        let turn = InputTurn { lane: Arc::clone(&lane), number };
        let until = Instant::now() + PATIENCE;
        while queue.waiting.front() != Some(&number) {
            let is_over = Instant::now() >= until;
            let ended = cancel.check().err();
            if is_over || ended.is_some() {
                drop(queue);
                drop(turn);
                return Err(ended.map_or(NoTurn::Busy, NoTurn::Ended));
            }
            queue = lane.moved.wait_timeout(queue, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(queue);
        Ok(turn)
    }
}

impl Drop for InputTurn {
    fn drop(&mut self) {
        lock(&self.lane.queue).waiting.retain(|it| *it != self.number);
        self.lane.moved.notify_all();
    }
}

/// A queue is whole at every moment, whatever panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn turns_are_taken_in_order_and_no_more_wait_than_there_is_room_for() {
        let lanes = InputLanes::default();
        let cancel = Cancel::after(Duration::from_secs(60));
        let first = lanes.wait(":0", &cancel).expect("free");
        lanes.wait(":1", &cancel).expect("another display is free");
        let order = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let (lanes, order, cancel) = (&lanes, &order, &cancel);
            for number in 0..MAX_WAITING {
                let waiting =
                    || lanes.lanes.lock().expect("whole")[":0"].queue.lock().expect("whole").waiting.len();
                let before = waiting();
                scope.spawn(move || {
                    let _turn = lanes.wait(":0", cancel).expect("a turn");
                    order.lock().expect("whole").push(number);
                });
                while waiting() == before {
                    thread::yield_now();
                }
            }
            assert!(matches!(lanes.wait(":0", cancel), Err(NoTurn::Busy)));
            drop(first);
        });
        assert_eq!(order.into_inner().expect("whole"), (0..MAX_WAITING).collect::<Vec<_>>());
    }

    #[test]
    fn a_request_that_is_cancelled_gives_its_place_up() {
        let lanes = InputLanes::default();
        let cancel = Cancel::after(Duration::from_secs(60));
        let first = lanes.wait(":0", &cancel).expect("free");
        let ended = Cancel::after(Duration::from_secs(60));
        ended.cancel();
        assert!(matches!(lanes.wait(":0", &ended), Err(NoTurn::Ended(_))));
        drop(first);
        lanes.wait(":0", &cancel).expect("free again");
    }
}
