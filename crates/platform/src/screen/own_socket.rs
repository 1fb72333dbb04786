//! Connecting to a socket at which only this user or root may listen: anybody may put a socket at such a path.

use std::io;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::machine;

/// Connects without ever waiting in the kernel: a server that is stopped takes no connection once its queue is full.
pub(crate) fn connect(address: &SocketAddrUnix, shown: &str, deadline: Instant) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    loop {
        match rustix::net::connect(&socket, address) {
            Ok(()) => break,
            Err(Errno::AGAIN) if Instant::now() < deadline => thread::sleep(Duration::from_millis(10)),
            Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let owner = sockopt::socket_peercred(&socket)?.uid.as_raw();
    if owner != 0 && owner != machine::user_id() {
        let why = format!("the server at {shown} is run by the user {owner}, not by you");
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    Ok(UnixStream::from(socket))
}
