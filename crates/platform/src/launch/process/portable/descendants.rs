//! Killing everything that a process started, as far as it can be found.
//!
//! Nothing proves that all was found: [`super::super::family`] says what is missed.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::CString;
use std::io;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, getsid, wait};

use super::processes;
use crate::launch::process::family::{Family, Row};

/// How long killed processes may take to vanish; one in an uninterruptible wait does not.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How long to wait for them before looking again; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_micros(200);
/// The longest of these waits.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);
/// How often is looked for what was started while the rest was stopped.
const MAX_LOOKS: usize = 20;

/// The name of the variable that all processes of a job have.
const MARK: &str = "BAILIWICK_JOB";

/// What the launcher knows the processes of a job by.
#[derive(Debug, Clone)]
pub(in super::super) struct Trace {
    /// The line of the environment that they have.
    mark: CString,
}

impl Trace {
    /// Creates one for a new job.
    pub(in super::super) fn new() -> io::Result<Self> {
        let mut number = [0; 16];
        getrandom::fill(&mut number).map_err(io::Error::other)?;
        let mark = format!("{MARK}={:032x}", u128::from_le_bytes(number));
        Ok(Self { mark: CString::new(mark).map_err(io::Error::other)? })
    }

    /// Kills what a supervisor that was killed has left: what has the mark.
    /// Returns whether something may be left that a further call would find.
    pub(in super::super) fn kill_what_is_left(&self, _: impl Iterator<Item = Pid>) -> bool {
        // The ends of other children must stay to be seen by the launcher's loop.
        Reach::begin(self.clone(), None).kill_found(|| {});
        false
    }
}

/// How the processes of a job are told from others.
#[derive(Debug)]
pub(in super::super) struct Reach {
    family: RefCell<Family>,
    mark: CString,
}

impl Reach {
    /// Returns how those of the job are told whose supervisor this process is.
    pub(in super::super) fn of(trace: &Trace) -> Self {
        Self::begin(trace.clone(), Some(getpid()))
    }

    fn begin(trace: Trace, top: Option<Pid>) -> Self {
        let outer = getsid(None).map_or(0, |session| session.as_raw_nonzero().get());
        let since = processes::look(getpid().as_raw_nonzero().get()).map_or(0, |own| own.started);
        let family = Family::new(top.map(|top| top.as_raw_nonzero().get()), outer, since);
        Self { family: RefCell::new(family), mark: trace.mark }
    }

    /// Returns the mark that the processes of the job carry in their environment.
    pub(in super::super) fn mark(&self) -> Option<CString> {
        Some(self.mark.clone())
    }

    /// Returns whether nothing of the job runs any more.
    pub(in super::super) fn is_over(&self) -> bool {
        self.find().is_empty()
    }

    /// Sends a signal to all processes of the job.
    pub(in super::super) fn signal_all(&self, signal: Signal) {
        for row in self.find() {
            processes::send(row, signal);
        }
    }

    /// Kills all processes of the job and waits until they are gone. Returns how many there were.
    pub(in super::super) fn kill_all(&self) -> u32 {
        self.kill_found(reap)
    }

    fn find(&self) -> Vec<Row> {
        let table = processes::of_user();
        let is_marked = |row: Row| processes::carries(row.pid, self.mark.to_bytes());
        self.family.borrow_mut().find(&table, is_marked)
    }

    fn kill_found(&self, reap: impl Fn()) -> u32 {
        let (mut killed, mut pause) = (HashSet::new(), FIRST_PAUSE);
        let deadline = Instant::now() + MAX_WAIT;
        loop {
            reap();
            let mut found = self.find();
            if found.is_empty() || Instant::now() >= deadline {
                break;
            }
            // Stopped first: what is stopped starts nothing more while the rest is looked for.
            let mut stopped = HashSet::new();
            for _ in 0..MAX_LOOKS {
                let mut is_new = false;
                for row in &found {
                    if stopped.insert((row.pid, row.started)) {
                        is_new |= processes::send(*row, Signal::STOP);
                    }
                }
                if !is_new {
                    break;
                }
                found = self.find();
            }
            for row in found {
                if processes::send(row, Signal::KILL) {
                    killed.insert((row.pid, row.started));
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        reap();
        u32::try_from(killed.len()).unwrap_or(u32::MAX)
    }
}

/// Takes note of the children that have ended.
fn reap() {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return,
        }
    }
}
