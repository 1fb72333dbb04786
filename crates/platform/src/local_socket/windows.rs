//! A named pipe whose list names this user alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::windows::io::AsHandle;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeServer, ServerOptions};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::BindError;
use crate::fs::create_private_dir;
use crate::machine;
use crate::windows::{Object, Rights, private_pipe};
use bailiwick_contract::hex;

/// How long a caller waits for a service that is taking another one's call.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// How long before it calls again.
const PAUSE: Duration = Duration::from_millis(10);

/// Something that is read and written.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection.
pub type Stream = Box<dyn Duplex>;
/// What arrives at a connection.
pub type ReadHalf = tokio::io::ReadHalf<Stream>;
/// What is sent over a connection.
pub type WriteHalf = tokio::io::WriteHalf<Stream>;

/// The pipe, made. Dropping it lets another service take its place.
#[derive(Debug)]
pub struct Listener {
    name: String,
    /// The end that the next caller gets.
    next: Mutex<NamedPipeServer>,
    _lock: File,
}

impl Listener {
    /// Creates the pipe that stands for a path. A lock beside that path says whether a service is alive. Call it within a
    /// runtime.
    ///
    /// # Errors
    /// See [`BindError`].
    pub fn bind(path: &Path) -> Result<Self, BindError> {
        let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        create_private_dir(folder)?;
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).open(path.with_extension("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(BindError::Running),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        let name = pipe_name(path);
        let first = ServerOptions::new().first_pipe_instance(true).reject_remote_clients(true).to_owned();
        match private_pipe(&first, &name) {
            Ok(next) => Ok(Self { name, next: Mutex::new(next), _lock: lock }),
            // Somebody who does not hold the lock has this name.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(BindError::Occupied(name.into()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for a connection. The pipe's list lets nobody connect but this user.
    ///
    /// # Errors
    /// Those of the system.
    pub async fn accept(&self) -> io::Result<Stream> {
        let mut next = self.next.lock().await;
        let connected = next.connect().await;
        let further = ServerOptions::new().reject_remote_clients(true).to_owned();
        let taken = std::mem::replace(&mut *next, private_pipe(&further, &self.name)?);
        connected.map(|()| Box::new(taken) as Stream)
    }

    /// As [`Listener::accept`]: the system closes the connections of others.
    ///
    /// # Errors
    /// As [`Listener::accept`].
    pub async fn accept_or(&self, _refused: impl FnMut(&'static str)) -> io::Result<Stream> {
        self.accept().await
    }
}

/// Connects to the service that holds the pipe of this path, if it is one of this user.
///
/// # Errors
/// Those of the system; `PermissionDenied` if another user holds it.
pub async fn connect(path: &Path) -> io::Result<Stream> {
    const ALL_ENDS_ARE_BUSY: i32 = 231;
    let name = pipe_name(path);
    let began = Instant::now();
    let pipe = loop {
        match ClientOptions::new().open(&name) {
            Err(error) if error.raw_os_error() == Some(ALL_ENDS_ARE_BUSY) && began.elapsed() < MAX_WAIT => {
                tokio::time::sleep(PAUSE).await;
            }
            other => break other?,
        }
    };
    if !Rights::of(pipe.as_handle(), Object::Pipe)?.is_ours() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(Box::new(pipe))
}

/// Takes a connection apart, for reading and writing at the same time.
pub fn split(stream: Stream) -> (ReadHalf, WriteHalf) {
    tokio::io::split(stream)
}

/// Returns whether a number of a user is the one that stands for this one.
pub fn is_own_user(uid: u32) -> bool {
    uid == machine::user_id()
}

/// Pipes are in no folder: the name is made of the whole path.
fn pipe_name(path: &Path) -> String {
    let sum = Sha256::digest(path.as_os_str().as_encoded_bytes());
    format!(r"\\.\pipe\bailiwick-{}", hex(&sum[..16]))
}
