//! How many messages clients may show in a minute. Mathematics only.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many are shown in [`PERIOD`], of all clients of a service together.
pub(super) const MOST: usize = 10;
/// What they are counted in.
const PERIOD: Duration = Duration::from_secs(60);

/// When the last messages were shown.
#[derive(Debug)]
pub(super) struct MessageLimit(VecDeque<Instant>);

impl MessageLimit {
    pub const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Counts one more message, if there is room for it.
    pub fn count(&mut self, now: Instant) -> bool {
        while self.0.front().is_some_and(|at| now.saturating_duration_since(*at) >= PERIOD) {
            self.0.pop_front();
        }
        let has_room = self.0.len() < MOST;
        if has_room {
            self.0.push_back(now);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_has_room_for_ten_messages() {
        let (mut limit, start) = (MessageLimit::new(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!((0..10).all(|second| limit.count(at(second))));
        assert!(!limit.count(at(10)) && !limit.count(at(59)), "what was refused counts for nothing");
        assert!(limit.count(at(60)), "the first is a minute ago");
        assert!(!limit.count(at(60)));
        assert!((61..70).all(|second| limit.count(at(second))));
    }
}
