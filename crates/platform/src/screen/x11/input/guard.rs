//! The guard: this program started again, which releases what is down when the service cannot any more.
//!
//! It has a connection of its own to the display and sleeps at a pipe. What is pressed is written there before it is pressed, so that
//! the pipe knows it even where the service is killed the next moment. At the pipe's end the guard takes all of that back, and ends.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::ConnectionExt as _;

use super::super::error::ServerError;
use super::super::server::{PATIENCE, Server};
use super::super::servers::Servers;
use super::inject::{is_down, release_all};
use super::state::{Binding, Pressed};
use crate::launch::worker::is_worker;
use crate::screen::{ScreenError, Sources};

/// The word by which this program knows that it is to be the guard.
const ROLE: &str = "bailiwick-input-guard";
/// What it writes when it can release.
const READY: u8 = b'+';
/// How long it may take to start.
const START: Duration = Duration::from_secs(10);
/// How often it looks whether all is up: what the service has sent last may come after its end.
const LOOKS: usize = 10;
/// How long it waits between.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// One thing that the guard has to know.
#[derive(Debug, Clone, Copy)]
pub(super) enum Record {
    /// It goes down.
    Down(Pressed),
    /// It is up again.
    Up(Pressed),
    /// A key code gets a meaning.
    Bound(u8),
    /// It has none again.
    Unbound(u8),
    /// A key does not repeat.
    Quiet(u8),
    /// It repeats again.
    Repeats(u8),
}

impl Record {
    fn bytes(self) -> [u8; 2] {
        match self {
            Self::Down(Pressed::Key(code)) => [b'k', code],
            Self::Up(Pressed::Key(code)) => [b'K', code],
            Self::Down(Pressed::Button(button)) => [b'b', button],
            Self::Up(Pressed::Button(button)) => [b'B', button],
            Self::Bound(code) => [b'm', code],
            Self::Unbound(code) => [b'M', code],
            Self::Quiet(code) => [b'q', code],
            Self::Repeats(code) => [b'Q', code],
        }
    }
}

/// A guard that runs. When this is dropped, it releases what is down and ends.
#[derive(Debug)]
pub(in crate::screen::x11) struct Guard {
    /// None once it is dropped.
    pipe: Option<ChildStdin>,
    process: Option<Child>,
}

impl Guard {
    /// Starts one for a display, and waits until it can release.
    pub(super) fn start(program: &Path, display: &str, sources: &Sources) -> Result<Self, ServerError> {
        let failed = |error: io::Error| -> ServerError {
            ScreenError::Failed {
                display: display.to_owned(),
                step: "the start of what releases keys",
                why: error.to_string(),
            }
            .into()
        };
        let mut child = command(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let ends = child.stdin.take().zip(child.stdout.take());
        let mut guard = Self { pipe: None, process: Some(child) };
        let (pipe, output) = ends.ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        guard.pipe = Some(pipe);
        guard.order(display, sources).and_then(|()| wait_until_ready(output)).map_err(failed)?;
        Ok(guard)
    }

    fn order(&mut self, display: &str, sources: &Sources) -> io::Result<()> {
        let authority = sources.authority.as_deref().map_or(OsStr::new(""), Path::as_os_str);
        let words = [display.as_bytes(), sources.sockets.as_os_str().as_bytes(), authority.as_bytes()];
        if words.iter().any(|word| word.contains(&b'\n')) {
            return Err(io::Error::other("a name has a line break"));
        }
        let order: Vec<u8> = words.iter().flat_map(|word| word.iter().copied().chain([b'\n'])).collect();
        self.pipe.as_mut().ok_or(io::ErrorKind::BrokenPipe)?.write_all(&order)
    }

    /// Has it know something, before or after it is done.
    pub(super) fn note(&mut self, records: &[Record]) -> Result<(), ServerError> {
        let bytes: Vec<u8> = records.iter().flat_map(|record| record.bytes()).collect();
        let written = self.pipe.as_mut().ok_or_else(|| io::ErrorKind::BrokenPipe.into());
        let written = written.and_then(|pipe| pipe.write_all(&bytes));
        written.map_err(|error: io::Error| {
            ServerError::Connection(x11rb::errors::ConnectionError::IoError(error))
        })
    }

    /// Returns its process id, if it runs.
    pub(super) fn has_ended(&mut self) -> bool {
        self.process.as_mut().is_none_or(|process| !matches!(process.try_wait(), Ok(None)))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.pipe.take());
        if let Some(mut process) = self.process.take()
            && !matches!(process.try_wait(), Ok(Some(_)))
        {
            // It has work to do, and nobody waits for it.
            thread::spawn(move || process.wait());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the guard is this program itself")]
fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    // In a group of its own: what ends the service at a terminal does not end it.
    command.arg0(ROLE).arg(ROLE).env_clear().current_dir("/").process_group(0);
    command
}

fn wait_until_ready(mut output: ChildStdout) -> io::Result<()> {
    let timeout = Timespec::try_from(START).map_err(io::Error::other)?;
    if poll(&mut [PollFd::new(&output, PollFlags::IN)], Some(&timeout))? == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut byte = [0];
    output.read_exact(&mut byte)?;
    if byte == [READY] { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

/// Becomes the guard if this process was started as one; `main` asks before anything else.
pub fn serve_if_asked() -> Option<ExitCode> {
    is_worker(ROLE).then(|| match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn serve() -> Result<(), ScreenError> {
    let failed = |error: io::Error| ScreenError::Failed {
        display: String::new(),
        step: "its order",
        why: error.to_string(),
    };
    let mut input = BufReader::new(io::stdin());
    let mut word = || -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        input.read_until(b'\n', &mut line)?;
        line.pop();
        Ok(line)
    };
    let path = |bytes: Vec<u8>| PathBuf::from(std::ffi::OsString::from_vec(bytes));
    let display = String::from_utf8_lossy(&word().map_err(failed)?).into_owned();
    let sockets = path(word().map_err(failed)?);
    let authority = Some(word().map_err(failed)?).filter(|it| !it.is_empty()).map(path);
    let sources = Sources { sockets, authority, display: Some(display.clone()), ..Sources::default() };
    let unknown = || ScreenError::UnknownDisplay(display.clone());
    let (address, _) = Servers::new(sources.clone()).find(&display).ok_or_else(unknown)?;
    let mut server = Server::open(&address, &sources).map_err(|error| error.told(&display))?;
    io::stdout().write_all(&[READY]).and_then(|()| io::stdout().flush()).map_err(failed)?;
    let mut record = [0; 2];
    while input.read_exact(&mut record).is_ok() {
        note(&mut server, record);
    }
    finish(&mut server).map_err(|error| error.told(&display))
}

fn note(server: &mut Server, record: [u8; 2]) {
    let [kind, value] = record;
    let state = &mut server.input;
    let pressed = match kind.to_ascii_lowercase() {
        b'k' => Some(Pressed::Key(value)),
        b'b' => Some(Pressed::Button(value)),
        _ => None,
    };
    if let Some(pressed) = pressed {
        state.pressed.retain(|it| *it != pressed);
        if kind.is_ascii_lowercase() {
            state.pressed.push(pressed);
        }
    }
    match kind {
        b'm' => {
            state.bound.insert(value, Binding { symbols: [None, None], used: Instant::now() });
        }
        b'M' => {
            state.bound.remove(&value);
        }
        b'q' => state.quiet.push(value),
        b'Q' => state.quiet.retain(|code| *code != value),
        _ => {}
    }
}

/// Takes everything back. What the service has sent last may be done by the server after this was: it looks again.
fn finish(server: &mut Server) -> Result<(), ServerError> {
    let (pressed, bound) = (server.input.pressed.clone(), server.input.bound.clone());
    if pressed.is_empty() && bound.is_empty() && server.input.quiet.is_empty() {
        return Ok(());
    }
    let mut last = BTreeSet::from_iter(pressed.iter().copied());
    for _ in 0..LOOKS {
        server.begin(Instant::now() + PATIENCE, PATIENCE);
        server.input.pressed = last.iter().copied().collect();
        release_all(server)?;
        server.connection.get_input_focus()?.reply()?;
        thread::sleep(LOOK_PAUSE);
        server.begin(Instant::now() + PATIENCE, PATIENCE);
        last = pressed.iter().copied().filter(|it| is_down(server, *it).unwrap_or(false)).collect();
        server.input.bound.clone_from(&bound);
    }
    server.input.pressed.clear();
    release_all(server)?;
    server.connection.flush()?;
    server.connection.get_input_focus()?.reply()?;
    Ok(())
}
