//! `/dev/tty`.
//!
//! It is opened again, so that what is set on it (not to block) holds for nobody else, and given back as it was found:
//! also when the wait is given up, which dropping the future does.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcgetwinsize,
    tcsetattr,
};
use tokio::io::unix::AsyncFd;

use super::Line;
use super::typing::{Step, Typing};

/// Returns the columns of the terminal that standard output is; `None` where it is none, or does not know.
pub fn output_columns() -> Option<u16> {
    let size = tcgetwinsize(rustix::stdio::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}

/// Returns whether terminals take sequences for colours: they do.
pub const fn shows_colours() -> bool {
    true
}

/// The terminal that controls this process.
#[derive(Debug)]
pub struct Tty {
    terminal: AsyncFd<OwnedFd>,
}

impl Tty {
    /// Opens the terminal. Call it within a runtime.
    ///
    /// # Errors
    /// When there is none.
    #[expect(
        deprecated,
        reason = "its successor is unsafe; the descriptor is owned here, and open while registered"
    )]
    pub fn open() -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let terminal = open("/dev/tty", flags, Mode::empty())?;
        tcgetattr(&terminal)?;
        Ok(Self { terminal: AsyncFd::new(terminal)? })
    }

    /// Writes a text.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub async fn write(&self, text: &str) -> io::Result<()> {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let mut ready = self.terminal.writable().await?;
            match ready.try_io(|terminal| rustix::io::write(terminal, rest).map_err(io::Error::from)) {
                Ok(Ok(written)) => rest = &rest[written..],
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Writes a question and reads a line, which is not shown. What was typed before the question is not taken for an answer.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub async fn ask(&self, question: &str) -> io::Result<Line> {
        let _quiet = RawTerminal::begin(&self.terminal)?;
        self.write(question).await?;
        let mut typing = Typing::default();
        let line = loop {
            let Some(byte) = self.byte().await? else { break Line::Interrupted };
            match typing.take(byte) {
                Step::More => {}
                Step::Full => self.write("\x07").await?,
                Step::Ended(line) => break line,
            }
        };
        self.write("\n").await?;
        Ok(line)
    }

    async fn byte(&self) -> io::Result<Option<u8>> {
        loop {
            let mut ready = self.terminal.readable().await?;
            let mut byte = [0; 1];
            match ready.try_io(|terminal| rustix::io::read(terminal, &mut byte).map_err(io::Error::from)) {
                Ok(Ok(0)) => return Ok(None),
                Ok(Ok(_)) => return Ok(Some(byte[0])),
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // The other end of the terminal is closed.
                Ok(Err(error)) if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => return Ok(None),
                Ok(Err(error)) => return Err(error),
                Err(_) => {}
            }
        }
    }
}

/// Forgets what was typed at the terminal of standard input and not read yet. Elsewhere it does nothing.
pub fn forget_typed() {
    let _ = tcflush(rustix::stdio::stdin(), QueueSelector::IFlush);
}

/// A terminal that hands every byte on as it is typed, shows none, and makes no signals of them.
struct RawTerminal<'a> {
    terminal: &'a AsyncFd<OwnedFd>,
    before: Termios,
}

impl<'a> RawTerminal<'a> {
    fn begin(terminal: &'a AsyncFd<OwnedFd>) -> io::Result<Self> {
        let before = tcgetattr(terminal.get_ref())?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(
            LocalModes::ECHO
                | LocalModes::ECHONL
                | LocalModes::ICANON
                | LocalModes::ISIG
                | LocalModes::IEXTEN,
        );
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        // From here on it is given back, whatever happens.
        let guard = Self { terminal, before };
        tcsetattr(terminal.get_ref().as_fd(), OptionalActions::Flush, &quiet)?;
        Ok(guard)
    }
}

impl Drop for RawTerminal<'_> {
    fn drop(&mut self) {
        // Flushed, so that what was typed behind Enter or Ctrl-C is not shown, or run by a shell.
        let _ = tcsetattr(self.terminal.get_ref().as_fd(), OptionalActions::Flush, &self.before);
    }
}
