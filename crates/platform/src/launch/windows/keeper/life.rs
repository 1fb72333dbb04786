//! The life of a keeper: from the order over the steps of the plan to the end.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;

use super::super::opened::{Folder, step};
use super::super::plan::{End, JobControl, Plan, Streams};
use super::super::role;
use super::super::sys::{self, ConsoleKey};
use super::input::Input;
use super::listener::{KeeperListener, PendingRequest};
use super::listening::is_listening;
use super::start::KeeperSetup;
use super::terminal::{END_OF_INPUT, Terminal};
use crate::fs::remove_tree;
use crate::launch::kept::files;
use crate::launch::kept::message::{Answer, Request};
use crate::launch::kept::record::Record;
use crate::launch::kept::status::starting;
use crate::launch::kept::{State, StatusWriter, Stream, TerminalSize};
use crate::launch::layers::{Names, layer, open};
use crate::launch::wire::{KEEP, KeeperOrder, MAX_MESSAGE_BYTES, Order, Report};
use crate::launch::{ActiveSandbox, LaunchError, pipe};

/// How long a plan may take to end whose time is over.
const GRACE: Duration = Duration::from_secs(5);
/// How often a keeper looks whether its process can still be found.
const LOOK: Duration = Duration::from_secs(30);
/// How long the rest of the output is read when nothing is left that could write more.
const DRAIN: Duration = Duration::from_millis(500);
/// The same of a terminal, which draws on its own: since Windows 11 24H2 also while it is closed already.
const DRAWING: Duration = Duration::from_secs(5);
/// How much is read at a time.
const CHUNK_BYTES: usize = 64 << 10;
/// The numbers of signals that have a meaning here: those that ask to end, and the one that kills.
const ASKING: [i32; 3] = [1, INTERRUPT, 15];
const INTERRUPT: i32 = 2;
const KILL: i32 = 9;
/// `ERROR_NOT_SUPPORTED`.
const NOT_SUPPORTED: i32 = 50;

/// What happens beside output and requests.
#[derive(Debug)]
enum Event {
    /// The first pipeline runs.
    Began(ActiveSandbox),
    /// Nothing of the plan is left.
    Ended(End),
    /// The service has taken note of the start: the process keeps running on its own.
    Kept,
    /// The service went away, with which the process ends.
    Abandoned,
}

/// Keeps one process, from the order to the end. Returns whether it came so far as to run.
pub(in super::super) fn keep() -> bool {
    let Some((place, order)) = read_order() else { return false };
    sys::hear_ctrl_c();
    // A single thread serves all: it does nothing while nothing happens.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return false };
    let kept = runtime.block_on(async {
        match Keeper::begin(place, order) {
            Ok(keeper) => keeper.run().await,
            Err(error) => {
                report(&Report::Failed(error));
                false
            }
        }
    });
    // Threads that wait for what no longer matters are not waited for.
    runtime.shutdown_background();
    kept
}

/// Reads what the service tells first.
fn read_order() -> Option<(KeeperSetup, Order)> {
    let read = || -> Option<Vec<u8>> {
        let mut stdin = std::io::stdin().lock();
        let mut length = [0; 8];
        stdin.read_exact(&mut length).ok()?;
        let length = usize::try_from(u64::from_le_bytes(length)).ok()?;
        let mut body = vec![0; Some(length).filter(|length| *length <= MAX_MESSAGE_BYTES)?];
        stdin.read_exact(&mut body).ok()?;
        Some(body)
    };
    Some((KeeperSetup::decode(&read()?).ok()?, Order::decode(&read()?).ok()?))
}

/// Reports to the service; where it is gone, nobody hears it.
fn report(report: &Report) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(&report.encode()).and_then(|()| stderr.flush());
}

/// The keeper's ends of what the program reads and prints, and the program's own.
struct Ends {
    stdout: pipe::Receiver,
    /// None where it is the terminal too.
    stderr: Option<pipe::Receiver>,
    input: Option<pipe::Sender>,
    terminal: Option<Terminal>,
    streams: Streams,
}

impl Ends {
    fn apart(has_input: bool) -> std::io::Result<Self> {
        let (stdout, printed) = pipe::from_program()?;
        let (stderr, warned) = pipe::from_program()?;
        let (stdin, input) = match has_input {
            true => pipe::to_program().map(|(stdin, input)| (Some(stdin), Some(input)))?,
            false => (None, None),
        };
        let streams = Streams::Apart { stdin, stdout: printed, stderr: warned };
        Ok(Self { stdout, stderr: Some(stderr), input, terminal: None, streams })
    }

    fn of_terminal(size: TerminalSize) -> Result<Self, LaunchError> {
        let (terminal, stdout, input, streams) = Terminal::open(size)?;
        Ok(Self { stdout, stderr: None, input: Some(input), terminal: Some(terminal), streams })
    }
}

/// A process that lasts, and everything that belongs to it.
struct Keeper {
    record: Record,
    door: KeeperListener,
    requests: mpsc::Receiver<PendingRequest>,
    events: mpsc::UnboundedReceiver<Event>,
    reins: Arc<JobControl>,
    stdout: Option<pipe::Receiver>,
    stderr: Option<pipe::Receiver>,
    input: Input,
    /// The terminal, if the program has one: then it is what is read as standard output.
    terminal: Option<Terminal>,
    temporary: Option<PathBuf>,
    max_time: Duration,
    /// When the time of the plan is over.
    ends_at: Option<Instant>,
    /// When it looks next whether the process can still be found.
    look_at: Instant,
    is_kept: bool,
}

impl Keeper {
    /// Creates the files of the process, opens the door, and starts the plan.
    fn begin(place: KeeperSetup, order: Order) -> Result<Self, LaunchError> {
        let Order { plan, environment, cwd_path, hold, limits, kept, .. } = order;
        let kept: KeeperOrder = kept.ok_or_else(|| step("order", "it is none for a keeper"))?;
        let folder = |error: std::io::Error| step("folder of the process", error);
        let status = StatusWriter::create(&place.folder, &starting(&hold, kept.terminal)).map_err(folder)?;
        let process_folder = files::Folder::open(&place.folder).map_err(folder)?;
        let resumed = Record::resume(status.into_file(), process_folder, std::process::id());
        let (mut record, key) = resumed.map_err(folder)?;
        record.set_budget(kept.ring_bytes);
        let (door, requests) = KeeperListener::open(key).map_err(|error| step("control", error))?;
        let Ends { stdout, stderr, input, terminal, streams } = match kept.terminal {
            Some(size) => Ends::of_terminal(size)?,
            None => Ends::apart(kept.has_input).map_err(|error| step("pipe", error))?,
        };
        let plan = Plan::new(plan, &environment, Folder::hold_again(&cwd_path)?, &hold, streams)?;
        let reins = Arc::new(JobControl::new(limits)?);
        let (tell, events) = mpsc::unbounded_channel();
        run_beside(plan, Arc::clone(&reins), tell.clone())?;
        hear_the_service(tell.clone())?;
        if let Some(service) = place.service {
            end_with(service, tell)?;
        }
        Ok(Self {
            record,
            door,
            requests,
            events,
            reins,
            stdout: Some(stdout),
            stderr,
            input: Input::new(input),
            terminal,
            temporary: kept.temporary,
            max_time: Duration::from_millis(kept.max_time_ms),
            ends_at: None,
            look_at: Instant::now() + LOOK,
            is_kept: false,
        })
    }

    async fn run(mut self) -> bool {
        let (mut out, mut err) = (vec![0; CHUNK_BYTES], vec![0; CHUNK_BYTES]);
        let mut abandoned = false;
        let end = loop {
            let due = [self.ends_at, self.record.due(), Some(self.look_at)].into_iter().flatten().min();
            let due = due.unwrap_or(self.look_at);
            tokio::select! {
                event = self.events.recv() => match event {
                    Some(Event::Began(held)) => self.note_start(held),
                    Some(Event::Ended(end)) => break end,
                    Some(Event::Kept) => self.is_kept = true,
                    Some(Event::Abandoned) => {
                        abandoned = true;
                        self.reins.stop(Duration::ZERO);
                    }
                    // Those who tell are gone with the runtime only.
                    None => return false,
                },
                Some(asked) = self.requests.recv() => self.hear(asked),
                read = read_some(&mut self.stdout, &mut out) => self.take(Stream::Stdout, read, &out),
                read = read_some(&mut self.stderr, &mut err) => self.take(Stream::Stderr, read, &err),
                () = tokio::time::sleep_until(due.into()) => self.look(),
            }
            self.record.release(false);
            self.record.write();
            self.door.tell(self.record.end());
        };
        let most = if self.terminal.is_some() { DRAWING } else { DRAIN };
        let drained = async {
            while self.stdout.is_some() || self.stderr.is_some() {
                tokio::select! {
                    read = read_some(&mut self.stdout, &mut out) => self.take(Stream::Stdout, read, &out),
                    read = read_some(&mut self.stderr, &mut err) => self.take(Stream::Stderr, read, &err),
                }
            }
        };
        // Nothing is left that could write, but for what was given to somebody outside of the job.
        let _ = tokio::time::timeout(most, drained).await;
        self.finish(end, abandoned).await
    }

    fn note_start(&mut self, held: ActiveSandbox) {
        self.ends_at = Instant::now().checked_add(self.max_time);
        let report_of = Report::Running {
            level: held.level,
            network: held.network,
            degraded: held.degraded,
            layers: Names::of(layer::NAMES, &held.layers).0,
            open: Names::of(open::NAMES, &held.open).0,
        };
        let status = self.record.change();
        (status.held, status.state) = (held, State::Running);
        self.record.write();
        report(&report_of);
    }

    fn take(&mut self, stream: Stream, read: Option<usize>, bytes: &[u8]) {
        match (read, stream) {
            (Some(length), _) => {
                self.record.push(stream, &bytes[..length]);
                let answers = self.terminal.as_mut().map(|terminal| terminal.answer(&bytes[..length]));
                if let Some(answers) = answers.filter(|answers| !answers.is_empty()) {
                    // Where nobody reads what is typed, nobody waits for an answer either.
                    self.input.take(answers);
                }
            }
            (None, Stream::Stdout) => self.stdout = None,
            (None, Stream::Stderr) => self.stderr = None,
        }
    }

    /// Does what is due.
    fn look(&mut self) {
        if Instant::now() >= self.look_at {
            self.look_at = Instant::now() + LOOK;
            if self.record.is_removed() {
                // Its folder is gone: nobody could read, stop or even see it any more.
                self.stop(GRACE);
            }
            self.record.rest();
        }
        if self.ends_at.is_some_and(|time| Instant::now() >= time) {
            self.ends_at = None;
            self.record.change().timed_out = true;
            self.stop(GRACE);
        }
    }

    /// The plan's own thread asks its processes to end.
    fn stop(&self, grace: Duration) {
        self.reins.stop(grace);
    }

    /// Answers a request, at once but for what another process does.
    fn hear(&mut self, PendingRequest { request, answer }: PendingRequest) {
        match request {
            Request::Signal(signal) if ASKING.contains(&signal) => {
                let (processes, share_console) = (self.reins.running(), self.terminal.is_some());
                tokio::task::spawn_blocking(move || {
                    let typed = if signal == INTERRUPT { ConsoleKey::Interrupt } else { ConsoleKey::Break };
                    let _ = answer.send(match type_at(&processes, share_console, typed) {
                        Ok(()) => Answer::Done,
                        Err(error) => Answer::Failed(error.raw_os_error().unwrap_or(NOT_SUPPORTED)),
                    });
                });
            }
            request => {
                let _ = answer.send(self.answer(request));
            }
        }
    }

    fn answer(&mut self, request: Request) -> Answer {
        match request {
            // They are answered where they arrive.
            Request::Hello(_) | Request::Watch => Answer::No,
            Request::Input(bytes) => self.input.take(bytes),
            Request::Secret(bytes) if self.record.mask(&bytes) => self.input.take(bytes),
            Request::Secret(_) => Answer::Failed(NOT_SUPPORTED),
            Request::CloseInput if self.terminal.is_some() => self.input.take(END_OF_INPUT.to_vec()),
            Request::CloseInput => self.input.close(),
            Request::Resize(size) => match self.terminal.as_mut().map(|terminal| terminal.resize(size)) {
                None => Answer::NoTerminal,
                Some(Ok(())) => {
                    self.record.change().terminal = Some(size);
                    // Before the answer, whose reader may look at the status at once.
                    self.record.write();
                    Answer::Done
                }
                Some(Err(error)) => Answer::Failed(error.raw_os_error().unwrap_or(NOT_SUPPORTED)),
            },
            Request::Signal(KILL) => {
                self.stop(Duration::ZERO);
                Answer::Done
            }
            Request::Stop { signal: KILL, .. } => {
                self.stop(Duration::ZERO);
                Answer::Done
            }
            Request::Stop { signal, grace_ms } if ASKING.contains(&signal) => {
                self.stop(Duration::from_millis(u64::from(grace_ms)));
                Answer::Done
            }
            Request::Signal(_) | Request::Stop { .. } => Answer::Failed(NOT_SUPPORTED),
            Request::IsListening(port) if is_listening(port) => Answer::Yes,
            // The network is the same for all: anyone who asks connects.
            Request::Dial(port) if is_listening(port) => Answer::Socket,
            Request::IsListening(_) | Request::Dial(_) => Answer::No,
        }
    }

    /// Writes how it ended, and tells who waits for it.
    async fn finish(mut self, end: End, abandoned: bool) -> bool {
        let has_run = self.record.status.state == State::Running;
        let status = self.record.change();
        status.left_killed = end.left_killed;
        let state = match end.status {
            Ok(_) if abandoned && !self.is_kept => {
                status.failure = Some("the start was given up".to_owned());
                State::Failed
            }
            Ok(ended) => {
                (status.exit_code, status.signal) = (ended.exit_code, ended.signal);
                State::Ended
            }
            Err(error) => {
                status.failure = Some(error.to_string());
                if !has_run {
                    report(&Report::Failed(error));
                }
                State::Failed
            }
        };
        // From here on there is nobody to speak to.
        self.door.shut().await;
        self.record.finish(state);
        self.door.finish(self.record.end()).await;
        if let Some(temporary) = self.temporary.take() {
            let _ = remove_tree(&temporary);
        }
        has_run
    }
}

/// Reads what a stream has; none once it has ended. Waits for ever where there is none.
async fn read_some(stream: &mut Option<pipe::Receiver>, buffer: &mut [u8]) -> Option<usize> {
    let Some(stream) = stream else { return std::future::pending().await };
    match stream.read(buffer).await {
        Ok(length) if length > 0 => Some(length),
        _ => None,
    }
}

/// Runs a plan on a thread of its own.
fn run_beside(
    plan: Plan,
    reins: Arc<JobControl>,
    tell: mpsc::UnboundedSender<Event>,
) -> Result<(), LaunchError> {
    let share_console = plan.has_terminal();
    spawn("plan", move || {
        let ask = |processes: &[u32]| {
            let _: std::io::Result<()> = type_at(processes, share_console, ConsoleKey::Break);
        };
        let end = plan.run(&reins, &ask, |held| {
            let _ = tell.send(Event::Began(held.clone()));
        });
        let _ = tell.send(Event::Ended(end));
    })
}

fn type_at(processes: &[u32], share_console: bool, typed: ConsoleKey) -> std::io::Result<()> {
    role::type_at(&std::env::current_exe()?, processes, share_console, typed)
}

/// Waits for the service to say that the process keeps running on its own, or to go away before.
fn hear_the_service(tell: mpsc::UnboundedSender<Event>) -> Result<(), LaunchError> {
    spawn("start", move || {
        let mut said = [0];
        let heard = std::io::stdin().lock().read_exact(&mut said);
        let event = if heard.is_ok() && said == [KEEP] { Event::Kept } else { Event::Abandoned };
        let _ = tell.send(event);
    })
}

/// Waits for the end of the service.
fn end_with(service: u32, tell: mpsc::UnboundedSender<Event>) -> Result<(), LaunchError> {
    use std::os::windows::io::AsHandle;

    // It waits for this process now, so that the number is still its own.
    let service = sys::open_process(service).map_err(|error| step("lifetime", error))?;
    spawn("lifetime", move || {
        if sys::wait(&[service.as_handle()], None).is_ok() {
            let _ = tell.send(Event::Abandoned);
        }
    })
}

fn spawn(name: &str, what: impl FnOnce() + Send + 'static) -> Result<(), LaunchError> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(what);
    thread.map(drop).map_err(|error| step("thread", error))
}
