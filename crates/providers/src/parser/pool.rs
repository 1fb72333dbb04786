//! The service's side: a few workers, started when they are needed, killed at their deadlines, ended when idle.
//!
//! A thread of its own, the *keeper*, starts and kills them: the system ends a worker with the thread that started it.
//! It ends with the last worker, so that an idle service has neither.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bailiwick_contract::Cancel;
use bailiwick_platform::launch::worker::Worker;

use super::failed_texts::{FailedTexts, WorkerFailure};
use super::lane::Lane;
use super::message::{Answer, Job, Next, Request};
use super::serve::ROLE;
use super::work::is_sound;
use crate::code::{Definitions, References, SourceProblem, is_used_in, worth_parsing};
use crate::document::{ConvertError, DocumentKind, DocumentText};
use crate::syntax::{self, Language, SyntaxInput, SyntaxReport, SyntaxTreeError};

/// How many workers run at a time.
const MAX_WORKERS: usize = 2;
/// How long a worker stays that nobody needs. With it go the trees of the last edited files.
const IDLE: Duration = Duration::from_secs(30);
/// How long the definitions of one file may take.
const MAX_FILE_TIME: Duration = Duration::from_secs(2);
/// How long a document may take.
const MAX_DOCUMENT_TIME: Duration = Duration::from_secs(10);
/// How much later than its time a worker is killed that does not stop on its own.
const GRACE: Duration = Duration::from_millis(200);
/// How long a killed worker keeps its place: anyone who asked it gives it back at once, unless they panicked.
const LOST: Duration = Duration::from_secs(5);
/// How often one who waits for a worker looks at their cancellation flag.
const TURN: Duration = Duration::from_millis(20);

/// The parse workers of one service. Making it starts nothing.
#[derive(Debug)]
pub struct ParserPool {
    /// None in unit tests, whose program is none: they parse in this process.
    program: Option<PathBuf>,
    shared: Arc<PoolState>,
    failed: FailedTexts,
}

#[derive(Debug, Default)]
struct PoolState {
    state: Mutex<State>,
    /// A worker has become free, or cannot be started.
    freed: Condvar,
    /// The keeper has something to do.
    kept: Condvar,
}

#[derive(Debug, Default)]
struct State {
    workers: Vec<Entry>,
    /// How many workers the keeper is to start, or is starting.
    ordered: usize,
    /// How many requests wait for a worker.
    waiting: usize,
    /// How many of them are checks, which come first.
    checks_waiting: usize,
    /// How many starts have failed.
    failed_starts: usize,
    /// When the keeper looks again; none where none runs.
    keeper_wakes: Option<Instant>,
    next_id: u64,
    closed: bool,
}

#[derive(Debug)]
struct Entry {
    id: u64,
    worker: Worker,
    /// None while it works.
    lane: Option<Lane>,
    /// When it became free.
    since: Instant,
    /// When it is killed, while it works.
    kill_at: Option<Instant>,
    killed: bool,
}

/// Who asks, and for how long they wait for a worker.
#[derive(Debug, Clone, Copy)]
enum Caller<'a> {
    /// A check, until a moment.
    Check(Instant),
    /// Anything else, until it is cancelled.
    Code(&'a Cancel),
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoAnswer {
    /// The time was over, or the request was cancelled.
    Late,
    Failed(WorkerFailure),
    Unavailable,
}

impl ParserPool {
    /// Creates a pool whose workers are the given `bailiwick` program.
    pub fn new(program: &Path) -> Self {
        Self { program: Some(program.to_owned()), shared: Arc::default(), failed: FailedTexts::default() }
    }

    /// Creates a pool that parses in this process.
    #[cfg(test)]
    pub(crate) fn in_this_process() -> Self {
        Self { program: None, shared: Arc::default(), failed: FailedTexts::default() }
    }

    /// Checks a text, as [`syntax::check`] does; `None` if no grammar is built in for the file.
    pub fn check(&self, checked: &SyntaxInput<'_>, until: Instant) -> Option<SyntaxReport> {
        let language = *Language::of_path(checked.path).first()?;
        let unchecked = |why| Some(SyntaxReport { language, new: Err(why), before: 0, after: 0 });
        let before = checked.before.map_or("", |before| before.text);
        if before.len().max(checked.after.text.len()) > syntax::MAX_BYTES {
            return unchecked(SyntaxTreeError::TooLarge);
        }
        let job = Job::Check {
            path: checked.path.into(),
            version_before: checked.before.map(|before| before.version.into()),
            version_after: checked.after.version.into(),
            regions: checked.regions.into(),
        };
        let texts = [before.as_bytes(), checked.after.text.as_bytes()];
        let time = until.saturating_duration_since(Instant::now());
        match self.ask(language.name(), &job, texts, Caller::Check(until), time) {
            Ok(Answer::Checked(found)) => found,
            Ok(_) | Err(NoAnswer::Failed(WorkerFailure::Died)) => unchecked(SyntaxTreeError::Failed),
            Err(NoAnswer::Late | NoAnswer::Failed(WorkerFailure::Killed)) => {
                unchecked(SyntaxTreeError::TooSlow)
            }
            Err(NoAnswer::Unavailable) => unchecked(SyntaxTreeError::Unavailable),
        }
    }

    /// Finds what a text defines, as [`crate::code::definitions`] does, within two seconds.
    ///
    /// # Errors
    /// See [`SourceProblem`]; `Stopped` also where the request is cancelled.
    pub fn definitions(
        &self,
        language: Language,
        source: &[u8],
        cancel: &Cancel,
    ) -> Result<Definitions, SourceProblem> {
        worth_parsing(source)?;
        let job = Job::Definitions { language };
        match self.ask(language.name(), &job, [source, b""], Caller::Code(cancel), MAX_FILE_TIME) {
            Ok(Answer::Definitions(found)) => found,
            other => Err(unread(other.err())),
        }
    }

    /// Finds where a text uses a name, as [`crate::code::references`] does, within two seconds.
    ///
    /// # Errors
    /// See [`SourceProblem`]; `Stopped` also where the request is cancelled.
    pub fn references(
        &self,
        language: Language,
        source: &[u8],
        name: &str,
        cancel: &Cancel,
    ) -> Result<References, SourceProblem> {
        if !is_used_in(source, name) {
            return Ok(References { list: Vec::new(), parsed_whole: true });
        }
        worth_parsing(source)?;
        let job = Job::References { language, name: name.into() };
        match self.ask(language.name(), &job, [source, b""], Caller::Code(cancel), MAX_FILE_TIME) {
            Ok(Answer::References(found)) => found,
            other => Err(unread(other.err())),
        }
    }

    /// Converts a document to text, within ten seconds.
    ///
    /// # Errors
    /// See [`ConvertError`]; `Stopped` also where the request is cancelled.
    pub fn document(
        &self,
        kind: DocumentKind,
        content: &[u8],
        cancel: &Cancel,
    ) -> Result<DocumentText, ConvertError> {
        let job = Job::Document { kind };
        match self.ask(kind.as_str(), &job, [content, b""], Caller::Code(cancel), MAX_DOCUMENT_TIME) {
            Ok(Answer::Document(found)) => found,
            Ok(_) | Err(NoAnswer::Failed(WorkerFailure::Died)) => Err(ConvertError::Failed),
            Err(NoAnswer::Late | NoAnswer::Failed(WorkerFailure::Killed)) => Err(ConvertError::Stopped),
            Err(NoAnswer::Unavailable) => Err(ConvertError::Unavailable),
        }
    }

    /// Has a worker do a job, within a time that all tries share; waiting for a worker is not counted. A text on which
    /// one has failed lately is not tried again.
    fn ask(
        &self,
        kind: &str,
        job: &Job<'_>,
        texts: [&[u8]; 2],
        asker: Caller<'_>,
        time: Duration,
    ) -> Result<Answer, NoAnswer> {
        let Some(program) = &self.program else {
            let done = super::work::work(job, texts, Instant::now() + time);
            return done.ok_or(NoAnswer::Failed(WorkerFailure::Died));
        };
        if let Some(trouble) = self.failed.find(kind, texts) {
            return Err(NoAnswer::Failed(trouble));
        }
        let mut left = time;
        let mut answer = self.shared.exchange(program, job, texts, asker, &mut left);
        for _ in 0..MAX_WORKERS {
            if !matches!(answer, Err((NoAnswer::Failed(WorkerFailure::Died), IsFresh::No))) {
                break;
            }
            // Perhaps it was not this text that it died of; the others may have been killed with it.
            answer = self.shared.exchange(program, job, texts, asker, &mut left);
        }
        let answer = answer.map_err(|(reason, _)| reason);
        if let Err(NoAnswer::Failed(trouble)) = answer {
            self.failed.add(kind, texts, trouble);
        }
        answer
    }
}

impl Drop for ParserPool {
    fn drop(&mut self) {
        let ended = {
            let mut state = self.shared.lock();
            state.closed = true;
            std::mem::take(&mut state.workers)
        };
        drop(ended);
        self.shared.kept.notify_all();
        self.shared.freed.notify_all();
    }
}

fn unread(reason: Option<NoAnswer>) -> SourceProblem {
    match reason {
        None | Some(NoAnswer::Failed(WorkerFailure::Died)) => SourceProblem::Failed,
        Some(NoAnswer::Late | NoAnswer::Failed(WorkerFailure::Killed)) => SourceProblem::Stopped,
        Some(NoAnswer::Unavailable) => SourceProblem::Unavailable,
    }
}

/// Whether a worker had answered nothing before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IsFresh {
    Yes,
    No,
}

impl PoolState {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has one worker do a job, and takes the time from what is left.
    fn exchange(
        self: &Arc<Self>,
        program: &Path,
        job: &Job<'_>,
        texts: [&[u8]; 2],
        asker: Caller<'_>,
        left: &mut Duration,
    ) -> Result<Answer, (NoAnswer, IsFresh)> {
        let (mut lane, time) = self.take(program, asker, *left).map_err(|reason| (reason, IsFresh::Yes))?;
        let began = Instant::now();
        let fresh = if lane.answered == 0 { IsFresh::Yes } else { IsFresh::No };
        let time_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let request = Request { time_ms, job: job.clone(), lengths: texts.map(<[u8]>::len) };
        let id = lane.id;
        let answer = lane.exchange(&request, texts);
        *left = left.saturating_sub(began.elapsed());
        let answer = answer.ok().filter(|(answer, _)| is_sound(job, answer, texts));
        let (answer, lane) = match answer {
            Some((answer, Next::Ready)) => (Some(answer), Some(lane)),
            Some((answer, Next::Ends)) => (Some(answer), None),
            None => (None, None),
        };
        let was_killed = self.give_back(id, lane);
        answer.ok_or((
            NoAnswer::Failed(if was_killed { WorkerFailure::Killed } else { WorkerFailure::Died }),
            fresh,
        ))
    }

    /// Takes a free worker, or waits for one. Returns how long it may take, too.
    fn take(
        self: &Arc<Self>,
        program: &Path,
        asker: Caller<'_>,
        time: Duration,
    ) -> Result<(Lane, Duration), NoAnswer> {
        let is_check = matches!(asker, Caller::Check(_));
        let mut state = self.lock();
        let failed_starts = state.failed_starts;
        state.waiting += 1;
        state.checks_waiting += usize::from(is_check);
        let taken = loop {
            let now = Instant::now();
            let until = match asker {
                Caller::Check(until) => until,
                Caller::Code(cancel) if cancel.is_raised() => now,
                Caller::Code(cancel) => cancel.deadline(),
            };
            if now >= until {
                break Err(NoAnswer::Late);
            }
            if state.closed || state.failed_starts != failed_starts {
                break Err(NoAnswer::Unavailable);
            }
            if is_check || state.checks_waiting == 0 {
                let time = time.min(until - now);
                if let Some(lane) = state.take_free(is_check, now + time + GRACE) {
                    if state.keeper_wakes.is_some_and(|wakes| wakes > now + time + GRACE) {
                        self.kept.notify_all();
                    }
                    break Ok((lane, time));
                }
                if state.ordered < state.waiting && state.workers.len() + state.ordered < MAX_WORKERS {
                    state.ordered += 1;
                    if !self.keep(&mut state, program) {
                        state.ordered -= 1;
                        break Err(NoAnswer::Unavailable);
                    }
                }
            }
            let woken = self.freed.wait_timeout(state, TURN.min(until - now));
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        };
        state.waiting -= 1;
        state.checks_waiting -= usize::from(is_check);
        drop(state);
        if is_check {
            // Others may have left the worker to it.
            self.freed.notify_all();
        }
        taken
    }

    /// Returns a worker back, or lets go of one that can do no more. Returns whether it was killed.
    fn give_back(&self, id: u64, lane: Option<Lane>) -> bool {
        let mut state = self.lock();
        let Some(at) = state.workers.iter().position(|entry| entry.id == id) else { return false };
        let entry = &mut state.workers[at];
        let was_killed = entry.killed;
        entry.kill_at = None;
        let ended = match lane.filter(|_| !was_killed) {
            Some(lane) => {
                entry.lane = Some(lane);
                entry.since = Instant::now();
                None
            }
            None => Some(state.workers.remove(at)),
        };
        drop(state);
        self.freed.notify_all();
        // Waits for its end: not while others wait for the lock.
        drop(ended);
        was_killed
    }

    /// Wakes the keeper, which is started where none runs.
    fn keep(self: &Arc<Self>, state: &mut State, program: &Path) -> bool {
        if state.keeper_wakes.is_some() {
            self.kept.notify_all();
            return true;
        }
        let (shared, program) = (Arc::clone(self), program.to_owned());
        let started = thread::Builder::new()
            .name("parser-keeper".to_owned())
            .spawn(move || shared.run_keeper(&program));
        state.keeper_wakes = started.is_ok().then(Instant::now);
        started.is_ok()
    }

    /// Starts workers that are ordered, kills those whose time is over, and lets idle ones go; until there are none.
    fn run_keeper(&self, program: &Path) {
        let mut state = self.lock();
        loop {
            if state.ordered > 0 && !state.closed {
                drop(state);
                let started = Worker::start(program, ROLE);
                state = self.lock();
                // Counted as ordered until now, so that a request that waits for it orders no other.
                state.ordered -= 1;
                state.add(started);
                self.freed.notify_all();
                continue;
            }
            let now = Instant::now();
            let ended = state.end_what_is_over(now);
            if !ended.is_empty() {
                drop(state);
                drop(ended);
                state = self.lock();
                continue;
            }
            let next = state.workers.iter().map(Entry::ends_at).min();
            let Some(next) = next.filter(|_| !state.closed) else {
                state.keeper_wakes = None;
                state.ordered = 0;
                return;
            };
            state.keeper_wakes = Some(next);
            let woken = self.kept.wait_timeout(state, next.saturating_duration_since(now));
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl State {
    /// Takes a free worker: a check the first, which has the trees of the last edits, all others the last.
    fn take_free(&mut self, is_check: bool, kill_at: Instant) -> Option<Lane> {
        loop {
            let mut free =
                self.workers.iter().enumerate().filter(|(_, it)| it.lane.is_some()).map(|(at, _)| at);
            let at = if is_check { free.next() } else { free.next_back() }?;
            let entry = &mut self.workers[at];
            if entry.worker.has_ended() {
                self.workers.remove(at);
                continue;
            }
            entry.kill_at = Some(kill_at);
            return entry.lane.take();
        }
    }

    fn add(&mut self, started: io::Result<(Worker, std::process::ChildStdin, std::process::ChildStdout)>) {
        let Ok((worker, input, output)) = started else {
            self.failed_starts += 1;
            return;
        };
        let id = self.next_id;
        self.next_id += 1;
        let lane = Some(Lane::new(id, input, output));
        self.workers.push(Entry { id, worker, lane, since: Instant::now(), kill_at: None, killed: false });
    }

    /// Kills workers whose time is over, and takes out those that are idle.
    fn end_what_is_over(&mut self, now: Instant) -> Vec<Entry> {
        for entry in &mut self.workers {
            if entry.kill_at.is_some_and(|kill_at| kill_at <= now) && !entry.killed {
                entry.killed = true;
                entry.worker.kill();
            }
        }
        self.workers.extract_if(.., |entry| entry.ends_at() <= now).collect()
    }
}

impl Entry {
    /// Returns when the keeper has to do with it next.
    fn ends_at(&self) -> Instant {
        match self.kill_at {
            None => self.since + IDLE,
            Some(kill_at) if self.killed => kill_at + LOST,
            Some(kill_at) => kill_at,
        }
    }
}
