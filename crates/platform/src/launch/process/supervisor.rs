//! One job: reads the order, shuts itself in, runs the plan, and leaves nothing behind.
//!
//! The control socket is the job's life. When the service's end closes, everything is killed at once.

use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv, send};
use rustix::process::{Signal, WaitStatus};

use super::keeper::{AdoptedJob, Handover};
use super::memory::MemoryWatch;
use super::prepare::{PreparedJob, prepare};
use super::system::{self, JobContext, Reach, Signals};
use super::waiting::ProcessWaiter;
use crate::launch::flags::QUIET;
use crate::launch::wire::{ADOPT, MAX_MESSAGE_BYTES, Order, Report, STOP};
use crate::launch::{LaunchError, Step, handing};

/// The descriptors that a job came with.
#[derive(Debug)]
pub(super) struct Streams {
    pub(super) cwd: OwnedFd,
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
}

impl Status {
    pub(super) const fn succeeded(self) -> bool {
        matches!(self.exit_code, Some(0))
    }

    pub(super) fn of(status: WaitStatus) -> Self {
        Self { exit_code: status.exit_status(), signal: status.terminating_signal() }
    }
}

/// The service has closed its end: kill all, say nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServiceGone;

/// Runs one job, from the order to the end. Returns the exit code of this process.
pub(super) fn supervise(
    kit: &JobContext,
    signals: &Signals,
    reach: Reach,
    control: OwnedFd,
    parcel: (Streams, Option<OwnedFd>),
) -> i32 {
    let (reach, process_id) = (Rc::new(reach), system::own_number());
    let mut supervisor = Supervisor {
        signals,
        control,
        reach,
        process_id,
        deadline: None,
        adopted: None,
        memory: MemoryWatch::default(),
    };
    let outcome = supervisor.run(kit, parcel);
    if let Some(adopted) = supervisor.adopted {
        adopted.finish(outcome);
        return 0;
    }
    let report = match outcome {
        Ok(status) => {
            let left_killed = supervisor.reach.kill_all();
            Report::Ended {
                exit_code: status.exit_code,
                signal: status.signal,
                left_killed,
                memory_excess: supervisor.memory.excess(),
            }
        }
        Err(EndCause::Failed(error)) => {
            supervisor.reach.kill_all();
            Report::Failed(error)
        }
        Err(EndCause::Abandoned) => {
            supervisor.reach.kill_all();
            return 0;
        }
    };
    supervisor.report(&report);
    0
}

/// Why a plan did not come to its end.
#[derive(Debug)]
pub(super) enum EndCause {
    Failed(LaunchError),
    Abandoned,
}

impl From<ServiceGone> for EndCause {
    fn from(_: ServiceGone) -> Self {
        Self::Abandoned
    }
}

impl From<LaunchError> for EndCause {
    fn from(error: LaunchError) -> Self {
        Self::Failed(error)
    }
}

struct Supervisor<'a> {
    signals: &'a Signals,
    control: OwnedFd,
    reach: Rc<Reach>,
    /// The number of this process outside of its namespace.
    process_id: u32,
    /// Set once the service asked to stop: when the rest is killed.
    deadline: Option<Instant>,
    memory: MemoryWatch,
    /// Set once the job is a process that lasts: from then on this waits and ends for it.
    adopted: Option<Box<AdoptedJob>>,
}

impl Supervisor<'_> {
    fn run(
        &mut self,
        kit: &JobContext,
        (streams, port): (Streams, Option<OwnedFd>),
    ) -> Result<Status, EndCause> {
        rustix::stdio::dup2_stdin(&kit.null).map_err(|_| ServiceGone)?;
        let order = read_order(&self.control)?;
        let mut prepared = prepare(kit, order, streams, port, &self.reach)?;
        let mut status = Status { exit_code: Some(0), signal: None };
        for (position, step) in std::mem::take(&mut prepared.plan).iter().enumerate() {
            if !step.is_due(status.succeeded()) || self.deadline().is_some() {
                continue;
            }
            status = self.run_step(&prepared, position, step)?;
        }
        if self.deadline().is_some() {
            self.wait_for_all()?;
        }
        Ok(status)
    }

    fn run_step(&mut self, prepared: &PreparedJob, position: usize, step: &Step) -> Result<Status, EndCause> {
        let processes = prepared.start(step, position)?;
        if position == 0 {
            self.report(&prepared.running());
            self.memory = MemoryWatch::of(prepared);
        }
        Ok(self.wait_for_step(processes)?)
    }

    /// Reads what the service says: to stop, or nothing any more.
    fn listen(&mut self) -> Result<(), ServiceGone> {
        let mut message = [0; 5];
        let handed = read_handed(&self.control, &mut message)?;
        let [kind, number @ ..] = message;
        let number = u32::from_le_bytes(number);
        match kind {
            STOP => {
                self.stop(Signal::TERM, Duration::from_millis(u64::from(number)));
                Ok(())
            }
            ADOPT => self.adopt(number, handed),
            _ => Err(ServiceGone),
        }
    }

    /// Becomes a keeper. Where that fails the job is killed, as somebody is to be able to end it.
    fn adopt(&mut self, length: u32, handed: Vec<OwnedFd>) -> Result<(), ServiceGone> {
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_MESSAGE_BYTES);
        let mut message = vec![0; length.ok_or(ServiceGone)?];
        read_exactly(&self.control, &mut message)?;
        let control = self.control.try_clone().map_err(|_| ServiceGone)?;
        let taking = Handover {
            reach: Rc::clone(&self.reach),
            control,
            process_id: self.process_id,
            deadline: self.deadline,
            memory: std::mem::take(&mut self.memory),
        };
        match AdoptedJob::begin(taking, message.get(8..).unwrap_or_default(), handed) {
            Ok(adopted) => {
                self.adopted = Some(Box::new(adopted));
                self.report(&Report::Adopted { process_id: self.process_id });
                Ok(())
            }
            Err(error) => {
                self.report(&Report::Failed(error));
                Err(ServiceGone)
            }
        }
    }

    fn report(&self, report: &Report) {
        send_report(&self.control, report);
    }
}

impl ProcessWaiter for Supervisor<'_> {
    fn reach(&self) -> &Reach {
        &self.reach
    }

    fn deadline(&mut self) -> &mut Option<Instant> {
        match &mut self.adopted {
            Some(adopted) => adopted.deadline(),
            None => &mut self.deadline,
        }
    }

    fn memory(&mut self) -> &mut MemoryWatch {
        match &mut self.adopted {
            Some(adopted) => adopted.memory(),
            None => &mut self.memory,
        }
    }

    /// Waits until a process ended, the service spoke, or the deadline is over.
    fn wait_for_event(&mut self, at_most: Option<Duration>) -> Result<(), ServiceGone> {
        if let Some(adopted) = &mut self.adopted {
            return adopted.wait_for_event(at_most);
        }
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let left = left.into_iter().chain(at_most).min();
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        let mut polled = [
            PollFd::new(&self.control, PollFlags::IN),
            PollFd::from_borrowed_fd(self.signals.as_fd(), PollFlags::IN),
        ];
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return Err(ServiceGone),
        }
        let [control, signals] = polled.map(|polled| !polled.revents().is_empty());
        if signals {
            self.signals.take();
        }
        if control {
            self.listen()?;
        }
        Ok(())
    }
}

/// Reads the order that a job begins with.
pub(super) fn read_order(control: &OwnedFd) -> Result<Order, EndCause> {
    let mut length = [0; 8];
    read_exactly(control, &mut length)?;
    let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
    let garbled = || LaunchError::Step { step: "order".to_owned(), reason: "it cannot be read".to_owned() };
    if length > MAX_MESSAGE_BYTES {
        return Err(garbled().into());
    }
    let mut body = vec![0; length];
    read_exactly(control, &mut body)?;
    Ok(Order::decode(&body).map_err(|_| garbled())?)
}

/// Reads a message as a whole, with the descriptors that come with it.
fn read_handed(control: &OwnedFd, buffer: &mut [u8]) -> Result<Vec<OwnedFd>, ServiceGone> {
    let (mut filled, mut handed) = (0, Vec::new());
    while filled < buffer.len() {
        match handing::receive(control.as_fd(), &mut buffer[filled..], RecvFlags::empty()) {
            Ok((0, _)) => return Err(ServiceGone),
            Ok((length, descriptors)) => {
                filled += length;
                handed.extend(descriptors);
            }
            Err(Errno::INTR) => {}
            Err(_) => return Err(ServiceGone),
        }
    }
    Ok(handed)
}

fn read_exactly(control: &OwnedFd, buffer: &mut [u8]) -> Result<(), ServiceGone> {
    let mut filled = 0;
    while filled < buffer.len() {
        match recv(control, &mut buffer[filled..], RecvFlags::empty()) {
            Ok((0, _)) => return Err(ServiceGone),
            Ok((length, _)) => filled += length,
            Err(Errno::INTR) => {}
            Err(_) => return Err(ServiceGone),
        }
    }
    Ok(())
}

/// Sends a report to the service.
pub(super) fn send_report(control: &OwnedFd, report: &Report) {
    let bytes = report.encode();
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        match send(control, rest, QUIET) {
            Ok(sent) => rest = &rest[sent..],
            Err(Errno::INTR) => {}
            // Nobody listens any more; the next look at the socket tells.
            Err(_) => return,
        }
    }
}
