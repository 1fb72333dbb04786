//! The calls of macOS that use pointer and keyboard (`CGEvent`), and what it says of them. Callers check what may get input.
//! None of it has been run.

#![expect(unsafe_code, reason = "some of these calls have no safe wrapper; nothing else is done here")]

use std::thread;
use std::time::Duration;

use objc2_core_foundation::{CFRetained, CGPoint};
use objc2_core_graphics::{
    CGEvent, CGEventField, CGEventFlags, CGEventSource, CGEventSourceStateID, CGEventTapLocation,
    CGEventType, CGMouseButton, CGPreflightPostEventAccess, CGScrollEventUnit,
};

use super::hands::{Seat, UnitPoint};
use super::system;
use super::window::SystemWindow;
use crate::accessibility::{
    AccessibilityError, allowance, receiver_at as told_at, receiver_of_keys as told_keys,
};
use crate::screen::ancestry::{bundle_name, program_name};
use crate::screen::plain::plain;
use crate::screen::quartz::{CODES, KeyStroke, ListedWindow, SHIFT, ToldReceiver, flags, receiver, stroke};
use crate::screen::{Access, InnerProcess, KeySymbol, Point, Receiver, WindowState};

/// The time between characters: programs lose those that come too fast.
const PAUSE: Duration = Duration::from_millis(2);
/// What is asked for of every kind of events (`kCGAnyInputEventType`).
const ANY: CGEventType = CGEventType(!0);
/// The devices alone: what programs make is not in it.
const DEVICES: CGEventSourceStateID = CGEventSourceStateID::HIDSystemState;
/// The modifiers that can be held: Shift, Control, Option and Command.
const HELD: CGEventFlags = CGEventFlags::MaskShift
    .union(CGEventFlags::MaskControl)
    .union(CGEventFlags::MaskAlternate)
    .union(CGEventFlags::MaskCommand);

#[link(name = "Carbon", kind = "framework")]
unsafe extern "C" {
    /// Of `CarbonEventsCore.h`.
    safe fn IsSecureEventInputEnabled() -> u8;
}

/// Returns what keeps this process from using pointer and keyboard.
pub(super) fn ready() -> Result<(), Access> {
    let denied = |setting: &str| {
        let why = "macOS does not let this process use pointer and keyboard".to_owned();
        Access::Denied { why, setting: setting.to_owned() }
    };
    match allowance() {
        Some(Err(AccessibilityError::NotAllowed { setting })) => return Err(denied(setting)),
        Some(Err(error)) => return Err(Access::Unsupported { why: error.to_string() }),
        Some(Ok(())) | None => {}
    }
    match CGPreflightPostEventAccess() {
        true => Ok(()),
        false => Err(denied(
            "System Settings > Privacy & Security > Accessibility: turn the program that starts Bailiwick off and on again, then \
             start it again",
        )),
    }
}

/// Returns whether a program reads the keyboard for a secret.
pub(super) fn is_secure() -> bool {
    IsSecureEventInputEnabled() != 0
}

/// Returns who uses pointer and keyboard.
pub(super) fn seat() -> Result<Seat, String> {
    let now = CGEvent::new(None).ok_or("macOS does not say where the pointer is")?;
    let at = CGEvent::location(Some(&now));
    let idle = CGEventSource::seconds_since_last_event_type(DEVICES, ANY);
    let held = CGEventSource::flags_state(DEVICES);
    let is_pressed = |button| CGEventSource::button_state(DEVICES, CGMouseButton(button));
    Ok(Seat {
        pointer: (at.x, at.y),
        is_held: held.intersects(HELD) || (0..5).any(is_pressed),
        is_caps_lock: held.contains(CGEventFlags::MaskAlphaShift),
        idle: Duration::try_from_secs_f64(idle).map_err(|_| "macOS does not say when they were used last")?,
        has_menu: system::shows_menu(),
    })
}

/// Returns what gets input at a point.
pub(super) fn receiver_at(windows: &[SystemWindow], (x, y): UnitPoint) -> Receiver {
    #[expect(clippy::cast_possible_truncation, reason = "such a cast goes to the nearest number there is")]
    let point = Point { x: x.floor() as i32, y: y.floor() as i32 };
    told_at((x, y)).map(|told| found(&told, windows, Some(point))).unwrap_or_default()
}

/// Returns what has the keyboard.
pub(super) fn receiver_of_keys(windows: &[SystemWindow]) -> Receiver {
    told_keys().map(|told| found(&told, windows, None)).unwrap_or_default()
}

fn found(told: &ToldReceiver, windows: &[SystemWindow], point: Option<Point>) -> Receiver {
    let listed: Vec<ListedWindow> = windows
        .iter()
        .map(|window| ListedWindow {
            pid: window.pid,
            title: plain(&window.title),
            place: window.bounds,
            is_shown: window.state == WindowState::Visible,
            is_unmanaged: window.unmanaged,
        })
        .collect();
    let is_other = told.inner != told.pid;
    let inner = is_other.then(|| InnerProcess {
        pid: Some(told.inner),
        name: program_name(told.inner),
        app: bundle_name(told.inner),
    });
    Receiver { window: receiver(told, &listed, point), is_desktop: false, inner: inner.into_iter().collect() }
}

/// Has the pointer go somewhere, with a button down or without one.
pub(super) fn move_to(
    to: UnitPoint,
    button: Option<u8>,
    down: impl Iterator<Item = u16>,
) -> Result<(), String> {
    let kind = match button {
        None => CGEventType::MouseMoved,
        Some(1) => CGEventType::LeftMouseDragged,
        Some(3) => CGEventType::RightMouseDragged,
        Some(_) => CGEventType::OtherMouseDragged,
    };
    let event = mouse(kind, to, number(button.unwrap_or(1)))?;
    post(&event, flags(0, down));
    Ok(())
}

/// Presses or releases a button; `count` is 2 for the second click of a double click.
pub(super) fn button(
    button: u8,
    is_down: bool,
    at: UnitPoint,
    count: u8,
    down: impl Iterator<Item = u16>,
) -> Result<(), String> {
    let kind = match (button, is_down) {
        (1, true) => CGEventType::LeftMouseDown,
        (1, false) => CGEventType::LeftMouseUp,
        (3, true) => CGEventType::RightMouseDown,
        (3, false) => CGEventType::RightMouseUp,
        (_, true) => CGEventType::OtherMouseDown,
        (_, false) => CGEventType::OtherMouseUp,
    };
    let event = mouse(kind, at, number(button))?;
    CGEvent::set_integer_value_field(Some(&event), CGEventField::MouseEventClickState, count.into());
    post(&event, flags(0, down));
    Ok(())
}

/// Turns the wheel by one line: 4 up, 5 down, 6 left, 7 right.
pub(super) fn turn_wheel(wheel: u8, down: impl Iterator<Item = u16>) -> Result<(), String> {
    let (up, left) = match wheel {
        4 => (1, 0),
        5 => (-1, 0),
        6 => (0, 1),
        _ => (0, -1),
    };
    let event =
        CGEvent::new_scroll_wheel_event2(source().as_deref(), CGScrollEventUnit::Line, 2, up, left, 0);
    let event = event.ok_or_else(none)?;
    post(&event, flags(0, down));
    Ok(())
}

/// Presses or releases a key, while these keys are down.
pub(super) fn key(code: u16, is_down: bool, down: impl Iterator<Item = u16>) -> Result<(), String> {
    let event = CGEvent::new_keyboard_event(source().as_deref(), code, is_down).ok_or_else(none)?;
    post(&event, flags(code, down));
    Ok(())
}

/// Returns the codes of the keys that make a symbol, in the order in which they go down.
pub(super) fn codes(symbol: KeySymbol) -> Option<Vec<u16>> {
    let KeyStroke { code, is_shifted } = stroke(symbol, character)?;
    let shift = is_shifted.then_some(SHIFT);
    Some(shift.into_iter().chain([code]).collect())
}

/// Types a character, whatever key has it.
pub(super) fn type_character(character: char) -> Result<(), String> {
    if let Some(code) = matches!(character, '\n' | '\t').then(|| codes(KeySymbol::of(character))).flatten() {
        for is_down in [true, false] {
            key(code[0], is_down, std::iter::empty())?;
        }
    } else {
        let mut units = [0; 2];
        let units = character.encode_utf16(&mut units);
        for is_down in [true, false] {
            let event = CGEvent::new_keyboard_event(source().as_deref(), 0, is_down).ok_or_else(none)?;
            // SAFETY: the length is that of the units, which live until the call ends.
            unsafe { CGEvent::keyboard_set_unicode_string(Some(&event), units.len() as _, units.as_ptr()) };
            post(&event, 0);
        }
    }
    thread::sleep(PAUSE);
    Ok(())
}

/// Returns the character that a key makes on the user's keyboard.
fn character(code: u16, is_shifted: bool) -> Option<char> {
    debug_assert!(code < CODES, "there is no such key");
    let event = CGEvent::new_keyboard_event(source().as_deref(), code, true)?;
    let shift = if is_shifted { CGEventFlags::MaskShift } else { CGEventFlags::empty() };
    CGEvent::set_flags(Some(&event), shift);
    let (mut units, mut length) = ([0_u16; 4], 0);
    // SAFETY: it writes at most so many units as there are, and how many.
    unsafe {
        CGEvent::keyboard_get_unicode_string(
            Some(&event),
            units.len() as _,
            &raw mut length,
            units.as_mut_ptr(),
        );
    }
    let units = units.get(..usize::try_from(length).ok()?)?;
    let mut characters = char::decode_utf16(units.iter().copied());
    match (characters.next(), characters.next()) {
        (Some(Ok(one)), None) if !one.is_control() => Some(one),
        _ => None,
    }
}

/// The events of this process have a state of their own: what the user holds is not in them.
fn source() -> Option<CFRetained<CGEventSource>> {
    CGEventSource::new(CGEventSourceStateID::Private)
}

fn mouse(kind: CGEventType, (x, y): UnitPoint, button: CGMouseButton) -> Result<CFRetained<CGEvent>, String> {
    CGEvent::new_mouse_event(source().as_deref(), kind, CGPoint { x, y }, button).ok_or_else(none)
}

const fn number(button: u8) -> CGMouseButton {
    match button {
        1 => CGMouseButton::Left,
        3 => CGMouseButton::Right,
        _ => CGMouseButton::Center,
    }
}

fn post(event: &CGEvent, flags: u64) {
    CGEvent::set_flags(Some(event), CGEventFlags::from_bits_retain(flags));
    // Not where the devices put theirs: what the user does is distinguished by that.
    CGEvent::post(CGEventTapLocation::SessionEventTap, Some(event));
}

fn none() -> String {
    "macOS made no event".to_owned()
}
