//! From a `scope …` command to what does it.

use bailiwick_contract::Failure;

use super::super::printer::{Printer, Report};
use super::args::ScopeCommand;
use super::report::{change, change_in, confirmed};
use super::{add, edit, list, remove, show};
use crate::installation::home::Home;
use crate::scope_setup::grant_change;

/// Runs one of the commands.
///
/// # Errors
/// When the scope is not there or the change is refused; the config is then untouched.
pub fn run(home: &Home, printer: Printer, command: &ScopeCommand) -> Result<Report, Failure> {
    match command {
        ScopeCommand::List => Ok(list::run(&home.config()?)),
        ScopeCommand::Show(args) => show::run(home, &args.id),
        ScopeCommand::Add(args) => add::run(home, printer, args),
        ScopeCommand::AddScreen(args) => add::add_screen(home, printer, args),
        ScopeCommand::AddDesktop(args) => add::add_desktop(home, printer, args),
        ScopeCommand::AddDisplay(args) => add::add_display(home, printer, args),
        ScopeCommand::Edit(args) => edit::run(home, printer, args),
        ScopeCommand::Remove(args) => remove::run(home, printer, args),
        ScopeCommand::Allow(args) => {
            confirmed(home, printer, args.grant.confirm, "Allow it?", |home, config| {
                change_in(home, config, &args.grant.id, |scope| {
                    grant_change::allow(scope, &args.grant.change(), args.ask)
                })
            })
        }
        // Only takes away: nothing is asked.
        ScopeCommand::Deny(args) => {
            let home = home.dry_run(args.confirm.dry_run);
            change(&home, &args.id, |scope| grant_change::deny(scope, &args.change()))
        }
    }
}
