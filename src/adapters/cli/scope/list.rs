//! `scope list`.

use bailiwick_config::Config;

use super::super::printer::{Fit, Report, Table, one_line};
use crate::scope_setup::output::ScopeListOutput;
use crate::scope_setup::scope_words::{grants, roots, type_name, without_values};

/// Lists the scopes.
pub fn run(config: &Config) -> Report {
    let mut table =
        Table::new(&[("ID", Fit::Whole), ("TYPE", Fit::Whole), ("GRANTS", Fit::Cut), ("FOLDERS", Fit::Cut)]);
    for scope in &config.scopes {
        table.row([scope.id.clone(), type_name(scope).to_owned(), grants(scope), one_line(&roots(scope))]);
    }
    let text = if table.is_empty() { "No scope is open.\n".to_owned() } else { table.text() };
    let scopes = config.scopes.iter().map(without_values).collect();
    let report = Report::of(text, &ScopeListOutput { ok: true, scopes });
    if table.is_empty() { report.note("\nhint: `bailiwick setup FOLDER` opens a folder.") } else { report }
}
