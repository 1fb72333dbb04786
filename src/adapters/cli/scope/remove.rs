//! `scope remove`: shows what goes, asks on a terminal, and closes the scope.

use bailiwick_contract::Failure;

use super::super::printer::{Printer, Report, one_line};
use super::args::ScopeRemoveArgs;
use super::report::confirmed;
use crate::installation::home::Home;
use crate::scope_setup::difference::Difference;
use crate::scope_setup::output::ScopeRemoveOutput;
use crate::scope_setup::scope_words::place_of;

/// Closes a scope.
///
/// # Errors
/// `unknown_scope`; those of the question.
pub fn run(home: &Home, printer: Printer, args: &ScopeRemoveArgs) -> Result<Report, Failure> {
    let id = one_line(&args.id);
    confirmed(home, printer, args.confirm, &format!("Close scope `{id}`?"), |home, config| {
        let removed = config.scopes.remove(place_of(config, &args.id)?);
        let written = !home.is_dry_run;
        let text = if written {
            format!("Closed scope `{id}`. Its files stay as they are.\n")
        } else {
            format!("Would close scope `{id}`:\n{}", Difference::new(Some(&removed), None).text())
        };
        let output = ScopeRemoveOutput { ok: true, removed: removed.id, roots: removed.roots, written };
        let report = Report::of(text, &output);
        Ok(if written { report.note("hint: `bailiwick config undo` puts it back.") } else { report })
    })
}
