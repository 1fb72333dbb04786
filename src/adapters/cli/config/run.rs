//! From a `config …` command to what does it.

use bailiwick_contract::Failure;

use super::super::args::ConfigCommand;
use super::super::printer::{Printer, Report};
use super::{edit, path, show, undo, validate};
use crate::installation::home::Home;

/// Runs one of the commands.
///
/// # Errors
/// Those of the command.
pub fn run(home: &Home, printer: Printer, command: &ConfigCommand) -> Result<Report, Failure> {
    match command {
        ConfigCommand::Path => Ok(path::run(home)),
        ConfigCommand::Show(args) => show::run(home, args),
        ConfigCommand::Validate(args) => validate::run(home, args),
        ConfigCommand::Edit(args) => edit::run(home, printer, args),
        ConfigCommand::Undo(args) => undo::run(home, printer, args),
    }
}
