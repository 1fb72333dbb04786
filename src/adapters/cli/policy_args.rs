//! The words of `policy …`. The doc comments are the help text.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::args::{CallArgs, ConfirmArgs};

/// `policy …`.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Print each stage's verdict on a request, without running it
    ///
    /// The request is an envelope in JSON, or an operation with target and fields as for `call`.
    /// `--token NAME` judges it with the rights of a token.
    /// A command in quotes is judged by the rules of the scope: `policy explain 'git push'`.
    #[command(disable_help_flag = true)]
    Explain(CallArgs),
    /// Judge the commands of a file, or stored requests by another config
    ///
    /// Lines of a verdict (allow, ask or deny), a tab and a command; or a JSON array of objects with
    /// `verdict` and `command`. With --against-history the file is a config, and the requests of the
    /// history are judged by it. Nothing is run. Exits with 1 if a verdict differs.
    #[command(verbatim_doc_comment)]
    Test(PolicyTestArgs),
    /// Print why a recorded request was allowed or refused
    ///
    /// With the stage, the rule, and the command that would change it. `bailiwick log` shows the ids.
    #[command(verbatim_doc_comment)]
    Why(PolicyWhyArgs),
    /// Propose the smallest rules for what you have approved
    ///
    /// Prints commands, and changes nothing without --apply.
    #[command(verbatim_doc_comment)]
    Learn(PolicyLearnArgs),
    /// List clients that read untrusted content, or forget it
    ///
    /// In a scope with `bailiwick scope edit ID --after-untrusted ask`, a client that has read the network, the
    /// screen, or files that `--untrusted-files GLOB` names, needs approval for a day: for what can send data, opens
    /// sensitive files or changes another scope.
    #[command(verbatim_doc_comment)]
    Untrusted(PolicyUntrustedArgs),
}

/// `policy untrusted`.
#[derive(Debug, Args)]
pub struct PolicyUntrustedArgs {
    /// Forget what this client has read: a token's name, or local
    #[arg(long, value_name = "CLIENT")]
    pub forget: Option<String>,
}

/// `policy why`.
#[derive(Debug, Args)]
pub struct PolicyWhyArgs {
    /// The id of the request, or its last 6 characters
    pub id: String,
}

/// `policy learn`.
#[derive(Debug, Args)]
pub struct PolicyLearnArgs {
    /// Only this scope
    #[arg(long, value_name = "ID")]
    pub scope: Option<String>,
    /// Only what was approved from this time on
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Change the scopes
    #[arg(long)]
    pub apply: bool,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `policy test`.
#[derive(Debug, Args)]
pub struct PolicyTestArgs {
    /// The file with commands and their verdicts; with --against-history a config
    pub file: PathBuf,
    /// The scope; needed where several are open
    #[arg(long)]
    pub scope: Option<String>,
    /// Judge the requests of the history by this config
    #[arg(long)]
    pub against_history: bool,
    /// Only requests from this time on
    #[arg(long, value_name = "WHEN", requires = "against_history")]
    pub since: Option<String>,
}
