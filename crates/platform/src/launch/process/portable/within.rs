//! What this program does between `sandbox-exec` and the program that was asked for: look whether a sandbox is
//! really in force, say so, wait to be let go, and become that program.

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

use nix::sys::signal::SigSet;

use super::hold::OpenProgram;
use super::sys;
use crate::fs::FileId;
use crate::launch::process::child::{Child, Stop, at};

/// The first argument of this program, by which it knows its part. Called so by anybody else it refuses, or becomes
/// a program that its caller could have started as well.
pub(super) const NAME: &str = "bailiwick-within";

/// What it is told beside the program and its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Task {
    /// Where it says how far it came.
    pub(super) say: RawFd,
    /// From where it is let go.
    pub(super) wait: Option<RawFd>,
}

impl Task {
    /// Returns the words that tell it, before the program's own arguments.
    pub(super) fn words(self, program: &OpenProgram) -> Vec<CString> {
        let OpenProgram { path, identity } = program;
        let numbers = [i64::from(self.say).to_string(), i64::from(self.wait.unwrap_or(-1)).to_string()];
        let identity = [identity.device.to_string(), identity.inode.to_string()];
        let words = numbers
            .into_iter()
            .chain(identity)
            .map(|number| CString::new(number).expect("a number has no zero byte"));
        words.chain([path.clone()]).collect()
    }

    /// Reads such words. Returns the program and its arguments, too.
    fn read(words: Vec<OsString>) -> Option<(Self, OpenProgram, Vec<CString>)> {
        let mut words = words.into_iter();
        let mut number = || words.next()?.into_string().ok();
        let say = number()?.parse().ok()?;
        let wait = number()?.parse().ok().filter(|wait| *wait >= 0 && *wait != say);
        let identity = FileId { device: number()?.parse().ok()?, inode: number()?.parse().ok()? };
        let text = |word: OsString| CString::new(word.into_vec()).ok();
        let path = text(words.next()?)?;
        let argv: Vec<CString> = words.map(text).collect::<Option<_>>()?;
        (!argv.is_empty()).then_some((Self { say, wait }, OpenProgram { path, identity }, argv))
    }
}

/// Does its part if this process was started for it. Returns only if that fails.
pub(in super::super) fn go_within_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()?.as_os_str() != NAME {
        return None;
    }
    let Some((task, program, argv)) = Task::read(arguments.collect()) else {
        return Some(ExitCode::from(127));
    };
    if let Some(say) = sys::take_over(task.say) {
        let wait = match task.wait.map(sys::take_over) {
            Some(None) => return Some(ExitCode::from(127)),
            Some(wait) => wait,
            None => None,
        };
        let stop = match become_program(&say, wait.as_ref(), &program, &argv) {
            Ok(never) => match never {},
            Err(stop) => stop,
        };
        stop.write(&say);
    }
    Some(ExitCode::from(127))
}

fn become_program(
    say: &OwnedFd,
    wait: Option<&OwnedFd>,
    program: &OpenProgram,
    argv: &[CString],
) -> Result<Infallible, Stop> {
    if !sys::is_in_sandbox() {
        return Err(at("sandbox")(io::Error::other("it is not in force")));
    }
    if let Some(wait) = wait {
        rustix::io::write(say, &[Child::CONTAINED]).map_err(at("report"))?;
        // Nobody to let it go: another process of the pipeline could not be contained.
        if !matches!(rustix::io::read(wait, &mut [0; 1]), Ok(1)) {
            sys::exit_now(127);
        }
    }
    if !program.is_same().map_err(at("open program"))? {
        return Err(at("open program")(io::Error::from(io::ErrorKind::NotFound)));
    }
    let environment: Vec<CString> = std::env::vars_os()
        .filter_map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok())
        .collect();
    // What this program set for itself at its start is not for the next one.
    sys::reset_signal_handlers();
    SigSet::empty().thread_set_mask().map_err(at("signals"))?;
    Err(at("execute")(sys::execute(&program.path, argv, &environment)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_is_told_arrives_as_it_was_said() {
        let program = OpenProgram {
            path: CString::new("/bin/a b").expect("no zero"),
            identity: FileId { device: u64::MAX, inode: 7 },
        };
        for wait in [None, Some(4)] {
            let task = Task { say: 3, wait };
            let argv = [c"b".to_owned(), c"".to_owned(), c"-p".to_owned()];
            let words = task.words(&program).into_iter().chain(argv.clone());
            let words: Vec<OsString> = words.map(|word| OsString::from_vec(word.into_bytes())).collect();
            let (read, found, arguments) = Task::read(words.clone()).expect("it can be read");
            assert_eq!((read, found.path, found.identity), (task, program.path.clone(), program.identity));
            assert_eq!(arguments, argv);
            for length in 0..6 {
                assert!(Task::read(words[..length].to_vec()).is_none(), "{length}");
            }
        }
    }
}
