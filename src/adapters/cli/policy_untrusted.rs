//! `policy untrusted`: which clients have read what anybody may have written, and forgetting it.

use bailiwick_contract::Failure;

use super::args::PolicyUntrustedArgs;
use super::printer::{Report, one_line};
use crate::approvals::untrusted::{PolicyUntrustedOutput, untrusted};
use crate::installation::home::Home;
use crate::text_layout::table::{Fit, Table};

/// Lists the reads, or forgets those of a caller.
///
/// # Errors
/// As [`untrusted`].
pub fn run(home: &Home, args: &PolicyUntrustedArgs) -> Result<Report, Failure> {
    let output = untrusted(home, args.forget.as_deref())?;
    Ok(Report::of(text(&output), &output))
}

fn text(output: &PolicyUntrustedOutput) -> String {
    let mut text: String =
        output.forgotten.iter().map(|name| format!("Forgot what {} has read.\n", one_line(name))).collect();
    let mut table = Table::new(&[
        ("CALLER", Fit::Whole),
        ("FIRST READ", Fit::Whole),
        ("SCOPE", Fit::Whole),
        ("OPERATION", Fit::Whole),
        ("TARGET", Fit::Cut),
        ("ID", Fit::Whole),
    ]);
    for (caller, read) in
        output.callers.iter().flat_map(|it| it.reads.iter().map(move |read| (&it.caller, read)))
    {
        let shown = |text: &Option<String>| text.as_deref().map_or_else(|| "(damaged)".to_owned(), one_line);
        table.row([
            one_line(caller),
            shown(&read.at),
            shown(&read.scope),
            one_line(&read.op),
            one_line(read.target.as_deref().unwrap_or_default()),
            read.operation_id.clone(),
        ]);
    }
    match (table.is_empty(), text.is_empty()) {
        (true, true) => "No client has read untrusted content in the last day.\n".to_owned(),
        (true, false) => text,
        (false, _) => {
            text.push_str(&table.text());
            text
        }
    }
}
