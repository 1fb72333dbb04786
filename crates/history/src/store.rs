//! The way to the store: who finds it idle writes for all who wait ([`super::rows`]), and whose row must survive a loss of
//! power waits for the disk afterwards ([`super::log_sync`]), where it holds up nobody else.

use std::fmt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::EventDraft;
use super::board::StoreState;
use super::database::StoreError;
use super::groups::{GroupBy, Groups, groups};
use super::log_sync::LogSync;
use super::query::{Entry, Filter, Page, page, rows_of};
use super::readers::Readers;
use super::redact::ScopeSecrets;
use super::row::Row;
use super::rows::{Order, Rows};
use super::writer::{Writer, serve};
use bailiwick_contract::Cancel;

/// How the history is kept.
#[derive(Debug, Clone)]
pub struct HistorySettings {
    /// The folder that holds the store.
    pub folder: PathBuf,
    /// The computer's id, written into every row.
    pub machine_id: String,
    /// Rows older than this many days are removed.
    pub max_age_days: u32,
    /// The oldest rows are removed when the store is larger than this.
    pub max_megabytes: u32,
}

/// Why a row is not on disk.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the history cannot be written: {0}")]
pub struct HistoryError(pub String);

/// Why the history cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the history cannot be read: {0}")]
pub struct HistoryReadError(pub String);

/// A row on its way to the disk. It gets there, too, if this is dropped.
#[derive(Debug)]
pub enum RowSync {
    /// The disk is waited for.
    Running(tokio::task::JoinHandle<Result<(), HistoryError>>),
    /// It is where it has to be, or cannot get there.
    Done(Result<(), HistoryError>),
}

impl RowSync {
    /// Waits until it is where it has to be. Can be given up and called again, and gives the same.
    ///
    /// # Errors
    /// When the disk says that it is not there.
    pub async fn wait(&mut self) -> Result<(), HistoryError> {
        let synced = match self {
            Self::Running(task) => task.await,
            Self::Done(result) => return result.clone(),
        };
        let result = synced.unwrap_or_else(|_| Err(HistoryError("its thread has failed".to_owned())));
        *self = Self::Done(result.clone());
        result
    }
}

/// The way to the store; cheap to clone. With the last clone its thread ends.
#[derive(Debug, Clone)]
pub struct HistoryHandle {
    link: Arc<Link>,
}

struct Link {
    board: Arc<StoreState>,
    readers: Readers,
    orders: Sender<Order>,
    rows: Arc<Rows>,
    log: Arc<LogSync>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("readers", &self.readers).finish_non_exhaustive()
    }
}

impl HistoryHandle {
    /// Begins to keep a history. The store is opened on a thread of its own; this returns at once.
    pub fn start(settings: HistorySettings) -> Self {
        let board = Arc::new(StoreState::new(settings.folder.clone(), settings.machine_id.clone()));
        let readers = Readers::new(settings.folder.clone());
        let (orders, queue): (Sender<Order>, Receiver<Order>) = channel();
        let log = Arc::new(LogSync::default());
        let rows = Arc::new(Rows::new(Writer::new(settings, Arc::clone(&board), Arc::clone(&log))));
        let (served, own_orders) = (Arc::clone(&rows), orders.clone());
        let thread = std::thread::Builder::new().name("history".to_owned());
        let thread = thread.spawn(move || serve(&served, &queue, &own_orders));
        let thread = match thread {
            Ok(thread) => Some(thread),
            Err(error) => {
                board.mark_failed(format!("its thread cannot be started: {error}"));
                None
            }
        };
        let link = Link { board, readers, orders, rows, log, thread: Mutex::new(thread) };
        Self { link: Arc::new(link) }
    }

    /// Records an event and waits until it is where it has to be. For threads that may block.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn append(&self, event: EventDraft) -> Result<(), HistoryError> {
        let row = self.row(event);
        let needs_sync = row.needs_sync();
        let group = self.link.rows.write(row, &self.link.orders)?;
        if needs_sync { self.link.log.wait(group) } else { Ok(()) }
    }

    /// As [`HistoryHandle::append`], for asynchronous threads.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn append_async(&self, event: EventDraft) -> Result<(), HistoryError> {
        self.append_unsynced(event).await?.wait().await
    }

    /// Writes the row of an event, which survives this process from then on. Returns what waits until it is where it has to be.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn append_unsynced(&self, event: EventDraft) -> Result<RowSync, HistoryError> {
        let row = self.row(event);
        let needs_sync = row.needs_sync();
        let written = match self.link.rows.write_at_once(row, &self.link.orders).await {
            Ok(written) => written,
            Err(answer) => answer.await.unwrap_or_else(|_| Err(self.gone())),
        };
        let group = written?;
        if !needs_sync {
            return Ok(RowSync::Done(Ok(())));
        }
        let history = self.clone();
        Ok(RowSync::Running(tokio::task::spawn_blocking(move || history.link.log.wait(group))))
    }

    /// Takes the secrets out of the words of a command, as a row of the history would show them: for what is kept
    /// elsewhere.
    pub fn redacted_words(&self, words: &[&str]) -> Vec<String> {
        self.link.board.redactor().words(words)
    }

    /// Returns a digest of a text that nobody can compute without the key of this installation.
    pub fn keyed_digest(&self, text: &str) -> String {
        self.link.board.redactor().digest(text)
    }

    /// Returns the secrets of a scope, as far as they were shown or configured since the service started. Handles stand for
    /// what this caller was shown.
    pub fn secrets_of(&self, scope: &str, caller: &str) -> ScopeSecrets {
        let state = self.link.board.clone();
        let handles = state.redactor().scope_handles(scope);
        ScopeSecrets::new(state, scope, caller, handles)
    }

    /// Returns whether the history is valid: `{"ok", "headSeq", "headHash", "problem"?, "notices"?}`.
    pub fn status(&self) -> serde_json::Value {
        self.link.board.status()
    }

    /// Reads a page of the operations that the filter asks for.
    ///
    /// # Errors
    /// When the store cannot be read, or `cancel` is raised. Without a store the page is empty.
    pub fn query(&self, filter: &Filter, cancel: &Cancel) -> Result<Page, HistoryReadError> {
        self.read(cancel, |connection| page(connection, filter))
    }

    /// Reads the rows of one operation of a scope, oldest first.
    ///
    /// # Errors
    /// As [`HistoryHandle::query`].
    pub fn rows_of(&self, scope: &str, id: &str, cancel: &Cancel) -> Result<Vec<Entry>, HistoryReadError> {
        self.read(cancel, |connection| rows_of(connection, scope, id))
    }

    /// Counts the operations of a scope by the way they came, from `cursor` backwards.
    ///
    /// # Errors
    /// As [`HistoryHandle::query`].
    pub fn groups(
        &self,
        scope: &str,
        by: GroupBy,
        cursor: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Groups, HistoryReadError> {
        self.read(cancel, |connection| groups(connection, scope, by, cursor))
    }

    fn read<T: Default>(
        &self,
        cancel: &Cancel,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, HistoryReadError> {
        self.link.board.wait_until_known();
        match self.link.readers.read(cancel, work) {
            Ok(result) => Ok(result.unwrap_or_default()),
            Err(error) => {
                if matches!(error, StoreError::Damaged) {
                    self.link.board.suspect_damage();
                }
                Err(HistoryReadError(error.to_string()))
            }
        }
    }

    fn row(&self, event: EventDraft) -> Row {
        self.link.board.redactor().row(event, self.link.board.machine())
    }

    fn gone(&self) -> HistoryError {
        let trouble = self.link.board.trouble();
        HistoryError(if trouble.is_empty() { "its thread has ended".to_owned() } else { trouble })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Where it is not there any more, it has ended.
        let _ = self.orders.send(Order::End);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
        {
            // A panic of the thread was said when it happened; here only its end counts.
            let _ = thread.join();
        }
    }
}
