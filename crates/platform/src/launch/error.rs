//! Why a plan was not started, or was lost.

use std::path::PathBuf;

/// Why nothing was started, or why a started plan cannot be told the end of.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The wanted level is more than this computer has.
    #[error("this computer cannot hold a command as wanted: {0}")]
    Level(String),
    /// The helper process could not be started or spoken to.
    #[error("the launcher does not answer: {0}")]
    Launcher(String),
    /// A step of the preparation failed. The command was not started.
    #[error("the step `{step}` failed: {reason}")]
    Step {
        /// The step.
        step: String,
        /// What the system said.
        reason: String,
    },
    /// The file under the program's path is not the one that was checked.
    #[error("{} is not the file that was checked", .0.display())]
    ProgramChanged(PathBuf),
    /// The processes around the plan ended without a word; everything in it was killed.
    #[error("the command's supervisor ended early")]
    Lost,
}
