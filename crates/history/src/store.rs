//! The way to the store: an idle store is written at once, a busy one by the writing thread, in groups.
//! Either way the caller continues when the row is on disk.

use std::fmt;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::EventDraft;
use super::board::StoreState;
use super::database::StoreError;
use super::groups::{GroupBy, Groups, groups};
use super::query::{Entry, Filter, Page, page, rows_of};
use super::readers::Readers;
use super::row::Row;
use super::writer::{Job, Order, Reply, Writer, serve};
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

/// The way to the store; cheap to clone. With the last clone the writing thread ends.
#[derive(Debug, Clone)]
pub struct HistoryHandle {
    link: Arc<Link>,
}

/// An event that is ready to be written, and is not yet.
#[must_use = "an event is recorded by `append_pending`"]
pub struct Pending {
    row: Box<Row>,
}

struct Link {
    board: Arc<StoreState>,
    readers: Readers,
    /// Taken when the link ends, so that the thread ends before it is waited for.
    orders: Option<Sender<Order>>,
    writer: Arc<Mutex<Writer>>,
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
        let writer = Arc::new(Mutex::new(Writer::new(settings, Arc::clone(&board))));
        let served = Arc::clone(&writer);
        let thread = std::thread::Builder::new().name("history".to_owned());
        let thread = thread.spawn(move || serve(&served, &queue));
        let thread = match thread {
            Ok(thread) => Some(thread),
            Err(error) => {
                board.is_failing(format!("its thread cannot be started: {error}"));
                None
            }
        };
        let link = Link { board, readers, orders: Some(orders), writer, thread: Mutex::new(thread) };
        Self { link: Arc::new(link) }
    }

    /// Records an event and waits until it is on disk. For threads that may block.
    ///
    /// Where nobody writes, the row is written by this thread; else it joins the next group.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn append(&self, event: EventDraft) -> Result<(), HistoryError> {
        let Pending { row } = match self.append_if_idle(event) {
            Ok(result) => return result,
            Err(pending) => pending,
        };
        let (reply, answer) = sync_channel(1);
        self.order(Order::Write(Job { row: *row, reply: Reply::Thread(reply) }))?;
        answer.recv().unwrap_or_else(|_| Err(self.gone()))
    }

    /// Records an event at once if nobody writes; else gives it back, to wait without a thread.
    ///
    /// # Errors
    /// The event, where somebody writes. The inner result is that of [`HistoryHandle::append`].
    pub fn append_if_idle(&self, event: EventDraft) -> Result<Result<(), HistoryError>, Pending> {
        let row = self.row(event);
        let mut writer = match self.link.writer.try_lock() {
            Ok(writer) => writer,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(Pending { row: Box::new(row) }),
        };
        let (result, look) = writer.commit_one(&row);
        drop(writer);
        if look {
            // A thread that has ended has nothing to look after; the row is written all the same.
            let _ = self.order(Order::Look);
        }
        Ok(result)
    }

    /// As [`HistoryHandle::append`], for asynchronous threads.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn append_async(&self, event: EventDraft) -> Result<(), HistoryError> {
        self.append_row(self.row(event)).await
    }

    /// Waits until an event that was given back is on disk.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn append_pending(&self, pending: Pending) -> Result<(), HistoryError> {
        self.append_row(*pending.row).await
    }

    async fn append_row(&self, row: Row) -> Result<(), HistoryError> {
        let (reply, answer) = oneshot::channel();
        self.order(Order::Write(Job { row, reply: Reply::Task(reply) }))?;
        answer.await.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Takes the secrets out of the words of a command, as a row of the history would show them: for what is kept
    /// elsewhere.
    pub fn redacted_words(&self, words: &[&str]) -> Vec<String> {
        self.link.board.redactor().words(words)
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

    fn order(&self, order: Order) -> Result<(), HistoryError> {
        let orders = self.link.orders.as_ref().ok_or_else(|| self.gone())?;
        orders.send(order).map_err(|_| self.gone())
    }

    fn gone(&self) -> HistoryError {
        let trouble = self.link.board.trouble();
        HistoryError(if trouble.is_empty() { "its thread has ended".to_owned() } else { trouble })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.orders = None;
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
        {
            // A panic of the thread was said when it happened; here only its end counts.
            let _ = thread.join();
        }
    }
}
