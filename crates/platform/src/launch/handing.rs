//! Sockets between the processes of this program, and what is handed over with their messages.

use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use super::flags::QUIET;
use super::wire::MAX_HANDED;

pub(super) use system::{accept, launcher_pair, pair, receive_message, stream};

/// Sends bytes with descriptors, as far as there is room. Returns how many bytes were sent.
pub(super) fn send(socket: impl AsFd, bytes: &[u8], handed: &[BorrowedFd<'_>]) -> Result<usize, Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_HANDED))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !handed.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(handed)) {
        return Err(Errno::TOOBIG);
    }
    sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, QUIET | SendFlags::DONTWAIT)
}

/// Receives bytes with the descriptors that come with them, which programs that are executed do not get.
pub(super) fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
    flags: RecvFlags,
) -> Result<(usize, Vec<OwnedFd>), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_HANDED))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | system::CLOSE_ON_EXEC;
    let length = recvmsg(socket, &mut [IoSliceMut::new(buffer)], &mut ancillary, flags)?.bytes;
    let mut handed = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            handed.extend(descriptors);
        }
    }
    for descriptor in &handed {
        system::close_on_exec(descriptor)?;
    }
    Ok((length, handed))
}

/// Returns the process at the other end of a socket, held open so that no other one gets its number. Linux before 6.5 has
/// none.
#[cfg(target_os = "linux")]
pub(crate) fn peer_process(socket: &impl AsFd) -> Option<OwnedFd> {
    nix::sys::socket::getsockopt(socket, nix::sys::socket::sockopt::PeerPidfd).ok()
}

/// Receives a message that begins with its length, from a stream. No bytes mean that the other end is closed.
#[cfg(any(target_os = "macos", feature = "portable-launch"))]
fn receive_from_stream(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<(usize, Vec<OwnedFd>), Errno> {
    // The length first: what comes after the message belongs to another one.
    let (mut filled, mut end, mut handed) = (0, 8, Vec::new());
    while filled < end {
        match receive(socket, &mut buffer[filled..end], RecvFlags::empty()) {
            Ok((0, _)) => return Ok((0, Vec::new())),
            Ok((length, descriptors)) => {
                filled += length;
                handed.extend(descriptors);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        if filled == 8
            && end == 8
            && let Some(length) = buffer.first_chunk()
        {
            let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| Errno::MSGSIZE)?;
            end = length.checked_add(8).filter(|end| *end <= buffer.len()).ok_or(Errno::MSGSIZE)?;
        }
    }
    Ok((filled, handed))
}

#[cfg(target_os = "linux")]
mod system {
    use super::{AddressFamily, BorrowedFd, Errno, OwnedFd, RecvFlags};
    use rustix::net::{SocketFlags, SocketType, accept_with, socket_with, socketpair};

    pub(super) const CLOSE_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;

    /// Whether the launcher's socket keeps messages apart on its own.
    #[cfg(not(feature = "portable-launch"))]
    const OF_LAUNCHER: SocketType = SocketType::SEQPACKET;
    #[cfg(feature = "portable-launch")]
    const OF_LAUNCHER: SocketType = SocketType::STREAM;

    #[expect(clippy::unnecessary_wraps, reason = "other systems set a flag of each")]
    pub(super) const fn close_on_exec(_: &OwnedFd) -> Result<(), Errno> {
        Ok(())
    }

    /// Makes two sockets that are connected.
    pub(in super::super) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
    }

    /// Makes two sockets that are connected, for the service and its launcher.
    pub(in super::super) fn launcher_pair() -> Result<(OwnedFd, OwnedFd), Errno> {
        socketpair(AddressFamily::UNIX, OF_LAUNCHER, SocketFlags::CLOEXEC, None)
    }

    /// Creates a socket that nothing waits at.
    pub(in super::super) fn stream(family: AddressFamily) -> Result<OwnedFd, Errno> {
        socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)
    }

    /// Accepts a connection, at which nothing waits.
    pub(in super::super) fn accept(listener: &OwnedFd) -> Result<OwnedFd, Errno> {
        accept_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)
    }

    /// Receives one message of the launcher's socket as a whole. No bytes mean that the other end is closed.
    #[cfg(not(feature = "portable-launch"))]
    pub(in super::super) fn receive_message(
        socket: BorrowedFd<'_>,
        buffer: &mut [u8],
    ) -> Result<(usize, Vec<OwnedFd>), Errno> {
        super::receive(socket, buffer, RecvFlags::empty())
    }

    #[cfg(feature = "portable-launch")]
    pub(in super::super) fn receive_message(
        socket: BorrowedFd<'_>,
        buffer: &mut [u8],
    ) -> Result<(usize, Vec<OwnedFd>), Errno> {
        super::receive_from_stream(socket, buffer)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{AddressFamily, BorrowedFd, Errno, OwnedFd, RecvFlags};
    use rustix::fs::OFlags;
    use rustix::io::{FdFlags, fcntl_setfd};
    use rustix::net::{SocketType, socket, socketpair, sockopt};

    pub(super) const CLOSE_ON_EXEC: RecvFlags = RecvFlags::empty();

    /// How many bytes of messages may wait at the launcher's socket: more than the longest.
    const BUFFER_BYTES: usize = 64 << 10;

    pub(super) fn close_on_exec(descriptor: &OwnedFd) -> Result<(), Errno> {
        fcntl_setfd(descriptor, FdFlags::CLOEXEC)
    }

    /// Makes two sockets that are connected.
    pub(in super::super) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, rustix::net::SocketFlags::empty(), None)?;
        close_on_exec(&ours)?;
        close_on_exec(&theirs)?;
        Ok((ours, theirs))
    }

    /// Makes two sockets that are connected, for the service and its launcher.
    pub(in super::super) fn launcher_pair() -> Result<(OwnedFd, OwnedFd), Errno> {
        let (ours, theirs) = pair()?;
        sockopt::set_socket_send_buffer_size(&ours, BUFFER_BYTES)?;
        Ok((ours, theirs))
    }

    /// Creates a socket that nothing waits at.
    pub(in super::super) fn stream(family: AddressFamily) -> Result<OwnedFd, Errno> {
        not_waiting(socket(family, SocketType::STREAM, None)?)
    }

    /// Accepts a connection, at which nothing waits.
    pub(in super::super) fn accept(listener: &OwnedFd) -> Result<OwnedFd, Errno> {
        not_waiting(rustix::net::accept(listener)?)
    }

    fn not_waiting(socket: OwnedFd) -> Result<OwnedFd, Errno> {
        close_on_exec(&socket)?;
        let flags = rustix::fs::fcntl_getfl(&socket)?;
        rustix::fs::fcntl_setfl(&socket, flags | OFlags::NONBLOCK)?;
        Ok(socket)
    }

    /// Receives one message of the launcher's socket as a whole. No bytes mean that the other end is closed.
    pub(in super::super) fn receive_message(
        socket: BorrowedFd<'_>,
        buffer: &mut [u8],
    ) -> Result<(usize, Vec<OwnedFd>), Errno> {
        super::receive_from_stream(socket, buffer)
    }
}
