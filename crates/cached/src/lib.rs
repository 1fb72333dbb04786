//! What brush-parser uses of cached. Nothing is kept: its caches held the words of commands for as long as the service
//! ran.

#![forbid(unsafe_code)]

/// Attributes of functions.
pub mod proc_macro {
    pub use bailiwick_uncached::cached;
}
