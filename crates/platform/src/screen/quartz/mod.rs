//! What macOS does not tell of windows, pointer and keyboard, and has to be worked out, and what it calls types and keys. Nothing
//! here asks the system: it is built and tested on every one.

mod clipping;
mod filling;
mod keys;
mod receiving;

#[cfg(target_os = "macos")]
pub(super) use clipping::{KEPT_TYPES, PNG, TEXT, forms_of, is_secret};
#[cfg(target_os = "macos")]
pub(super) use filling::fills;
#[cfg(target_os = "macos")]
pub(super) use keys::{CODES, KeyStroke, SHIFT, flags, stroke};
#[cfg(target_os = "macos")]
pub(crate) use receiving::ToldReceiver;
#[cfg(target_os = "macos")]
pub(super) use receiving::{ListedWindow, receiver};
