//! How long work may continue: until a moment, and until the user ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often something that cannot tell of itself is checked.
const LOOK: Duration = Duration::from_millis(4);

/// A bound of time that several waits share, and that can be ended from another thread.
#[derive(Debug, Clone, Default)]
pub struct Limit {
    until: Option<Instant>,
    ended: Arc<AtomicBool>,
}

impl Limit {
    /// Begins a time within which all has to be done.
    pub fn within(time: Duration) -> Self {
        Self { until: Some(Instant::now() + time), ended: Arc::default() }
    }

    /// Ends every wait at once.
    pub fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Returns whether it was ended before its time.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Returns whether nothing may begin any more.
    pub fn is_over(&self) -> bool {
        self.left(Duration::MAX).is_zero()
    }

    /// Returns how long something may still take: nothing once all is over.
    pub fn left(&self, at_most: Duration) -> Duration {
        if self.is_ended() {
            return Duration::ZERO;
        }
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        left.map_or(at_most, |left| left.min(at_most))
    }

    /// Looks again and again until there is something; gives none when the time is over first.
    pub fn wait_for<T>(&self, at_most: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let began = Instant::now();
        loop {
            if let Some(found) = look() {
                return Some(found);
            }
            let left = self.left(at_most.saturating_sub(began.elapsed()));
            if left.is_zero() {
                return None;
            }
            thread::sleep(left.min(LOOK));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_once_it_is_ended_or_over() {
        let limit = Limit::default();
        assert_eq!(limit.left(Duration::from_secs(5)), Duration::from_secs(5));
        assert!(!limit.is_over());
        limit.clone().end();
        assert!(limit.is_ended() && limit.is_over());
        assert_eq!(limit.wait_for(Duration::MAX, || None::<()>), None);
        assert_eq!(limit.wait_for(Duration::ZERO, || Some(1)), Some(1), "what is there is found");
        let limit = Limit::within(Duration::ZERO);
        assert!(limit.is_over() && !limit.is_ended());
    }
}
