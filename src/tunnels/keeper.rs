//! The process between `bailiwick tunnel` and the tunnel's program: it ends the program when the command is gone, however
//! that ended. The command holds the other end of its standard input.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use crate::installation::limit::Limit;
use crate::installation::runtime;

/// The word that asks this program to be the keeper.
const WORD: &str = "__tunnel-program";
/// What the keeper exits with where the program cannot be started.
const NOT_STARTED: u8 = 127;
/// How long a program may take to end when it was asked to by Ctrl-C, which it hears too.
const END_TIME: Duration = Duration::from_secs(2);

/// Creates the command that starts a program under a keeper.
///
/// # Errors
/// When this program cannot be found.
pub fn command(program: &Path, words: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(WORD).arg(program).args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

/// Keeps a program, if the words ask for that; one that cannot be started is said.
pub fn serve_if_asked(words: &[OsString], say: impl FnOnce(&str)) -> Option<ExitCode> {
    let (word, rest) = words.get(1..)?.split_first()?;
    let (program, words) = rest.split_first().filter(|_| word == WORD)?;
    let child = Command::new(program).args(words).stdin(Stdio::null()).spawn();
    Some(match child {
        Ok(child) => keep(child),
        Err(error) => {
            say(&format!("{}: {error}", Path::new(program).display()));
            ExitCode::from(NOT_STARTED)
        }
    })
}

fn keep(mut child: Child) -> ExitCode {
    let gone = Limit::default();
    let hears = gone.clone();
    thread::spawn(move || {
        let mut rest = [0_u8; 64];
        while io::stdin().read(&mut rest).is_ok_and(|count| count > 0) {}
        hears.end();
    });
    let stopped = Limit::default();
    let hears = stopped.clone();
    thread::spawn(move || {
        if let Ok(runtime) = runtime::small() {
            runtime.block_on(async { runtime::asked_to_stop().await });
        }
        hears.end();
    });
    let ended = |child: &mut Child| child.try_wait().ok().flatten();
    let mut left = END_TIME;
    let status = loop {
        let look = Duration::from_millis(20);
        if let Some(status) = gone.wait_for(look, || ended(&mut child)) {
            break Some(status);
        }
        if stopped.is_ended() {
            left = left.saturating_sub(look);
        }
        if gone.is_ended() || left.is_zero() {
            break None;
        }
    };
    let Some(status) = status else {
        // It may have ended meanwhile.
        let _ = child.kill();
        let _ = child.wait();
        return ExitCode::FAILURE;
    };
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
