//! What Windows tells: every window that shows, and whether the desktop is that of the user who is logged in.

#![expect(unsafe_code, reason = "the list of windows has no safe wrapper; nothing else is done here")]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use windows_sys::Win32::Foundation::{CloseHandle, HWND, LPARAM, RECT};
use windows_sys::Win32::Graphics::Dwm::{
    DWMWA_CLOAKED, DWMWA_EXTENDED_FRAME_BOUNDS, DWMWINDOWATTRIBUTE, DwmGetWindowAttribute,
};
use windows_sys::Win32::System::StationsAndDesktops::{CloseDesktop, DESKTOP_READOBJECTS, OpenInputDesktop};
use windows_sys::Win32::System::Threading::{
    OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, QueryFullProcessImageNameW,
};
use windows_sys::Win32::UI::HiDpi::{
    DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE, DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2,
    SetThreadDpiAwarenessContext,
};
use windows_sys::Win32::UI::WindowsAndMessaging::{
    EnumWindows, FindWindowExW, GW_OWNER, GWL_EXSTYLE, GWL_STYLE, GetClassNameW, GetForegroundWindow,
    GetWindow, GetWindowLongW, GetWindowRect, GetWindowTextW, GetWindowThreadProcessId, IsIconic,
    IsWindowVisible, IsZoomed, PostMessageW, SW_MAXIMIZE, SW_MINIMIZE, SW_RESTORE, SW_SHOWNOACTIVATE,
    SWP_ASYNCWINDOWPOS, SWP_NOACTIVATE, SWP_NOZORDER, SetForegroundWindow, SetWindowPos, ShowWindowAsync,
    WM_CLOSE, WS_CAPTION, WS_EX_TOOLWINDOW, WS_POPUP,
};
use windows_sys::core::BOOL;

use super::control::Order;
use super::window::SystemWindow;
use crate::screen::{Access, Rect, ScreenError, WindowState};

/// All that show are told.
pub(super) const TELLS_WINDOWS: bool = true;

/// Once a thread counts in true pixels, a unit is one.
pub(super) const UNIT_IS_PIXEL: bool = true;

/// How long a picture may take: a window that hangs is asked to draw itself.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The class of menus.
const MENU_CLASS: &str = "#32768";

/// The class of the windows in which the system puts those of apps of the Store, and of these.
const STORE_FRAME_CLASS: &str = "ApplicationFrameWindow";
const STORE_APP_CLASS: &str = "Windows.UI.Core.CoreWindow";

/// The longest text that is read, in units of UTF-16.
const TEXT_UNITS: usize = 1024;

/// Returns whether the desktop that takes input is one that this process may look at. It is another while the session
/// is locked, or while a question for an administrator is shown.
pub(super) fn access() -> Access {
    // SAFETY: it takes no pointers, and what it opens is closed below.
    let desktop = unsafe { OpenInputDesktop(0, 0, DESKTOP_READOBJECTS) };
    if desktop.is_null() {
        return Access::Locked;
    }
    // SAFETY: the handle was opened above, and nobody else has it.
    unsafe { CloseDesktop(desktop) };
    Access::Granted
}

/// Has this thread count in true pixels, as pictures do; else windows would be sought in the wrong places.
pub(crate) fn prepare() -> Result<(), String> {
    // SAFETY: it takes no pointers, and changes this thread alone.
    let set = |context| unsafe { SetThreadDpiAwarenessContext(context) };
    let mut before = set(DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2);
    if before.is_null() {
        // The older one, which wine 8 knows alone: they differ in how windows of one's own are drawn.
        before = set(DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE);
    }
    if before.is_null() {
        return Err("Windows 10 of 2016 or newer is needed, which counts in true pixels".to_owned());
    }
    Ok(())
}

pub(super) fn display_id(name: &str, _: u32) -> String {
    name.trim_start_matches(r"\\.\").to_owned()
}

/// Returns why nothing can be listed.
pub(super) fn unreachable(why: String) -> Access {
    Access::NoDisplay { why }
}

/// Returns why there is no picture.
pub(super) fn refused(display: &str, why: String) -> ScreenError {
    ScreenError::Failed { display: display.to_owned(), step: "the capture", why }
}

/// Tells the windows that show, from the bottom of the pile to its top.
pub(super) fn windows() -> Result<Option<Vec<SystemWindow>>, String> {
    let mut handles: Vec<HWND> = Vec::new();
    let list: LPARAM = (&raw mut handles).expose_provenance().cast_signed();
    // SAFETY: `collect` gets `list` back while this call lasts, and only then; `handles` lives longer.
    let done = unsafe { EnumWindows(Some(collect), list) };
    if done == 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    // SAFETY: it takes nothing.
    let active = unsafe { GetForegroundWindow() };
    let mut programs = BTreeMap::new();
    Ok(Some(handles.iter().rev().filter_map(|window| tell(*window, active, &mut programs)).collect()))
}

unsafe extern "system" fn collect(window: HWND, list: LPARAM) -> BOOL {
    let list: *mut Vec<HWND> = ptr::with_exposed_provenance_mut(list.cast_unsigned());
    // SAFETY: it is the pointer that `windows` has given, to a list that nobody else touches meanwhile.
    unsafe { (*list).push(window) };
    1
}

/// Tells of one window; nothing, if it shows nothing or is gone.
fn tell(window: HWND, active: HWND, programs: &mut BTreeMap<u32, Option<String>>) -> Option<SystemWindow> {
    // SAFETY: a number that is no window any more is answered with 0 by all of these.
    let (visible, minimised) = unsafe { (IsWindowVisible(window) != 0, IsIconic(window) != 0) };
    if !visible {
        return None;
    }
    let mut whole = RECT::default();
    // SAFETY: it writes one rectangle, which is there.
    if unsafe { GetWindowRect(window, &raw mut whole) } == 0 {
        return None;
    }
    let whole = rect(&whole);
    // What is drawn of it; around that lies a border by which it is grasped.
    let drawn = attribute(window, DWMWA_EXTENDED_FRAME_BOUNDS).map_or(whole, |drawn: RECT| rect(&drawn));
    let cloaked = attribute(window, DWMWA_CLOAKED).is_some_and(|cloaked: u32| cloaked != 0);
    let class = text(|units, length| {
        // SAFETY: it writes at most `length` units, which are there.
        unsafe { GetClassNameW(window, units, length) }
    });
    let pid = process_of(window, &class);
    let process = pid.and_then(|pid| programs.entry(pid).or_insert_with(|| program(pid)).clone());
    // SAFETY: it takes no pointers; without an owner it answers null.
    let owner = number(unsafe { GetWindow(window, GW_OWNER) });
    // SAFETY: these take no pointers.
    let (style, further) =
        unsafe { (GetWindowLongW(window, GWL_STYLE), GetWindowLongW(window, GWL_EXSTYLE)) };
    let (style, further) = (style.cast_unsigned(), further.cast_unsigned());
    let popup = style & WS_POPUP != 0 && style & WS_CAPTION != WS_CAPTION && owner != 0;
    let frame = hull(whole, drawn);
    (!frame.is_empty()).then(|| SystemWindow {
        number: number(window),
        title: text(|units, length| {
            // SAFETY: it writes at most `length` units, which are there.
            unsafe { GetWindowTextW(window, units, length) }
        }),
        app: process.as_deref().map(stem).unwrap_or_default().to_owned(),
        unmanaged: further & WS_EX_TOOLWINDOW != 0 || class == MENU_CLASS || popup,
        instance: class,
        owner: Some(owner).filter(|owner| *owner != 0),
        pid,
        process,
        bounds: drawn,
        frame,
        state: match (minimised, cloaked) {
            (true, _) => WindowState::Minimised,
            (false, true) => WindowState::Hidden,
            (false, false) => WindowState::Visible,
        },
        mapped: !minimised && !cloaked,
        // SAFETY: it takes no pointers.
        maximised: unsafe { IsZoomed(window) } != 0,
        active: window == active,
    })
}

/// Returns the process that a window is of. An app of the Store has its window within one of the system, which is of another
/// process; while it is asleep, nobody says whose that is.
fn process_of(window: HWND, class: &str) -> Option<u32> {
    let inner = match class {
        STORE_FRAME_CLASS => {
            let class: Vec<u16> = STORE_APP_CLASS.encode_utf16().chain([0]).collect();
            // SAFETY: the text ends with a zero and lives until the call is over.
            unsafe { FindWindowExW(window, ptr::null_mut(), class.as_ptr(), ptr::null()) }
        }
        _ => window,
    };
    pid_of(inner)
}

/// Returns the process that a window itself is of.
pub(crate) fn process_of_window(number: u64) -> Option<u32> {
    pid_of(handle(number))
}

fn pid_of(window: HWND) -> Option<u32> {
    let mut pid = 0;
    // SAFETY: it writes one number, which is there; a number that is no window is answered with 0.
    unsafe { GetWindowThreadProcessId(window, &raw mut pid) };
    Some(pid).filter(|pid| *pid > 0)
}

/// Describes one window as it is now; nothing, if it shows nothing or is gone.
pub(super) fn window(number: u64) -> Option<SystemWindow> {
    // SAFETY: it takes nothing.
    tell(handle(number), unsafe { GetForegroundWindow() }, &mut BTreeMap::new())
}

/// Has something done to a window.
pub(super) fn order(told: &SystemWindow, _: &[SystemWindow], order: Order) -> Result<(), String> {
    let window = handle(told.number);
    // SAFETY: these take no pointers; a number that is no window any more is an error of each.
    let show = |how| unsafe { ShowWindowAsync(window, how) };
    let done = match order {
        Order::Focus { is_minimised } => {
            if is_minimised {
                show(SW_RESTORE);
            }
            // SAFETY: it takes no pointers.
            unsafe { SetForegroundWindow(window) };
            // Where Windows does not let it, it says no, and shows the window in the taskbar: reading back says so.
            1
        }
        Order::Minimise => show(SW_MINIMIZE),
        Order::Maximise {} => show(SW_MAXIMIZE),
        Order::Restore => show(SW_RESTORE),
        // SAFETY: the message has no content.
        Order::Close => unsafe { PostMessageW(window, WM_CLOSE, 0, 0) },
        Order::Place { place, is_maximised } => {
            if is_maximised {
                show(SW_SHOWNOACTIVATE);
            }
            let how = SWP_ASYNCWINDOWPOS | SWP_NOACTIVATE | SWP_NOZORDER;
            let length = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
            let (width, height) = (length(place.width), length(place.height));
            // SAFETY: it takes no pointers.
            unsafe { SetWindowPos(window, ptr::null_mut(), place.x, place.y, width, height, how) }
        }
    };
    if done == 0 { Err(std::io::Error::last_os_error().to_string()) } else { Ok(()) }
}

fn handle(number: u64) -> HWND {
    ptr::with_exposed_provenance_mut(usize::try_from(number).unwrap_or_default())
}

fn number(window: HWND) -> u64 {
    window.addr() as u64
}

/// Reads an attribute of a window that the compositor keeps, which must be of the type.
fn attribute<T: Default>(window: HWND, which: DWMWINDOWATTRIBUTE) -> Option<T> {
    let mut value = T::default();
    let size = u32::try_from(size_of::<T>()).ok()?;
    let place: *mut c_void = (&raw mut value).cast();
    // SAFETY: it writes at most `size` bytes, of plain numbers, into a value of that size.
    let done = unsafe { DwmGetWindowAttribute(window, which.cast_unsigned(), place, size) };
    (done >= 0).then_some(value)
}

/// Reads a text that a call writes, of which it answers the length.
fn text(call: impl FnOnce(*mut u16, i32) -> i32) -> String {
    let mut units = [0_u16; TEXT_UNITS];
    let length = call(units.as_mut_ptr(), i32::try_from(TEXT_UNITS).unwrap_or(0));
    String::from_utf16_lossy(&units[..usize::try_from(length).unwrap_or(0).min(TEXT_UNITS)])
}

/// Returns the name of a process's program file.
pub(in crate::screen) fn program(pid: u32) -> Option<String> {
    // SAFETY: it takes no pointers, and what it opens is closed below.
    let process = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid) };
    if process.is_null() {
        return None;
    }
    let mut units = [0_u16; TEXT_UNITS];
    let mut length = u32::try_from(TEXT_UNITS).ok()?;
    // SAFETY: it writes at most `length` units, which are there, and how many; the handle was opened above.
    let done = unsafe {
        let done = QueryFullProcessImageNameW(process, 0, units.as_mut_ptr(), &raw mut length);
        CloseHandle(process);
        done
    };
    let path = String::from_utf16_lossy(units.get(..usize::try_from(length).ok()?)?);
    let name = path.rsplit('\\').next().filter(|name| !name.is_empty())?;
    (done != 0).then(|| name.to_owned())
}

/// Returns the name of a program file without its ending.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, ending)) if ending.eq_ignore_ascii_case("exe") => stem,
        _ => name,
    }
}

fn rect(of: &RECT) -> Rect {
    let length = |from: i32, to: i32| u32::try_from(i64::from(to) - i64::from(from)).unwrap_or(0);
    Rect::new(of.left, of.top, length(of.left, of.right), length(of.top, of.bottom))
}

/// Returns the smallest rectangle that holds both.
fn hull(one: Rect, other: Rect) -> Rect {
    let (left, top) = (one.x.min(other.x), one.y.min(other.y));
    let end = |at: i32, length: u32| i64::from(at) + i64::from(length);
    let right = end(one.x, one.width).max(end(other.x, other.width));
    let bottom = end(one.y, one.height).max(end(other.y, other.height));
    let length = |to: i64, from: i32| u32::try_from(to - i64::from(from)).unwrap_or(u32::MAX);
    Rect::new(left, top, length(right, left), length(bottom, top))
}
