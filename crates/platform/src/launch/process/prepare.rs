//! Everything between the order and the first fork: the sandbox, the working folder, the programs.

use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use rustix::fs::{Mode, OFlags};

use super::proxy_port::open_proxy_port;
use super::supervisor::Streams;
use super::system::hold::{self, ActiveLayers, CommandSandbox, OpenProgram};
use super::system::{JobContext, JobGroup, Reach};
use crate::launch::layers::Names;
use crate::launch::wire::{Order, Report};
use crate::launch::{LaunchError, ProcessLimits, Step};
use bailiwick_contract::command::{Containment, Network};

/// A job that is ready to start.
#[derive(Debug)]
pub(super) struct PreparedJob {
    pub(super) plan: Vec<Step>,
    /// The opened program of each command, by step and position.
    pub(super) programs: Vec<Vec<OpenProgram>>,
    pub(super) environment: Vec<CString>,
    pub(super) cwd: OwnedFd,
    pub(super) null: OwnedFd,
    pub(super) streams: Streams,
    /// The terminal that all commands share; none makes each a session of its own.
    pub(super) terminal: Option<OwnedFd>,
    pub(super) limits: ProcessLimits,
    /// What each command puts around itself; none at the level none.
    pub(super) shutting: Option<CommandSandbox>,
    /// The control group that each command goes into, if there is one.
    pub(super) group: Option<Rc<JobGroup>>,
    pub(super) level: Containment,
    pub(super) network: Network,
    pub(super) layers: Names,
    pub(super) open: Names,
}

/// What a plan is held with.
#[derive(Debug)]
pub(super) struct ContainedPlan {
    pub(super) shutting: Option<CommandSandbox>,
    /// What can be reached over the network.
    pub(super) network: Network,
    pub(super) layers: Names,
    pub(super) open: Names,
    /// The limits as each command sets them.
    pub(super) limits: ProcessLimits,
    pub(super) group: Option<Rc<JobGroup>>,
}

/// Names the step in an error of the system.
pub(super) fn failed<E: std::fmt::Display>(step: &str) -> impl Fn(E) -> LaunchError {
    move |error| LaunchError::Step { step: step.to_owned(), reason: error.to_string() }
}

/// Creates a pipe, of which programs that are executed get nothing. Returns the end to read from first.
pub(super) fn pipe() -> Result<(OwnedFd, OwnedFd), LaunchError> {
    let (reader, writer) = std::io::pipe().map_err(failed("pipe"))?;
    Ok((reader.into(), writer.into()))
}

/// Prepares a job: after this, the old tree of folders is gone where the level is full.
pub(super) fn prepare(
    kit: &JobContext,
    mut order: Order,
    streams: Streams,
    port: Option<OwnedFd>,
    reach: &Reach,
) -> Result<PreparedJob, LaunchError> {
    // Each command makes a session of its own, as late as it can: schedulers set sessions against each other,
    // and this process has more to do before.
    let _ = rustix::process::setpgid(None, None);
    let entered = hold::enter(kit, &order, port.as_ref())?;
    open_proxy_port(&mut order, port)?;
    finish(kit, order, streams, entered, None, reach)
}

/// Opens and collects what the commands get. A terminal, if there is one, is the one that was opened inside.
pub(super) fn finish(
    kit: &JobContext,
    order: Order,
    streams: Streams,
    entered: ActiveLayers,
    terminal: Option<OwnedFd>,
    reach: &Reach,
) -> Result<PreparedJob, LaunchError> {
    let level = order.hold.level;
    let cwd = hold::open_working_folder(&order, &streams)?;
    let Order { plan, environment, hold, limits, .. } = order;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    let programs = plan
        .iter()
        .map(|step| step.commands.iter().map(hold::open_program).collect::<Result<Vec<_>, _>>())
        .collect::<Result<Vec<_>, _>>()?;
    let environment = environment
        .iter()
        .map(|(name, value)| {
            let mut line = name.as_bytes().to_vec();
            line.push(b'=');
            line.extend_from_slice(value.as_bytes());
            CString::new(line).map_err(failed("environment"))
        })
        .chain(reach.mark().map(Ok))
        .collect::<Result<Vec<_>, _>>()?;
    let ContainedPlan { shutting, network, layers, open, limits, group } =
        hold::shut(kit, &hold, limits, entered, terminal.as_ref())?;
    Ok(PreparedJob {
        open,
        limits,
        group,
        plan,
        programs,
        environment,
        cwd,
        null: null.map_err(failed("null"))?,
        streams,
        terminal,
        shutting,
        level,
        network,
        layers,
    })
}

impl PreparedJob {
    /// Returns the report that the plan runs.
    pub(super) fn running(&self) -> Report {
        Report::Running {
            level: hold::reported_level(self.level, self.open),
            network: self.network,
            degraded: self.level != Containment::Full,
            layers: self.layers.0,
            open: self.open.0,
        }
    }
}
