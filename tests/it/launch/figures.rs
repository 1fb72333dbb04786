//! How much processes that last take, and how much they can print.

use std::fs;
use std::time::Duration;

use bailiwick::contract::command::Containment;
use bailiwick::platform::launch::kept::{KeptRequest, State};

use super::lasting::{Lasting, at_terminal, children, request, start};
use super::place::{LEVELS, Place, eventually, shell, single, wait_for};

/// Gives a figure of a process's memory, in KiB.
fn memory(process: u32, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).expect("it lives");
    let line = text.lines().find(|line| line.starts_with(name)).expect("a figure");
    line.split_ascii_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

#[test]
fn fifty_keepers_take_at_most_two_mebibytes_each() {
    // Another user may not look at the memory of a process that is shut.
    if bailiwick::platform::machine::user_id() != 0 {
        return;
    }
    let place = Place::new();
    for level in LEVELS {
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
        println!("{level}: Rss {} KiB, Pss {} KiB", most("Rss:"), most("Pss:"));
        if std::env::var_os("SMAPS").is_some() {
            println!("{}", fs::read_to_string(format!("/proc/{}/smaps", keepers[0])).unwrap());
        }
        assert!(most("Rss:") <= 2048 && most("Pss:") <= 2048, "{level}");
        for process in &processes {
            wait_for(async { process.control().await.stop(15, Duration::ZERO).await.expect("stopped") });
        }
    }
}
