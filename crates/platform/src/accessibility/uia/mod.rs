//! The elements of Windows, by UI Automation (`IUIAutomation`).
//!
//! What needs no Windows is built and tested on every system: what roles, states and actions are called (`facts`), what errors mean
//! (`names`), and which elements of others are left out (`walk`). `element` makes the calls, `provider` answers as all systems do.
//! Of these it was seen under wine 8 only that they refuse, as wine has no client of UI Automation.

#[cfg(windows)]
mod element;
mod facts;
mod names;
#[cfg(windows)]
mod provider;
mod walk;

#[cfg(windows)]
pub use provider::{allowance, element_source};
