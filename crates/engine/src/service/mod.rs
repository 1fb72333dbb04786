//! The spine: every transport hands its envelopes to [`Service::handle`].
//!
//! Read `handle.rs` first. Nothing here knows a transport or an operation by name.

mod approvals;
mod boot;
mod dispatch;
mod handle;
mod near;
mod previews;
mod record;
mod secrets;
mod shares;
mod submit;
#[cfg(test)]
mod tests;
mod untrusted;
mod watch;

pub use approvals::decision_event;
pub use boot::{BootError, Service, ServiceSettings, ServiceState};
pub use shares::{Share, Shares};
