//! From a `client …` command to what does it.

use bailiwick_contract::Failure;

use super::super::printer::{Printer, Report};
use super::super::{connect, tools, url_check};
use super::args::ClientCommand;
use super::{bundle, install, list, print, remove, undo};
use crate::installation::home::Home;

/// Runs one of the commands.
///
/// # Errors
/// Those of the command.
pub fn run(home: &Home, printer: Printer, command: &ClientCommand) -> Result<Report, Failure> {
    match command {
        ClientCommand::List(args) => list::run(home, args),
        ClientCommand::Connect(args) => connect::run(home, printer, args),
        ClientCommand::Tools(args) => tools::run(home, args),
        ClientCommand::Add(args) => install::run(home, printer, args),
        ClientCommand::Print(args) => print::run(home, args),
        ClientCommand::Remove(args) => remove::run(home, printer, args),
        ClientCommand::Undo(args) => undo::run(home, printer, args),
        ClientCommand::Check(args) => url_check::run(printer, args),
        ClientCommand::Mcpb(args) => bundle::run(args),
    }
}
