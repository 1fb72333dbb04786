//! `service …`: Bailiwick as a service of the user's own session, which starts with it and is started again if it fails.
//!
//! One design for three managers: systemd's user manager, launchd, the Task Scheduler of Windows. Each describes the
//! service in a text of its own, made by plain code that every system compiles and tests, and is asked by its own program.
//! Writes one file of its own and changes no other; never needs root, and never says that a service runs without having
//! asked its manager.

mod logs;
mod reports;
mod run;

pub use reports::remove_installed;
pub use run::run;
