//! The same work on many things, on several threads, and work that no request waits for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_contract::{Cancel, Failure};

/// How many threads are used at most.
const MAX_THREADS: usize = 8;
/// How many things a thread must have to do to be worth its start.
const THINGS_PER_THREAD: usize = 2;

/// How much time passes between two sweeps of the same store.
const SWEPT_EVERY: Duration = Duration::from_hours(1);

/// When what is over was removed from a store last, by this process.
pub(crate) struct SweepTime(Mutex<Option<Instant>>);

impl SweepTime {
    /// Creates the time of a store that was not swept yet.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Sweeps on a thread of its own: no request waits for it. At most once an hour.
    pub fn sweep_aside(&self, sweep: impl FnOnce() + Send + 'static) {
        let mut swept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.is_some_and(|at| at.elapsed() < SWEPT_EVERY) {
            return;
        }
        *swept = Some(Instant::now());
        // Without a thread the next one does it.
        let _ = std::thread::Builder::new().name("retention".to_owned()).spawn(sweep);
    }
}

/// Does something with the numbers below `count`, in any order. Returns what came of each, in their order.
///
/// # Errors
/// `cancelled`, `timeout`.
pub(crate) fn for_each<T: Send>(
    count: usize,
    cancel: &Cancel,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<Option<T>>, Failure> {
    let done: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = available.min(MAX_THREADS).min(count.div_ceil(THINGS_PER_THREAD));
    let run = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = done.get(number).filter(|_| !cancel.is_raised()) else { return };
            let result = work(number);
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    cancel.check()?;
    Ok(done.into_iter().map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}
