//! What a forked process does between the fork and its program. Each step is told if it fails.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use landlock::RulesetStatus;
use nix::sys::signal::SigSet;
use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Resource, Rlimit, Signal, getppid, setrlimit};

use super::namespaces;
use super::pipeline::Wiring;
use super::prepare::{OpenProgram, Prepared, Shutting, failed};
use crate::platform::launch::{LaunchError, sys};

/// A process that is about to become a program.
pub(super) struct Child<'a> {
    pub(super) prepared: &'a Prepared,
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

/// The steps, in order. A child tells the number of the one that failed.
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
];

fn at<E: Into<io::Error>>(name: &str) -> impl Fn(E) -> Stop + '_ {
    move |error| {
        let step = STEPS.iter().position(|step| *step == name).unwrap_or(0);
        Stop { step: u8::try_from(step).unwrap_or(0), error: error.into() }
    }
}

impl Stop {
    fn write(&self, say: &OwnedFd) {
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

    /// Becomes the program, or tells why not.
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
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(at("death signal"))?;
        // Died before that took effect?
        if getppid() != Some(self.parent) {
            return Err(at("death signal")(io::Error::from(io::ErrorKind::NotConnected)));
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
            shut_in(shutting)?;
        }
        // Only now, as what comes before needs descriptors of its own.
        self.limit().map_err(at("limits"))?;
        if let Some(wait) = wait {
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
        let program = match &self.program.script {
            Some(path) => sys::Program::Path(path),
            None => {
                use std::os::fd::AsFd;
                sys::Program::Open(self.program.file.as_fd())
            }
        };
        Err(at("execute")(sys::execute(program, &self.argv, &self.prepared.environment)))
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

/// Gives up all privileges, puts Landlock and seccomp in force, and reads back from the kernel that they are.
fn shut_in(shutting: &Shutting) -> Result<(), Stop> {
    namespaces::drop_capabilities().map_err(at("capabilities"))?;
    rustix::thread::set_no_new_privs(true).map_err(at("no new privileges"))?;
    if let Some(rules) = &shutting.rules {
        let rules = rules.try_clone().map_err(at("landlock"))?;
        let status = rules.restrict_self().map_err(|error| at("landlock")(io::Error::other(error)))?;
        if status.ruleset == RulesetStatus::NotEnforced {
            return Err(at("landlock")(not_in_force()));
        }
    }
    sys::set_seccomp_filter(&shutting.filter).map_err(at("seccomp"))?;
    let mut text = [0; 8192];
    let length = rustix::fs::open("/proc/self/status", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .and_then(|file| rustix::io::read(&file, &mut text))
        .map_err(at("read back"))?;
    let lines = || text[..length].split(|byte| *byte == b'\n');
    for expected in
        ["NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000"]
    {
        if !lines().any(|line| line == expected.as_bytes()) {
            return Err(at("read back")(not_in_force()));
        }
    }
    Ok(())
}

fn not_in_force() -> io::Error {
    io::Error::other("it is not in force")
}
