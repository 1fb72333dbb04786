//! Programs that forward a public URL to this computer: what starts each, what it says, and keeping it running.
//!
//! Below the adapters: what is asked and printed of it is the command line's.

#![expect(clippy::disallowed_methods, reason = "the program of a tunnel is the user's own")]

pub mod added_token;
pub mod keeper;
pub mod output;
pub mod program;
pub mod supervisor;
