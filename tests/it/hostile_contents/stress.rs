//! Long contents of every pattern in every language: run apart from the gate.

use std::fs;
use std::time::{Duration, Instant};

use bailiwick::providers::parser::ParserPool;
use support::generator::Numbers;
use support::source::repository;

use super::{NAMES, PATTERNS, parse, parse_patterns, still_parses};

/// How long random contents are tried.
const FUZZ_TIME: Duration = Duration::from_secs(600);
/// The longest of them.
const MAX_FUZZ_BYTES: usize = 200_000;

/// Creates a text of a language that is nearly right: pieces of a sample, moved, doubled, cut and torn apart by what is
/// known to be hard.
fn random_content(numbers: &mut Numbers, sample: &str) -> String {
    let letters: Vec<char> = sample.chars().collect();
    let mut text = String::new();
    for _ in 0..=numbers.below(12) {
        if letters.is_empty() || numbers.below(3) == 0 {
            let (repeated, behind) = PATTERNS[numbers.below(PATTERNS.len())];
            let times = [1, 3, 50, 2_000, 40_000][numbers.below(5)];
            text.push_str(&repeated.repeat(times));
            text.push_str(behind);
        } else {
            let start = numbers.below(letters.len());
            let length = numbers.below(letters.len() - start) + 1;
            let piece: String = letters[start..start + length].iter().collect();
            text.push_str(&piece.repeat([1, 1, 2, 100][numbers.below(4)]));
        }
        if text.len() > MAX_FUZZ_BYTES {
            text.truncate(text.floor_char_boundary(MAX_FUZZ_BYTES));
            break;
        }
    }
    text
}

#[test]
fn random_contents_hold_no_parse_worker() {
    // Another sequence each time; it is named where it fails.
    let seed = std::time::UNIX_EPOCH.elapsed().map_or(1, |it| u64::from(it.subsec_nanos()));
    let seed = std::env::var("BAILIWICK_FUZZ_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(seed);
    crate::system::tell(&format!("BAILIWICK_FUZZ_SEED={seed}"));
    let samples: Vec<String> = NAMES
        .iter()
        .map(|name| {
            let ending = name.trim_start_matches('a');
            let files = fs::read_dir(repository().join("tests/code")).expect("the samples");
            let mut paths = files.map(|it| it.expect("an entry").path());
            let found = paths.find(|path| path.to_string_lossy().ends_with(ending));
            found.map_or_else(String::new, |path| fs::read_to_string(path).expect("a sample"))
        })
        .collect();
    let pool = ParserPool::new(&support::program());
    let (mut numbers, began, mut tried, mut failed) = (Numbers::new(seed), Instant::now(), 0, 0);
    while began.elapsed() < FUZZ_TIME {
        let at = numbers.below(NAMES.len());
        failed += parse(&pool, NAMES[at], &random_content(&mut numbers, &samples[at]));
        tried += 1;
        if tried % 50 == 0 {
            still_parses(&pool, NAMES[at]);
        }
    }
    crate::system::tell(&format!("{tried} random texts; workers failed {failed} times"));
    #[cfg(target_os = "linux")]
    {
        let peak = super::worker::peak_kb(std::process::id());
        assert!(peak < super::MOST_MEMORY_KB, "{peak} kB");
    }
}

#[test]
fn no_long_pattern_in_any_language_holds_a_parse_worker() {
    for bytes in [10_000, 900_000] {
        let failed = parse_patterns(&NAMES, bytes);
        crate::system::tell(&format!("{failed} texts of {bytes} bytes were not parsed"));
    }
    #[cfg(target_os = "linux")]
    {
        let peak = super::worker::peak_kb(std::process::id());
        assert!(peak < super::MOST_MEMORY_KB, "{peak} kB");
    }
}

// Whether a process is there is read from /proc.
#[cfg(target_os = "linux")]
#[test]
fn a_parse_worker_that_nobody_needs_ends() {
    let host = super::Host::new();
    host.is_well();
    let service = host.service.child.id();
    assert!(!super::worker::workers(service).is_empty());
    crate::patience::eventually("the worker ends", || super::worker::workers(service).is_empty());
    host.is_well();
}
