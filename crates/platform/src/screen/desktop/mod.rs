//! Displays by what the system offers every program: those of macOS and Windows, and of a Wayland session on Linux.
//!
//! The crate `xcap` gives the pixels; the system is asked for the windows by one small module each. Nothing can be
//! held still here, so a picture counts only if every window was told the same before and after it; a system that
//! does not tell its windows at all is checked only by who says that nothing has to be kept out of the picture.

#[cfg(target_os = "macos")]
#[path = "macos.rs"]
mod system;
#[cfg(target_os = "linux")]
#[path = "wayland.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

#[cfg(any(windows, target_os = "macos"))]
mod asking;
#[cfg(target_os = "macos")]
mod ax_order;
#[cfg(windows)]
mod clipboard;
#[cfg(any(windows, target_os = "macos"))]
mod control;
#[cfg(windows)]
mod data_exchange;
#[cfg(windows)]
mod input;
#[cfg(target_os = "macos")]
mod mac_clipboard;
#[cfg(target_os = "macos")]
#[path = "mac_hand.rs"]
mod hand;
#[cfg(target_os = "macos")]
mod hands;
mod mapping;
#[cfg(all(test, windows))]
mod notepad;
#[cfg(target_os = "macos")]
mod pasteboard;
mod pixels;
mod scene;
mod servers;
mod window;
mod worker;

pub(super) use pixels::Image;
pub(super) use servers::Servers;
#[cfg(target_os = "macos")]
pub(crate) use system::whole_units;
#[cfg(windows)]
pub(crate) use system::{prepare as use_true_pixels, process_of_window};
#[cfg(not(target_os = "linux"))]
pub(crate) use window::SystemWindow;
