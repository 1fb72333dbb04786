//! From a `scope …` command to what does it.

use bailiwick_contract::Failure;

use super::super::home::{Home, IfMissing};
use super::super::printer::{Report, one_line};
use super::args::ScopeCommand;
use super::output::ScopeRemoveOutput;
use super::report::place_of;
use super::{add, edit, grant, list, show};

/// Runs one of the commands.
///
/// # Errors
/// When the scope is not there or the change is refused; the config is then untouched.
pub fn run(home: &Home, command: &ScopeCommand) -> Result<Report, Failure> {
    match command {
        ScopeCommand::List => Ok(list::run(&home.config()?)),
        ScopeCommand::Show(args) => show::run(home, &args.id),
        ScopeCommand::Add(args) => add::run(home, args),
        ScopeCommand::Edit(args) => edit::run(home, args),
        ScopeCommand::Remove(args) => home.edit(IfMissing::Fail, |config| {
            let place = place_of(config, &args.id)?;
            let removed = config.scopes.remove(place);
            let text = format!("Closed scope `{}`. Its files stay as they are.\n", one_line(&args.id));
            Ok(Report::of(text, &ScopeRemoveOutput { ok: true, removed: removed.id, roots: removed.roots }))
        }),
        ScopeCommand::Allow(args) => grant::run(home, args, grant::allow),
        ScopeCommand::Deny(args) => grant::run(home, args, grant::deny),
    }
}
