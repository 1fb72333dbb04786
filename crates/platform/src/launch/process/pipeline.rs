//! Starting the commands of one pipeline, wired to each other.

use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::io::Errno;
use rustix::process::{Pid, getpid};

use super::child::{Child, Stop};
use super::prepare::{PreparedJob, failed, pipe};
use super::system::{hold, sys};
use crate::launch::request::redirected;
use crate::launch::{LaunchError, Step};

/// The standard streams of one command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wiring<'a> {
    pub(super) stdin: BorrowedFd<'a>,
    pub(super) stdout: BorrowedFd<'a>,
    pub(super) stderr: BorrowedFd<'a>,
}

impl PreparedJob {
    /// Starts all commands of a step. They run, contained, when this returns.
    ///
    /// On an error some may have been started, and have done nothing but contain themselves; the caller
    /// kills them.
    pub(super) fn start(&self, step: &Step, position: usize) -> Result<Vec<Pid>, LaunchError> {
        let count = step.commands.len();
        let is_awaited = count > 1 || hold::is_shut_in_later(self);
        let pipes = (1..count).map(|_| pipe()).collect::<Result<Vec<_>, _>>()?;
        let (said, say) = pipe()?;
        let (wait, go) = pipe()?;
        let mut processes: Vec<Pid> = Vec::with_capacity(count);
        for (at, command) in step.commands.iter().enumerate() {
            let stdin = match at.checked_sub(1).and_then(|before| pipes.get(before)) {
                Some((reader, _)) => reader.as_fd(),
                None => self.streams.stdin.as_ref().unwrap_or(&self.null).as_fd(),
            };
            let stdout = pipes.get(at).map_or(self.streams.stdout.as_fd(), |(_, writer)| writer.as_fd());
            let (null, stderr) = (self.null.as_fd(), self.streams.stderr.as_fd());
            let [stdin, stdout, stderr] =
                redirected([stdin, stdout, stderr], &command.redirects, (null, null));
            let wiring = Wiring { stdin, stdout, stderr };
            let words = command.argv.iter().map(|word| CString::new(word.as_bytes()));
            let argv = words.collect::<Result<Vec<_>, _>>().map_err(failed("arguments"))?;
            let program = self.programs.get(position).and_then(|programs| programs.get(at));
            let program = program.ok_or("it was not opened").map_err(failed("open program"))?;
            let parent = getpid();
            // At a terminal the pipeline is one group, named by its first process, as in a shell.
            let group = processes.first().copied();
            let child = Child { prepared: self, wiring, argv, program, parent, group };
            // One that waits for others is not waited for.
            let raw = match is_awaited {
                true => sys::fork_and(&|| child.become_program(&say, Some(&wait))),
                false => sys::vfork_and(&|| child.become_program(&say, None)),
            };
            let pid =
                Pid::from_raw(raw.map_err(failed("fork"))?).ok_or("no process").map_err(failed("fork"))?;
            if self.terminal.is_some() {
                // Both sides do it, so that it is done before either continues.
                let _ = rustix::process::setpgid(Some(pid), Some(group.unwrap_or(pid)));
            }
            processes.push(pid);
        }
        drop((say, wait, pipes));
        self.let_go(if is_awaited { count } else { 0 }, &said, go)?;
        Ok(processes)
    }

    /// Waits until all are contained, lets them execute their programs, and waits until they have.
    ///
    /// A command that is alone does not wait for others, and says something only if it had to stop.
    fn let_go(&self, count: usize, said: &OwnedFd, go: OwnedFd) -> Result<(), LaunchError> {
        let mut awaited = count;
        let mut go = Some(go);
        loop {
            let mut byte = [0; 1];
            match rustix::io::read(said, &mut byte) {
                // All have executed their programs, or are gone.
                Ok(0) if awaited == 0 => return Ok(()),
                Ok(0) => return Err(failed("containment")("a process ended before it was contained")),
                Ok(_) if byte[0] == Child::CONTAINED => {
                    awaited = awaited.saturating_sub(1);
                    if awaited == 0
                        && let Some(go) = go.take()
                    {
                        rustix::io::write(&go, &vec![0; count]).map_err(failed("start"))?;
                    }
                }
                Ok(_) => return Err(Stop::read(byte[0], said)),
                Err(Errno::INTR) => {}
                Err(error) => return Err(failed("containment")(error)),
            }
        }
    }
}
