//! The connection to a keeper: a socket in the folder of the process.

use std::io;
use std::net::TcpStream as StdTcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::Mode;
use rustix::net::RecvFlags;
use tokio::io::Interest;
use tokio::net::{TcpStream, UnixStream};

use super::message::SOCKET_NAME;
use super::status::Key;
use crate::launch::flags::FOLDER;
use crate::launch::handing;

/// How long to wait before connecting again to a keeper that has many callers.
const PAUSE: Duration = Duration::from_millis(5);

/// A connection.
#[derive(Debug)]
pub(super) struct Line {
    socket: UnixStream,
    /// The socket that came with an answer.
    handed: Option<OwnedFd>,
}

impl Line {
    /// Connects to the keeper of the process with this folder.
    pub(super) async fn connect(folder: &Path, _: &Key, max_wait: Duration) -> io::Result<Self> {
        let opened = rustix::fs::open(folder, FOLDER, Mode::empty())?;
        let address = address(&opened)?;
        let began = tokio::time::Instant::now();
        loop {
            match UnixStream::connect(&address).await {
                Ok(socket) => return Ok(Self { socket, handed: None }),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && began.elapsed() < max_wait => {
                    tokio::time::sleep(PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits until something can be sent.
    pub(super) async fn writable(&self) -> io::Result<()> {
        self.socket.writable().await
    }

    /// Sends as much as can be now.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.socket.try_write(bytes)
    }

    /// Waits until something has arrived.
    pub(super) async fn readable(&self) -> io::Result<()> {
        self.socket.readable().await
    }

    /// Takes what has arrived.
    pub(super) fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let socket = &self.socket;
        let (length, handed) = socket.try_io(Interest::READABLE, || receive_from(socket, buffer))?;
        if handed.is_some() {
            self.handed = handed;
        }
        Ok(length)
    }

    /// Lets go of what came with an answer that nobody waits for.
    pub(super) fn forget_handed(&mut self) {
        self.handed = None;
    }

    /// Returns the connection to a port that came with an answer; the keeper has begun it in the network of the process.
    #[expect(clippy::unused_async, reason = "other systems connect here")]
    pub(super) async fn take_dialled(&mut self, _: u16) -> io::Result<TcpStream> {
        let handed = self.handed.take().ok_or(io::ErrorKind::NotConnected)?;
        let stream = StdTcpStream::from(handed);
        stream.set_nonblocking(true)?;
        TcpStream::from_std(stream)
    }
}

/// Gives a path to the socket that is short, however long that of the folder is.
#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "other systems must look at the folder")]
pub(in super::super) fn address(folder: &OwnedFd) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;

    Ok(PathBuf::from(format!("/proc/self/fd/{}/{SOCKET_NAME}", folder.as_raw_fd())))
}

/// Gives a path to the socket that is short, however long that of the folder is: by the numbers of the file system
/// and of the folder, which macOS takes for a path.
#[cfg(not(target_os = "linux"))]
pub(in super::super) fn address(folder: &OwnedFd) -> io::Result<PathBuf> {
    let facts = rustix::fs::fstat(folder)?;
    Ok(PathBuf::from(format!("/.vol/{}/{}/{SOCKET_NAME}", facts.st_dev, facts.st_ino)))
}

fn receive_from(socket: &UnixStream, buffer: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let (length, mut handed) = handing::receive(socket.as_fd(), buffer, RecvFlags::DONTWAIT)?;
    Ok((length, handed.pop()))
}
