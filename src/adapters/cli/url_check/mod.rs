//! `client check`: whether a URL leads to an MCP endpoint that a client can use.

mod run;

pub use run::{UrlCheckOutput, hop_line, run};
