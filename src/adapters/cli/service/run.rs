//! Which of the commands is meant.

use bailiwick_contract::Failure;

use super::super::args::{ConfirmArgs, ServiceCommand};
use super::super::ask;
use super::super::printer::{Printer, Report};
use super::{logs, reports};
use crate::autostart::manager::manager;
use crate::installation::home::Home;

/// Runs one of the commands.
///
/// # Errors
/// `unsupported_platform` where there is no manager; those of the command.
pub fn run(home: &Home, printer: Printer, command: &ServiceCommand) -> Result<Option<Report>, Failure> {
    let manager = &*manager(home)?;
    match command {
        ServiceCommand::Install(args) => {
            confirmed(home, printer, *args, "Install it?", |home| reports::install(home, manager)).map(Some)
        }
        ServiceCommand::Start => reports::start(home, manager).map(Some),
        ServiceCommand::Stop => reports::stop(manager).map(Some),
        ServiceCommand::Status => reports::status(home, manager).map(Some),
        ServiceCommand::Logs(args) => logs::run(home, manager, args),
        ServiceCommand::Remove(args) => {
            confirmed(home, printer, *args, "Remove it?", |home| reports::remove(home, manager)).map(Some)
        }
    }
}

/// Does what is asked about: tried with `--dry-run`, shown and asked about at a terminal, else at once.
fn confirmed(
    home: &Home,
    printer: Printer,
    confirm: ConfirmArgs,
    question: &str,
    change: impl Fn(&Home) -> Result<Report, Failure>,
) -> Result<Report, Failure> {
    if confirm.asks(printer) {
        let shown = change(&home.dry_run(true))?;
        printer.talk(shown.text.trim_end());
        if !ask::yes(printer, question)? {
            return Ok(Report { text: "Left as it was.\n".to_owned(), ..shown });
        }
    }
    change(&home.dry_run(confirm.dry_run))
}
