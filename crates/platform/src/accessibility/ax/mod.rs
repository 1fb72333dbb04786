//! The elements of macOS, by its accessibility (`AXUIElement`).
//!
//! What needs no macOS is built and tested on every system: what roles and states are called (`facts`, `names`), which element
//! is a window (`choice`) and what is read of an element (`walk`). `element` makes the calls, `window` finds and changes windows,
//! `receiving` says what gets input, `provider` answers as all systems do. None of these has been run.

mod choice;
#[cfg(target_os = "macos")]
mod element;
mod facts;
mod names;
#[cfg(target_os = "macos")]
mod provider;
#[cfg(target_os = "macos")]
mod receiving;
mod walk;
#[cfg(target_os = "macos")]
mod window;

#[cfg(target_os = "macos")]
pub use provider::{allowance, element_source};
#[cfg(target_os = "macos")]
pub(crate) use receiving::{receiver_at, receiver_of_keys};
#[cfg(target_os = "macos")]
pub(crate) use window::AxWindow;
