//! Secrets that a program asks for: a prompt that waits for the user, who answers outside of any client.
//!
//! A client opens a prompt for a process; a person answers with `bailiwick approve`, and what is typed goes from
//! there to the process. It passes through no service and no client, and is in none of these files.

mod prompt;
mod store;

pub use prompt::{Prompt, PromptText};
pub use store::{Claim, Progress, PromptError, Prompts};
