//! The life of a keeper: from the order over the steps of the plan to the end.

use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::super::memory::MemoryWatch;
use super::super::prepare::{self, PreparedJob, failed};
use super::super::proxy_port::open_proxy_port;
use super::super::supervisor::{EndCause, ServiceGone, Status as PlanEnd, read_order, send_report};
use super::super::system::{self, JobContext, Reach, Signals, hold};
use super::super::waiting::ProcessWaiter;
use super::ends::Ends;
use super::events::{IDLE, LOOK};
use super::listener::KeeperListener;
use super::remains::Remains;
use crate::launch::LaunchError;
use crate::launch::kept::record::Record;
use crate::launch::kept::{State, Stream};
use crate::launch::wire::{Adoption, KeeperOrder, Order, Report};

/// How long a plan may take to end whose time is over, or that the system asks to end.
pub(super) const GRACE: Duration = Duration::from_secs(5);

/// How often what is left in a pipe is read at the end: more than any pipe holds.
const MAX_LAST_CHUNKS: usize = 1024;

/// The descriptors that a process that lasts comes with.
#[derive(Debug)]
pub(in super::super) struct KeeperDescriptors {
    pub(in super::super) cwd: OwnedFd,
    /// On which the listener of its proxy is handed out, if it has one.
    pub(in super::super) proxy: Option<OwnedFd>,
    pub(in super::super) status: OwnedFd,
    pub(in super::super) folder: OwnedFd,
    pub(in super::super) listener: OwnedFd,
    /// As [`KeeperOrder`] says.
    pub(in super::super) rest: Vec<OwnedFd>,
}

/// Keeps one process, from the order to the end. Returns the exit code of this process.
pub(in super::super) fn keep(
    kit: &mut JobContext,
    reach: Reach,
    control: OwnedFd,
    parcel: KeeperDescriptors,
) -> i32 {
    match Keeper::begin(reach, control, parcel) {
        Ok((mut keeper, arrival)) => {
            let (remains, outcome) = keeper.run(kit, arrival);
            keeper.finish(remains, outcome);
            0
        }
        Err((control, error)) => {
            send_report(&control, &Report::Failed(error));
            0
        }
    }
}

/// A process that lasts, and everything that belongs to it.
pub(super) struct Keeper {
    pub(super) signals: Signals,
    pub(super) reach: Rc<Reach>,
    /// The service's end of the start, until it says that this process keeps running on its own.
    pub(super) start: Option<OwnedFd>,
    /// The end of a pipe that closes with the service, if the process must not outlive it.
    pub(super) life: Option<OwnedFd>,
    pub(super) ends: Option<Ends>,
    pub(super) record: Record,
    pub(super) door: KeeperListener,
    /// When the time of the plan is over.
    pub(super) max_time: Option<Instant>,
    /// Set once it is asked to end: when the rest is killed.
    pub(super) deadline: Option<Instant>,
    /// Measures what the plan takes, once it runs.
    pub(super) memory: MemoryWatch,
    /// When memory is given back, unless something happens before.
    pub(super) idle_at: Option<Instant>,
    /// Whether it is given back with the next wait.
    pub(super) is_idle: bool,
    /// When it looks next whether the process can still be found.
    pub(super) look_at: Instant,
}

/// What a supervisor gives to the keeper that it becomes.
pub(in super::super) struct Handover {
    pub(in super::super) reach: Rc<Reach>,
    pub(in super::super) control: OwnedFd,
    pub(in super::super) process_id: u32,
    pub(in super::super) deadline: Option<Instant>,
    pub(in super::super) memory: MemoryWatch,
}

/// A job that has become a process that lasts. Its supervisor still goes through the plan, and waits by this.
pub(in super::super) struct AdoptedJob {
    keeper: Keeper,
    remains: Remains,
}

impl AdoptedJob {
    /// Takes a running job over.
    pub(in super::super) fn begin(
        taking: Handover,
        message: &[u8],
        handed: Vec<OwnedFd>,
    ) -> Result<Self, LaunchError> {
        let Adoption { kept, ring } =
            Adoption::decode(message).map_err(|_| failed("adoption")("it cannot be read"))?;
        let missing = || failed("adoption")("something is missing");
        let mut handed = handed.into_iter();
        let mut next = || handed.next().ok_or_else(missing);
        let (stdout, stderr, status, folder, listener) = (next()?, next()?, next()?, next()?, next()?);
        let life = if kept.is_durable { None } else { Some(next()?) };
        let remains = Remains::take_over(&kept, handed).ok_or_else(missing)?;
        let failed = failed("keeper");
        let ring_folder = folder.try_clone().map_err(&failed)?;
        let (mut record, key) =
            Record::resume(status.into(), folder.into(), taking.process_id).map_err(&failed)?;
        record.resume_ring(ring_folder.into(), kept.ring_bytes, ring).map_err(&failed)?;
        hold::hide_memory()?;
        let signals = Signals::of_keeper().map_err(&failed)?;
        let mut keeper =
            Keeper::new(signals, taking.reach, taking.control, record, KeeperListener::new(listener, key));
        (keeper.life, keeper.deadline, keeper.memory) = (life, taking.deadline, taking.memory);
        keeper.ends = Some(Ends::adopt(stdout, stderr)?);
        keeper.max_time = Instant::now().checked_add(Duration::from_millis(kept.max_time_ms));
        keeper.idle_at = Instant::now().checked_add(IDLE);
        // With its number.
        keeper.record.change();
        keeper.record.write();
        Ok(Self { keeper, remains })
    }

    /// Leaves nothing behind, and writes how it ended.
    pub(in super::super) fn finish(self, outcome: Result<PlanEnd, EndCause>) {
        self.keeper.finish(self.remains, outcome);
    }

    pub(in super::super) fn deadline(&mut self) -> &mut Option<Instant> {
        self.keeper.deadline()
    }

    pub(in super::super) fn memory(&mut self) -> &mut MemoryWatch {
        self.keeper.memory()
    }

    pub(in super::super) fn wait_for_event(&mut self, at_most: Option<Duration>) -> Result<(), ServiceGone> {
        self.keeper.wait_for_event(at_most)
    }
}

/// What is needed for the start only.
struct Arrival {
    cwd: OwnedFd,
    proxy: Option<OwnedFd>,
    rest: Vec<OwnedFd>,
}

impl Keeper {
    fn begin(
        reach: Reach,
        control: OwnedFd,
        parcel: KeeperDescriptors,
    ) -> Result<(Self, Arrival), (OwnedFd, LaunchError)> {
        let process_id = system::own_number();
        let KeeperDescriptors { cwd, proxy, status, folder, listener, rest } = parcel;
        let record = Record::resume(status.into(), folder.into(), process_id);
        match Signals::of_keeper().and_then(|signals| Ok((signals, record?))) {
            Ok((signals, (record, key))) => Ok((
                Self::new(signals, Rc::new(reach), control, record, KeeperListener::new(listener, key)),
                Arrival { cwd, proxy, rest },
            )),
            Err(error) => Err((control, failed("keeper")(error))),
        }
    }

    fn new(
        signals: Signals,
        reach: Rc<Reach>,
        control: OwnedFd,
        record: Record,
        door: KeeperListener,
    ) -> Self {
        Self {
            signals,
            reach,
            start: Some(control),
            life: None,
            ends: None,
            record,
            door,
            max_time: None,
            deadline: None,
            memory: MemoryWatch::default(),
            idle_at: None,
            is_idle: false,
            look_at: Instant::now() + LOOK,
        }
    }

    fn run(&mut self, kit: &mut JobContext, arrival: Arrival) -> (Remains, Result<PlanEnd, EndCause>) {
        let mut remains = Remains::default();
        let outcome = self.try_run(kit, arrival, &mut remains);
        (remains, outcome)
    }

    fn try_run(
        &mut self,
        kit: &mut JobContext,
        arrival: Arrival,
        remains: &mut Remains,
    ) -> Result<PlanEnd, EndCause> {
        rustix::stdio::dup2_stdin(&kit.null).map_err(|_| ServiceGone)?;
        let start = self.start.as_ref().ok_or(ServiceGone)?;
        let mut order = read_order(start)?;
        let kept = order.kept.take().ok_or("it is none for a keeper").map_err(failed("order"))?;
        let mut rest = arrival.rest.into_iter();
        if !kept.is_durable {
            self.life = rest.next();
        }
        *remains = Remains::take_over(&kept, rest).ok_or("something is missing").map_err(failed("order"))?;
        self.record.set_budget(kept.ring_bytes);
        let prepared = self.prepare(kit, order, &kept, (arrival.cwd, arrival.proxy))?;
        self.run_plan(kit, prepared, Duration::from_millis(kept.max_time_ms))
    }

    fn prepare(
        &mut self,
        kit: &JobContext,
        mut order: Order,
        kept: &KeeperOrder,
        (cwd, proxy): (OwnedFd, Option<OwnedFd>),
    ) -> Result<PreparedJob, LaunchError> {
        let entered = hold::enter(kit, &order, None)?;
        open_proxy_port(&mut order, proxy)?;
        // Its descriptors and memory are not for other processes of this user. Before, `/proc` was needed.
        hold::hide_memory()?;
        if kept.terminal.is_some() {
            // The terminal is its session's.
            rustix::process::setsid().map_err(failed("session"))?;
        }
        let (ends, streams, terminal) = Ends::open(kept, cwd)?;
        self.ends = Some(ends);
        prepare::finish(kit, order, streams, entered, terminal, &self.reach)
    }

    fn run_plan(
        &mut self,
        kit: &mut JobContext,
        mut prepared: PreparedJob,
        max_time: Duration,
    ) -> Result<PlanEnd, EndCause> {
        let plan = std::mem::take(&mut prepared.plan);
        let mut prepared = Some(prepared);
        let mut ended = PlanEnd { exit_code: Some(0), signal: None };
        for (position, step) in plan.iter().enumerate() {
            if !step.is_due(ended.succeeded()) || self.deadline.is_some() {
                continue;
            }
            let Some(ready) = &prepared else { break };
            let processes = ready.start(step, position)?;
            if position == 0 {
                self.note_start(ready, max_time);
            }
            if position + 1 == plan.len() {
                // So that the program's ends of the pipes are the program's alone.
                prepared = None;
                kit.let_go();
            }
            ended = self.wait_for_step(processes)?;
        }
        if self.deadline.is_some() {
            self.wait_for_all()?;
        }
        Ok(ended)
    }

    fn note_start(&mut self, prepared: &PreparedJob, max_time: Duration) {
        self.max_time = Instant::now().checked_add(max_time);
        self.idle_at = Instant::now().checked_add(IDLE);
        self.memory = MemoryWatch::of(prepared);
        let report = prepared.running();
        if let Some(held) = report.held() {
            let status = self.record.change();
            (status.held, status.state) = (held, State::Running);
        }
        self.record.write();
        if let Some(start) = &self.start {
            send_report(start, &report);
        }
        // The terminal of the service is not for it, nor its end. It may lead a session already. Only now, as
        // schedulers set sessions against each other.
        let _ = rustix::process::setsid();
    }

    /// Leaves nothing behind, writes how it ended, and tells who waits for it.
    fn finish(mut self, remains: Remains, outcome: Result<PlanEnd, EndCause>) {
        let left_killed = self.reach.kill_all();
        if let Some(ends) = &mut self.ends {
            for stream in [Stream::Stdout, Stream::Stderr] {
                // All writers are gone: what is there now is all. But a program that is not held may have
                // given its end to somebody else.
                for _ in 0..MAX_LAST_CHUNKS {
                    let Some(bytes) = ends.read(stream) else { break };
                    self.record.push(stream, bytes);
                }
            }
        }
        let has_run = self.record.status.state == State::Running;
        let status = self.record.change();
        status.left_killed = left_killed;
        status.memory_excess = self.memory.excess();
        let mut failure = None;
        let state = match outcome {
            Ok(ended) => {
                (status.exit_code, status.signal) = (ended.exit_code, ended.signal);
                State::Ended
            }
            Err(EndCause::Failed(error)) => {
                status.failure = Some(error.to_string());
                failure = Some(error);
                State::Failed
            }
            Err(EndCause::Abandoned) if has_run && self.start.is_none() => {
                status.signal = Some(Signal::KILL.as_raw());
                State::Ended
            }
            Err(EndCause::Abandoned) => {
                status.failure = Some("the start was given up".to_owned());
                State::Failed
            }
        };
        self.record.finish(state);
        self.door.finish(self.record.end());
        if let (Some(start), Some(error)) = (&self.start, failure) {
            send_report(start, &Report::Failed(error));
        }
        // Nobody needs to wait for the rest.
        drop(self.door);
        remains.remove();
    }
}
