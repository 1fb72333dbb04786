//! The connection to a keeper: a named pipe whose name follows from the key, which is in the status.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::windows::io::AsHandle;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::net::TcpStream;
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient};

use super::status::Key;
use crate::windows::{Object, Rights};
use bailiwick_contract::hex;

/// How long to wait before connecting again to a keeper that is taking another call.
const PAUSE: Duration = Duration::from_millis(5);

/// A connection.
#[derive(Debug)]
pub(super) struct Line(NamedPipeClient);

impl Line {
    /// Connects to the keeper that wrote a key.
    pub(super) async fn connect(_: &Path, key: &Key, max_wait: Duration) -> io::Result<Self> {
        const ALL_ENDS_ARE_BUSY: i32 = 231;
        let name = pipe_name(key);
        let began = tokio::time::Instant::now();
        let pipe = loop {
            match ClientOptions::new().open(&name) {
                Err(error)
                    if error.raw_os_error() == Some(ALL_ENDS_ARE_BUSY) && began.elapsed() < max_wait =>
                {
                    tokio::time::sleep(PAUSE).await;
                }
                other => break other?,
            }
        };
        if !Rights::of(pipe.as_handle(), Object::Pipe)?.is_ours() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(Self(pipe))
    }

    /// Waits until something can be sent.
    pub(super) async fn writable(&self) -> io::Result<()> {
        self.0.writable().await
    }

    /// Sends as much as can be now.
    pub(super) fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.0.try_write(bytes)
    }

    /// Waits until something has arrived.
    pub(super) async fn readable(&self) -> io::Result<()> {
        self.0.readable().await
    }

    /// Takes what has arrived.
    pub(super) fn try_read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }

    /// Nothing comes with an answer here.
    pub(super) fn forget_handed(&mut self) {}

    /// Connects to a port, of whichever kind of address: all processes have the same network here.
    pub(super) async fn take_dialled(&mut self, port: u16) -> io::Result<TcpStream> {
        tokio::select! {
            Ok(stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) => Ok(stream),
            Ok(stream) = TcpStream::connect((Ipv6Addr::LOCALHOST, port)) => Ok(stream),
            else => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }
}

/// Pipes are in no folder. Who can read the key finds the name, and nobody else.
pub(in super::super) fn pipe_name(key: &Key) -> String {
    let sum = Sha256::new().chain_update(b"control").chain_update(key).finalize();
    format!(r"\\.\pipe\bailiwick-keeper-{}", hex(&sum[..16]))
}
