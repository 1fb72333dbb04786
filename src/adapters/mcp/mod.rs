//! The Model Context Protocol, revisions 2025-03-26 to 2026-07-28, from one handler over every transport.
//!
//! Four tools carry every operation. Must not judge, and must not know an operation by name beyond
//! `computer.info` and `history.*`, which two of the tools stand for, and those that prompts and instructions name.

mod answer;
mod elicitation;
mod handler;
mod instructions;
mod line_calls;
mod line_output;
mod patience;
mod plain_call;
mod progress;
mod prompts;
mod render;
mod request_ids;
mod resources;
pub mod stdio;
mod stdio_transport;
mod tasks;
mod tools;

/// How many messages one batch may have.
pub(super) const MAX_BATCH: usize = 64;

pub use handler::{ClientCallback, Handler};
pub use plain_call::PlainCall;
pub(super) use progress::progress_message;
pub(super) use render::splice_answer;
pub(super) use tools::history_envelope;
pub use tools::{COMPUTER_OPERATION, COMPUTER_QUERY, GET_COMPUTER_INFO, GET_OPERATION_HISTORY, listed};
