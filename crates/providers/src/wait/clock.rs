//! The time of one wait: the computer's clock when it began, and what has really passed since.

use std::time::Duration;

use bailiwick_contract::time;
use bailiwick_platform::machine::uptime;

/// A clock that continues evenly, whatever the computer's is set to meanwhile.
#[derive(Debug)]
pub(super) struct WaitClock {
    began_ms: i64,
    began_at: Duration,
    /// When it was looked last.
    looked_ms: Option<i64>,
}

/// The time between two looks, of which what is new at the second one must be.
#[derive(Debug, Clone, Copy)]
pub(super) struct LookSpan {
    from_ms: Option<i64>,
    pub(super) now_ms: i64,
}

impl WaitClock {
    pub(super) fn start() -> Self {
        Self { began_ms: time::now_ms(), began_at: uptime(), looked_ms: None }
    }

    pub(super) fn now_ms(&self) -> i64 {
        let passed = uptime().saturating_sub(self.began_at);
        self.began_ms.saturating_add(i64::try_from(passed.as_millis()).unwrap_or(i64::MAX))
    }

    /// Returns the time since the last look, and begins the next.
    pub(super) fn look(&mut self) -> LookSpan {
        let span = LookSpan { from_ms: self.looked_ms, now_ms: self.now_ms() };
        self.looked_ms = Some(span.now_ms);
        span
    }
}

impl LookSpan {
    /// Returns when something new was written that has this time by the computer's clock: now, if that cannot be.
    pub(super) fn place(self, at_ms: i64) -> i64 {
        let is_possible = at_ms <= self.now_ms && self.from_ms.is_none_or(|from_ms| at_ms >= from_ms);
        if is_possible { at_ms } else { self.now_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_while_the_clock_is_wrong_counts_as_written_when_it_is_seen() {
        let first = LookSpan { from_ms: None, now_ms: 10_000 };
        assert_eq!(
            [first.place(4_000), first.place(10_000), first.place(3_600_000)],
            [4_000, 10_000, 10_000]
        );
        let later = LookSpan { from_ms: Some(10_000), now_ms: 11_000 };
        assert_eq!(
            [later.place(10_500), later.place(4_000), later.place(3_600_000)],
            [10_500, 11_000, 11_000]
        );
    }

    #[test]
    fn the_time_of_a_wait_is_that_of_its_beginning_and_what_has_passed() {
        let mut clock = WaitClock::start();
        let (one, two) = (clock.look(), clock.look());
        assert!(one.from_ms.is_none() && two.from_ms == Some(one.now_ms) && two.now_ms >= one.now_ms);
        // As if the computer's clock had been another when the wait began.
        clock.began_ms -= 3_600_000;
        assert!(clock.now_ms() < one.now_ms && clock.now_ms() >= one.now_ms - 3_600_000);
    }
}
