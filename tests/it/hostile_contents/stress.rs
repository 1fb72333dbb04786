//! Long contents of every pattern in every language: run apart from the gate.

use super::{NAMES, parse_patterns};

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
