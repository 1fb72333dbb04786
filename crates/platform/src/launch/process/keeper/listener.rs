//! Who speaks to the keeper: the listener, and its connections.
//!
//! Only processes of this user are heard that know the key, which is in the status file. Nobody can make the
//! keeper wait or grow: connections are few, each is read only as far as its answers were taken, and no matter who
//! is not understood is not heard any more.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::super::system::sys;
use crate::launch::flags::QUIET;
use crate::launch::handing;
use crate::launch::kept::message::{
    Answer, LENGTH_BYTES, MAX_CONNECTIONS, MAX_MESSAGE_BYTES, Request, first_length,
};
use crate::launch::kept::status::{Key, is_same_key};

/// How long a watcher that was told waits until it is told again.
const BETWEEN_EVENTS: Duration = Duration::from_micros(500);
/// How much is read at a time.
const CHUNK_BYTES: usize = 4 << 10;

/// The listener and the connections.
#[derive(Debug)]
pub(super) struct KeeperListener {
    listener: OwnedFd,
    key: Key,
    connections: Vec<Connection>,
}

#[derive(Debug)]
struct Connection {
    socket: OwnedFd,
    /// Whether it said the key.
    is_known: bool,
    is_over: bool,
    received: Vec<u8>,
    unsent: Vec<u8>,
    watch: Option<Watch>,
}

/// What a watcher was told.
#[derive(Debug, Clone, Copy)]
struct Watch {
    end: u64,
    at: Instant,
}

/// An answer, with a socket if one comes with it.
pub(super) struct Reply {
    pub(super) answer: Answer,
    pub(super) socket: Option<OwnedFd>,
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self { answer, socket: None }
    }
}

impl KeeperListener {
    pub(super) fn new(listener: OwnedFd, key: Key) -> Self {
        Self { listener, key, connections: Vec::new() }
    }

    /// Returns what is to be polled: the listener, then each connection.
    pub(super) fn polled(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let connections = self.connections.iter().map(|connection| {
            // Anyone who does not take answers is not heard.
            let wanted = if connection.unsent.is_empty() { PollFlags::IN } else { PollFlags::OUT };
            (connection.socket.as_fd(), wanted)
        });
        [(self.listener.as_fd(), PollFlags::IN)].into_iter().chain(connections)
    }

    /// Lets in who knocks.
    pub(super) fn accept(&mut self) {
        loop {
            let socket = match handing::accept(&self.listener) {
                Ok(socket) => socket,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(_) => return,
            };
            // In a namespace all other users have one and the same number; the folder is shut to them, too.
            if sys::peer_user(socket.as_fd()).ok() != Some(rustix::process::geteuid().as_raw()) {
                continue;
            }
            if self.connections.len() >= MAX_CONNECTIONS {
                // The one that is silent for the longest time makes room.
                match self.connections.iter().position(|connection| !connection.is_known) {
                    Some(silent) => drop(self.connections.remove(silent)),
                    None => continue,
                }
            }
            self.connections.push(Connection {
                socket,
                is_known: false,
                is_over: false,
                received: Vec::new(),
                unsent: Vec::new(),
                watch: None,
            });
        }
    }

    /// Reads from a connection that is ready, or continues answering.
    pub(super) fn hear(&mut self, at: usize) {
        if let Some(connection) = self.connections.get_mut(at) {
            connection.flush();
            connection.read();
        }
    }

    /// Returns the next request of all, and the connection that it came from.
    pub(super) fn next_request(&mut self) -> Option<(usize, Request)> {
        for (at, connection) in self.connections.iter_mut().enumerate() {
            if let Some(request) = connection.next_request(&self.key) {
                return Some((at, request));
            }
        }
        None
    }

    /// Answers a request.
    pub(super) fn answer(&mut self, at: usize, reply: Reply) {
        if let Some(connection) = self.connections.get_mut(at) {
            match reply.socket {
                None => connection.say(reply.answer),
                Some(socket) => connection.hand(reply.answer, &socket),
            }
        }
    }

    /// Begins to tell a connection how much there is.
    pub(super) fn watch(&mut self, at: usize, end: u64) {
        if let Some(connection) = self.connections.get_mut(at) {
            connection.say(Answer::Done);
            connection.say(Answer::Output(end));
            connection.watch = Some(Watch { end, at: Instant::now() });
        }
    }

    /// Tells watchers how much there is, those that were not told just now.
    pub(super) fn tell(&mut self, end: u64) {
        for connection in &mut self.connections {
            if let Some(watch) = &mut connection.watch
                && watch.end < end
                && connection.unsent.is_empty()
                && watch.at.elapsed() >= BETWEEN_EVENTS
            {
                *watch = Watch { end, at: Instant::now() };
                connection.say(Answer::Output(end));
            }
        }
    }

    /// Returns when the next watcher is to be told.
    pub(super) fn due(&self, end: u64) -> Option<Instant> {
        let waiting = self.connections.iter().filter(|connection| connection.unsent.is_empty());
        let behind = waiting.filter_map(|connection| connection.watch).filter(|watch| watch.end < end);
        behind.map(|watch| watch.at + BETWEEN_EVENTS).min()
    }

    /// Tells watchers that all is over.
    pub(super) fn finish(&mut self, end: u64) {
        for connection in &mut self.connections {
            if connection.watch.is_some_and(|watch| watch.end < end) {
                connection.say(Answer::Output(end));
            }
            if connection.watch.is_some() {
                connection.say(Answer::Ended);
            }
        }
    }

    /// Lets go of connections that are over.
    pub(super) fn sweep(&mut self) {
        self.connections.retain(|connection| !connection.is_over);
    }
}

impl Connection {
    fn read(&mut self) {
        if !self.unsent.is_empty() || self.is_over || self.received.len() > LENGTH_BYTES + MAX_MESSAGE_BYTES {
            return;
        }
        let mut chunk = [0; CHUNK_BYTES];
        match recv(&self.socket, &mut chunk[..], RecvFlags::DONTWAIT) {
            Ok((length, _)) if length > 0 => self.received.extend_from_slice(&chunk[..length]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => self.is_over = true,
        }
    }

    /// Takes the next request, once the answers before were taken.
    fn next_request(&mut self, key: &Key) -> Option<Request> {
        while !self.is_over && self.unsent.is_empty() {
            let longest = if self.is_known { MAX_MESSAGE_BYTES } else { 1 + key.len() };
            let length = match first_length(&self.received, longest) {
                Ok(Some(length)) if length <= self.received.len() => length,
                Ok(_) => break,
                Err(_) => {
                    self.is_over = true;
                    break;
                }
            };
            let request = Request::decode(&self.received[LENGTH_BYTES..length]);
            self.received.drain(..length);
            match request {
                Ok(Request::Hello(said)) if !self.is_known && is_same_key(&said, key) => self.is_known = true,
                Ok(Request::Hello(_)) | Err(_) => self.is_over = true,
                Ok(request) if self.is_known => {
                    if self.received.is_empty() {
                        // A long input leaves no room taken behind.
                        self.received = Vec::new();
                    }
                    return Some(request);
                }
                Ok(_) => self.is_over = true,
            }
        }
        None
    }

    fn say(&mut self, answer: Answer) {
        self.unsent.extend_from_slice(&answer.encode());
        self.flush();
    }

    fn flush(&mut self) {
        while !self.unsent.is_empty() {
            match send(&self.socket, &self.unsent, QUIET | SendFlags::DONTWAIT) {
                Ok(length) => {
                    self.unsent.drain(..length);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => {
                    self.is_over = true;
                    self.unsent.clear();
                }
            }
        }
    }

    /// Answers with a socket. All was sent before, so there is room for it.
    fn hand(&mut self, answer: Answer, socket: &OwnedFd) {
        let bytes = answer.encode();
        if handing::send(&self.socket, &bytes, &[socket.as_fd()]) != Ok(bytes.len()) {
            self.is_over = true;
        }
    }
}
