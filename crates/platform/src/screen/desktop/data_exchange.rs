//! The calls of Windows for the clipboard. Who may read it is asked by the callers.

#![expect(unsafe_code, reason = "the clipboard has no safe wrapper; each call says what makes it sound")]

use std::ptr;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{GlobalFree, HGLOBAL, HWND};
use windows_sys::Win32::System::DataExchange::{
    CloseClipboard, EmptyClipboard, EnumClipboardFormats, GetClipboardData, GetClipboardFormatNameW,
    GetClipboardOwner, OpenClipboard, RegisterClipboardFormatW, SetClipboardData,
};
use windows_sys::Win32::System::Memory::{GMEM_MOVEABLE, GlobalAlloc, GlobalLock, GlobalSize, GlobalUnlock};
use windows_sys::Win32::UI::WindowsAndMessaging::{
    CreateWindowExW, DestroyWindow, GetWindowThreadProcessId, HWND_MESSAGE, IsHungAppWindow,
};

/// How long other programs may have the clipboard open.
const OPEN_WITHIN: Duration = Duration::from_secs(1);
/// How long it is until it is tried again.
const PAUSE: Duration = Duration::from_millis(5);
/// More formats than this are not listed.
const MOST_FORMATS: usize = 256;
/// The longest name of a format, in units of UTF-16.
const NAME_UNITS: usize = 256;

/// The clipboard, open: while it is, no other program changes it.
#[derive(Debug)]
pub(super) struct OpenClipboardGuard {
    /// The window that owns what is put there; null to read.
    window: HWND,
}

impl OpenClipboardGuard {
    /// Opens it to read.
    pub(super) fn read() -> Result<Self, String> {
        open(ptr::null_mut())
    }

    /// Opens it to change it.
    pub(super) fn write() -> Result<Self, String> {
        let class: Vec<u16> = "STATIC".encode_utf16().chain([0]).collect();
        // SAFETY: the text ends with a zero and lives until the call is over; what is null may be.
        let window = unsafe {
            CreateWindowExW(
                0,
                class.as_ptr(),
                ptr::null(),
                0,
                0,
                0,
                0,
                0,
                HWND_MESSAGE,
                ptr::null_mut(),
                ptr::null_mut(),
                ptr::null(),
            )
        };
        if window.is_null() {
            return Err(last());
        }
        open(window).inspect_err(|_| destroy(window))
    }

    /// Returns the process that has put there what is there; nothing if that is not known.
    pub(super) fn owner(&self) -> Option<u32> {
        let mut pid = 0;
        // SAFETY: it writes one number, which is there; without an owner it answers 0.
        unsafe { GetWindowThreadProcessId(GetClipboardOwner(), &raw mut pid) };
        Some(pid).filter(|pid| *pid > 0)
    }

    /// Lists the formats of what is there, and what registered ones are called.
    pub(super) fn formats(&self) -> Vec<(u32, Option<String>)> {
        let next = |format: u32| {
            // SAFETY: it takes no pointers, and the clipboard is open.
            Some(unsafe { EnumClipboardFormats(format) }).filter(|next| *next != 0)
        };
        let all = std::iter::successors(next(0), |format| next(*format)).take(MOST_FORMATS);
        all.map(|format| (format, name(format))).collect()
    }

    /// Reads the bytes of a format, which must be one that is kept as memory. Nothing if it is not there.
    ///
    /// # Errors
    /// How many bytes there are, where those are more than may be.
    pub(super) fn bytes(&self, format: u32, limit: usize) -> Result<Option<Vec<u8>>, usize> {
        // SAFETY: the clipboard is open; what it hands out stays its own.
        let memory: HGLOBAL = unsafe { GetClipboardData(format) };
        if memory.is_null() {
            return Ok(None);
        }
        // SAFETY: the format is one that is kept as memory of this kind, and stays while the clipboard is open.
        let (size, bytes) = unsafe { (GlobalSize(memory), GlobalLock(memory)) };
        if bytes.is_null() {
            return Ok(None);
        }
        let read = match size > limit {
            true => Err(size),
            // SAFETY: so many bytes are there until it is unlocked.
            false => Ok(Some(unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) }.to_vec())),
        };
        // SAFETY: it was locked above.
        unsafe { GlobalUnlock(memory) };
        read
    }

    /// Takes off what is there.
    pub(super) fn clear(&self) -> Result<(), String> {
        // SAFETY: the clipboard is open.
        if unsafe { EmptyClipboard() } == 0 { Err(last()) } else { Ok(()) }
    }

    /// Puts bytes there in a format that is kept as memory.
    pub(super) fn put(&self, format: u32, bytes: &[u8]) -> Result<(), String> {
        // SAFETY: it takes no pointers.
        let memory = unsafe { GlobalAlloc(GMEM_MOVEABLE, bytes.len().max(1)) };
        // SAFETY: it was handed out above, or is null, which is answered with null.
        let place = unsafe { GlobalLock(memory) };
        if place.is_null() {
            return Err(last());
        }
        // SAFETY: as many bytes were asked for, and nobody else knows of them yet. Once it is handed over the system has it; it is
        // given back only where it was not taken.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast::<u8>(), bytes.len());
            GlobalUnlock(memory);
            if SetClipboardData(format, memory).is_null() {
                let why = last();
                GlobalFree(memory);
                return Err(why);
            }
        }
        Ok(())
    }
}

impl Drop for OpenClipboardGuard {
    fn drop(&mut self) {
        // SAFETY: it was opened by this thread.
        unsafe { CloseClipboard() };
        if !self.window.is_null() {
            destroy(self.window);
        }
    }
}

/// Returns whether the program that owns the clipboard hangs: it could be asked for the content, and would not answer.
pub(super) fn is_owner_hung() -> bool {
    // SAFETY: these take no pointers; without an owner it is no window that hangs.
    unsafe { IsHungAppWindow(GetClipboardOwner()) != 0 }
}

/// Returns the number of a format by its name.
pub(super) fn format(name: &str) -> u32 {
    let name: Vec<u16> = name.encode_utf16().chain([0]).collect();
    // SAFETY: the text ends with a zero and lives until the call is over.
    unsafe { RegisterClipboardFormatW(name.as_ptr()) }
}

fn name(format: u32) -> Option<String> {
    let mut units = [0_u16; NAME_UNITS];
    let room = i32::try_from(NAME_UNITS).unwrap_or(0);
    // SAFETY: it writes at most so many units, which are there; a format without a name is answered with 0.
    let length = unsafe { GetClipboardFormatNameW(format, units.as_mut_ptr(), room) };
    let length = usize::try_from(length).ok().filter(|length| *length > 0)?;
    Some(String::from_utf16_lossy(units.get(..length)?))
}

fn open(window: HWND) -> Result<OpenClipboardGuard, String> {
    let until = Instant::now() + OPEN_WITHIN;
    // SAFETY: the window is one of this thread, or null.
    while unsafe { OpenClipboard(window) } == 0 {
        if Instant::now() >= until {
            return Err("another program has it open".to_owned());
        }
        std::thread::sleep(PAUSE);
    }
    Ok(OpenClipboardGuard { window })
}

/// What such a window has put on the clipboard stays there without it.
fn destroy(window: HWND) {
    // SAFETY: this thread has created it.
    unsafe { DestroyWindow(window) };
}

fn last() -> String {
    std::io::Error::last_os_error().to_string()
}
