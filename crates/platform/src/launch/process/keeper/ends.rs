//! The keeper's ends of the program's pipes or terminal.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::termios::{
    InputModes, OptionalActions, SpecialCodeIndex, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};

use super::super::prepare::{failed, pipe};
use super::super::supervisor::Streams;
use super::super::system;
use crate::launch::LaunchError;
use crate::launch::answers::Answers;
use crate::launch::kept::MAX_INPUT_BYTES;
use crate::launch::kept::{Stream, TerminalSize};
use crate::launch::wire::KeeperOrder;

/// How much is read at a time: what a pipe holds.
const CHUNK_BYTES: usize = 64 << 10;

/// The keeper's ends.
#[derive(Debug)]
pub(super) struct Ends {
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    input: Option<OwnedFd>,
    terminal: Option<Terminal>,
    /// What waits for the program to read it.
    waiting: VecDeque<u8>,
    /// Whether the input ends after what waits.
    is_closing: bool,
    chunk: Vec<u8>,
}

#[derive(Debug)]
struct Terminal {
    master: OwnedFd,
    /// Whether it cannot be read any more.
    has_ended: bool,
    /// What it answers on its own.
    answers: Answers,
    /// Kept open, so that the terminal does not count as closed while no program has it open.
    _program: OwnedFd,
}

/// Why input is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputRefusal {
    Full,
    NoInput,
}

impl Ends {
    /// Opens pipes or a terminal. Returns the program's ends, and the terminal, too.
    pub(super) fn open(
        order: &KeeperOrder,
        cwd: OwnedFd,
    ) -> Result<(Self, Streams, Option<OwnedFd>), LaunchError> {
        let mut ends = Self::none();
        if let Some(size) = order.terminal {
            let (terminal, program) = open_terminal(size).map_err(failed("terminal"))?;
            let copy = || rustix::io::fcntl_dupfd_cloexec(&program, 3).map_err(failed("terminal"));
            let streams = Streams { cwd, stdin: Some(copy()?), stdout: copy()?, stderr: copy()? };
            ends.terminal = Some(terminal);
            return Ok((ends, streams, Some(program)));
        }
        let ((stdout, printed), (stderr, warned)) = (pipe()?, pipe()?);
        own(&stdout)?;
        own(&stderr)?;
        (ends.stdout, ends.stderr) = (Some(stdout), Some(stderr));
        let mut streams = Streams { cwd, stdin: None, stdout: printed, stderr: warned };
        if order.has_input {
            let (read, write) = pipe()?;
            own(&write)?;
            (streams.stdin, ends.input) = (Some(read), Some(write));
        }
        Ok((ends, streams, None))
    }

    /// Takes the pipes over that a running program prints to. Its input is somebody else's.
    pub(super) fn adopt(stdout: OwnedFd, stderr: OwnedFd) -> Result<Self, LaunchError> {
        own(&stdout)?;
        own(&stderr)?;
        Ok(Self { stdout: Some(stdout), stderr: Some(stderr), ..Self::none() })
    }

    fn none() -> Self {
        Self {
            stdout: None,
            stderr: None,
            input: None,
            terminal: None,
            waiting: VecDeque::new(),
            is_closing: false,
            chunk: Vec::new(),
        }
    }

    /// Returns the descriptor from which a stream is read; none once it is closed.
    pub(super) fn output(&self, stream: Stream) -> Option<BorrowedFd<'_>> {
        match stream {
            Stream::Stdout => {
                let terminal = self.terminal.as_ref().filter(|terminal| !terminal.has_ended);
                self.stdout.as_ref().or(terminal.map(|terminal| &terminal.master))
            }
            Stream::Stderr => self.stderr.as_ref(),
        }
        .map(AsFd::as_fd)
    }

    /// Reads what a stream has, up to a chunk; none if there is nothing now. A stream that has ended is closed.
    pub(super) fn read(&mut self, stream: Stream) -> Option<&[u8]> {
        let mut chunk = std::mem::take(&mut self.chunk);
        chunk.resize(CHUNK_BYTES, 0);
        let read = rustix::io::retry_on_intr(|| match self.output(stream) {
            Some(end) => rustix::io::read(end, &mut chunk),
            None => Err(Errno::AGAIN),
        });
        self.chunk = chunk;
        match read {
            Ok(length) if length > 0 => {
                self.answer(length);
                Some(&self.chunk[..length])
            }
            Err(Errno::AGAIN) => None,
            Ok(_) | Err(_) => {
                match (stream, &mut self.terminal) {
                    (Stream::Stdout, Some(terminal)) => terminal.has_ended = true,
                    (Stream::Stdout, None) => self.stdout = None,
                    (Stream::Stderr, _) => self.stderr = None,
                }
                None
            }
        }
    }

    /// Types what a terminal answers to what was just read, if there is a terminal, and it was asked.
    fn answer(&mut self, length: usize) {
        let Some(terminal) = &mut self.terminal else { return };
        let answers = terminal.answers.take(&self.chunk[..length]);
        if !answers.is_empty() {
            // A program that does not read its input does not wait for an answer either.
            let _ = self.take_input(&answers);
        }
    }

    /// Gives back memory that only reading needs.
    pub(super) fn rest(&mut self) {
        self.chunk = Vec::new();
    }

    /// Returns the descriptor to which waiting input is written; none if none waits.
    pub(super) fn waiting_input(&self) -> Option<BorrowedFd<'_>> {
        if self.waiting.is_empty() { None } else { self.input_end() }
    }

    fn input_end(&self) -> Option<BorrowedFd<'_>> {
        self.input.as_ref().or(self.terminal.as_ref().map(|terminal| &terminal.master)).map(AsFd::as_fd)
    }

    /// Takes input over, as a whole or not at all.
    pub(super) fn take_input(&mut self, bytes: &[u8]) -> Result<(), InputRefusal> {
        if self.is_closing || self.input_end().is_none() {
            return Err(InputRefusal::NoInput);
        }
        if !self.waiting.is_empty() && self.waiting.len() + bytes.len() > MAX_INPUT_BYTES {
            return Err(InputRefusal::Full);
        }
        self.waiting.extend(bytes);
        self.write_input();
        if self.input_end().is_none() { Err(InputRefusal::NoInput) } else { Ok(()) }
    }

    /// Ends the input after what waits.
    pub(super) fn close_input(&mut self) -> Result<(), InputRefusal> {
        if self.is_closing {
            return Err(InputRefusal::NoInput);
        }
        match &self.terminal {
            Some(terminal) => {
                let end = tcgetattr(&terminal.master)
                    .map_or(4, |attributes| attributes.special_codes[SpecialCodeIndex::VEOF]);
                self.take_input(&[end])
            }
            None if self.input.is_none() => Err(InputRefusal::NoInput),
            None => {
                self.is_closing = true;
                self.write_input();
                Ok(())
            }
        }
    }

    /// Writes as much of what waits as the program takes.
    pub(super) fn write_input(&mut self) {
        while !self.waiting.is_empty() {
            let (first, _) = self.waiting.as_slices();
            let Some(end) = self.input_end() else { break };
            match rustix::io::write(end, first) {
                Ok(0) | Err(Errno::AGAIN) => return,
                Ok(length) => {
                    self.waiting.drain(..length);
                }
                Err(Errno::INTR) => {}
                Err(_) => {
                    // Nobody can read it any more.
                    self.input = None;
                    self.waiting.clear();
                }
            }
        }
        self.waiting = VecDeque::new();
        if self.is_closing {
            self.input = None;
        }
    }

    /// Changes the size of the terminal. Returns whether there is one.
    pub(super) fn resize(&mut self, size: TerminalSize) -> Result<bool, Errno> {
        let Some(terminal) = &mut self.terminal else { return Ok(false) };
        tcsetwinsize(&terminal.master, window(size))?;
        terminal.answers.resize(size);
        Ok(true)
    }
}

/// Lets nobody wait at an end of a pipe.
fn own(end: &OwnedFd) -> Result<(), LaunchError> {
    let flags = rustix::fs::fcntl_getfl(end).map_err(failed("pipe"))?;
    rustix::fs::fcntl_setfl(end, flags | OFlags::NONBLOCK).map_err(failed("pipe"))
}

const fn window(size: TerminalSize) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 }
}

/// Opens a terminal in this tree of folders, makes it this session's own, and gives the program's end.
fn open_terminal(size: TerminalSize) -> Result<(Terminal, OwnedFd), Errno> {
    let (master, program) = system::open_terminal()?;
    let status = rustix::fs::fcntl_getfl(&master)?;
    rustix::fs::fcntl_setfl(&master, status | OFlags::NONBLOCK)?;
    let mut attributes = tcgetattr(&program)?;
    attributes.input_modes |= InputModes::IUTF8;
    tcsetattr(&program, OptionalActions::Now, &attributes)?;
    tcsetwinsize(&master, window(size))?;
    // The session is the keeper's, not a command's: so the terminal outlasts each command of the plan.
    rustix::process::ioctl_tiocsctty(&program)?;
    let copy = rustix::io::fcntl_dupfd_cloexec(&program, 3)?;
    let terminal = Terminal { master, has_ended: false, answers: Answers::new(size), _program: copy };
    Ok((terminal, program))
}
