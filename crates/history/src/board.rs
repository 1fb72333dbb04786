//! What the writing thread and the handles tell each other: health, the head of the chain, the redactor.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::redact::Redactor;
use super::row::{GENESIS, Hash};
use bailiwick_contract::hex;

/// How long a question about the state waits for the store to be opened.
const OPENING: Duration = Duration::from_secs(2);

/// The shared state of one store in one process.
#[derive(Debug)]
pub struct StoreState {
    folder: PathBuf,
    machine: String,
    redactor: OnceLock<Redactor>,
    health: Mutex<Health>,
    known: Condvar,
    suspected: AtomicBool,
}

#[derive(Debug)]
struct Health {
    /// `None` until the store was opened, or could not be.
    well: Option<bool>,
    trouble: String,
    head: (i64, Hash),
    notices: Vec<String>,
}

impl StoreState {
    pub fn new(folder: PathBuf, machine: String) -> Self {
        let health = Health { well: None, trouble: String::new(), head: (0, GENESIS), notices: Vec::new() };
        Self {
            folder,
            machine,
            redactor: OnceLock::new(),
            health: Mutex::new(health),
            known: Condvar::new(),
            suspected: AtomicBool::new(false),
        }
    }

    /// Returns the redactor; its key is read, or made, when it is first needed.
    pub fn redactor(&self) -> &Redactor {
        self.redactor.get_or_init(|| Redactor::open(&self.folder))
    }

    pub fn machine(&self) -> &str {
        &self.machine
    }

    pub fn mark_healthy(&self) {
        let mut health = self.health();
        if health.well != Some(true) {
            health.well = Some(true);
            health.trouble.clear();
            self.known.notify_all();
        }
    }

    pub fn mark_failed(&self, trouble: String) {
        let mut health = self.health();
        health.well = Some(false);
        health.trouble = trouble;
        self.known.notify_all();
    }

    pub fn set_head(&self, seq: i64, hash: Hash) {
        self.health().head = (seq, hash);
    }

    /// Returns the head of the chain as this process knows it.
    pub fn head(&self) -> (i64, Hash) {
        self.health().head
    }

    /// Notes what the user should know although the store works.
    pub fn add_notice(&self, said: String) {
        self.health().notices.push(said);
    }

    /// Returns why the store cannot be used.
    pub fn trouble(&self) -> String {
        self.health().trouble.clone()
    }

    /// Tells the state as JSON; waits a moment where the store is just being opened.
    pub fn status(&self) -> Value {
        let health = self.known();
        let mut status = json!({
            "ok": health.well == Some(true),
            "headSeq": health.head.0,
            "headHash": hex(&health.head.1),
        });
        if !health.trouble.is_empty() {
            status["problem"] = json!(health.trouble);
        }
        if !health.notices.is_empty() {
            status["notices"] = json!(health.notices);
        }
        status
    }

    /// Waits a moment where the store is just being opened.
    pub fn wait_until_known(&self) {
        drop(self.known());
    }

    /// Notes that a reader met damage: the writer looks at the whole store next.
    pub fn suspect_damage(&self) {
        self.suspected.store(true, Ordering::Release);
    }

    /// Takes the note of a reader.
    pub fn take_suspicion(&self) -> bool {
        self.suspected.swap(false, Ordering::AcqRel)
    }

    fn known(&self) -> MutexGuard<'_, Health> {
        self.known
            .wait_timeout_while(self.health(), OPENING, |health| health.well.is_none())
            .map_or_else(|poisoned| poisoned.into_inner().0, |(health, _)| health)
    }

    fn health(&self) -> MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
