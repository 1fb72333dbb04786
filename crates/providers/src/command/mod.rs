//! Commands: finding the program, its environment, running it held, and what is kept of its output.
//!
//! Runs only what a permit holds. What may run, and how strongly it is held, is the policy's to say.

mod ansi;
mod capture;
mod environment;
mod hold;
mod installed;
mod prepare;
mod program;
mod run;
mod excerpt;
mod temporary;
mod tool_versions;
mod version_query;
mod violations;

pub(super) use ansi::Stripper;
pub use capture::{Capture, CapturedStream};
pub(super) use environment::let_git_pass;
pub use excerpt::{HEAD_SHARE, StreamExcerpt, as_base64, as_text, need, share};
pub use hold::{full_sandbox_hint, level, must_be_full, tool_level};
pub use installed::installed_tools;
pub use prepare::{CommandRequest, FolderAccess, KeeperSettings, ReadyCommand, Tool};
pub(super) use prepare::{
    Roots, SANDBOX_TEMPORARY, closed_folders, granted, process_limits, readable, unique,
};
pub use program::{Program, SearchPath};
pub(super) use run::not_started;
pub use run::{CommandEnd, Listener, Run, RunOptions, run};
pub use temporary::remove_abandoned;
pub(super) use temporary::{make_shared, remove_left};
pub use tool_versions::{TIME_OF_ALL, VersionContext, tool_versions};
pub(super) use version_query::{VersionCache, ask as ask_version};
pub use violations::{FailedCommand, describe_memory_excess, hints};
