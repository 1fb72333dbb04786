//! The service's end of the port at which a plan reaches its proxy.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::RecvFlags;
use tokio::io::Interest;
use tokio::net::{TcpListener, UnixStream};

use crate::handle::Handle;
use crate::launch::handing;

/// A way on which a plan's supervisor hands out a socket that listens in the plan's own network. It closes with the
/// supervisor, or the keeper that it becomes.
#[derive(Debug)]
pub struct ProxyPort(UnixStream);

impl ProxyPort {
    /// Creates both ends: one for the service, one for a [`LaunchRequest`](crate::launch::LaunchRequest). Call it within a
    /// runtime.
    ///
    /// # Errors
    /// Those of the system, such as too many open files.
    pub fn pair() -> io::Result<(Self, Handle)> {
        let (ours, theirs) = handing::pair()?;
        let ours = std::os::unix::net::UnixStream::from(ours);
        ours.set_nonblocking(true)?;
        Ok((Self(UnixStream::from_std(ours)?), theirs))
    }

    /// Waits for the socket that listens. Nothing outside of the plan's network can connect to it.
    ///
    /// # Errors
    /// `UnexpectedEof` where the plan has ended before there was one.
    pub async fn listener(&self) -> io::Result<TcpListener> {
        let receive = || {
            let (length, handed) = handing::receive(self.0.as_fd(), &mut [0], RecvFlags::empty())?;
            match (length, <[OwnedFd; 1]>::try_from(handed)) {
                (1.., Ok([listener])) => Ok(listener),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        loop {
            match self.0.async_io(Interest::READABLE, receive).await {
                Err(error) if error.raw_os_error() == Some(Errno::INTR.raw_os_error()) => {}
                received => return TcpListener::from_std(received?.into()),
            }
        }
    }

    /// Waits until the plan is gone, with its supervisor or keeper.
    pub async fn closed(&self) {
        loop {
            match self.0.readable().await.and_then(|()| self.0.try_read(&mut [0; 8])) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Nothing more is sent.
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
        }
    }
}
