//! Many jobs and long runs: run apart from the gate.

use std::fs;
use std::time::{Duration, Instant};

use super::deaths::{Victim, kill_in_orders};
use super::door::silent_and_deaf_clients;
use super::killing::jobs_leave_no_trace;
use super::lasting::{lives, request, start};
use super::place::{LaunchFixture, shell};
use crate::needs::available;
use crate::patience::PATIENCE;

#[test]
fn two_hundred_jobs_and_sixteen_at_once_leave_no_trace() {
    jobs_leave_no_trace("launch::stress::two_hundred_jobs_and_sixteen_at_once_leave_no_trace", 200, 16);
}

#[test]
fn whatever_is_killed_in_whatever_order_the_rest_is_found_whole_and_nothing_is_left() {
    use Victim::{Keepers, Launcher, Service};
    const TEST: &str =
        "launch::stress::whatever_is_killed_in_whatever_order_the_rest_is_found_whole_and_nothing_is_left";
    let orders = [
        [Service, Launcher, Keepers],
        [Service, Keepers, Launcher],
        [Launcher, Service, Keepers],
        [Launcher, Keepers, Service],
        [Keepers, Service, Launcher],
        [Keepers, Launcher, Service],
    ];
    kill_in_orders(TEST, available().into_iter().flat_map(|level| orders.map(|order| (level, order))));
}

#[test]
fn a_process_whose_folder_is_removed_ends() {
    let place = LaunchFixture::new();
    let processes: Vec<_> = available()
        .into_iter()
        .map(|level| {
            let process =
                start(&place, request(&place, level, shell("echo on; trap '' TERM; sleep 1000; sleep 1000")));
            process.shows("on");
            fs::remove_dir_all(&process.folder).expect("removed");
            process.status().process_id
        })
        .collect();
    // Keepers look every half minute, and the program takes no notice of being asked.
    let deadline = Instant::now() + Duration::from_secs(30) + *PATIENCE;
    while processes.iter().copied().any(lives) {
        assert!(Instant::now() < deadline, "processes continue that nobody can find");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_keeper_takes_little_memory_for_clients_that_say_nothing_or_never_read() {
    silent_and_deaf_clients(|process, level| {
        let number = process.status().process_id;
        let status = fs::read_to_string(format!("/proc/{number}/status")).expect("it lives");
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).expect("a figure");
        let anonymous: u64 =
            line.split_ascii_whitespace().nth(1).and_then(|figure| figure.parse().ok()).expect("KiB");
        assert!(anonymous < 6 << 10, "{level}: {line}");
    });
}
