//! `service logs`: what the service said, from systemd's journal or from its file.

use std::io;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use bailiwick_contract::{ErrorCode, Failure};

use super::super::args::ServiceLogsArgs;
use super::super::printer::{Printer, Report, printable};
use crate::autostart::job::said_file;
use crate::autostart::manager::{Manager, Words};
use crate::autostart::service::installed;
use crate::autostart::systemd::UNIT;
use crate::installation::home::Home;
use crate::installation::log_file::LogFile;

/// How often a file is checked for more.
const LOOK: Duration = Duration::from_millis(200);

/// Shows what the service said.
///
/// # Errors
/// `not_found` if it is not installed, or has not said anything; `unsupported_platform` where there is no journal.
pub fn run(home: &Home, manager: &dyn Manager, args: &ServiceLogsArgs) -> Result<Option<Report>, Failure> {
    installed(manager)?;
    match manager.words() {
        Words::Journal => of_journal(args).map(|()| None),
        Words::File => {
            let path = said_file(home);
            of_file(&path, args).map(|()| None).map_err(|error| {
                let code = match error.kind() {
                    io::ErrorKind::NotFound => ErrorCode::NotFound,
                    _ => ErrorCode::ProviderUnavailable,
                };
                Failure::new(code, format!("{}: {error}", path.display()))
                    .hint("`bailiwick service status` shows its state.")
            })
        }
    }
}

/// By the journal's own program and follow mode.
fn of_journal(args: &ServiceLogsArgs) -> Result<(), Failure> {
    let mut command = Command::new("journalctl");
    command.args(["--user", "--unit", UNIT, "--lines", &args.lines.to_string(), "--no-pager"]);
    if args.follow {
        command.arg("--follow");
    }
    let status = command.status().map_err(|error| {
        Failure::new(ErrorCode::UnsupportedPlatform, format!("`journalctl` cannot be run: {error}"))
    })?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::ExecutionFailed, "the journal could not be shown")
        .hint("`journalctl --user --unit bailiwick` says why."))
}

fn of_file(path: &Path, args: &ServiceLogsArgs) -> io::Result<()> {
    let printer = Printer { json: false };
    let (mut log, text) = LogFile::open(path, usize::try_from(args.lines).unwrap_or(usize::MAX))?;
    printer.data(&printable(&text));
    if !args.follow {
        return Ok(());
    }
    loop {
        thread::sleep(LOOK);
        let more = log.more()?;
        // Nobody reads any more.
        if !more.is_empty() && printer.try_data(&printable(&more)).is_err() {
            return Ok(());
        }
    }
}
