//! From a `scope …` command to what does it.

use bailiwick_contract::Failure;

use super::super::home::Home;
use super::super::printer::{Printer, Report};
use super::args::ScopeCommand;
use super::{add, edit, grant, list, remove, show};

/// Runs one of the commands.
///
/// # Errors
/// When the scope is not there or the change is refused; the config is then untouched.
pub fn run(home: &Home, printer: Printer, command: &ScopeCommand) -> Result<Report, Failure> {
    match command {
        ScopeCommand::List => Ok(list::run(&home.config()?)),
        ScopeCommand::Show(args) => show::run(home, &args.id),
        ScopeCommand::Add(args) => add::run(&home.dry_run(args.dry_run), args),
        ScopeCommand::AddScreen(args) => {
            add::add_screen(&home.dry_run(args.dry_run), &args.id, args.name.as_deref(), &args.screen)
        }
        ScopeCommand::Edit(args) => edit::run(home, args),
        ScopeCommand::Remove(args) => remove::run(home, printer, args),
        ScopeCommand::Allow(args) => grant::run(home, args, grant::allow),
        ScopeCommand::Deny(args) => grant::run(home, args, grant::deny),
    }
}
