//! `service logs`: what the service said, from systemd's journal or from its file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use bailiwick_contract::{ErrorCode, Failure};

use super::super::args::ServiceLogsArgs;
use super::super::home::Home;
use super::super::printer::{Printer, Report, printable};
use super::job::said_file;
use super::manager::{Manager, Words};
use super::systemd::UNIT;
use crate::autostart::service::installed;

/// No more than this of the file's end is checked.
const LOOKED_AT_BYTES: u64 = 1 << 20;
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
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let text = read(&mut file, length.saturating_sub(LOOKED_AT_BYTES))?;
    let mut at = file.stream_position()?;
    printer.data(&printable(last_lines(&text, usize::try_from(args.lines).unwrap_or(usize::MAX))));
    if !args.follow {
        return Ok(());
    }
    loop {
        thread::sleep(LOOK);
        // It may have started over.
        at = if file.metadata()?.len() < at { 0 } else { at };
        let more = read(&mut file, at)?;
        at = file.stream_position()?;
        // Nobody reads any more.
        if !more.is_empty() && printer.try_data(&printable(&more)).is_err() {
            return Ok(());
        }
    }
}

fn read(file: &mut File, from: u64) -> io::Result<String> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(LOOKED_AT_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the newest lines of a text.
fn last_lines(text: &str, count: usize) -> &str {
    let whole = text.strip_suffix('\n').unwrap_or(text);
    match whole.rmatch_indices('\n').nth(count.saturating_sub(1)) {
        _ if count == 0 => "",
        Some((at, _)) => &text[at + 1..],
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lines_are_the_last() {
        let cases =
            [("a\nb\nc\n", 2, "b\nc\n"), ("a\nb", 1, "b"), ("a\n", 5, "a\n"), ("", 3, ""), ("a\n", 0, "")];
        for (text, count, expected) in cases {
            assert_eq!(last_lines(text, count), expected, "{text:?} {count}");
        }
    }
}
