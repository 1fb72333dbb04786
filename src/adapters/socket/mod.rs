//! The local socket: how the CLI and stdio adapters of the same user reach a running service.
//!
//! Newline-delimited JSON over a Unix socket private (0600) in a folder of mode 0700; the other side's user
//! is checked. Must never answer another user, and never widen what a named profile may do.

mod client;
mod frame;
mod server;

pub use crate::installation::running::socket_path as path;
pub use client::{Client, ConnectError, connect};
pub use frame::Hello;
pub(super) use frame::unanswered;
pub use server::serve;

pub use bailiwick_platform::local_socket::{BindError, Listener, is_own_user};
