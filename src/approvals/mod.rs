//! What the user decides about requests that need approval, and which rules would spare the question.
//!
//! Below the adapters: the command line asks and prints.

pub mod learn;
pub mod output;
pub mod secrets;
pub mod ticket;
pub mod untrusted;
