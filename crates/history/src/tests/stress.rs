//! More of what the other tests do: run apart from the gate.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::damage::damage_at_random;
use super::{Folder, event};

#[test]
fn ten_thousand_damages_stop_no_effect_without_a_reason_that_doctor_repeats() {
    damage_at_random(10_000, 1);
}

#[test]
fn the_log_is_begun_again_although_rows_come_without_a_pause() {
    /// In bytes: twice what is written back at once, and what comes meanwhile.
    const MOST: u64 = 128 * 1_048_576;
    let folder = Folder::new();
    let history = folder.start();
    let log = folder.0.join("history.db-wal");
    let (is_over, end) = (AtomicBool::new(false), Instant::now() + Duration::from_secs(20));
    let (largest, rows) = std::thread::scope(|threads| {
        let writers: Vec<_> = (0..2)
            .map(|_| {
                threads.spawn(|| {
                    let mut rows = 0_u32;
                    while !is_over.load(Ordering::Relaxed) {
                        history.append(event("src/main.rs")).expect("written");
                        rows += 1;
                    }
                    rows
                })
            })
            .collect();
        let mut largest = 0;
        while Instant::now() < end {
            largest = largest.max(std::fs::metadata(&log).map_or(0, |facts| facts.len()));
            std::thread::sleep(Duration::from_millis(20));
        }
        is_over.store(true, Ordering::Relaxed);
        (largest, writers.into_iter().map(|it| it.join().expect("no panic")).sum::<u32>())
    });
    assert!(largest <= MOST, "the log grew to {largest} bytes with {rows} rows");
}
