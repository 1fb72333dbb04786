//! A connection to an X server whose every wait has an end.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::SocketAddrUnix;
use x11rb::rust_connection::{DefaultStream, PollMode, Stream};
use x11rb::utils::RawFdContainer;

use super::address::ServerAddress;
use crate::screen::own_socket;

/// A stream that gives up when its deadline has passed.
#[derive(Debug)]
pub(super) struct TimedStream {
    stream: DefaultStream,
    deadline: Mutex<Instant>,
}

impl TimedStream {
    /// Connects. What listens at a socket must be this user's or root's: anybody may put a socket where displays
    /// are looked for, and would be given the cookie.
    pub(super) fn connect(place: &ServerAddress, deadline: Instant) -> io::Result<Self> {
        let stream = match place {
            ServerAddress::Socket(path) => {
                DefaultStream::from_unix_stream(own_socket::connect(
                    &SocketAddrUnix::new(path)?,
                    &path.display().to_string(),
                    deadline,
                )?)?
                .0
            }
            ServerAddress::Tcp(host, port) => {
                DefaultStream::from_tcp_stream(connect_to_port(host, *port, deadline)?)?.0
            }
        };
        Ok(Self { stream, deadline: Mutex::new(deadline) })
    }

    /// Sets when waiting ends.
    pub(super) fn set_deadline(&self, deadline: Instant) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
    }

    /// Returns what to wait for news with.
    pub(super) fn news(&self) -> PollFd<'_> {
        PollFd::new(&self.stream, PollFlags::IN)
    }

    /// Returns when waiting ends.
    pub(super) fn deadline(&self) -> Instant {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how long may still be waited.
    pub(super) fn remaining(&self) -> Duration {
        self.deadline().saturating_duration_since(Instant::now())
    }
}

impl Stream for TimedStream {
    fn poll(&self, mode: PollMode) -> io::Result<()> {
        let mut events = PollFlags::empty();
        if mode.readable() {
            events |= PollFlags::IN;
        }
        if mode.writable() {
            events |= PollFlags::OUT;
        }
        loop {
            let timeout = Timespec::try_from(self.remaining()).map_err(io::Error::other)?;
            match rustix::event::poll(&mut [PollFd::new(&self.stream, events)], Some(&timeout)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn read(&self, buffer: &mut [u8], descriptors: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.stream.read(buffer, descriptors)
    }

    fn write(&self, buffer: &[u8], descriptors: &mut Vec<RawFdContainer>) -> io::Result<usize> {
        self.stream.write(buffer, descriptors)
    }

    fn write_vectored(
        &self,
        buffers: &[io::IoSlice<'_>],
        descriptors: &mut Vec<RawFdContainer>,
    ) -> io::Result<usize> {
        self.stream.write_vectored(buffers, descriptors)
    }
}

fn connect_to_port(host: &str, port: u16, deadline: Instant) -> io::Result<TcpStream> {
    let mut error = io::Error::from(io::ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        let remaining = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        match TcpStream::connect_timeout(&address, remaining) {
            Ok(stream) => return Ok(stream),
            Err(refusal) => error = refusal,
        }
    }
    Err(error)
}
