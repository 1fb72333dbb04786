//! The elements of windows, as programs show them to assistive technology: what there is, what it says, and acting on it.
//!
//! Mechanism without opinion: it does not know who may look at what. What a program says of its elements is a stranger's
//! word: every call has a deadline, and text is cut. Nothing is connected before the first question.

mod element;
mod error;
mod source;

#[cfg(target_os = "linux")]
mod atspi;
#[cfg(any(test, target_os = "macos"))]
mod ax;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
mod none;
#[cfg(any(target_os = "macos", windows))]
mod listing;
#[cfg(any(test, target_os = "macos", windows))]
mod table;
#[cfg(any(test, windows))]
mod uia;
#[cfg(any(test, target_os = "macos", windows))]
mod walk;
#[cfg(any(test, target_os = "macos", windows))]
mod worker;

pub use element::{
    Abilities, Ability, Element, ElementDetails, ElementTree, Placement, Role, RuntimeId, State, States,
};
pub use error::AccessibilityError;
#[cfg(not(any(target_os = "macos", windows)))]
pub use source::allowance;
pub use source::{Bounds, ElementSource};

#[cfg(target_os = "linux")]
pub use atspi::element_source;
#[cfg(target_os = "macos")]
pub(crate) use ax::{AxWindow, receiver_at, receiver_of_keys};
#[cfg(target_os = "macos")]
pub use ax::{allowance, element_source};
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
pub use none::element_source;
#[cfg(windows)]
pub use uia::{allowance, element_source};
