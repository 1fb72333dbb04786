//! What this computer's displays show: which displays and windows there are, and pictures of them.
//!
//! Mechanism without opinion: it does not know who may look at what. A picture comes with the geometry of every
//! window at the moment it was taken, so that anyone who judges can black out what must not be seen.
//!
//! The only place that speaks to a display server. Nothing is opened before the first question.

mod access;
mod ancestry;
mod change;
mod clipping;
mod cookie;
#[cfg(any(windows, target_os = "macos", all(target_os = "linux", feature = "wayland")))]
mod desktop;
mod displays;
mod error;
mod frame;
mod geometry;
mod input;
#[cfg(all(target_os = "linux", feature = "wayland"))]
mod linux;
#[cfg(not(target_os = "linux"))]
mod no_mark;
#[cfg(target_os = "linux")]
pub(crate) mod own_socket;
pub(crate) mod plain;
#[cfg(any(test, target_os = "macos"))]
mod quartz;
mod sources;
#[cfg(any(test, windows))]
mod virtual_keys;
mod watch;
mod window;
#[cfg(target_os = "linux")]
mod x11;

#[cfg(target_os = "linux")]
pub(crate) use ancestry::program_name;
#[cfg(any(windows, target_os = "macos"))]
pub(crate) use desktop::SystemWindow;
#[cfg(target_os = "macos")]
pub(crate) use desktop::whole_units;
#[cfg(windows)]
pub(crate) use desktop::{process_of_window, use_true_pixels};
#[cfg(target_os = "macos")]
pub(crate) use quartz::ToldReceiver;

pub use access::{Access, UnreachableDisplay};
pub use ancestry::{Ancestor, ancestors, processes_of};
pub use change::{Judge, WindowChange};
pub use clipping::{CLIPBOARD_OWNER, ClipboardContent, ClipboardUse, Clipping, ClippingKind, ClippingLimits};
pub use cookie::new_cookie_file;
pub use displays::{Displays, Listing};
pub use error::ScreenError;
pub use frame::{Content, Cover, Frame};
pub use geometry::{Point, Rect};
pub use input::{
    InnerProcess, InputDone, InputJudge, InputMode, InputPlan, InputScene, InputStep, KeySymbol, Receiver,
};
pub use sources::{DisplaySelection, Sources, X11_SOCKETS};
pub use watch::ChangeWatch;
pub use window::{Display, Window, WindowState, Workspaces};

#[cfg(not(target_os = "linux"))]
pub use no_mark::{Mark, guard_if_asked, remove_server_leftovers, server_lock};
#[cfg(target_os = "linux")]
pub use x11::{Mark, guard_if_asked, remove_server_leftovers, server_lock};
