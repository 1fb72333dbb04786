//! The clock by which Bailiwick's own files grow old: a jump of the computer's clock moves it little.
//!
//! A computer's clock can be wrong for seconds: a dead battery, a bad answer of a time server, a virtual machine that
//! resumes. What is removed by age would then be gone for good. This clock runs with the time that the computer has
//! been running, and follows the computer's clock only slowly.
//!
//! It has two readings. [`RetentionClock::steady_ms`] is for what gets its stamp by this clock: a clock that is behind for a
//! while makes no such thing old. [`RetentionClock::now_ms`] is for stamps of the computer's clock, which it is never ahead of.

use std::path::{Path, PathBuf};

use bailiwick_contract::time;

use super::replace_private_file;

/// How much faster than real time the clock may run to catch up with the computer's, after that was off.
const CATCH_UP: i64 = 3;
/// The most that it catches up between two readings.
const MAX_CATCH_UP_MS: i64 = 3_600_000;
/// How much time passes between two writes of its file.
const WRITE_EVERY_MS: i64 = 60_000;

/// A clock in Bailiwick's state folder, shared by all processes.
#[derive(Debug, Clone)]
pub struct RetentionClock {
    file: PathBuf,
}

/// A time of this clock, and how long the computer had been running then.
#[derive(Debug, Clone, Copy)]
struct Reading {
    at_ms: i64,
    uptime_ms: i64,
}

impl RetentionClock {
    /// Finds the clock in Bailiwick's state folder.
    pub fn below(state: &Path) -> Self {
        Self { file: state.join("clock") }
    }

    /// Returns the time to compare with stamps of the computer's clock, in milliseconds since the epoch.
    pub fn now_ms(&self) -> i64 {
        let computer_ms = time::now_ms();
        self.steady_at(computer_ms, uptime_ms()).min(computer_ms)
    }

    /// Returns the time to compare with other readings of this clock, in milliseconds since the epoch.
    pub fn steady_ms(&self) -> i64 {
        self.steady_at(time::now_ms(), uptime_ms())
    }

    /// As [`RetentionClock::steady_ms`], for a reading of the computer's clock and of its uptime.
    pub fn steady_at(&self, computer_ms: i64, uptime_ms: i64) -> i64 {
        let Some(last) = self.read() else {
            self.write(Reading { at_ms: computer_ms, uptime_ms });
            return computer_ms;
        };
        // After a restart of the computer, it has been running for its uptime at least.
        let restarted = uptime_ms < last.uptime_ms;
        let elapsed_ms = if restarted { uptime_ms } else { uptime_ms - last.uptime_ms };
        let now = Reading { at_ms: advance(last.at_ms, computer_ms, elapsed_ms), uptime_ms };
        if restarted || elapsed_ms >= WRITE_EVERY_MS {
            self.write(now);
        }
        now.at_ms
    }

    fn read(&self) -> Option<Reading> {
        let text = std::fs::read_to_string(&self.file).ok()?;
        let mut numbers = text.split_whitespace().map(str::parse);
        let (at_ms, uptime_ms) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        Some(Reading { at_ms, uptime_ms })
    }

    fn write(&self, reading: Reading) {
        // Without the file, ages begin again: things are kept longer, and the bounds of size still apply.
        let _ =
            replace_private_file(&self.file, format!("{} {}\n", reading.at_ms, reading.uptime_ms).as_bytes());
    }
}

fn uptime_ms() -> i64 {
    i64::try_from(crate::machine::uptime().as_millis()).unwrap_or(i64::MAX)
}

/// Moves the clock on by the time that has passed, and toward the computer's clock.
fn advance(at_ms: i64, computer_ms: i64, elapsed_ms: i64) -> i64 {
    let behind_ms = computer_ms.saturating_sub(at_ms);
    if behind_ms < 0 {
        return at_ms + behind_ms.max(-elapsed_ms);
    }
    let catch_up_ms = elapsed_ms.saturating_mul(CATCH_UP).min(MAX_CATCH_UP_MS);
    at_ms + behind_ms.min(elapsed_ms.saturating_add(catch_up_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000;
    const HOUR: i64 = 3_600 * SECOND;
    const DAY: i64 = 24 * HOUR;
    /// The computer's clock, and its uptime, when the clock was started.
    const START: (i64, i64) = (20_000 * DAY, 5 * DAY);

    fn clock() -> (RetentionClock, PathBuf) {
        let state =
            std::env::temp_dir().join(format!("bailiwick-clock-{}", bailiwick_contract::id::new_id()));
        super::super::create_private_dir(&state).expect("a temporary folder");
        let clock = RetentionClock::below(&state);
        assert_eq!(clock.steady_at(START.0, START.1), START.0);
        (clock, state)
    }

    #[test]
    fn a_clock_that_jumps_both_ways_by_200_days_moves_it_by_seconds() {
        for jump in [200 * DAY, -200 * DAY] {
            let (clock, state) = clock();
            let mut passed = 0;
            let mut read = |wrong_by: i64, step: i64| {
                passed += step;
                clock.steady_at(START.0 + passed + wrong_by, START.1 + passed)
            };
            assert_eq!(read(0, 2 * DAY), START.0 + 2 * DAY, "without a jump it is the computer's");
            let stamps: Vec<i64> = (0..4).map(|_| read(jump, SECOND)).collect();
            let now = read(0, SECOND);
            assert!(
                stamps.iter().all(|at| (now - at).abs() < 60 * SECOND),
                "what was stamped meanwhile is new"
            );
            let after = now - START.0 - 2 * DAY;
            assert!((0..60 * SECOND).contains(&after), "after {jump}: {after}");
            // Nor after a long time in which nobody has asked: an hour more at most.
            let jumped = read(jump, 3 * DAY) - START.0 - 2 * DAY;
            assert!(jumped <= 3 * DAY + HOUR + 60 * SECOND, "after {jump}: {jumped}");
            super::super::remove_tree(&state).expect("it was made above");
        }
    }

    #[test]
    fn it_goes_on_over_restarts_and_catches_up_slowly_with_the_time_it_was_off() {
        let (clock, state) = clock();
        // Off for ten days, then on for an hour.
        let on = clock.steady_at(START.0 + 10 * DAY, HOUR);
        assert_eq!(on, START.0 + 2 * HOUR);
        let mut at = on;
        for step in 1..=24 * 4 {
            let passed = step * HOUR / 4;
            at = clock.steady_at(START.0 + 10 * DAY + passed, HOUR + passed);
        }
        assert_eq!(at, on + 4 * DAY, "four times as fast as real time");
        // Another process knows as much.
        assert_eq!(RetentionClock::below(&state).steady_at(START.0 + 11 * DAY, HOUR + DAY), at);
        std::fs::write(state.join("clock"), "x").expect("written");
        assert_eq!(clock.steady_at(START.0, 0), START.0, "a damaged file begins again");
        super::super::remove_tree(&state).expect("it was made above");
    }
}
