//! The elements of macOS, by its accessibility (`AXUIElement`).
//!
//! What needs no macOS is built and tested on every system: what roles and states are called (`facts`, `names`), which element
//! is a window (`choice`) and what is read of an element (`walk`). `element` makes the calls, `provider` answers as all systems do.
//! Neither has been run.

mod choice;
#[cfg(target_os = "macos")]
mod element;
mod facts;
mod names;
#[cfg(target_os = "macos")]
mod provider;
mod walk;

#[cfg(target_os = "macos")]
pub use provider::{allowance, element_source};
