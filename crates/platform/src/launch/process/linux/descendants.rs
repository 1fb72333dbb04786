//! Killing everything that a process started, however it detached itself.
//!
//! Where there is no namespace of processes, the killer is the *subreaper* of all it started: an orphan
//! becomes its child. As long as any descendant lives, it therefore has a child, and once it has none there is
//! no descendant. That is the proof that nothing is left.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal, wait};

/// How long killed processes may take to vanish; one in an uninterruptible wait does not.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How long to wait for them before looking again; doubled each time.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
/// The longest of these waits.
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// What the launcher knows the processes of a job by. Nothing is needed: what its supervisor leaves comes to the
/// launcher.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Trace;

impl Trace {
    /// Creates one for a new job.
    #[expect(clippy::unnecessary_wraps, reason = "other systems need more for it")]
    pub(in super::super) const fn new() -> std::io::Result<Self> {
        Ok(Self)
    }

    /// Kills what a supervisor that was killed has left, but nothing of the other children. Returns whether something was
    /// there: anyone who calls it reaps what has ended, and calls it again.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "other systems need more for it")]
    pub(in super::super) fn kill_what_is_left(&self, spared: impl Iterator<Item = Pid>) -> bool {
        kill_below(getpid(), &spared.collect())
    }
}

/// How the processes of a job are told from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Reach {
    /// All in this namespace of processes, of which this is the init.
    Namespace,
    /// All below this process.
    Below,
}

impl Reach {
    /// Returns how those of the job are told whose supervisor this process is.
    pub(in super::super) fn of(_: &Trace) -> Self {
        if getpid().is_init() { Self::Namespace } else { Self::Below }
    }

    /// Returns the mark that the processes of the job carry in their environment: none is needed.
    #[expect(clippy::unused_self, reason = "other systems need one")]
    pub(in super::super) const fn mark(self) -> Option<std::ffi::CString> {
        None
    }

    /// Returns whether nothing of the job runs any more, once this process has no child.
    #[expect(clippy::unused_self, reason = "other systems must look")]
    pub(in super::super) const fn is_over(self) -> bool {
        true
    }

    /// Sends a signal to all processes of the job.
    pub(in super::super) fn signal_all(self, signal: Signal) {
        match self {
            Self::Namespace => {
                // From the init of a namespace this reaches all others in it, and nobody else.
                if getpid().is_init() {
                    let _ = nix::sys::signal::kill(
                        nix::unistd::Pid::from_raw(-1),
                        nix::sys::signal::Signal::try_from(signal.as_raw()).ok(),
                    );
                }
            }
            Self::Below => {
                // All are found before any is signalled: one that dies at once leaves its children to this process,
                // whose own have been listed by then.
                let mut found = Vec::new();
                visit_below(getpid(), &HashSet::new(), |process| found.push(process));
                for process in found {
                    let _ = pidfd_send_signal(&process, signal);
                }
            }
        }
    }

    /// Returns everything below this process.
    #[expect(clippy::unused_self, reason = "it is the reach that says that they are the job's")]
    pub(super) fn below(self) -> Vec<Pid> {
        let mut all = children_of(getpid());
        let mut at = 0;
        while let Some(parent) = all.get(at) {
            let children = children_of(*parent);
            all.extend(children);
            at += 1;
        }
        all
    }

    /// Kills all processes of the job and waits until they are gone. Returns how many there were.
    pub(in super::super) fn kill_all(self) -> u32 {
        let (mut killed, mut pause) = (0, FIRST_PAUSE);
        // What had ended on its own is not counted.
        if reap(&mut 0) == ReapResult::Nothing {
            return killed;
        }
        let deadline = Instant::now() + MAX_WAIT;
        while Instant::now() < deadline {
            match self {
                Self::Namespace => self.signal_all(Signal::KILL),
                Self::Below => {
                    kill_below(getpid(), &HashSet::new());
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
            if reap(&mut killed) == ReapResult::Nothing {
                break;
            }
        }
        killed
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReapResult {
    Nothing,
    Some,
}

/// Takes note of the children that have ended, counting those that were killed.
fn reap(killed: &mut u32) -> ReapResult {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((_, status))) => *killed += u32::from(status.terminating_signal() == Some(9)),
            Ok(None) => return ReapResult::Some,
            Err(Errno::INTR) => {}
            Err(_) => return ReapResult::Nothing,
        }
    }
}

/// Kills everything below a process. Returns whether something was there.
fn kill_below(top: Pid, spared: &HashSet<Pid>) -> bool {
    // Stopped first: what is stopped starts nothing more while the rest is looked for.
    let is_some_left = signal_below(top, spared, Signal::STOP) > 0;
    if is_some_left {
        signal_below(top, spared, Signal::KILL);
    }
    is_some_left
}

/// Signals everything below a process as it is found, parents before children. Returns how many there were.
fn signal_below(top: Pid, spared: &HashSet<Pid>, signal: Signal) -> usize {
    let mut signalled = 0;
    visit_below(top, spared, |process| signalled += usize::from(pidfd_send_signal(&process, signal).is_ok()));
    signalled
}

/// Calls a function with everything below a process, parents before children.
fn visit_below(top: Pid, spared: &HashSet<Pid>, mut visit: impl FnMut(OwnedFd)) {
    let mut parents = vec![top];
    while let Some(parent) = parents.pop() {
        for child in children_of(parent) {
            if spared.contains(&child) {
                continue;
            }
            // The number could be another process's by now: hold it, then look whose child it is.
            let Ok(held) = pidfd_open(child, PidfdFlags::empty()) else { continue };
            if parent_of(child) != Some(parent) {
                continue;
            }
            visit(held);
            parents.push(child);
        }
    }
}

fn children_of(parent: Pid) -> Vec<Pid> {
    let mut children = Vec::new();
    let tasks = format!("/proc/{}/task", parent.as_raw_nonzero());
    for task in numbers_in(&tasks) {
        let Some(list) = read_small(&format!("{tasks}/{}/children", task.as_raw_nonzero())) else {
            // Gone by now, or a kernel that keeps no such lists.
            if parent_of(parent).is_none() {
                continue;
            }
            return numbers_in("/proc")
                .into_iter()
                .filter(|process| parent_of(*process) == Some(parent))
                .collect();
        };
        children.extend(list.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)));
    }
    children
}

pub(super) fn numbers_in(folder: &str) -> Vec<Pid> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = rustix::fs::open(folder, flags, Mode::empty()) else { return Vec::new() };
    let Ok(entries) = rustix::fs::Dir::read_from(&folder) else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str().ok()?.parse().ok()?))
        .collect()
}

fn parent_of(process: Pid) -> Option<Pid> {
    let stat = read_small(&format!("/proc/{}/stat", process.as_raw_nonzero()))?;
    // The name in brackets may hold anything, brackets and blanks too.
    let (_, rest) = stat.rsplit_once(')')?;
    Pid::from_raw(rest.split_ascii_whitespace().nth(1)?.parse().ok()?)
}

pub(super) fn read_small(path: &str) -> Option<String> {
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        match rustix::io::read(&file, &mut chunk) {
            Ok(0) => break,
            Ok(length) => text.extend_from_slice(&chunk[..length]),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    String::from_utf8(text).ok()
}
