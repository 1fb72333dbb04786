//! What a keeper waits for, and what it does then.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::super::memory::MemoryWatch;
use super::super::supervisor::ServiceGone;
use super::super::system::{Reach, listening, sys};
use super::super::waiting::ProcessWaiter;
use super::ends::{Ends, InputRefusal};
use super::life::{GRACE, Keeper};
use super::listener::Reply;
use super::network;
use crate::launch::kept::Stream;
use crate::launch::kept::message::{Answer, Request};
use crate::launch::wire::KEEP;
use bailiwick_contract::command::Network;

/// How long nothing happens until memory is given back that was needed for what happened.
pub(super) const IDLE: Duration = Duration::from_secs(1);

/// How often a keeper looks whether its process can still be found.
pub(super) const LOOK: Duration = Duration::from_secs(30);

/// What can be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Signals,
    Start,
    Life,
    Output(Stream),
    Input,
    Listener,
    Connection(usize),
}

impl ProcessWaiter for Keeper {
    fn reach(&self) -> &Reach {
        &self.reach
    }

    fn deadline(&mut self) -> &mut Option<Instant> {
        &mut self.deadline
    }

    fn memory(&mut self) -> &mut MemoryWatch {
        &mut self.memory
    }

    fn wait_for_event(&mut self, at_most: Option<Duration>) -> Result<(), ServiceGone> {
        let dues = [
            self.deadline,
            self.max_time,
            self.record.due(),
            self.door.due(self.record.end()),
            self.idle_at,
            Some(self.look_at),
            at_most.map(|at_most| Instant::now() + at_most),
        ];
        let left = dues.into_iter().flatten().min().map(|due| due.saturating_duration_since(Instant::now()));
        let sources = self.poll(left)?;
        self.is_idle = false;
        if !sources.is_empty() {
            self.idle_at = Instant::now().checked_add(IDLE);
        } else if self.idle_at.is_some_and(|idle| Instant::now() >= idle) {
            (self.idle_at, self.is_idle) = (None, true);
            self.record.rest();
            if let Some(ends) = &mut self.ends {
                ends.rest();
            }
        }
        for source in sources {
            self.serve(source)?;
        }
        while let Some((at, request)) = self.door.next_request() {
            self.answer(at, request);
        }
        self.record.release(false);
        self.record.write();
        self.door.tell(self.record.end());
        self.door.sweep();
        if Instant::now() >= self.look_at {
            self.look_at = Instant::now() + LOOK;
            // If that is all that happened, what it touched is given back.
            self.is_idle = self.idle_at.is_none();
            if self.record.is_removed() {
                // Its folder is gone: nobody could read, stop or even see it any more.
                self.stop(Signal::TERM, GRACE);
            }
        }
        if self.max_time.is_some_and(|time| Instant::now() >= time) {
            self.max_time = None;
            self.record.change().timed_out = true;
            self.stop(Signal::TERM, GRACE);
        }
        Ok(())
    }
}

impl Keeper {
    fn poll(&self, timeout: Option<Duration>) -> Result<Vec<Source>, ServiceGone> {
        let mut waited: Vec<(Source, BorrowedFd<'_>, PollFlags)> =
            vec![(Source::Signals, self.signals.as_fd(), PollFlags::IN)];
        waited.extend(self.start.iter().map(|end| (Source::Start, end.as_fd(), PollFlags::IN)));
        waited.extend(self.life.iter().map(|end| (Source::Life, end.as_fd(), PollFlags::IN)));
        if let Some(ends) = &self.ends {
            for stream in [Stream::Stdout, Stream::Stderr] {
                waited.extend(ends.output(stream).map(|end| (Source::Output(stream), end, PollFlags::IN)));
            }
            waited.extend(ends.waiting_input().map(|end| (Source::Input, end, PollFlags::OUT)));
        }
        for (at, (end, flags)) in self.door.polled().enumerate() {
            let source = at.checked_sub(1).map_or(Source::Listener, Source::Connection);
            waited.push((source, end, flags));
        }
        let mut polled: Vec<_> =
            waited.iter().map(|(_, end, flags)| PollFd::from_borrowed_fd(*end, *flags)).collect();
        let timeout = timeout.and_then(|left| Timespec::try_from(left).ok());
        if self.is_idle {
            // As late as it can be: what is touched after this stays.
            sys::give_back_memory();
        }
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Vec::new()),
            Err(_) => return Err(ServiceGone),
        }
        let ready = waited.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
        Ok(ready.map(|((source, ..), _)| *source).collect())
    }

    fn serve(&mut self, source: Source) -> Result<(), ServiceGone> {
        match source {
            Source::Signals => {
                if self.signals.take() {
                    // The machine goes down, or the user's session ends.
                    self.stop(Signal::TERM, GRACE);
                }
            }
            Source::Start => {
                let Some(start) = &self.start else { return Ok(()) };
                let mut said = [0];
                match rustix::io::retry_on_intr(|| rustix::io::read(start, &mut said)) {
                    Ok(1) if said == [KEEP] => self.start = None,
                    _ => return Err(ServiceGone),
                }
            }
            Source::Life => return Err(ServiceGone),
            Source::Output(stream) => self.read(stream),
            Source::Input => {
                if let Some(ends) = &mut self.ends {
                    ends.write_input();
                }
            }
            Source::Listener => self.door.accept(),
            Source::Connection(at) => self.door.hear(at),
        }
        Ok(())
    }

    fn read(&mut self, stream: Stream) {
        if let Some(bytes) = self.ends.as_mut().and_then(|ends| ends.read(stream)) {
            self.record.push(stream, bytes);
        }
    }

    fn answer(&mut self, at: usize, request: Request) {
        let reply = match request {
            Request::Watch => {
                // Written first: a watcher reads the status at once, and is not notified of the same output again.
                self.record.write();
                return self.door.watch(at, self.record.end());
            }
            // It is taken note of before.
            Request::Hello(_) => return,
            Request::Input(bytes) => self.input(&bytes).into(),
            Request::Secret(bytes) => {
                if self.record.mask(&bytes) {
                    self.input(&bytes).into()
                } else {
                    Answer::Failed(Errno::TOOBIG.raw_os_error()).into()
                }
            }
            Request::CloseInput => {
                taken(self.ends.as_mut().map_or(Err(InputRefusal::NoInput), Ends::close_input)).into()
            }
            Request::Resize(size) => match self.ends.as_mut().map_or(Ok(false), |ends| ends.resize(size)) {
                Ok(true) => {
                    self.record.change().terminal = Some(size);
                    // Before the answer, whose reader may look at the status at once.
                    self.record.write();
                    Answer::Done.into()
                }
                Ok(false) => Answer::NoTerminal.into(),
                Err(error) => Answer::Failed(error.raw_os_error()).into(),
            },
            Request::Signal(signal) => match Signal::from_named_raw(signal) {
                Some(signal) => {
                    self.reach.signal_all(signal);
                    Answer::Done.into()
                }
                None => Answer::Failed(Errno::INVAL.raw_os_error()).into(),
            },
            Request::Stop { signal, grace_ms } => match Signal::from_named_raw(signal) {
                Some(signal) => {
                    self.stop(signal, Duration::from_millis(u64::from(grace_ms)));
                    Answer::Done.into()
                }
                None => Answer::Failed(Errno::INVAL.raw_os_error()).into(),
            },
            Request::IsListening(port) => match self.listening(port) {
                Some(_) => Answer::Yes.into(),
                None => Answer::No.into(),
            },
            Request::Dial(port) => match self.listening(port).map(network::dial) {
                Some(Ok(socket)) => Reply { answer: Answer::Socket, socket: Some(socket) },
                Some(Err(error)) => Answer::Failed(error.raw_os_error()).into(),
                None => Answer::No.into(),
            },
        };
        self.door.answer(at, reply);
    }

    /// Returns the address at which something listens at a port, if the program itself could connect to it.
    fn listening(&self, port: u16) -> Option<std::net::SocketAddr> {
        // At the partial level this process has a network that the program has not.
        if self.record.status.held.network == Network::None { None } else { listening(port) }
    }

    fn input(&mut self, bytes: &[u8]) -> Answer {
        taken(self.ends.as_mut().map_or(Err(InputRefusal::NoInput), |ends| ends.take_input(bytes)))
    }
}

const fn taken(result: Result<(), InputRefusal>) -> Answer {
    match result {
        Ok(()) => Answer::Done,
        Err(InputRefusal::Full) => Answer::Full,
        Err(InputRefusal::NoInput) => Answer::NoInput,
    }
}
