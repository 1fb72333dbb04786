//! Private displays: X servers of a scope's own, with a bus and a window manager, that nothing else shows.
//!
//! A display belongs to a scope and to the caller that made it. Its programs are jobs of the launcher: they end with
//! their display, and with the service, however that ends.

mod abilities;
mod bus;
mod desktop;
mod folder;
mod leftovers;
mod programs;
mod start;

pub use abilities::{DesktopAbility, NO_STATUS_AREA, desktop_abilities};
pub use desktop::{Desktop, DisplayOwner, LaunchedProgram, PrivateDisplays, without_private};
pub use leftovers::remove_leftovers;
pub use programs::{MissingProgram, missing_programs};
pub use start::{DisplayAccess, DisplayOrder, PrivateDisplay};
