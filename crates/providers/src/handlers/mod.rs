//! Which program opens a file or an address, as the system is set up for all its users.
//!
//! # Source
//!
//! freedesktop.org: Shared MIME-info Database, Association between MIME types and applications, Desktop Entry Specification.

mod associations;
mod desktop_entry;
mod mime_type;

pub use associations::{Handler, HandlerError, Handlers};
