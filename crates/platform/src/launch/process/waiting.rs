//! Waiting for the processes of a plan, and asking them to end: what the supervisor of a job and the keeper of a
//! process that lasts have in common. What else happens meanwhile is for each of them to serve.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, wait};

use super::memory::MemoryWatch;
use super::supervisor::{ServiceGone, Status};
use super::system::Reach;

/// How long to wait before looking again at processes whose end nobody tells.
const PAUSE: Duration = Duration::from_millis(10);

/// Who waits for the processes of a plan.
pub(super) trait ProcessWaiter {
    /// Returns how its processes are told from others.
    fn reach(&self) -> &Reach;

    /// Returns when the rest is killed; set once it is asked to end.
    fn deadline(&mut self) -> &mut Option<Instant>;

    /// Returns what measures the memory of its processes.
    fn memory(&mut self) -> &mut MemoryWatch;

    /// Waits until something happens or is due, but no longer than given, and does what is to be done.
    fn wait_for_event(&mut self, at_most: Option<Duration>) -> Result<(), ServiceGone>;

    /// Waits until the processes of a step have ended. Returns how the last of them did.
    fn wait_for_step(&mut self, mut running: Vec<Pid>) -> Result<Status, ServiceGone> {
        let last = running.last().copied();
        let mut status = Status { exit_code: None, signal: None };
        while !running.is_empty() {
            if self.deadline().is_some_and(|deadline| Instant::now() >= deadline) {
                // Killed with all the rest by the caller; that is its status, unless it has one.
                let killed = Status { exit_code: None, signal: Some(Signal::KILL.as_raw()) };
                return Ok(if last.is_some_and(|last| running.contains(&last)) { killed } else { status });
            }
            self.wait_and_measure(None)?;
            while let Ok(Some((pid, ended))) = wait(WaitOptions::NOHANG) {
                running.retain(|process| *process != pid);
                if Some(pid) == last {
                    status = Status::of(ended);
                }
            }
        }
        Ok(status)
    }

    /// Waits until everything has ended that was asked to, at most for the grace.
    fn wait_for_all(&mut self) -> Result<(), ServiceGone> {
        while self.deadline().is_some_and(|deadline| Instant::now() < deadline) {
            let mut at_most = None;
            loop {
                match wait(WaitOptions::NOHANG) {
                    Ok(Some(_)) | Err(Errno::INTR) => {}
                    Ok(None) => break,
                    Err(_) if self.reach().is_over() => return Ok(()),
                    Err(_) => {
                        // What runs still is no child of this process, whose end no signal tells.
                        at_most = Some(PAUSE);
                        break;
                    }
                }
            }
            self.wait_and_measure(at_most)?;
        }
        Ok(())
    }

    /// Waits as [`ProcessWaiter::wait_for_event`], and ends everything at once if it takes more memory than it may.
    fn wait_and_measure(&mut self, at_most: Option<Duration>) -> Result<(), ServiceGone> {
        let due = self.memory().due_in();
        self.wait_for_event(at_most.into_iter().chain(due).min())?;
        let mut memory = std::mem::take(self.memory());
        let is_exceeded = memory.look(self.reach());
        *self.memory() = memory;
        if is_exceeded {
            self.stop(Signal::KILL, Duration::ZERO);
        }
        Ok(())
    }

    /// Asks everything to end by a signal. What is left after the grace is killed.
    fn stop(&mut self, signal: Signal, grace: Duration) {
        let deadline = Instant::now() + grace;
        // A second request can shorten the grace, never lengthen it.
        let earlier = *self.deadline();
        *self.deadline() = Some(earlier.map_or(deadline, |earlier| earlier.min(deadline)));
        // Without a grace there is nothing to ask for: what follows is the kill.
        if !grace.is_zero() {
            self.reach().signal_all(signal);
            // What was stopped could not take note of it.
            self.reach().signal_all(Signal::CONT);
        }
    }
}
