//! Figures of memory, and a thousand processes: run apart from the gate.

use std::fs;
use std::time::Duration;

use super::{output_is_counted_and_kept_within_the_budget, short_processes_leave_nothing_running};
use crate::launch::lasting::{at_terminal, request, start};
use crate::launch::place::{LaunchFixture, single, wait_for};
use crate::needs::{available, lacks_root};
use crate::patience::eventually;

/// Returns a figure of a process's memory, in KiB.
fn memory(process: u32, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).expect("it lives");
    let line = text.lines().find(|line| line.starts_with(name)).expect("a figure");
    line.split_ascii_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn fifty_keepers_take_at_most_two_mebibytes_each() {
    // Another user may not look at the memory of a process that is shut.
    if lacks_root() {
        return;
    }
    let place = LaunchFixture::new();
    for level in available() {
        let processes: Vec<_> = (0..50)
            .map(|number| {
                let plan = single(&["cat"]);
                let made = if number % 2 == 0 {
                    request(&place, level, plan)
                } else {
                    at_terminal(&place, level, plan)
                };
                start(&place, made)
            })
            .collect();
        for process in &processes {
            wait_for(async { process.control().await.input(b"hello\n").await.expect("taken") });
            process.shows("hello");
        }
        let keepers: Vec<_> = processes.iter().map(|process| process.status().process_id).collect();
        let most = |name| keepers.iter().map(|keeper| memory(*keeper, name)).max().expect("fifty");
        // A build without optimization has many more tables of addresses, and scattered code.
        let limit = if cfg!(debug_assertions) { 5120 } else { 2048 };
        // What they needed to begin is given back a moment after the last word.
        eventually(&format!("at {level} each has at most {limit} KiB, of its own 2048 KiB"), || {
            most("Rss:") <= limit && most("Pss:") <= 2048
        });
        for process in &processes {
            wait_for(async { process.control().await.stop(15, Duration::ZERO).await.expect("stopped") });
        }
    }
}

#[test]
fn a_gigabyte_of_output_is_counted_and_the_last_of_it_kept_within_the_budget() {
    output_is_counted_and_kept_within_the_budget(768 << 20, 256 << 20);
}

#[test]
fn a_thousand_short_processes_end_with_their_own_codes_and_leave_nothing_running() {
    // The levels share the thousand.
    short_processes_leave_nothing_running(21);
}
