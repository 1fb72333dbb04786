//! Which of the commands is meant.

use bailiwick_contract::Failure;

use super::super::args::ServiceCommand;
use super::super::home::Home;
use super::super::printer::Report;
use super::manager::manager;
use super::{install, logs, remove, status};

/// Runs one of the commands.
///
/// # Errors
/// `unsupported_platform` where there is no manager; those of the command.
pub fn run(home: &Home, command: &ServiceCommand) -> Result<Option<Report>, Failure> {
    let manager = &*manager(home)?;
    match command {
        ServiceCommand::Install(args) => install::run(home, manager, args).map(Some),
        ServiceCommand::Start => status::start(home, manager).map(Some),
        ServiceCommand::Stop => status::stop(manager).map(Some),
        ServiceCommand::Status => status::run(home, manager).map(Some),
        ServiceCommand::Logs(args) => logs::run(home, manager, args),
        ServiceCommand::Remove(args) => remove::run(manager, args).map(Some),
    }
}
