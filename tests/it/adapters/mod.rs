//! The transports: the same envelopes through each, and what each has to withstand.

mod cancelling;
mod envelopes;
mod house;
mod http_attacks;
pub mod http_client;
mod http_limits;
mod local_socket;
mod mcp_stdio;
mod mcp_tools;
mod openapi;
mod program;
mod same_outcome;
pub(crate) mod stdio_client;
