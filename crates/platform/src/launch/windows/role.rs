//! What this program does when it is started again on its own: for what needs a process of its own.
//!
//! It is known by its first word, which no call from a shell has by accident, and told what to do by a variable.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use super::command_line::{command_line, environment_block, zero_ended};
use super::keeper;
use super::sys::{self, ConsoleKey, ProcessSpec};
use crate::launch::LAUNCHER_NAME;

/// The variable that says what is to be done.
const ROLE: &str = "BAILIWICK_ROLE";
/// What it says for a keeper.
pub(super) const KEEP: &str = "keep";
/// What it says before what is to be typed, whether the processes share a console, and their numbers.
const TYPE: &str = "type";
/// How it is said whether processes have a console each, or share one.
const CONSOLES: [&str; 2] = ["each", "shared"];

/// What any program needs of the environment.
const NEEDED: [&str; 7] = ["SystemRoot", "SystemDrive", "windir", "TEMP", "TMP", "USERPROFILE", "USERNAME"];

/// Further words behind the first. A test's program is told by them which of its tests is to play the role.
#[cfg(not(test))]
const WORDS: &[&str] = &[];
#[cfg(test)]
const WORDS: &[&str] = &["platform::launch::windows::role::tests::this_program_plays_its_role", "--exact"];

/// Does what this process was started for, if it was started by this program itself. Give the exit code back then.
pub fn serve_if_asked() -> Option<ExitCode> {
    play_if_asked().map(|done| if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns whether it was done, if something was to be.
fn play_if_asked() -> Option<bool> {
    if std::env::args_os().next()? != LAUNCHER_NAME {
        return None;
    }
    let role = std::env::var(ROLE).unwrap_or_default();
    let (role, rest) = role.split_once(' ').unwrap_or((&role, ""));
    Some(match role {
        TYPE => type_as_told(rest).unwrap_or(false),
        KEEP => keeper::keep(),
        _ => false,
    })
}

/// Starts this program again. It gets these streams and no other handle.
pub(super) fn start(
    program: &Path,
    role: &str,
    streams: [std::os::windows::io::BorrowedHandle<'_>; 3],
    flags: u32,
) -> io::Result<sys::NewProcess> {
    let words: Vec<OsString> =
        std::iter::once(LAUNCHER_NAME).chain(WORDS.iter().copied()).map(OsString::from).collect();
    let needed = NEEDED.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    let variables: Vec<(OsString, OsString)> = needed.chain([(ROLE.into(), role.into())]).collect();
    let folder = program.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    sys::make(ProcessSpec {
        program: &zero_ended(program.as_os_str())?,
        command_line: command_line(&words)?,
        environment: &environment_block(&variables)?,
        folder: &zero_ended(folder.as_os_str())?,
        streams: streams.map(Some),
        console: None,
        job: None,
        flags,
    })
}

const fn name_of(typed: ConsoleKey) -> &'static str {
    match typed {
        ConsoleKey::Interrupt => "interrupt",
        ConsoleKey::Break => "break",
    }
}

/// Types what the words say. Returns whether any process got it: some may have ended already.
fn type_as_told(words: &str) -> Option<bool> {
    let mut words = words.split(' ');
    let called = words.next()?;
    let typed =
        [ConsoleKey::Interrupt, ConsoleKey::Break].into_iter().find(|typed| name_of(*typed) == called)?;
    let are_apart = words.next()? == CONSOLES[0];
    let mut processes = words.filter_map(|number| number.parse().ok());
    let reaches = |process: u32| sys::type_at(process, typed).is_ok();
    Some(if are_apart {
        processes.filter(|process| reaches(*process)).count() > 0
    } else {
        processes.any(reaches)
    })
}

/// How long it may take to ask processes to end.
const MAX_ASKING: Duration = Duration::from_secs(1);

/// Types something at the console that processes share, or at that of each, as far as they have not ended. A process has
/// one console at most, and may end with what is typed there: another one does it.
pub(super) fn type_at(
    program: &Path,
    processes: &[u32],
    share_console: bool,
    typed: ConsoleKey,
) -> io::Result<()> {
    let consoles = CONSOLES[usize::from(share_console)];
    let numbers: Vec<String> = processes.iter().map(u32::to_string).collect();
    let role = format!("{TYPE} {} {consoles} {}", name_of(typed), numbers.join(" "));
    let nothing = OwnedHandle::from(OpenOptions::new().read(true).write(true).open(r"\\.\NUL")?);
    let streams = [nothing.as_handle(), nothing.as_handle(), nothing.as_handle()];
    let made = start(program, &role, streams, sys::DETACHED_PROCESS)?;
    match sys::wait(&[made.process.as_handle()], Some(MAX_ASKING))? {
        Some(_) if sys::exit_code(made.process.as_handle())? == 0 => Ok(()),
        _ => Err(io::ErrorKind::TimedOut.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a test it says that nobody plays a role by accident. Started as one, it plays it.
    #[test]
    fn this_program_plays_its_role() {
        match play_if_asked() {
            None => assert_ne!(std::env::args_os().next(), Some(LAUNCHER_NAME.into())),
            Some(done) => assert!(done),
        }
    }
}
