//! What bounds the processes that a scope starts: how long they live, and how many at a time.

use std::time::Duration;

use bailiwick_config::{ProcessLifetime, ScopePolicy};

/// The most processes of a scope that run at a time, unless it says otherwise.
const MAX_LIVE: u32 = 32;
/// The longest time that a process may run, in seconds, unless its scope says otherwise: a day.
const MAX_SECONDS: u64 = 86_400;

/// What bounds the processes of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessPolicy {
    /// How long they live.
    pub lifetime: ProcessLifetime,
    /// How many run at a time.
    pub max_live: u32,
    /// How long each may run.
    pub max_time: Duration,
}

impl ProcessPolicy {
    /// Reads the part of a scope's policy that is about processes.
    pub fn new(policy: &ScopePolicy) -> Self {
        Self {
            lifetime: policy.process_lifetime,
            max_live: policy.max_live_processes.unwrap_or(MAX_LIVE),
            max_time: Duration::from_secs(policy.max_process_seconds.unwrap_or(MAX_SECONDS)),
        }
    }
}
