//! Starting the service when the user logs in: one design over systemd, launchd and the Task Scheduler.
//!
//! Each manager has a file that describes the service, which is written here, and a program that is asked. Below the adapters:
//! what is printed of it is the command line's.

#![expect(clippy::disallowed_methods, reason = "the files are those of the user's own session")]

pub mod file;
pub mod job;
pub mod launchd;
pub mod manager;
pub mod output;
pub mod programs;
pub mod service;
pub mod systemd;
pub mod task;
#[cfg(test)]
mod tests;
mod xml;
