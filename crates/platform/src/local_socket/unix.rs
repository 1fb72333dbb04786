//! A Unix socket: made under another name, renamed when it is narrow.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use super::BindError;
use crate::fs::create_private_dir;
use crate::machine;
use bailiwick_contract::id;

pub use tokio::net::UnixStream as Stream;
pub use tokio::net::unix::{OwnedReadHalf as ReadHalf, OwnedWriteHalf as WriteHalf};

/// The socket, bound. Dropping it removes the socket and lets another service take its place.
#[derive(Debug)]
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
    identity: (u64, u64),
    _lock: File,
}

impl Listener {
    /// Binds the socket. A lock beside it says whether a service is alive; a socket that was left behind
    /// by a dead one is replaced.
    ///
    /// The socket is made under another name and renamed when its mode is 0600, in a folder of mode 0700,
    /// so that at no moment another user could connect.
    ///
    /// # Errors
    /// See [`BindError`].
    pub fn bind(path: &Path) -> Result<Self, BindError> {
        let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        create_private_dir(folder)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.with_extension("lock"))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(BindError::Running),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        match fs::symlink_metadata(path) {
            Ok(facts) if facts.file_type().is_socket() && is_own_user(facts.uid()) => {}
            Ok(_) => return Err(BindError::Occupied(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        let made = folder.join(format!(".{}", id::new_id()));
        let bound = UnixListener::bind(&made).and_then(|socket| {
            fs::set_permissions(&made, Permissions::from_mode(0o600))?;
            fs::rename(&made, path)?;
            let facts = fs::symlink_metadata(path)?;
            Ok((socket, (facts.dev(), facts.ino())))
        });
        match bound {
            Ok((socket, identity)) => Ok(Self { socket, path: path.to_owned(), identity, _lock: lock }),
            Err(error) => {
                // It may not have been made; removing what is not there is no loss.
                let _ = fs::remove_file(&made);
                Err(error.into())
            }
        }
    }

    /// Waits for a connection of this user. Those of others are closed unheard, and on Linux those of programs that
    /// Bailiwick started.
    ///
    /// # Errors
    /// Those of the system, such as too many open files.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        self.accept_or(|_| ()).await
    }

    /// As [`Listener::accept`]; hands on why a connection was closed unheard.
    ///
    /// # Errors
    /// As [`Listener::accept`].
    pub async fn accept_or(&self, mut refused: impl FnMut(&'static str)) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.socket.accept().await?;
            if !stream.peer_cred().is_ok_and(|peer| is_own_user(peer.uid())) {
                refused("a program of another user");
                continue;
            }
            #[cfg(target_os = "linux")]
            if super::peer::is_started_by_bailiwick(&stream) {
                refused("a program that Bailiwick started");
                continue;
            }
            return Ok(stream);
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let own =
            fs::symlink_metadata(&self.path).is_ok_and(|facts| (facts.dev(), facts.ino()) == self.identity);
        if own {
            // Nothing can be done about a socket that cannot be removed; the next service replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns whether a numeric user id is the one that this process runs as. Root is refused either.
pub fn is_own_user(uid: u32) -> bool {
    uid == machine::user_id()
}

/// Connects to the service that holds the socket of this path, if it is one of this user.
///
/// # Errors
/// Those of the system; `PermissionDenied` if another user holds it.
pub async fn connect(path: &Path) -> io::Result<Stream> {
    let stream = UnixStream::connect(path).await?;
    if !is_own_user(stream.peer_cred()?.uid()) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(stream)
}

/// Takes a connection apart, for reading and writing at the same time.
pub fn split(stream: Stream) -> (ReadHalf, WriteHalf) {
    stream.into_split()
}
