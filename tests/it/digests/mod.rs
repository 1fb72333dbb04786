//! Digests of recorded logs: what is known of each run from elsewhere is in its digest, and nothing else is.

mod answer;
mod log;
mod recorded;
mod strange;
