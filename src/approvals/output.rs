//! What `approve` prints with `--json`.

use schemars::JsonSchema;
use serde::Serialize;

use super::secrets::WaitingOutput;
use super::ticket::TicketOutput;

/// `approve --list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApproveListOutput {
    /// Always true.
    pub ok: bool,
    /// The secrets that wait.
    pub waiting: Vec<WaitingOutput>,
    /// The requests that wait for approval.
    pub approvals: Vec<TicketOutput>,
}

/// `approve`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ApproveOutput {
    /// Always true.
    pub ok: bool,
    /// The ids of what was answered.
    pub answered: Vec<String>,
    /// The ids of what was refused.
    pub refused: Vec<String>,
    /// The ids of what waits on.
    pub left: Vec<String>,
}
