//! The calls of Windows for pointer and keyboard. What is done with them is judged by the callers.

#![expect(unsafe_code, reason = "pointer and keyboard have no safe wrapper; nothing else is done here")]

use std::mem::size_of;
use std::ptr;

use windows_sys::Win32::Foundation::{HWND, POINT};
use windows_sys::Win32::System::SystemInformation::GetTickCount;
use windows_sys::Win32::UI::Input::KeyboardAndMouse::{
    GetAsyncKeyState, GetKeyState, GetKeyboardLayout, GetLastInputInfo, INPUT, INPUT_0, INPUT_KEYBOARD,
    INPUT_MOUSE, KEYBDINPUT, KEYEVENTF_EXTENDEDKEY, KEYEVENTF_KEYUP, KEYEVENTF_UNICODE, LASTINPUTINFO,
    MAPVK_VK_TO_VSC, MOUSE_EVENT_FLAGS, MOUSEEVENTF_ABSOLUTE, MOUSEEVENTF_HWHEEL, MOUSEEVENTF_LEFTDOWN,
    MOUSEEVENTF_LEFTUP, MOUSEEVENTF_MIDDLEDOWN, MOUSEEVENTF_MIDDLEUP, MOUSEEVENTF_MOVE,
    MOUSEEVENTF_RIGHTDOWN, MOUSEEVENTF_RIGHTUP, MOUSEEVENTF_VIRTUALDESK, MOUSEEVENTF_WHEEL, MOUSEINPUT,
    MapVirtualKeyW, SendInput, VK_CAPITAL, VkKeyScanExW,
};
use windows_sys::Win32::UI::WindowsAndMessaging::{
    GA_PARENT, GUI_INMENUMODE, GUI_INMOVESIZE, GUI_POPUPMENUMODE, GUI_SYSTEMMENUMODE, GUITHREADINFO,
    GetAncestor, GetCursorPos, GetDesktopWindow, GetForegroundWindow, GetGUIThreadInfo, GetSystemMetrics,
    GetWindowThreadProcessId, SM_CXVIRTUALSCREEN, SM_CYVIRTUALSCREEN, SM_SWAPBUTTON, SM_XVIRTUALSCREEN,
    SM_YVIRTUALSCREEN, SPI_GETMOUSEWHEELROUTING, SystemParametersInfoW, WHEEL_DELTA, WindowFromPoint,
};

use crate::screen::virtual_keys::{VirtualKey, part_of_all};
use crate::screen::{Point, Rect};

/// Windows are in one another at most so deep.
const MAX_DEPTH: usize = 64;

/// One thing that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The pointer goes to a pixel of all displays.
    Move(Point),
    /// A button goes down or up: 1 left, 2 middle, 3 right.
    Button(u8, bool),
    /// The wheel turns by a notch: 4 up, 5 down, 6 left, 7 right.
    Wheel(u8),
    /// A key goes down or up.
    Key(VirtualKey, bool),
    /// A unit of a character goes down or up, whatever the keyboard has.
    Unit(u16, bool),
}

/// What has the keyboard, and what its program does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Foreground {
    /// The window in front; 0 for none.
    pub window: u64,
    /// The window that gets keys: the same or one within it.
    pub focus: u64,
    /// Whether a menu of its program is open, or a window of it is being moved.
    pub is_in_menu: bool,
    /// Whether its program has the pointer to itself.
    pub has_pointer: bool,
}

/// Sends all of these at once: nothing else comes between.
pub(super) fn send(events: &[Event]) -> Result<(), String> {
    let inputs: Vec<INPUT> = events.iter().map(|event| input(*event)).collect();
    let count = u32::try_from(inputs.len()).unwrap_or(u32::MAX);
    let size = i32::try_from(size_of::<INPUT>()).unwrap_or(0);
    // SAFETY: as many structures of this size are there.
    let sent = unsafe { SendInput(count, inputs.as_ptr(), size) };
    if sent == count {
        return Ok(());
    }
    let why = std::io::Error::last_os_error();
    Err(format!(
        "Windows took {sent} of {count} events: another program blocks input, or the desktop belongs to the system ({why})"
    ))
}

fn input(event: Event) -> INPUT {
    match event {
        Event::Move(point) => {
            let all = all_displays();
            let (dx, dy) = (part_of_all(point.x, all.x, all.width), part_of_all(point.y, all.y, all.height));
            mouse(MOUSEEVENTF_MOVE | MOUSEEVENTF_ABSOLUTE | MOUSEEVENTF_VIRTUALDESK, dx, dy, 0)
        }
        Event::Button(button, is_down) => mouse(button_flags(button, is_down), 0, 0, 0),
        Event::Wheel(button) => {
            let notch = WHEEL_DELTA.cast_signed();
            let (flags, by) = match button {
                4 => (MOUSEEVENTF_WHEEL, notch),
                5 => (MOUSEEVENTF_WHEEL, -notch),
                6 => (MOUSEEVENTF_HWHEEL, -notch),
                _ => (MOUSEEVENTF_HWHEEL, notch),
            };
            mouse(flags, 0, 0, by.cast_unsigned())
        }
        Event::Key(key, is_down) => {
            // SAFETY: it takes no pointers.
            let scan = unsafe { MapVirtualKeyW(key.number.into(), MAPVK_VK_TO_VSC) };
            let extended = if key.is_extended { KEYEVENTF_EXTENDEDKEY } else { 0 };
            keyboard(key.number, u16::try_from(scan).unwrap_or(0), extended, is_down)
        }
        Event::Unit(unit, is_down) => keyboard(0, unit, KEYEVENTF_UNICODE, is_down),
    }
}

fn mouse(flags: MOUSE_EVENT_FLAGS, dx: i32, dy: i32, data: u32) -> INPUT {
    let mi = MOUSEINPUT { dx, dy, mouseData: data, dwFlags: flags, time: 0, dwExtraInfo: 0 };
    INPUT { r#type: INPUT_MOUSE, Anonymous: INPUT_0 { mi } }
}

fn keyboard(number: u16, scan: u16, flags: u32, is_down: bool) -> INPUT {
    let up = if is_down { 0 } else { KEYEVENTF_KEYUP };
    let ki = KEYBDINPUT { wVk: number, wScan: scan, dwFlags: flags | up, time: 0, dwExtraInfo: 0 };
    INPUT { r#type: INPUT_KEYBOARD, Anonymous: INPUT_0 { ki } }
}

/// Returns what a button is called. The left one is the one that programs take for it, also where the user has swapped them.
fn button_flags(button: u8, is_down: bool) -> MOUSE_EVENT_FLAGS {
    // SAFETY: it takes no pointers.
    let is_swapped = unsafe { GetSystemMetrics(SM_SWAPBUTTON) } != 0;
    let (down, up) = match (button, is_swapped) {
        (2, _) => (MOUSEEVENTF_MIDDLEDOWN, MOUSEEVENTF_MIDDLEUP),
        (1, false) | (3, true) => (MOUSEEVENTF_LEFTDOWN, MOUSEEVENTF_LEFTUP),
        _ => (MOUSEEVENTF_RIGHTDOWN, MOUSEEVENTF_RIGHTUP),
    };
    if is_down { down } else { up }
}

/// Returns what holds all displays.
fn all_displays() -> Rect {
    // SAFETY: it takes no pointers.
    let metric = |which| unsafe { GetSystemMetrics(which) };
    let length = |which| u32::try_from(metric(which)).unwrap_or(0);
    Rect::new(
        metric(SM_XVIRTUALSCREEN),
        metric(SM_YVIRTUALSCREEN),
        length(SM_CXVIRTUALSCREEN),
        length(SM_CYVIRTUALSCREEN),
    )
}

/// Returns where the pointer is, among all displays.
pub(super) fn pointer() -> Option<Point> {
    let mut point = POINT::default();
    // SAFETY: it writes one point, which is there.
    (unsafe { GetCursorPos(&raw mut point) } != 0).then_some(Point { x: point.x, y: point.y })
}

/// Returns the innermost window at a pixel of all displays and those that it is in, up to one of the desktop; none where only the
/// desktop is.
pub(super) fn windows_at(point: Point) -> Vec<u64> {
    // SAFETY: it takes no pointers.
    chain(unsafe { WindowFromPoint(POINT { x: point.x, y: point.y }) })
}

/// Returns a window and those that it is in.
pub(super) fn windows_around(window: u64) -> Vec<u64> {
    chain(handle(window))
}

fn chain(mut window: HWND) -> Vec<u64> {
    // SAFETY: it takes nothing.
    let desktop = unsafe { GetDesktopWindow() };
    let mut chain = Vec::new();
    while !window.is_null() && window != desktop && chain.len() < MAX_DEPTH {
        chain.push(window.addr() as u64);
        // SAFETY: a number that is no window is answered with null.
        window = unsafe { GetAncestor(window, GA_PARENT) };
    }
    chain
}

fn handle(number: u64) -> HWND {
    ptr::with_exposed_provenance_mut(usize::try_from(number).unwrap_or_default())
}

/// Returns what has the keyboard.
pub(super) fn foreground() -> Foreground {
    let size = u32::try_from(size_of::<GUITHREADINFO>()).unwrap_or(0);
    let mut facts = GUITHREADINFO { cbSize: size, ..GUITHREADINFO::default() };
    // SAFETY: it takes nothing.
    let window = unsafe { GetForegroundWindow() };
    // SAFETY: it writes one structure of the size that it says; the thread is that of the window in front.
    let is_read = unsafe {
        let thread = GetWindowThreadProcessId(window, ptr::null_mut());
        thread != 0 && GetGUIThreadInfo(thread, &raw mut facts) != 0
    };
    if !is_read {
        return Foreground { window: window.addr() as u64, ..Foreground::default() };
    }
    let modes = GUI_INMENUMODE | GUI_POPUPMENUMODE | GUI_SYSTEMMENUMODE | GUI_INMOVESIZE;
    Foreground {
        window: window.addr() as u64,
        focus: facts.hwndFocus.addr() as u64,
        is_in_menu: facts.flags & modes != 0,
        has_pointer: !facts.hwndCapture.is_null(),
    }
}

/// Returns whether a key or button is down, by its number.
pub(super) fn is_down(number: u16) -> bool {
    // SAFETY: it takes no pointers.
    unsafe { GetAsyncKeyState(number.into()) < 0 }
}

/// Returns whether Caps Lock is on, as a thread knows that asks for the first time.
pub(super) fn is_caps_lock() -> bool {
    // SAFETY: it takes no pointers.
    unsafe { GetKeyState(VK_CAPITAL.into()) & 1 != 0 }
}

/// Returns when pointer and keyboard were used last, by anybody, on the clock of the system in milliseconds.
pub(super) fn last_use() -> Option<u32> {
    let size = u32::try_from(size_of::<LASTINPUTINFO>()).ok()?;
    let mut facts = LASTINPUTINFO { cbSize: size, dwTime: 0 };
    // SAFETY: it writes one structure of the size that it says.
    (unsafe { GetLastInputInfo(&raw mut facts) } != 0).then_some(facts.dwTime)
}

/// Returns what the clock of the system shows, in milliseconds.
pub(super) fn now() -> u32 {
    // SAFETY: it takes nothing.
    unsafe { GetTickCount() }
}

/// Returns whether the wheel turns what is at the pointer, and not what has the keyboard.
pub(super) fn is_wheel_at_pointer() -> bool {
    let mut routing = 0_u32;
    // SAFETY: it writes one number, which is there.
    let done = unsafe { SystemParametersInfoW(SPI_GETMOUSEWHEELROUTING, 0, (&raw mut routing).cast(), 0) };
    done != 0 && routing != 0
}

/// Returns the key of a character in the layout of the window in front, and whether it needs Shift; none where it needs more.
pub(super) fn key_of(character: char) -> Option<(u16, bool)> {
    let mut units = [0; 2];
    let [unit] = *character.encode_utf16(&mut units) else { return None };
    // SAFETY: these take no pointers but one that may be null.
    let found = unsafe {
        let thread = GetWindowThreadProcessId(GetForegroundWindow(), ptr::null_mut());
        VkKeyScanExW(unit, GetKeyboardLayout(thread))
    };
    let [key, shift] = found.to_le_bytes();
    match shift {
        0 => Some((key.into(), false)),
        1 => Some((key.into(), true)),
        _ => None,
    }
}
