//! Approvals: what a request asks the user for, and what the user has answered.
//!
//! The service opens a ticket for a request that needs approval; `bailiwick approve` answers it, and the next request of
//! the same kind takes what was granted. All of it is files in Bailiwick's state: no client can reach them.

mod hosts;
mod preview;
mod store;
mod ticket;

pub use hosts::HostApprovals;
pub use preview::{EffectPreview, PathChange, PreviewCommit, PreviewPath, PreviewState};
pub use store::{ApprovalError, Approvals, Progress};
pub use ticket::{ApprovalTerm, Decision, Moment, Ticket};
