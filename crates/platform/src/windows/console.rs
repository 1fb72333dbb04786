//! Leaving the console: the system's two calls for it, which have no safe wrapper.

#![expect(unsafe_code, reason = "the calls have no safe wrapper; each says what makes it sound")]

use std::fs::File;
use std::io;
use std::os::windows::io::IntoRawHandle;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::Console::{
    FreeConsole, STD_ERROR_HANDLE, STD_HANDLE, STD_OUTPUT_HANDLE, SetStdHandle,
};

/// Has what this process says written to a file, and lets go of its console. A window that shows no other
/// process closes with that.
///
/// # Errors
/// Those of the system.
///
/// # Source
/// "`SetStdHandle`" and "`FreeConsole`" of Microsoft's documentation.
pub fn say_into(file: File) -> io::Result<()> {
    let second = file.try_clone()?;
    set(STD_OUTPUT_HANDLE, file)?;
    set(STD_ERROR_HANDLE, second)?;
    // SAFETY: the call takes nothing. What was read of the console's handles before is not used any more: the two that
    // are written to were replaced above, and a process that is told to say into a file reads no keys.
    // It fails where there is no console to leave, which is as well.
    let _ = unsafe { FreeConsole() };
    Ok(())
}

/// Gives a file to the process as one of its standard handles, for as long as it lives.
fn set(which: STD_HANDLE, file: File) -> io::Result<()> {
    let handle: HANDLE = file.into_raw_handle();
    // SAFETY: the handle is open, and nobody closes it: it was given up above.
    if unsafe { SetStdHandle(which, handle) } == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
