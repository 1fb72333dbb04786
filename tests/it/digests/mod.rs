//! Digests of recorded logs: what is known of each run from elsewhere is in its digest, and nothing else is.

// What is digested is printed by `make`.
#[cfg(target_os = "linux")]
mod answer;
mod log;
mod recorded;
mod strange;
