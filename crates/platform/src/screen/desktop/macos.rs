//! What macOS tells: every window, whether this process may record the screen, and whether it is locked.

#![expect(unsafe_code, reason = "the list of windows has no safe wrapper; nothing else is done here")]

use std::time::Duration;

use objc2_core_foundation::{
    CFArray, CFBoolean, CFDictionary, CFNumber, CFRetained, CFString, CFType, CGRect, ConcreteType,
};
use objc2_core_graphics::{
    CGPreflightScreenCaptureAccess, CGRectMakeWithDictionaryRepresentation, CGSessionCopyCurrentDictionary,
    CGWindowListCopyWindowInfo, CGWindowListOption,
};

use super::window::SystemWindow;
use crate::screen::ancestry::{bundle_name, program_name};
use crate::screen::{Access, Rect, ScreenError, WindowState};

/// All that show are told.
pub(super) const TELLS_WINDOWS: bool = true;

/// A unit is more pixels than one where the display is scaled.
pub(super) const UNIT_IS_PIXEL: bool = false;

/// How long a picture may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Where menus are, above other windows (`kCGPopUpMenuWindowLevel`).
const MENU_LAYER: i64 = 101;

const SETTING: &str = "System Settings > Privacy & Security > Screen & System Audio Recording: turn on the program that \
                       starts Bailiwick (the terminal, or Bailiwick itself), then start it again";

/// Facts about a window or the session, by their names.
type Facts = CFDictionary<CFString, CFType>;

/// Returns how the session stands. macOS does not say whether the user has refused or was never asked.
pub(super) fn access() -> Access {
    let Some(session) = CGSessionCopyCurrentDictionary() else {
        let why = "this process does not run in the session of somebody who is logged in at the screen";
        return Access::NoDisplay { why: why.to_owned() };
    };
    // SAFETY: the documentation says that its keys are texts; values are checked only as what they say they are.
    let session: CFRetained<Facts> = unsafe { CFRetained::cast_unchecked(session) };
    if value::<CFBoolean>(&session, "CGSSessionScreenIsLocked").is_some_and(|locked| locked.as_bool()) {
        return Access::Locked;
    }
    if !CGPreflightScreenCaptureAccess() {
        let why = "macOS does not let this process record the screen".to_owned();
        return Access::Denied { why, setting: SETTING.to_owned() };
    }
    Access::Granted
}

pub(super) fn prepare() -> Result<(), String> {
    Ok(())
}

/// Names of displays are not their own here: two of one model have the same.
pub(super) fn display_id(_: &str, number: u32) -> String {
    format!("display-{number}")
}

/// Returns why nothing can be listed.
pub(super) fn unreachable(why: String) -> Access {
    Access::NoDisplay { why }
}

/// Returns why there is no picture.
pub(super) fn refused(display: &str, why: String) -> ScreenError {
    ScreenError::Failed { display: display.to_owned(), step: "the capture", why }
}

/// Tells the windows, from the bottom of the pile to its top. Those that are minimised, or on another of the user's
/// desktops, are told as hidden.
pub(super) fn windows() -> Result<Option<Vec<SystemWindow>>, String> {
    let list = CGWindowListCopyWindowInfo(CGWindowListOption::OptionAll, 0)
        .ok_or("macOS gives no list of windows")?;
    // SAFETY: the documentation says that it holds dictionaries whose keys are texts; values are checked only as
    // what they say they are.
    let list: CFRetained<CFArray<Facts>> = unsafe { CFRetained::cast_unchecked(list) };
    let mut windows = Vec::new();
    let mut active_found = false;
    // From the top of the pile.
    for facts in list.iter() {
        let told = tell(&facts).ok_or("macOS shows a window without its number or place")?;
        let Some(mut told) = told else { continue };
        // The first that is no menu, bar or hint.
        told.active = !active_found && !told.unmanaged && told.state == WindowState::Visible;
        active_found |= told.active;
        windows.push(told);
    }
    windows.reverse();
    Ok(Some(windows))
}

/// Returns whether a menu is open, whatever it is of.
pub(super) fn shows_menu() -> bool {
    let list = CGWindowListCopyWindowInfo(CGWindowListOption::OptionOnScreenOnly, 0);
    // SAFETY: as for `windows`.
    let list: Option<CFRetained<CFArray<Facts>>> =
        list.map(|list| unsafe { CFRetained::cast_unchecked(list) });
    let is_menu = |facts: CFRetained<Facts>| {
        value::<CFNumber>(&facts, "kCGWindowLayer").and_then(|layer| layer.as_i64()) == Some(MENU_LAYER)
    };
    // Where macOS gives no list, a menu may be open.
    list.is_none_or(|list| list.iter().any(is_menu))
}

/// Describes one window as it is now; nothing, if it is gone.
pub(super) fn window(number: u64) -> Option<SystemWindow> {
    let number = u32::try_from(number).ok()?;
    let list = CGWindowListCopyWindowInfo(CGWindowListOption::OptionIncludingWindow, number)?;
    // SAFETY: as for `windows`.
    let list: CFRetained<CFArray<Facts>> = unsafe { CFRetained::cast_unchecked(list) };
    list.iter().find_map(|facts| tell(&facts)?)
}

/// Tells of one window; an inner nothing if it has no pixels, an outer one if it cannot be placed.
fn tell(facts: &Facts) -> Option<Option<SystemWindow>> {
    let integer = |key| value::<CFNumber>(facts, key)?.as_i64();
    let text = |key| value::<CFString>(facts, key).map(|text| text.to_string()).unwrap_or_default();
    let number = u64::try_from(integer("kCGWindowNumber")?).ok()?;
    let bounds = value::<CFDictionary>(facts, "kCGWindowBounds")?;
    let mut place = CGRect::default();
    // SAFETY: the dictionary is of the kind that this function reads, and it writes one rectangle, which is there.
    let placed = unsafe { CGRectMakeWithDictionaryRepresentation(Some(&bounds), &raw mut place) };
    let bounds = placed.then(|| whole_units(&place))?;
    let on_screen = value::<CFBoolean>(facts, "kCGWindowIsOnscreen").is_some_and(|it| it.as_bool());
    // Zero is where programs' own windows are.
    let unmanaged = integer("kCGWindowLayer").unwrap_or(0) != 0;
    let pid = integer("kCGWindowOwnerPID").and_then(|pid| u32::try_from(pid).ok());
    Some((!bounds.is_empty()).then(|| SystemWindow {
        number,
        title: text("kCGWindowName"),
        app: text("kCGWindowOwnerName"),
        // The name of a program is in the language of the user; that of its bundle is not.
        instance: pid.and_then(bundle_name).unwrap_or_default(),
        owner: None,
        pid,
        process: pid.and_then(program_name),
        bounds,
        frame: bounds,
        state: if on_screen { WindowState::Visible } else { WindowState::Hidden },
        // Nothing says that a picture leaves out what is on no screen at the moment.
        mapped: true,
        // Told by who knows the displays.
        maximised: false,
        active: false,
        unmanaged,
    }))
}

fn value<T: ConcreteType>(facts: &Facts, key: &str) -> Option<CFRetained<T>> {
    facts.get(&CFString::from_str(key))?.downcast::<T>().ok()
}

/// Returns the whole units that hold a rectangle.
pub(crate) fn whole_units(of: &CGRect) -> Rect {
    #[expect(clippy::cast_possible_truncation, reason = "such a cast goes to the nearest number there is")]
    let whole = |value: f64| value as i32;
    let (left, top) = (whole(of.origin.x.floor()), whole(of.origin.y.floor()));
    let (right, bottom) =
        (whole((of.origin.x + of.size.width).ceil()), whole((of.origin.y + of.size.height).ceil()));
    let length = |from: i32, to: i32| u32::try_from(i64::from(to) - i64::from(from)).unwrap_or(0);
    Rect::new(left, top, length(left, right), length(top, bottom))
}
