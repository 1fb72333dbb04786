//! What can be done on a display, and what is missing: asked of the display and of this computer.

use std::path::PathBuf;

use bailiwick_contract::{Capability, FOR_USER, Failure};
use bailiwick_platform::accessibility::{AccessibilityError, allowance};
use bailiwick_platform::devices::{DeviceError, Devices};
use bailiwick_platform::screen::{Access, Displays, Listing, ScreenError};
use bailiwick_platform::tray::{Tray, TrayError};

use crate::screen::{OCR_PACKAGE, has_ocr};

/// What the user does where nothing shows status icons.
pub const NO_STATUS_AREA: &str = "a desktop with a status area has one, such as those of KDE and Xfce; GNOME needs its extension AppIndicator.";

/// Something that can be done on a display, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesktopAbility {
    /// Its name, in words.
    pub name: &'static str,
    /// What a scope has to grant for it.
    pub capability: Capability,
    /// Why it cannot be done; none if it can.
    pub why: Option<String>,
    /// What the user does about it, where that is known.
    pub fix: Option<String>,
    /// The host and the port to which pictures are sent for it, if any are.
    pub host: Option<String>,
}

/// Lists what can be done on a display: the primary one unless named. `bus` is that of its session. Programs are searched in
/// `folders`; an empty list means the usual ones. `model` is where the vision model is, or why it cannot be asked.
pub fn desktop_abilities(
    displays: &Displays,
    listing: &Listing,
    display: Option<&str>,
    bus: Option<&str>,
    folders: &[PathBuf],
    model: Result<String, Failure>,
) -> Vec<DesktopAbility> {
    let no_pictures = match &listing.access {
        Access::Granted => None,
        Access::Denied { why, .. } | Access::NoDisplay { why } | Access::Unsupported { why } => {
            Some(why.clone())
        }
        Access::NotDetermined { .. } => Some("the system has not been asked".to_owned()),
        Access::NoPrivateDisplay => Some("there is no private display".to_owned()),
        Access::Locked => Some("the session is locked".to_owned()),
    };
    // What the user has to change before anything of a display is read.
    let setting = match &listing.access {
        Access::Denied { setting, .. } | Access::NotDetermined { setting } => Some(setting.as_str()),
        _ => None,
    };
    let allowance = allowance();
    // Where a system asks the user whether windows are read and used.
    let (no_right, right) = match &allowance {
        Some(Err(error @ AccessibilityError::NotAllowed { setting })) => {
            (Some(error.to_string()), Some(*setting))
        }
        _ => (None, None),
    };
    // Without elements nobody knows which window asks for a secret.
    let unread = match &allowance {
        Some(Err(error @ AccessibilityError::Unsupported(_))) => Some(error.to_string()),
        _ => None,
    };
    // What pointer, keyboard, clipboard and elements need: a display that answers.
    let screen = displays.screen_of(display);
    let reason = |error: &ScreenError| match error {
        ScreenError::NoAccess(Access::Unsupported { why } | Access::NoDisplay { why }) => why.clone(),
        ScreenError::NoAccess(_) => no_pictures.clone().unwrap_or_else(|| error.to_string()),
        error => error.to_string(),
    };
    let no_server = screen.as_ref().err().map(reason);
    let of_display = |ask: &dyn Fn(&str) -> Result<bool, ScreenError>, lacks: &str| match &screen {
        Err(_) => no_server.clone(),
        Ok(display) => match ask(display) {
            Ok(true) => None,
            Ok(false) => Some(lacks.to_owned()),
            Err(error) => Some(error.to_string()),
        },
    };
    let ability = |name, capability, why: Option<String>, fix: &str| DesktopAbility {
        fix: match (&why, right.filter(|_| why == no_right).or(setting)) {
            (None, _) => None,
            (Some(_), Some(setting)) => Some(setting.to_owned()),
            (Some(_), None) => Some(fix.to_owned()).filter(|fix| !fix.is_empty() && no_server.is_none()),
        },
        name,
        capability,
        why,
        host: None,
    };
    let no_manager = of_display(&|it| displays.has_window_manager(it), "no window manager runs there");
    let no_elements = match allowance {
        None => of_display(
            &|it| displays.accessibility_bus(it).map(|bus| bus.is_some()),
            "the display names no accessibility bus",
        ),
        // Windows are judged by their titles, which come with the right to look at them.
        Some(_) => no_right.clone().or_else(|| unread.clone()).or_else(|| no_pictures.clone()),
    };
    let no_changes = no_right.clone().or(no_manager);
    let no_input = no_server.clone().or_else(|| displays.takes_input().err().as_ref().map(reason));
    let no_input = no_right.clone().or(no_input).or(unread);
    let lacks_ocr = !has_ocr(folders);
    let text = DesktopAbility {
        name: "text recognition",
        capability: Capability::ScreenCapture,
        why: no_pictures.clone().or_else(|| lacks_ocr.then(|| "tesseract is not installed".to_owned())),
        fix: lacks_ocr.then(|| format!("Install it; on Debian and Ubuntu: `apt-get install {OCR_PACKAGE}`.")),
        host: None,
    };
    let (host, failure) = model.map_or_else(|failure| (None, Some(failure)), |host| (Some(host), None));
    let vision = DesktopAbility {
        name: "vision model",
        capability: Capability::ScreenGround,
        why: no_pictures.clone().or_else(|| failure.as_ref().map(|it| it.message.clone())),
        fix: failure.and_then(|it| it.hints.first().map(|hint| hint.replacen(FOR_USER, "", 1))),
        host,
    };
    let mut abilities = vec![
        ability("pictures", Capability::ScreenCapture, no_pictures, ""),
        text,
        vision,
        ability("windows", Capability::WindowRead, no_server.clone(), ""),
        ability("window changes", Capability::WindowControl, no_changes, "Start one there, such as openbox."),
        ability(
            "elements",
            Capability::UiRead,
            no_elements,
            "Log in to a desktop with accessibility (at-spi2-core).",
        ),
        ability("pointer and keyboard", Capability::InputControl, no_input, ""),
        ability("clipboard", Capability::ClipboardRead, no_server.clone(), ""),
        status_icons(bus),
    ];
    // Private displays are no computers.
    if let Some(devices) = displays.devices().map(Devices::new) {
        let of_device = |name, why: Option<DeviceError>| DesktopAbility {
            name,
            capability: Capability::SystemControl,
            why: why.map(|error| error.to_string()),
            fix: None,
            host: None,
        };
        abilities.push(of_device("brightness", devices.brightness().err()));
        abilities.push(of_device("volume", devices.volume().err()));
    }
    abilities
}

fn status_icons(bus: Option<&str>) -> DesktopAbility {
    let connected = bus.map_or_else(|| Err(TrayError::NoBus("none is known here".to_owned())), Tray::connect);
    let error = connected.and_then(|tray| tray.items()).err();
    let lacks_list = error == Some(TrayError::NoWatcher);
    DesktopAbility {
        name: "status icons",
        capability: Capability::UiRead,
        why: error.map(|error| error.to_string()),
        fix: lacks_list.then(|| NO_STATUS_AREA.to_owned()),
        host: None,
    }
}
