//! Running a plan in a job of the system, from the first step to the last: on a thread that may wait.

use std::fs::OpenOptions;
use std::io;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::command_line::{command_line, environment_block};
use super::opened::{Folder, Program, step};
use super::pseudo_console::PseudoConsole;
use super::sys::{self, Event, JobLimits, JobObject, NewProcess, ProcessSpec};
use crate::handle::Handle;
use crate::launch::layers::{layer, open};
use crate::launch::request::redirected;
use crate::launch::{ActiveSandbox, LaunchCommand, LaunchError, ProcessLimits, SandboxRequest, Step};
use bailiwick_contract::command::{Containment, Network};

/// The number of the signal that stands for being killed.
const KILL: i32 = 9;
/// The number of the signal that stands for having ended at Ctrl-Break or Ctrl-C.
const TERMINATED: i32 = 15;
/// How often it is looked whether something is left of a job: the system tells it to nobody.
const PAUSE: Duration = Duration::from_millis(5);
/// How long what has ended may still be counted, and what serves its console may stay.
const LAG: Duration = Duration::from_millis(300);
/// How long the last of what a terminal shows may take to be drawn.
const MAX_CLOSING: Duration = Duration::from_secs(5);
/// How long killing may take.
const MAX_KILLING: Duration = Duration::from_secs(10);

/// A plan with all that it gets.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) environment: Vec<u16>,
    pub(super) folder: Folder,
    pub(super) streams: Streams,
    pub(super) held: ActiveSandbox,
}

/// The standard streams of a plan.
#[derive(Debug)]
pub(super) enum Streams {
    Apart {
        stdin: Option<Handle>,
        stdout: Handle,
        stderr: Handle,
    },
    /// All are one terminal, which is closed when nothing of the plan is left.
    Terminal(Arc<PseudoConsole>),
}

impl Streams {
    fn terminal(&self) -> Option<&Arc<PseudoConsole>> {
        match self {
            Self::Apart { .. } => None,
            Self::Terminal(terminal) => Some(terminal),
        }
    }

    /// Returns standard input, output and error; none for what is the terminal.
    fn each<'a>(&'a self, nothing: &'a NullDevice) -> [Option<BorrowedHandle<'a>>; 3] {
        match self {
            Self::Terminal(_) => [None; 3],
            Self::Apart { stdin, stdout, stderr } => {
                let stdin = stdin.as_ref().unwrap_or(&nothing.to_read);
                [stdin.as_handle(), stdout.as_handle(), stderr.as_handle()].map(Some)
            }
        }
    }
}

/// How the last command that ran has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
}

impl Status {
    const KILLED: Self = Self { exit_code: None, signal: Some(KILL) };
}

/// How a plan has ended: nothing of it is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    pub(super) status: Result<Status, LaunchError>,
    pub(super) left_killed: u32,
}

/// What asks the processes of a step to end, by their numbers.
pub(super) type EndRequest<'a> = &'a (dyn Fn(&[u32]) + Sync);

/// The job of a plan, and the wish that it ends.
#[derive(Debug)]
pub(super) struct JobControl {
    job: JobObject,
    wanted: Event,
    /// When what is left is killed, once its end is wanted.
    deadline: Mutex<Option<Instant>>,
    /// The numbers of the processes of the step that runs.
    running: Mutex<Vec<u32>>,
}

impl JobControl {
    pub(super) fn new(limits: ProcessLimits) -> Result<Self, LaunchError> {
        let limits = JobLimits {
            memory_bytes: limits.memory_bytes,
            job_memory_bytes: limits.job_memory_bytes,
            processes: limits.processes,
        };
        Ok(Self {
            job: JobObject::new(limits).map_err(|error| step("job", error))?,
            wanted: Event::new().map_err(|error| step("job", error))?,
            deadline: Mutex::new(None),
            running: Mutex::default(),
        })
    }

    /// Wants the end: nothing is started any more, and what is left after the grace is killed.
    pub(super) fn stop(&self, grace: Duration) {
        let deadline = Instant::now() + grace;
        let mut earlier = self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        // A second wish can shorten the grace, never lengthen it.
        *earlier = Some(earlier.map_or(deadline, |earlier| earlier.min(deadline)));
        self.wanted.set();
        if grace.is_zero() {
            self.job.terminate();
        }
    }

    /// Returns the numbers of the processes that the plan's running step began with.
    pub(super) fn running(&self) -> Vec<u32> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn deadline(&self) -> Option<Instant> {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the grace of a wanted end is over.
    fn is_over(&self) -> bool {
        self.deadline().is_some_and(|deadline| deadline <= Instant::now())
    }

    fn set_running(&self, ids: Vec<u32>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = ids;
    }

    /// Waits until a process has ended. Returns none if its time is over before.
    fn wait_for(&self, process: BorrowedHandle<'_>) -> Result<Option<Status>, LaunchError> {
        let failed = |error: io::Error| step("wait", error);
        loop {
            let ended = match self.deadline() {
                // Another wish may come, with less time.
                None => sys::wait(&[process, self.wanted.as_handle()], None).map_err(failed)? == Some(0),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    let ended = sys::wait(&[process], Some(left.min(PAUSE * 4))).map_err(failed)?.is_some();
                    if !ended && left.is_zero() {
                        return Ok(None);
                    }
                    ended
                }
            };
            if ended {
                let code = sys::exit_code(process).map_err(failed)?;
                return Ok(Some(if code == sys::INTERRUPTED {
                    Status { exit_code: None, signal: Some(TERMINATED) }
                } else {
                    Status { exit_code: Some(code.cast_signed()), signal: None }
                }));
            }
        }
    }

    /// Waits until the job is empty, at most until a time.
    fn is_empty_by(&self, time: Instant) -> bool {
        loop {
            match self.job.active() {
                Ok(0) => return true,
                // Nothing can be waited for then.
                Err(_) => return false,
                Ok(_) if Instant::now() >= time => return false,
                Ok(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Kills what is left. Returns how many processes that were.
    fn kill_all(&self) -> u32 {
        if self.is_over() {
            // What was started while it was killed is not waited for.
            self.job.terminate();
        }
        let left =
            if self.is_empty_by(Instant::now() + LAG) { 0 } else { self.job.active().unwrap_or_default() };
        self.job.terminate();
        self.is_empty_by(Instant::now() + MAX_KILLING);
        left
    }
}

impl Plan {
    /// Creates a plan from what a request has.
    pub(super) fn new(
        steps: Vec<Step>,
        environment: &[(std::ffi::OsString, std::ffi::OsString)],
        folder: Folder,
        hold: &SandboxRequest,
        streams: Streams,
    ) -> Result<Self, LaunchError> {
        let environment = environment_block(environment).map_err(|error| step("environment", error))?;
        Ok(Self { steps, environment, folder, streams, held: held(hold) })
    }

    /// Returns whether its programs share one terminal.
    pub(super) fn has_terminal(&self) -> bool {
        self.streams.terminal().is_some()
    }

    /// Runs all steps. `began` hears once that the first one runs. Nothing of the plan is left when this returns.
    pub(super) fn run(
        self,
        reins: &JobControl,
        ask: EndRequest<'_>,
        began: impl FnOnce(&ActiveSandbox),
    ) -> End {
        let terminal = self.streams.terminal().cloned();
        let status = self.run_steps(reins, ask, began);
        let left_killed = reins.kill_all();
        if let Some(terminal) = terminal {
            terminal.close(MAX_CLOSING);
        }
        End { status, left_killed }
    }

    fn run_steps(
        self,
        reins: &JobControl,
        ask: EndRequest<'_>,
        began: impl FnOnce(&ActiveSandbox),
    ) -> Result<Status, LaunchError> {
        let Self { steps, environment, folder, streams, held } = self;
        let mut streams = Some(streams);
        let mut began = Some(began);
        let mut status = Status { exit_code: Some(0), signal: None };
        let mut has_asked = false;
        for (position, one) in steps.iter().enumerate() {
            if !one.is_due(status.exit_code == Some(0)) || reins.deadline().is_some() {
                continue;
            }
            let Some(ready) = &streams else { break };
            let processes = start(one, ready, &environment, &folder, &reins.job)?;
            reins.set_running(processes.iter().map(|made| made.id).collect());
            if let Some(began) = began.take() {
                began(&held);
            }
            if position + 1 == steps.len() {
                // So that the plan's ends of the pipes are the programs' alone.
                streams = None;
            }
            let ended = wait_for_step(&processes, reins, ask, &mut has_asked);
            // From here on their numbers may be those of others.
            reins.set_running(Vec::new());
            status = ended?;
        }
        if began.is_some() {
            return Err(step("start", "it was given up"));
        }
        if let Some(deadline) = reins.deadline() {
            reins.is_empty_by(deadline);
        }
        Ok(status)
    }
}

/// Waits until the processes of a step have ended. Returns how the last of them did.
fn wait_for_step(
    processes: &[NewProcess],
    reins: &JobControl,
    ask: EndRequest<'_>,
    has_asked: &mut bool,
) -> Result<Status, LaunchError> {
    let mut status = Status::KILLED;
    for made in processes {
        let handles = [made.process.as_handle(), reins.wanted.as_handle()];
        let first = sys::wait(&handles, None).map_err(|error| step("wait", error))?;
        if first == Some(1) && !std::mem::replace(has_asked, true) {
            let has_time = reins.deadline().is_some_and(|deadline| deadline > Instant::now());
            if has_time {
                ask(&reins.running());
            }
        }
        match reins.wait_for(made.process.as_handle())? {
            Some(ended) => status = ended,
            None => return Ok(Status::KILLED),
        }
    }
    // What was killed with the job tells nothing by its exit code.
    Ok(if reins.is_over() { Status::KILLED } else { status })
}

/// Starts all commands of a step. What was started when one cannot be is killed by the caller.
fn start(
    one: &Step,
    streams: &Streams,
    environment: &[u16],
    folder: &Folder,
    job: &JobObject,
) -> Result<Vec<NewProcess>, LaunchError> {
    // All are checked before any is started.
    let programs = one.commands.iter().map(Program::hold).collect::<Result<Vec<_>, _>>()?;
    let nothing = NullDevice::open().map_err(|error| step("open NUL", error))?;
    let count = one.commands.len();
    let pipe = || io::pipe().map(|(reader, writer)| (OwnedHandle::from(reader), OwnedHandle::from(writer)));
    let pipes =
        (1..count).map(|_| pipe()).collect::<io::Result<Vec<_>>>().map_err(|error| step("pipe", error))?;
    let mut made = Vec::with_capacity(count);
    let to_nothing = (Some(nothing.to_read.as_handle()), Some(nothing.to_write.as_handle()));
    let [first_stdin, last_stdout, stderr] = streams.each(&nothing);
    for (at, (command, program)) in one.commands.iter().zip(&programs).enumerate() {
        let stdin = match at.checked_sub(1).and_then(|before| pipes.get(before)) {
            Some((reader, _)) => Some(reader.as_handle()),
            None => first_stdin,
        };
        let stdout = pipes.get(at).map_or(last_stdout, |(_, writer)| Some(writer.as_handle()));
        let wired = CommandPipes {
            streams: redirected([stdin, stdout, stderr], &command.redirects, to_nothing),
            terminal: streams.terminal().map(Arc::as_ref),
        };
        made.push(start_one(command, program, wired, environment, folder, job)?);
    }
    Ok(made)
}

/// What one command is connected to.
struct CommandPipes<'a> {
    /// Where there is none, it is the terminal's.
    streams: [Option<BorrowedHandle<'a>>; 3],
    terminal: Option<&'a PseudoConsole>,
}

fn start_one(
    command: &LaunchCommand,
    program: &Program,
    CommandPipes { streams, terminal }: CommandPipes<'_>,
    environment: &[u16],
    folder: &Folder,
    job: &JobObject,
) -> Result<NewProcess, LaunchError> {
    let command_line = command_line(&command.argv).map_err(|error| step("arguments", error))?;
    sys::make(ProcessSpec {
        program: &program.path,
        command_line,
        environment,
        folder: &folder.path,
        streams,
        console: terminal,
        job: Some(job),
        // A terminal is a console without a window already.
        flags: if terminal.is_some() { 0 } else { sys::CREATE_NO_WINDOW },
    })
    .map_err(|error| step("start", error))
}

/// What there is nothing in, and what keeps nothing.
struct NullDevice {
    to_read: OwnedHandle,
    to_write: OwnedHandle,
}

impl NullDevice {
    fn open() -> io::Result<Self> {
        let open = |options: &mut OpenOptions| options.open(r"\\.\NUL").map(OwnedHandle::from);
        Ok(Self {
            to_read: open(OpenOptions::new().read(true))?,
            to_write: open(OpenOptions::new().write(true))?,
        })
    }
}

/// Returns what is in force around a plan: a job that leaves nothing behind, and limits; no sandbox.
fn held(hold: &SandboxRequest) -> ActiveSandbox {
    let shut = |is_open: bool, name: u32| if is_open { name } else { 0 };
    let bits = open::FILES
        | open::METADATA
        | open::PROCESS_LIST
        | open::SIGNALS
        | open::PATH_SOCKETS
        | open::SYSTEM_CALLS
        | shut(hold.lacks_protected || !hold.protected.is_empty(), open::PROTECTED_NAMES)
        | shut(hold.lacks_closed, open::CLOSED_FILES)
        | shut(hold.network != Network::Full, open::NETWORK);
    ActiveSandbox {
        level: Containment::None,
        network: Network::Full,
        // What leaves its parents stays in the job.
        degraded: false,
        layers: super::super::layers::Names(layer::JOB_OBJECT | layer::LIMITS).show(layer::NAMES),
        open: super::super::layers::Names(bits).show(open::NAMES),
    }
}
