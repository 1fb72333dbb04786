//! Whether a URL leads to an MCP endpoint that a client can use: the same steps for `client check`, for tunnels, for
//! `connect`, `status` and `doctor`.

mod check;
mod hop;
mod run;

pub use check::UrlCheck;
pub use hop::{Hop, HopReport, first_failure, hop_line};
pub use run::{UrlCheckOutput, run};
