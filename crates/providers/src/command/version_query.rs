//! What programs print about themselves: asked once, and remembered for as long as their files stay the same.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bailiwick_contract::Failure;
use bailiwick_platform::fs::FileStamp;
use bailiwick_platform::launch::Launcher;

use super::capture::Capture;
use super::prepare::ReadyCommand;
use super::run::{RunOptions, run};

/// How much of what a program prints is read.
const MAX_BYTES: usize = 4_096;
/// How many answers are remembered.
const MAX_ANSWERS: usize = 1_024;

/// The answers of programs, by their files.
#[derive(Debug)]
pub struct VersionCache<T>(Mutex<Option<HashMap<PathBuf, (FileStamp, T)>>>);

impl<T: Clone> VersionCache<T> {
    /// Creates an empty one.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Returns the answer of a program whose file is still the same.
    pub fn get(&self, program: &Path, stamp: &FileStamp) -> Option<T> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (asked, answer) = answers.as_ref()?.get(program)?;
        (asked == stamp).then(|| answer.clone())
    }

    /// Remembers the answer of a program whose file was this one when it was asked.
    pub fn insert(&self, program: PathBuf, stamp: FileStamp, answer: T) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = answers.get_or_insert_default();
        if answers.len() >= MAX_ANSWERS {
            answers.clear();
        }
        answers.insert(program, (stamp, answer));
    }
}

/// Runs a program, and returns the beginning of what it prints; `None` if it does not end in time.
///
/// # Errors
/// Those of [`run`].
pub async fn ask(
    launcher: &Launcher,
    prepared: ReadyCommand,
    time: Duration,
) -> Result<Option<String>, Failure> {
    let running = RunOptions {
        stdin: None,
        deadline: Instant::now() + time,
        stdout: Capture::new(MAX_BYTES, 0),
        stderr: Capture::new(MAX_BYTES, 0),
        listener: None,
    };
    let ran = run(launcher, prepared, running).await?;
    Ok((!ran.timed_out).then(|| String::from_utf8_lossy(&ran.stdout.head).into_owned()))
}
