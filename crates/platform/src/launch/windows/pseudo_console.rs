//! Terminals of the system's own kind: a console that nobody sees, drawn as text into a pipe. Mechanism only.

#![expect(unsafe_code, reason = "the calls have no safe wrapper; each says what makes it sound")]

use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use windows_sys::Win32::System::Console::{
    COORD, ClosePseudoConsole, CreatePseudoConsole, HPCON, ResizePseudoConsole,
};
use windows_sys::core::HRESULT;

use crate::launch::kept::TerminalSize;

/// A console that programs can be started in. It stays between them, and ends when it is closed.
#[derive(Debug)]
pub(super) struct PseudoConsole {
    /// None once it is closed.
    handle: Mutex<Option<HPCON>>,
}

/// The handle of a console that is not closed meanwhile.
pub(super) struct ConsoleHandle<'a>(MutexGuard<'a, Option<HPCON>>);

impl ConsoleHandle<'_> {
    pub(super) fn number(&self) -> io::Result<HPCON> {
        self.0.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl PseudoConsole {
    /// Creates a console that takes what is typed from one pipe and draws into another. It has copies of both, which must not
    /// be of the kind that is not waited for.
    pub(super) fn new(
        size: TerminalSize,
        typed: BorrowedHandle<'_>,
        drawn: BorrowedHandle<'_>,
    ) -> io::Result<Self> {
        let mut handle = 0;
        // SAFETY: both handles are open; the pointer is to a handle. Without flags nothing is asked of who draws.
        done(unsafe {
            CreatePseudoConsole(
                in_cells(size),
                typed.as_raw_handle(),
                drawn.as_raw_handle(),
                0,
                &raw mut handle,
            )
        })?;
        Ok(Self { handle: Mutex::new(Some(handle)) })
    }

    /// Keeps it open while the handle is used.
    pub(super) fn open(&self) -> ConsoleHandle<'_> {
        ConsoleHandle(self.handle.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes its size.
    pub(super) fn resize(&self, size: TerminalSize) -> io::Result<()> {
        let open = self.open();
        let handle = open.number()?;
        // SAFETY: the handle is that of such a console, and stays open until this is over.
        done(unsafe { ResizePseudoConsole(handle, in_cells(size)) })
    }

    /// Ends it, with whatever is still in it, and waits until all is drawn: somebody must read that meanwhile. Before
    /// Windows 11 24H2 the system waits for ever otherwise, so that not this thread does the waiting.
    pub(super) fn close(&self, at_most: Duration) {
        let Some(handle) = self.open().0.take() else { return };
        let (tell, closed) = mpsc::channel();
        let closing = std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
            // SAFETY: the handle is that of such a console, and nobody else has it any more.
            unsafe { ClosePseudoConsole(handle) };
            let _ = tell.send(());
        });
        if closing.is_ok() {
            let _ = closed.recv_timeout(at_most);
        }
    }
}

impl Drop for PseudoConsole {
    fn drop(&mut self) {
        self.close(Duration::ZERO);
    }
}

fn in_cells(size: TerminalSize) -> COORD {
    let cells = |count: u16| i16::try_from(count).unwrap_or(i16::MAX);
    COORD { X: cells(size.columns), Y: cells(size.rows) }
}

/// Returns how much of a console's screen is seen.
#[cfg(test)]
pub(super) fn size_of(screen: BorrowedHandle<'_>) -> io::Result<TerminalSize> {
    use windows_sys::Win32::System::Console::{CONSOLE_SCREEN_BUFFER_INFO, GetConsoleScreenBufferInfo};

    let mut told = CONSOLE_SCREEN_BUFFER_INFO::default();
    // SAFETY: the handle is open; the structure is the one that the call writes.
    if unsafe { GetConsoleScreenBufferInfo(screen.as_raw_handle(), &raw mut told) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let seen = told.srWindow;
    let cells = |first: i16, last: i16| u16::try_from(last - first + 1).unwrap_or_default();
    Ok(TerminalSize { rows: cells(seen.Top, seen.Bottom), columns: cells(seen.Left, seen.Right) })
}

fn done(code: HRESULT) -> io::Result<()> {
    if code < 0 { Err(io::Error::from_raw_os_error(code)) } else { Ok(()) }
}
