//! The local socket: a place where only programs of this user are heard.
//!
//! A Unix socket private (0600) in a folder of mode 0700; on Windows a named pipe whose list names this user alone. Both
//! sides look who the other is. Knows nothing of what is said.

#[cfg(target_os = "linux")]
mod peer;
#[cfg(test)]
mod tests;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{Listener, ReadHalf, Stream, WriteHalf, connect, is_own_user, split};
#[cfg(windows)]
pub use windows::{Listener, ReadHalf, Stream, WriteHalf, connect, is_own_user, split};

/// Why the socket cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another service holds it.
    #[error("another service is running for this installation")]
    Running,
    /// Something else is at its place.
    #[error("{0} is not a socket of this user; remove it")]
    Occupied(std::path::PathBuf),
    /// The file system says no.
    #[error("the local socket cannot be made: {0}")]
    Io(#[from] std::io::Error),
}
