//! `client undo`.

use bailiwick_contract::{ErrorCode, Failure};

use super::super::printer::{Printer, Report};
use super::args::UndoArgs;
use super::edit::Session;
use crate::client_settings::plan;
use crate::client_settings::record::Records;
use crate::installation::home::Home;

/// Puts a settings file back as it was before a change.
///
/// # Errors
/// `not_found` where there is no such change; `conflict` where the file was changed since.
pub fn run(home: &Home, printer: Printer, args: &UndoArgs) -> Result<Report, Failure> {
    let records = Records::load(home)?;
    let mut open = records.changes().iter().rev().filter(|it| !it.undone);
    let change = match &args.change {
        None => open.next().ok_or_else(|| {
            Failure::new(ErrorCode::NotFound, "there is nothing to undo")
                .hint("`bailiwick client list --changes` shows what was changed.")
        })?,
        Some(id) => open.find(|it| it.id.eq_ignore_ascii_case(id)).ok_or_else(|| {
            Failure::new(ErrorCode::NotFound, format!("there is no change `{id}` that can be undone"))
                .hint("`bailiwick client list --changes` shows what was changed.")
        })?,
    };
    let planned = plan::undo(&records, change)?;
    let mut session = Session::new(home, printer, args.confirm);
    session.check_that_one_can_ask(std::slice::from_ref(&planned))?;
    session.go(planned, || Ok(None))?;
    Ok(session.report())
}
