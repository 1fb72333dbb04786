//! The system's calls on consoles that have no safe wrapper. Mechanism only.

#![expect(unsafe_code, reason = "the calls have no safe wrapper; each says what makes it sound")]

use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle};
use std::ptr::null;

use windows_sys::Win32::System::Console::{
    CONSOLE_SCREEN_BUFFER_INFO, FlushConsoleInputBuffer, GetConsoleMode, GetConsoleScreenBufferInfo,
    GetNumberOfConsoleInputEvents, INPUT_RECORD, KEY_EVENT, ReadConsoleInputW, SetConsoleMode, WriteConsoleW,
};

/// A key that was pressed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    /// The unit of UTF-16 that it stands for.
    pub(super) unit: u16,
    /// How many times it was.
    pub(super) times: u16,
}

fn told(done: i32) -> io::Result<()> {
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the mode of a console; it is an error for what is none.
pub(super) fn mode(console: BorrowedHandle<'_>) -> io::Result<u32> {
    let mut mode = 0;
    // SAFETY: the handle is open, the pointer is to a number.
    told(unsafe { GetConsoleMode(console.as_raw_handle(), &raw mut mode) })?;
    Ok(mode)
}

/// Sets the mode of a console.
pub(super) fn set_mode(console: BorrowedHandle<'_>, mode: u32) -> io::Result<()> {
    // SAFETY: the handle is open.
    told(unsafe { SetConsoleMode(console.as_raw_handle(), mode) })
}

/// Returns whether something has happened that was not read yet: then reading does not wait.
pub(super) fn has_input(console: BorrowedHandle<'_>) -> io::Result<bool> {
    let mut count = 0;
    // SAFETY: the handle is open, the pointer is to a number.
    told(unsafe { GetNumberOfConsoleInputEvents(console.as_raw_handle(), &raw mut count) })?;
    Ok(count > 0)
}

/// Reads what has happened next. `None` for what is no character: another key, the mouse, a new size.
pub(super) fn read(console: BorrowedHandle<'_>) -> io::Result<Option<Key>> {
    /// A character that was typed by its number comes when this key is released.
    const ALT: u16 = 0x12;
    let mut record = INPUT_RECORD::default();
    let mut count = 0;
    // SAFETY: the handle is open, there is room for the one record that is asked for, and a number.
    told(unsafe { ReadConsoleInputW(console.as_raw_handle(), &raw mut record, 1, &raw mut count) })?;
    if count == 0 || u32::from(record.EventType) != KEY_EVENT {
        return Ok(None);
    }
    // SAFETY: the type says which of the variants it is; of the character, all variants are numbers.
    let (event, unit) = unsafe { (record.Event.KeyEvent, record.Event.KeyEvent.uChar.UnicodeChar) };
    let is_typed = event.bKeyDown != 0 || event.wVirtualKeyCode == ALT;
    Ok((is_typed && unit != 0).then_some(Key { unit, times: event.wRepeatCount.max(1) }))
}

/// Forgets what was typed and not read yet.
pub(super) fn forget(console: BorrowedHandle<'_>) -> io::Result<()> {
    // SAFETY: the handle is open.
    told(unsafe { FlushConsoleInputBuffer(console.as_raw_handle()) })
}

/// Writes units of UTF-16, and shows how many it has written.
pub(super) fn write(console: BorrowedHandle<'_>, units: &[u16]) -> io::Result<usize> {
    let length = u32::try_from(units.len()).unwrap_or(u32::MAX);
    let mut written = 0;
    // SAFETY: the handle is open; no more is read than there are units; the last pointer has to be null.
    told(unsafe {
        WriteConsoleW(console.as_raw_handle(), units.as_ptr(), length, &raw mut written, null())
    })?;
    Ok(usize::try_from(written).unwrap_or(0))
}

/// Returns the columns of a console's window.
pub(super) fn columns(console: BorrowedHandle<'_>) -> io::Result<i32> {
    let mut facts = CONSOLE_SCREEN_BUFFER_INFO::default();
    // SAFETY: the handle is open, the pointer is to the structure that is asked for.
    told(unsafe { GetConsoleScreenBufferInfo(console.as_raw_handle(), &raw mut facts) })?;
    Ok(i32::from(facts.srWindow.Right) - i32::from(facts.srWindow.Left) + 1)
}

/// A console for a test: its own one, unless this process has one.
#[cfg(test)]
pub(super) mod staged {
    use std::io;
    use std::os::windows::io::{AsRawHandle, BorrowedHandle};

    use windows_sys::Win32::System::Console::{
        AllocConsole, CONSOLE_SCREEN_BUFFER_INFO, COORD, GetConsoleScreenBufferInfo, INPUT_RECORD,
        INPUT_RECORD_0, KEY_EVENT, KEY_EVENT_RECORD, KEY_EVENT_RECORD_0, ReadConsoleOutputCharacterW,
        WriteConsoleInputW,
    };

    use super::told;

    /// Creates a console. An error if there is one already, or none can be made.
    pub(in super::super) fn make() -> io::Result<()> {
        // SAFETY: it takes nothing.
        told(unsafe { AllocConsole() })
    }

    /// Presses keys.
    pub(in super::super) fn press(console: BorrowedHandle<'_>, keys: &str) -> io::Result<()> {
        for unit in keys.encode_utf16() {
            let key = KEY_EVENT_RECORD {
                bKeyDown: 1,
                wRepeatCount: 1,
                uChar: KEY_EVENT_RECORD_0 { UnicodeChar: unit },
                ..KEY_EVENT_RECORD::default()
            };
            let event = INPUT_RECORD_0 { KeyEvent: key };
            let kind = u16::try_from(KEY_EVENT).unwrap_or(0);
            let record = INPUT_RECORD { EventType: kind, Event: event };
            let mut written = 0;
            // SAFETY: the handle is open, there is one record, the last pointer is to a number.
            told(unsafe {
                WriteConsoleInputW(console.as_raw_handle(), &raw const record, 1, &raw mut written)
            })?;
        }
        Ok(())
    }

    /// Returns what is on the screen.
    pub(in super::super) fn shown(console: BorrowedHandle<'_>) -> io::Result<String> {
        let mut facts = CONSOLE_SCREEN_BUFFER_INFO::default();
        // SAFETY: the handle is open, the pointer is to the structure that is asked for.
        told(unsafe { GetConsoleScreenBufferInfo(console.as_raw_handle(), &raw mut facts) })?;
        let columns = u32::try_from(facts.dwSize.X).unwrap_or(0);
        let rows = u32::try_from(facts.dwCursorPosition.Y).unwrap_or(0) + 1;
        let mut units = vec![0_u16; usize::try_from(columns * rows).unwrap_or(0)];
        let (mut read, length) = (0, columns * rows);
        let top = COORD { X: 0, Y: 0 };
        // SAFETY: the handle is open, no more is written than the buffer is long, the last pointer is to a number.
        told(unsafe {
            ReadConsoleOutputCharacterW(
                console.as_raw_handle(),
                units.as_mut_ptr(),
                length,
                top,
                &raw mut read,
            )
        })?;
        Ok(String::from_utf16_lossy(&units))
    }
}
