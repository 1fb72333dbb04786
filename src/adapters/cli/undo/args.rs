//! The flags of `undo`, as they are typed. Their doc comments are the help text.

use clap::Args;

/// `undo`.
#[derive(Debug, Args)]
pub struct UndoArgs {
    /// The id of a row of `bailiwick log`; default the newest change
    #[arg(value_name = "ID")]
    pub operation: Option<String>,
    /// Everything that was changed from this time on
    #[arg(long, value_name = "WHEN", conflicts_with = "operation")]
    pub since: Option<String>,
    /// Only in this scope
    #[arg(long, value_name = "ID")]
    pub scope: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}
