//! The screens of processes, each fed as far as somebody has looked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::process::Process;
use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::launch::kept::{RingRead, TerminalSize};

use super::{Screen, SizeChange, size_changes};

/// How many screens are kept.
const MAX_SCREENS: usize = 16;
/// How much memory kept screens take at most, in bytes.
const MAX_COST_BYTES: usize = 32 << 20;
/// How much output is drawn before a look at whether somebody waits still: a few bytes can be much work.
const SLICE_BYTES: usize = 2 << 10;
/// How much output is taken in at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// The screens that were checked last. They are only a memory: each can be made again from the kept output.
#[derive(Debug, Default)]
pub struct Screens {
    /// By process id, the one looked at last at the end.
    kept: Mutex<Vec<(String, FollowedScreen)>>,
    /// One of these is held by anyone who feeds, so that the same output is not fed twice at the same time, and much
    /// memory is not taken at once; which one the process's id says, so that few wait for one that takes long.
    feeding: [Mutex<()>; 8],
}

/// A screen and the position up to which it has seen the output.
#[derive(Debug)]
struct FollowedScreen {
    screen: Screen,
    position: u64,
    /// The position of the last change of size that it has gone through.
    resized_at: Option<u64>,
}

impl Screens {
    /// Brings the screen of a process up to date, and looks at it and at the position up to which it is. Blocks: it reads files and draws.
    ///
    /// # Errors
    /// `conflict` for a process without a terminal; those of [`Process::read`]; when it is cancelled.
    pub fn look<T>(
        &self,
        process: &Arc<Process>,
        cancel: &Cancel,
        look: impl FnOnce(&Screen, u64) -> T,
    ) -> Result<T, Failure> {
        let size = process.status()?.terminal.ok_or_else(|| no_terminal(&process.facts.id))?;
        let last = process.facts.id.bytes().last().map_or(0, usize::from);
        let _feeding = lock(&self.feeding[last % self.feeding.len()]);
        let changes = size_changes(process.folder());
        let known = self.take(&process.facts.id);
        let mut followed = known.unwrap_or_else(|| FollowedScreen::new(&changes, size));
        // What was fed until it was cancelled is kept, so that the next look continues from there.
        let fed = followed.follow(process, &changes, cancel);
        let seen = fed.map(|()| look(&followed.screen, followed.position));
        self.put(&process.facts.id, followed);
        seen
    }

    fn take(&self, id: &str) -> Option<FollowedScreen> {
        let mut kept = lock(&self.kept);
        let at = kept.iter().position(|(known, _)| known == id)?;
        Some(kept.remove(at).1)
    }

    fn put(&self, id: &str, followed: FollowedScreen) {
        let mut kept = lock(&self.kept);
        kept.push((id.to_owned(), followed));
        while kept.len() > MAX_SCREENS
            || (kept.len() > 1
                && kept.iter().map(|(_, it)| it.screen.cost_bytes()).sum::<usize>() > MAX_COST_BYTES)
        {
            kept.remove(0);
        }
    }
}

impl FollowedScreen {
    fn new(changes: &[SizeChange], size: TerminalSize) -> Self {
        let first = changes.first().map_or(size, |change| change.old);
        Self { screen: Screen::new(first.rows, first.columns), position: 0, resized_at: None }
    }

    fn follow(
        &mut self,
        process: &Arc<Process>,
        changes: &[SizeChange],
        cancel: &Cancel,
    ) -> Result<(), Failure> {
        let status = process.status()?;
        loop {
            cancel.check()?;
            let next =
                changes.iter().find(|change| self.resized_at.is_none_or(|last| change.position > last));
            if let Some(change) = next
                && (change.position <= self.position || self.position >= status.end)
            {
                self.screen.resize(change.new.rows, change.new.columns);
                self.resized_at = Some(change.position);
                continue;
            }
            if self.position >= status.end {
                break;
            }
            let room = next.map_or(u64::MAX, |change| change.position - self.position);
            let room = usize::try_from(room).unwrap_or(usize::MAX).min(CHUNK_BYTES);
            let from = self.position;
            let read = process.read(from, room)?;
            if read.skipped_bytes > 0 {
                self.lose(&read, changes);
            }
            for frame in &read.frames {
                let mut at = frame.position;
                for slice in frame.bytes.chunks(SLICE_BYTES) {
                    self.screen.feed(slice);
                    at += slice.len() as u64;
                    self.position = at;
                    cancel.check()?;
                }
            }
            if read.next <= from {
                break;
            }
            self.position = read.next;
        }
        // Whatever the notes say: the last size is the keeper's word.
        if let Some(size) = process.status()?.terminal {
            self.screen.resize_if_other(size.rows, size.columns);
        }
        Ok(())
    }

    /// Begins again where output is missing: what it drew is not known.
    fn lose(&mut self, read: &RingRead, changes: &[SizeChange]) {
        let from = read.frames.first().map_or(read.next, |frame| frame.position);
        let mut passed = changes.iter().filter(|change| change.position <= from);
        if let Some(change) = passed.next_back() {
            self.resized_at = Some(change.position);
            self.screen = Screen::new(change.new.rows, change.new.columns);
        } else {
            let (rows, columns) = self.screen.size();
            self.screen = Screen::new(rows, columns);
        }
        self.screen.lose_beginning();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Creates the failure of a request that needs a terminal where there is none.
pub fn no_terminal(process_id: &str) -> Failure {
    Failure::new(ErrorCode::Conflict, format!("process {process_id} has no terminal"))
        .hint("Start it with `input.terminal: true` to have one.")
}
