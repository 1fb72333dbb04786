//! `service …`: Bailiwick as a service of the person's own session, which starts with it and is started again if it fails.
//!
//! Works for systemd's user manager. Writes one file of its own and changes no other; never needs root, and never says
//! that a service runs without having asked it.

mod install;
mod manager;
mod remove;
mod status;
mod unit;

use crate::contract::Failure;

use super::args::ServiceCommand;
use super::home::Home;
use super::printer::Report;

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
