//! What differs between operating systems. The only place with `cfg(target_os)`.
//!
//! Mechanism without opinion: nothing here knows scopes, policies or operations.

pub mod dirs;
pub mod fs;
pub mod machine;
