//! A system without networks of their own for programs has no port for a proxy in them.

use std::convert::Infallible;
use std::io;

use tokio::net::TcpListener;

use crate::handle::Handle;

/// As on other systems; here there is none.
#[derive(Debug)]
pub struct ProxyPort(Infallible);

impl ProxyPort {
    /// Refuses.
    ///
    /// # Errors
    /// `Unsupported`, always.
    pub fn pair() -> io::Result<(Self, Handle)> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Waits for the socket that listens.
    ///
    /// # Errors
    /// None: there is no value of this type.
    #[expect(clippy::unused_async, reason = "as on other systems")]
    pub async fn listener(&self) -> io::Result<TcpListener> {
        match self.0 {}
    }

    /// Waits until the plan is gone.
    #[expect(clippy::unused_async, reason = "as on other systems")]
    pub async fn closed(&self) {
        match self.0 {}
    }
}
