//! Everything between the order and the first fork: the sandbox, the working folder, the programs.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{Mode, OFlags, fstat};

use super::kit::Kit;
use super::supervisor::Streams;
use crate::contract::command::{Containment, Network};
use crate::platform::fs::FileId;
use crate::platform::launch::held::{Names, layer, open};
use crate::platform::launch::wire::{Order, Report};
use crate::platform::launch::{LaunchCommand, LaunchError, ProcessLimits, Step};

/// A job that is ready to start.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) plan: Vec<Step>,
    /// The opened program of each command, by step and position.
    pub(super) programs: Vec<Vec<OpenProgram>>,
    pub(super) environment: Vec<CString>,
    pub(super) cwd: OwnedFd,
    pub(super) null: OwnedFd,
    pub(super) streams: Streams,
    pub(super) limits: ProcessLimits,
    pub(super) level: Containment,
    pub(super) network: Network,
    pub(super) layers: Names,
    pub(super) open: Names,
}

/// A program that was opened, and is the file that was checked.
#[derive(Debug)]
pub(super) struct OpenProgram {
    pub(super) file: OwnedFd,
    /// The path by which it is executed where it is a script: its interpreter opens it again.
    pub(super) script: Option<CString>,
}

/// Names the step in an error of the system.
pub(super) fn failed<E: std::fmt::Display>(step: &str) -> impl Fn(E) -> LaunchError {
    move |error| LaunchError::Step { step: step.to_owned(), reason: error.to_string() }
}

/// Prepares a job.
pub(super) fn prepare(kit: &Kit, order: Order, streams: Streams) -> Result<Prepared, LaunchError> {
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).map_err(failed("subreaper"))?;
    let Order { plan, environment, cwd_path: _, hold, limits, .. } = order;
    let cwd = rustix::io::fcntl_dupfd_cloexec(&streams.cwd, 3).map_err(failed("working folder"))?;
    let null = rustix::io::fcntl_dupfd_cloexec(&kit.null, 3).map_err(failed("null"))?;
    let programs = plan
        .iter()
        .map(|step| step.commands.iter().map(open_program).collect::<Result<Vec<_>, _>>())
        .collect::<Result<Vec<_>, _>>()?;
    let environment = environment
        .iter()
        .map(|(name, value)| {
            let mut line = name.as_bytes().to_vec();
            line.push(b'=');
            line.extend_from_slice(value.as_bytes());
            CString::new(line).map_err(failed("environment"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    if hold.level != Containment::None {
        return Err(failed("containment")("only the level none is here yet"));
    }
    let open = open::FILES
        | open::METADATA
        | open::PROTECTED_NAMES
        | open::PROCESS_LIST
        | open::SIGNALS
        | open::PATH_SOCKETS
        | open::ABSTRACT_SOCKETS
        | open::SYSTEM_CALLS
        | if hold.network == Network::Full { 0 } else { open::NETWORK };
    Ok(Prepared {
        plan,
        programs,
        environment,
        cwd,
        null,
        streams,
        limits,
        level: Containment::None,
        network: Network::Full,
        layers: Names(layer::SESSION | layer::LIMITS),
        open: Names(open),
    })
}

/// Opens a program and compares it with what was checked.
fn open_program(command: &LaunchCommand) -> Result<OpenProgram, LaunchError> {
    let step = "open program";
    let flags = OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    // A program that can be executed but not read is no script that an interpreter could read.
    let (file, readable) = match rustix::fs::open(&command.program, flags | OFlags::RDONLY, Mode::empty()) {
        Ok(file) => (file, true),
        Err(rustix::io::Errno::ACCESS) => {
            let file = rustix::fs::open(&command.program, flags | OFlags::PATH, Mode::empty());
            (file.map_err(failed(step))?, false)
        }
        Err(error) => return Err(failed(step)(error)),
    };
    let stat = fstat(&file).map_err(failed(step))?;
    #[expect(clippy::unnecessary_cast, reason = "the fields' types differ between platforms")]
    let identity = FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64 };
    if identity != command.identity {
        return Err(LaunchError::ProgramChanged(command.program.clone()));
    }
    let mut start = [0; 2];
    let is_script = readable && matches!(rustix::io::pread(&file, &mut start, 0), Ok(2)) && start == *b"#!";
    let script = is_script
        .then(|| CString::new(command.program.as_os_str().as_bytes()))
        .transpose()
        .map_err(failed(step))?;
    Ok(OpenProgram { file, script })
}

impl Prepared {
    /// Gives the report that the plan runs.
    pub(super) fn running(&self) -> Report {
        Report::Running {
            level: self.level,
            network: self.network,
            degraded: self.level != Containment::Full,
            layers: self.layers.0,
            open: self.open.0,
        }
    }
}
