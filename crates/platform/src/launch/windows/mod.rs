//! Starting programs on Windows: no launcher process, but a job of the system for each plan.
//!
//! The job's only handle is this process's: when it is gone, for whatever reason, the system kills all that the plan
//! started, whatever became of its parents. There is no sandbox: plans run at the level `none` alone.

mod command_line;
mod job;
mod keeper;
mod launcher;
mod opened;
mod plan;
mod pseudo_console;
mod role;
pub(super) mod sys;
#[cfg(test)]
mod tests;

pub use job::Job;
pub use launcher::Launcher;
pub use role::serve_if_asked;
