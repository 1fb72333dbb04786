//! One process: what it is, its state, what it printed, and the way to its keeper.
//!
//! Everything is read from its folder, so that it makes no difference which service started it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use bailiwick_contract::{ErrorCode, Failure, time};
use bailiwick_platform::launch::kept::{ProcessFiles, RingRead, Status};

use super::Facts;
use crate::egress::{NetworkUse, Proxy};
use crate::repositories::Review;

/// How long a process may be without files of its own after it was started, in milliseconds.
const STARTING_MS: i64 = 30_000;

/// A process that a service of this computer started.
#[derive(Debug)]
pub struct Process {
    /// What is fixed about it.
    pub facts: Facts,
    folder: PathBuf,
    known: Mutex<InstanceFacts>,
    pub(super) watched: Mutex<Option<Arc<watch::Sender<Change>>>>,
    /// What it leaves for Git is looked for with this, once it is over, by the service that started it.
    review: Mutex<Option<Review>>,
    /// What it reaches hosts by, in the service that started it.
    proxy: Mutex<Option<Proxy>>,
}

/// What has been found out, so that it need not be again.
#[derive(Debug, Default)]
struct InstanceFacts {
    /// The open files, while it lives.
    kept: Option<Arc<ProcessFiles>>,
    /// How it ended: that stays.
    over: Option<Status>,
}

/// How far a process has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Change {
    /// The position after the last byte that it printed.
    pub end: u64,
    /// Whether it is over: it has ended, failed to start, or lost its keeper.
    pub ended: bool,
}

impl Process {
    pub(super) fn new(facts: Facts, folder: PathBuf) -> Self {
        Self {
            facts,
            folder,
            known: Mutex::default(),
            watched: Mutex::default(),
            review: Mutex::default(),
            proxy: Mutex::default(),
        }
    }

    pub(super) fn set_review(&self, review: Option<Review>) {
        *self.review.lock().unwrap_or_else(PoisonError::into_inner) = review;
    }

    pub(super) fn set_proxy(&self, proxy: Option<Proxy>) {
        *self.proxy.lock().unwrap_or_else(PoisonError::into_inner) = proxy;
    }

    /// Returns what it reached of the hosts that its scope names, as far as this service knows.
    pub fn network(&self) -> Option<NetworkUse> {
        self.proxy.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Proxy::usage)
    }

    /// Returns what a person should know of it, before Git is used there again and why it may have failed, a sentence
    /// each: once, when it is over, and only from the service that started it.
    pub fn warnings(&self) -> Vec<String> {
        if self.may_live() {
            return Vec::new();
        }
        let review = self.review.lock().unwrap_or_else(PoisonError::into_inner).take();
        let has_failed = self.status().is_ok_and(|status| status.exit_code.is_some_and(|code| code != 0));
        review.map(|review| review.finish(has_failed)).unwrap_or_default()
    }

    /// Returns its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns its state.
    ///
    /// # Errors
    /// `provider_unavailable` while it is being started, `execution_failed` where its files are damaged.
    pub fn status(&self) -> Result<Status, Failure> {
        if let Some(over) = &self.known().over {
            return Ok(over.clone());
        }
        let status = ProcessFiles::look(&self.folder).map_err(|error| self.damaged(&error))?;
        if status.state.is_final() {
            // What is remembered from now on must be whole.
            drop(self.kept()?);
            let mut known = self.known();
            known.over = Some(status.clone());
            known.kept = None;
        }
        Ok(status)
    }

    /// Returns whether it lives, or is being started by another service.
    pub(super) fn may_live(&self) -> bool {
        if self.known().over.is_some() {
            return false;
        }
        match self.status() {
            Ok(status) => !status.state.is_final(),
            Err(failure) => failure.rule() != Some("damaged-process"),
        }
    }

    /// Reads what it printed from a position on, at most `max_bytes`.
    ///
    /// # Errors
    /// As [`Process::status`].
    pub fn read(&self, from: u64, max_bytes: usize) -> Result<RingRead, Failure> {
        self.open()?.read(from, max_bytes).map_err(|error| self.damaged(&error))
    }

    /// Finds the position of the first kept byte that was printed at a time or later.
    ///
    /// # Errors
    /// As [`Process::status`].
    pub fn since(&self, at_ms: i64) -> Result<u64, Failure> {
        self.open()?.since(at_ms).map_err(|error| self.damaged(&error))
    }

    /// Opens what it left on disk, for other ways of reading. Kept open while it lives, as it remembers places.
    ///
    /// # Errors
    /// As [`Process::status`].
    pub fn open(&self) -> Result<Arc<ProcessFiles>, Failure> {
        let is_over = self.status()?.state.is_final();
        let kept = self.kept()?;
        if !is_over {
            self.known().kept.get_or_insert_with(|| Arc::clone(&kept));
        }
        Ok(kept)
    }

    fn kept(&self) -> Result<Arc<ProcessFiles>, Failure> {
        if let Some(kept) = &self.known().kept {
            return Ok(Arc::clone(kept));
        }
        ProcessFiles::open(&self.folder).map(Arc::new).map_err(|error| self.damaged(&error))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, InstanceFacts> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn damaged(&self, error: &std::io::Error) -> Failure {
        let is_missing = error.kind() == std::io::ErrorKind::NotFound;
        if is_missing && time::now_ms() - self.facts.started_at_ms < STARTING_MS {
            return Failure::new(ErrorCode::ProviderUnavailable, "the process is being started")
                .hint("Try again in a moment.");
        }
        Failure::new(
            ErrorCode::ExecutionFailed,
            format!("the files of process {} are damaged: {error}", self.facts.id),
        )
        .detail("rule", "damaged-process")
    }
}
