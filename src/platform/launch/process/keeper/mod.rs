//! One process that lasts: as a job, and beyond the service that started it.
//!
//! One loop serves the program's pipes or terminal, the control socket, signals and deadlines. It waits for
//! them all at once and does nothing while nothing happens. The program cannot reach anything of it.

mod door;
mod ends;
mod mask;
mod network;
mod record;
mod remains;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::signal::{SigSet, Signal as Listened};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, Signal, WaitOptions, wait};

use self::door::{Door, Reply};
use self::ends::{Ends, Refused};
use self::record::Record;
use self::remains::Remains;
use super::descendants::Reach;
use super::kit::Kit;
use super::prepare::{self, Prepared, failed};
use super::supervisor::{Abandoned, Ending, Status as Ended, is_due, read_order, send_report};
use crate::platform::launch::held::{Names, layer, open};
use crate::platform::launch::kept::message::{Answer, Request};
use crate::platform::launch::kept::{State, Stream};
use crate::platform::launch::wire::{KEEP, KeptOrder, Order, Report};
use crate::platform::launch::{Held, LaunchError, sys};

/// How long a plan may take to end whose time is over, or that the system asks to end.
const GRACE: Duration = Duration::from_secs(5);

/// How long nothing happens until memory is given back that was needed for what happened.
const IDLE: Duration = Duration::from_secs(1);

/// The descriptors that a process that lasts comes with.
#[derive(Debug)]
pub(super) struct KeptParcel {
    pub(super) cwd: OwnedFd,
    pub(super) status: OwnedFd,
    pub(super) folder: OwnedFd,
    pub(super) listener: OwnedFd,
    /// As [`KeptOrder`] says.
    pub(super) rest: Vec<OwnedFd>,
}

/// Keeps one process, from the order to the end. Gives the exit code of this process.
pub(super) fn keep(kit: &mut Kit, control: OwnedFd, parcel: KeptParcel) -> i32 {
    let reach = if rustix::process::getpid().is_init() { Reach::Namespace } else { Reach::Below };
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

struct Keeper {
    signals: SignalFd,
    reach: Reach,
    /// The service's end of the start, until it says that this process goes on by itself.
    start: Option<OwnedFd>,
    /// The end of a pipe that closes with the service, if the process must not outlive it.
    life: Option<OwnedFd>,
    ends: Option<Ends>,
    record: Record,
    door: Door,
    /// When the time of the plan is over.
    max_time: Option<Instant>,
    /// Set once it is asked to end: when the rest is killed.
    deadline: Option<Instant>,
    /// When memory is given back, unless something happens before.
    idle_at: Option<Instant>,
    /// Whether it is given back with the next wait.
    is_idle: bool,
}

/// What is needed for the start only.
struct Arrival {
    cwd: OwnedFd,
    rest: Vec<OwnedFd>,
}

/// What can be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Signals,
    Start,
    Life,
    Output(Stream),
    Input,
    Listener,
    Connection(usize),
}

impl Keeper {
    fn begin(
        reach: Reach,
        control: OwnedFd,
        parcel: KeptParcel,
    ) -> Result<(Self, Arrival), (OwnedFd, LaunchError)> {
        let prepared = || -> std::io::Result<SignalFd> {
            // What an end of the user's session or a broken pipe would do to it is not for the keeper.
            let mut blocked = SigSet::all();
            blocked.remove(Listened::SIGSEGV);
            blocked.remove(Listened::SIGBUS);
            blocked.remove(Listened::SIGABRT);
            blocked.thread_set_mask()?;
            let listened: SigSet = [Listened::SIGCHLD, Listened::SIGTERM].into_iter().collect();
            let signals = SignalFd::with_flags(&listened, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
            Ok(signals)
        };
        let process_id = own_number();
        let KeptParcel { cwd, status, folder, listener, rest } = parcel;
        let record = Record::resume(status, folder, process_id);
        match prepared().and_then(|signals| Ok((signals, record?))) {
            Ok((signals, (record, key))) => Ok((
                Self {
                    signals,
                    reach,
                    start: Some(control),
                    life: None,
                    ends: None,
                    record,
                    door: Door::new(listener, key),
                    max_time: None,
                    deadline: None,
                    idle_at: None,
                    is_idle: false,
                },
                Arrival { cwd, rest },
            )),
            Err(error) => Err((control, failed("keeper")(error))),
        }
    }

    fn run(&mut self, kit: &mut Kit, arrival: Arrival) -> (Remains, Result<Ended, Ending>) {
        let mut remains = Remains::default();
        let outcome = self.try_run(kit, arrival, &mut remains);
        (remains, outcome)
    }

    fn try_run(&mut self, kit: &mut Kit, arrival: Arrival, remains: &mut Remains) -> Result<Ended, Ending> {
        rustix::stdio::dup2_stdin(&kit.null).map_err(|_| Abandoned)?;
        let start = self.start.as_ref().ok_or(Abandoned)?;
        let mut order = read_order(start)?;
        let kept = order.kept.take().ok_or("it is none for a keeper").map_err(failed("order"))?;
        let mut rest = arrival.rest.into_iter();
        if !kept.is_durable {
            self.life = rest.next();
        }
        *remains = Remains::take_over(&kept, rest).ok_or("something is missing").map_err(failed("order"))?;
        self.record.set_budget(kept.ring_bytes);
        let prepared = self.prepare(kit, order, &kept, arrival.cwd)?;
        self.run_plan(kit, prepared, Duration::from_millis(kept.max_time_ms))
    }

    fn prepare(
        &mut self,
        kit: &Kit,
        order: Order,
        kept: &KeptOrder,
        cwd: OwnedFd,
    ) -> Result<Prepared, LaunchError> {
        let entered = prepare::enter(kit, &order)?;
        // Its descriptors and memory are not for other processes of this user. Before, `/proc` was needed.
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(failed("memory"))?;
        if kept.terminal.is_some() {
            // The terminal is its session's.
            rustix::process::setsid().map_err(failed("session"))?;
        }
        let (ends, streams, terminal) = Ends::open(kept, cwd)?;
        self.ends = Some(ends);
        prepare::finish(kit, order, streams, entered, terminal)
    }

    fn run_plan(
        &mut self,
        kit: &mut Kit,
        mut prepared: Prepared,
        max_time: Duration,
    ) -> Result<Ended, Ending> {
        let plan = std::mem::take(&mut prepared.plan);
        let mut prepared = Some(prepared);
        let mut ended = Ended { exit_code: Some(0), signal: None };
        for (position, step) in plan.iter().enumerate() {
            if !is_due(step, ended) || self.deadline.is_some() {
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

    fn note_start(&mut self, prepared: &Prepared, max_time: Duration) {
        self.max_time = Instant::now().checked_add(max_time);
        self.idle_at = Instant::now().checked_add(IDLE);
        let report = prepared.running();
        if let Report::Running { level, network, degraded, layers, open } = report {
            let (layers, open) = (Names(layers).show(layer::NAMES), Names(open).show(open::NAMES));
            let status = self.record.change();
            status.held = Held { level, network, degraded, layers, open };
            status.state = State::Running;
        }
        self.record.write();
        if let Some(start) = &self.start {
            send_report(start, &report);
        }
        // The terminal of the service is not for it, nor its end. It may lead a session already. Only now, as
        // schedulers set sessions against each other.
        let _ = rustix::process::setsid();
    }

    fn wait_for_step(&mut self, mut running: Vec<rustix::process::Pid>) -> Result<Ended, Abandoned> {
        let last = running.last().copied();
        let mut ended = Ended { exit_code: None, signal: None };
        while !running.is_empty() {
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                // Killed with all the rest by the caller; that is its end, unless it has one.
                let killed = Ended { exit_code: None, signal: Some(Signal::KILL.as_raw()) };
                return Ok(if last.is_some_and(|last| running.contains(&last)) { killed } else { ended });
            }
            self.wait_for_event()?;
            while let Ok(Some((process, status))) = wait(WaitOptions::NOHANG) {
                running.retain(|one| *one != process);
                if Some(process) == last {
                    ended = Ended::of(status);
                }
            }
        }
        Ok(ended)
    }

    /// Waits until everything has ended that was asked to, at most for the grace.
    fn wait_for_all(&mut self) -> Result<(), Abandoned> {
        while self.deadline.is_some_and(|deadline| Instant::now() < deadline) {
            loop {
                match wait(WaitOptions::NOHANG) {
                    Ok(Some(_)) | Err(Errno::INTR) => {}
                    Ok(None) => break,
                    Err(_) => return Ok(()),
                }
            }
            self.wait_for_event()?;
        }
        Ok(())
    }

    /// Waits until something happens or is due, and does what is to be done.
    fn wait_for_event(&mut self) -> Result<(), Abandoned> {
        let dues =
            [self.deadline, self.max_time, self.record.due(), self.door.due(self.record.end()), self.idle_at];
        let left = dues.into_iter().flatten().min().map(|due| due.saturating_duration_since(Instant::now()));
        let sources = self.poll(left)?;
        self.is_idle = false;
        if !sources.is_empty() {
            self.idle_at = Instant::now().checked_add(IDLE);
        } else if self.idle_at.is_some_and(|idle| Instant::now() >= idle) {
            (self.idle_at, self.is_idle) = (None, true);
            self.record.rest();
            if let Some(ends) = &mut self.ends {
                ends.rest();
            }
        }
        for source in sources {
            self.serve(source)?;
        }
        while let Some((at, request)) = self.door.next_request() {
            self.answer(at, request);
        }
        self.record.release(false);
        self.record.write();
        self.door.tell(self.record.end());
        self.door.sweep();
        if self.max_time.is_some_and(|time| Instant::now() >= time) {
            self.max_time = None;
            self.record.change().timed_out = true;
            self.stop(Signal::TERM, GRACE);
        }
        Ok(())
    }

    fn poll(&self, timeout: Option<Duration>) -> Result<Vec<Source>, Abandoned> {
        let mut waited: Vec<(Source, BorrowedFd<'_>, PollFlags)> =
            vec![(Source::Signals, self.signals.as_fd(), PollFlags::IN)];
        waited.extend(self.start.iter().map(|end| (Source::Start, end.as_fd(), PollFlags::IN)));
        waited.extend(self.life.iter().map(|end| (Source::Life, end.as_fd(), PollFlags::IN)));
        if let Some(ends) = &self.ends {
            for stream in [Stream::Stdout, Stream::Stderr] {
                waited.extend(ends.output(stream).map(|end| (Source::Output(stream), end, PollFlags::IN)));
            }
            waited.extend(ends.waiting_input().map(|end| (Source::Input, end, PollFlags::OUT)));
        }
        for (at, (end, flags)) in self.door.polled().enumerate() {
            let source = at.checked_sub(1).map_or(Source::Listener, Source::Connection);
            waited.push((source, end, flags));
        }
        let mut polled: Vec<_> =
            waited.iter().map(|(_, end, flags)| PollFd::from_borrowed_fd(*end, *flags)).collect();
        let timeout = timeout.and_then(|left| Timespec::try_from(left).ok());
        if self.is_idle {
            // As late as it can be: what is touched after this stays.
            sys::give_back_memory();
        }
        match poll(&mut polled, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Vec::new()),
            Err(_) => return Err(Abandoned),
        }
        let ready = waited.iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
        Ok(ready.map(|((source, ..), _)| *source).collect())
    }

    fn serve(&mut self, source: Source) -> Result<(), Abandoned> {
        match source {
            Source::Signals => {
                while let Ok(Some(signal)) = self.signals.read_signal() {
                    // The machine goes down, or the user's session ends.
                    if signal.ssi_signo == Signal::TERM.as_raw().cast_unsigned() {
                        self.stop(Signal::TERM, GRACE);
                    }
                }
            }
            Source::Start => {
                let Some(start) = &self.start else { return Ok(()) };
                let mut said = [0];
                match rustix::io::retry_on_intr(|| rustix::io::read(start, &mut said)) {
                    Ok(1) if said == [KEEP] => self.start = None,
                    _ => return Err(Abandoned),
                }
            }
            Source::Life => return Err(Abandoned),
            Source::Output(stream) => self.read(stream),
            Source::Input => {
                if let Some(ends) = &mut self.ends {
                    ends.write_input();
                }
            }
            Source::Listener => self.door.accept(),
            Source::Connection(at) => self.door.hear(at),
        }
        Ok(())
    }

    fn read(&mut self, stream: Stream) {
        if let Some(bytes) = self.ends.as_mut().and_then(|ends| ends.read(stream)) {
            self.record.push(stream, bytes);
        }
    }

    fn answer(&mut self, at: usize, request: Request) {
        let reply = match request {
            Request::Watch => return self.door.watch(at, self.record.end()),
            // It is taken note of before.
            Request::Hello(_) => return,
            Request::Input(bytes) => self.input(&bytes).into(),
            Request::Secret(bytes) => {
                if self.record.mask(&bytes) {
                    self.input(&bytes).into()
                } else {
                    Answer::Failed(Errno::TOOBIG.raw_os_error()).into()
                }
            }
            Request::CloseInput => {
                taken(self.ends.as_mut().map_or(Err(Refused::NoInput), Ends::close_input)).into()
            }
            Request::Resize(size) => match self.ends.as_mut().map_or(Ok(false), |ends| ends.resize(size)) {
                Ok(true) => {
                    self.record.change().terminal = Some(size);
                    Answer::Done.into()
                }
                Ok(false) => Answer::NoTerminal.into(),
                Err(error) => Answer::Failed(error.raw_os_error()).into(),
            },
            Request::Signal(signal) => match Signal::from_named_raw(signal) {
                Some(signal) => {
                    self.reach.signal_all(signal);
                    Answer::Done.into()
                }
                None => Answer::Failed(Errno::INVAL.raw_os_error()).into(),
            },
            Request::Stop { signal, grace_ms } => match Signal::from_named_raw(signal) {
                Some(signal) => {
                    self.stop(signal, Duration::from_millis(u64::from(grace_ms)));
                    Answer::Done.into()
                }
                None => Answer::Failed(Errno::INVAL.raw_os_error()).into(),
            },
            Request::IsListening(port) => match network::listening(port) {
                Some(_) => Answer::Yes.into(),
                None => Answer::No.into(),
            },
            Request::Dial(port) => match network::listening(port).map(network::dial) {
                Some(Ok(socket)) => Reply { answer: Answer::Socket, socket: Some(socket) },
                Some(Err(error)) => Answer::Failed(error.raw_os_error()).into(),
                None => Answer::No.into(),
            },
        };
        self.door.answer(at, reply);
    }

    fn input(&mut self, bytes: &[u8]) -> Answer {
        taken(self.ends.as_mut().map_or(Err(Refused::NoInput), |ends| ends.take_input(bytes)))
    }

    /// Asks everything to end by a signal. What is left after the grace is killed.
    fn stop(&mut self, signal: Signal, grace: Duration) {
        let deadline = Instant::now() + grace;
        // A second request can shorten the grace, never lengthen it.
        self.deadline = Some(self.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
        // Without a grace there is nothing to ask for: what follows is the kill.
        if !grace.is_zero() {
            self.reach.signal_all(signal);
            // What was stopped could not take note of it.
            self.reach.signal_all(Signal::CONT);
        }
    }

    /// Leaves nothing behind, writes how it ended, and tells who waits for it.
    fn finish(mut self, remains: Remains, outcome: Result<Ended, Ending>) {
        let left_killed = self.reach.kill_all();
        if let Some(ends) = &mut self.ends {
            for stream in [Stream::Stdout, Stream::Stderr] {
                // All writers are gone: what is there now is all.
                while let Some(bytes) = ends.read(stream) {
                    self.record.push(stream, bytes);
                }
            }
        }
        let has_run = self.record.status.state == State::Running;
        let status = self.record.change();
        status.left_killed = left_killed;
        let mut failure = None;
        let state = match outcome {
            Ok(ended) => {
                (status.exit_code, status.signal) = (ended.exit_code, ended.signal);
                State::Ended
            }
            Err(Ending::Failed(error)) => {
                status.failure = Some(error.to_string());
                failure = Some(error);
                State::Failed
            }
            Err(Ending::Abandoned) if has_run && self.start.is_none() => {
                status.signal = Some(Signal::KILL.as_raw());
                State::Ended
            }
            Err(Ending::Abandoned) => {
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

const fn taken(result: Result<(), Refused>) -> Answer {
    match result {
        Ok(()) => Answer::Done,
        Err(Refused::Full) => Answer::Full,
        Err(Refused::NoInput) => Answer::NoInput,
    }
}

/// Gives the number of this process outside of its namespace, as long as the old `/proc` is there.
fn own_number() -> u32 {
    let link = rustix::fs::readlink("/proc/self", Vec::new()).ok();
    link.and_then(|link| link.to_str().ok()?.parse().ok()).unwrap_or(0)
}
