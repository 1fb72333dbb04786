//! `scope remove`: shows what goes, asks on a terminal, and closes the scope.

use bailiwick_contract::Failure;

use super::super::ask;
use super::super::home::{Home, IfMissing};
use super::super::printer::{Printer, Report, one_line};
use super::args::ScopeRemoveArgs;
use super::output::ScopeRemoveOutput;
use super::report::place_of;
use super::statements::{diff_text, difference};

/// Closes a scope.
///
/// # Errors
/// `unknown_scope`; those of the question.
pub fn run(home: &Home, printer: Printer, args: &ScopeRemoveArgs) -> Result<Report, Failure> {
    let config = home.config()?;
    let scope = &config.scopes[place_of(&config, &args.id)?];
    let goes = diff_text(&difference(Some(scope), None));
    let id = one_line(&args.id);
    if args.dry_run {
        let output = ScopeRemoveOutput {
            ok: true,
            removed: scope.id.clone(),
            roots: scope.roots.clone(),
            written: false,
        };
        return Ok(Report::of(format!("Would close scope `{id}`:\n{goes}"), &output));
    }
    if !args.yes && ask::is_possible(printer) {
        printer.talk(goes.trim_end());
        if !ask::yes(printer, &format!("Close scope `{id}`?"))? {
            let output = ScopeRemoveOutput {
                ok: true,
                removed: scope.id.clone(),
                roots: scope.roots.clone(),
                written: false,
            };
            return Ok(Report::of("Left as it was.\n", &output));
        }
    }
    home.edit(IfMissing::Fail, |config| {
        let removed = config.scopes.remove(place_of(config, &args.id)?);
        let text = format!("Closed scope `{id}`. Its files stay as they are.\n");
        let output = ScopeRemoveOutput { ok: true, removed: removed.id, roots: removed.roots, written: true };
        Ok(Report::of(text, &output).note("hint: `bailiwick undo` puts it back."))
    })
}
