//! Which of the commands is meant.

use crate::contract::Failure;

use super::super::args::ServiceCommand;
use super::super::home::Home;
use super::super::printer::Report;
use super::{install, remove, status};

/// Runs one of the commands.
///
/// # Errors
/// `unsupported_platform` where there is no systemd; those of the command.
pub fn run(home: &Home, command: &ServiceCommand) -> Result<Option<Report>, Failure> {
    match command {
        ServiceCommand::Install(args) => install::run(home, args).map(Some),
        ServiceCommand::Start => status::start(home).map(Some),
        ServiceCommand::Stop => status::stop(home).map(Some),
        ServiceCommand::Status => status::run(home).map(Some),
        ServiceCommand::Logs(args) => status::logs(args),
        ServiceCommand::Remove(args) => remove::run(home, args).map(Some),
    }
}
