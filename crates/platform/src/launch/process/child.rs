//! What a forked process does between the fork and its program. Each step is told if it fails.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use nix::sys::signal::SigSet;
use rustix::process::{Pid, Resource, Rlimit, setrlimit};

use super::pipeline::Wiring;
use super::prepare::{PreparedJob, failed};
use super::system::hold::{self, OpenProgram};
use super::system::sys;
use crate::launch::LaunchError;

/// A process that is about to become a program.
pub(super) struct Child<'a> {
    pub(super) prepared: &'a PreparedJob,
    pub(super) wiring: Wiring<'a>,
    pub(super) argv: Vec<CString>,
    pub(super) program: &'a OpenProgram,
    pub(super) parent: Pid,
    /// The first process of the pipeline; none if that is this one.
    pub(super) group: Option<Pid>,
}

/// Where a child had to stop.
#[derive(Debug)]
pub(super) struct Stop {
    step: u8,
    error: io::Error,
}

/// The steps, in order. A child shows the number of the one that failed.
const STEPS: &[&str] = &[
    "death signal",
    "standard streams",
    "descriptors",
    "capabilities",
    "no new privileges",
    "landlock",
    "seccomp",
    "read back",
    "limits",
    "report",
    "session",
    "signals",
    "working folder",
    "execute",
    "sandbox",
];

pub(super) fn at<E: Into<io::Error>>(name: &str) -> impl Fn(E) -> Stop + '_ {
    move |error| {
        let step = STEPS.iter().position(|step| *step == name).unwrap_or(0);
        Stop { step: u8::try_from(step).unwrap_or(0), error: error.into() }
    }
}

impl Stop {
    pub(super) fn write(&self, say: &OwnedFd) {
        let mut message = vec![self.step];
        message.extend_from_slice(&self.error.raw_os_error().unwrap_or(0).to_le_bytes());
        let _ = rustix::io::write(say, &message);
    }

    /// Reads where a child had to stop, the number of the step having been read.
    pub(super) fn read(step: u8, said: &OwnedFd) -> LaunchError {
        let mut number = [0; 4];
        let name = STEPS.get(usize::from(step)).copied().unwrap_or("containment");
        match rustix::io::read(said, &mut number) {
            Ok(4) if number != [0; 4] => {
                failed(name)(io::Error::from_raw_os_error(i32::from_le_bytes(number)))
            }
            _ => failed(name)("it is not in force"),
        }
    }
}

impl Child<'_> {
    /// The byte by which one of several tells that all layers are in force around it.
    pub(super) const CONTAINED: u8 = 0xff;

    /// Becomes the program, or shows why not.
    pub(super) fn become_program(&self, say: &OwnedFd, wait: Option<&OwnedFd>) -> ! {
        let stop = match self.try_to_become_program(say, wait) {
            Ok(never) => match never {},
            Err(stop) => stop,
        };
        stop.write(say);
        sys::exit_now(127)
    }

    fn try_to_become_program(
        &self,
        say: &OwnedFd,
        wait: Option<&OwnedFd>,
    ) -> Result<std::convert::Infallible, Stop> {
        hold::end_with(self.parent)?;
        // Before anything of it takes memory.
        if let Some(group) = &self.prepared.group {
            group.join();
        }
        rustix::stdio::dup2_stdin(self.wiring.stdin).map_err(at("standard streams"))?;
        rustix::stdio::dup2_stdout(self.wiring.stdout).map_err(at("standard streams"))?;
        rustix::stdio::dup2_stderr(self.wiring.stderr).map_err(at("standard streams"))?;
        sys::close_descriptors(sys::Descriptors::CloseOnExec).map_err(at("descriptors"))?;
        if let Some(terminal) = &self.prepared.terminal {
            rustix::process::setpgid(None, self.group).map_err(at("session"))?;
            if self.group.is_none() {
                // Who is in the foreground of a terminal reads from it and gets its signals.
                rustix::termios::tcsetpgrp(terminal, rustix::process::getpid()).map_err(at("session"))?;
            }
        }
        if let Some(shutting) = &self.prepared.shutting {
            hold::shut_in(shutting)?;
        }
        // Only now, as what comes before needs descriptors of its own.
        self.limit().map_err(at("limits"))?;
        if let Some(wait) = wait.filter(|_| !hold::is_shut_in_later(self.prepared)) {
            rustix::io::write(say, &[Self::CONTAINED]).map_err(at("report"))?;
            // Nobody to let it go: another process of the pipeline could not be contained.
            if !matches!(rustix::io::read(wait, &mut [0; 1]), Ok(1)) {
                sys::exit_now(127);
            }
        }
        if self.prepared.terminal.is_none() {
            rustix::process::setsid().map_err(at("session"))?;
        }
        SigSet::empty().thread_set_mask().map_err(at("signals"))?;
        rustix::process::fchdir(&self.prepared.cwd).map_err(at("working folder"))?;
        Err(hold::execute(self, say, wait))
    }

    fn limit(&self) -> io::Result<()> {
        let limits = &self.prepared.limits;
        let both = |value: u64| Rlimit { current: Some(value), maximum: Some(value) };
        setrlimit(Resource::Core, both(0))?;
        let files =
            limits.open_files.min(rustix::process::getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX));
        setrlimit(Resource::Nofile, both(files))?;
        for (resource, value) in [
            (Resource::Fsize, limits.file_bytes),
            (Resource::As, limits.memory_bytes),
            (Resource::Nproc, limits.processes),
        ] {
            if let Some(value) = value {
                let most = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
                setrlimit(resource, both(value.min(most)))?;
            }
        }
        Ok(())
    }
}
