//! From a `tunnel …` command to what does it.

use bailiwick_contract::Failure;

use super::super::args::TunnelCommand;
use super::super::printer::{Printer, Report};
use super::{manual, open};
use crate::installation::home::Home;
use crate::tunnels::program::TunnelProgram;

/// Runs one of the commands.
///
/// # Errors
/// Those of the command.
pub fn run(home: &Home, printer: Printer, command: &TunnelCommand) -> Result<Option<Report>, Failure> {
    match command {
        TunnelCommand::Cloudflare(args) => open::run(home, printer, TunnelProgram::Cloudflare, args),
        TunnelCommand::Tailscale(args) => open::run(home, printer, TunnelProgram::Tailscale, args),
        TunnelCommand::Openai(args) => {
            open::run(home, printer, TunnelProgram::openai(&args.tunnel_id)?, &args.confirm)
        }
        TunnelCommand::Manual(args) => manual::manual(home, printer, args).map(Some),
        TunnelCommand::Off(args) => manual::off(&home.dry_run(args.dry_run)).map(Some),
    }
}
