//! Rows on their way to the store: who finds the writer free writes the rows of all who wait, as one group.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use tokio::sync::oneshot;

use super::row::Row;
use super::store::HistoryError;
use super::writer::{OtherWriters, Writer};

/// How many rows one transaction takes at most.
const MAX_GROUP: usize = 512;
/// How many groups a thread writes for others after its own.
const MAX_GROUPS_FOR_OTHERS: usize = 2;
/// After a group of several rows: how many rows let others come first, so that they are written as groups too.
const ROWS_AFTER_GROUP: u32 = 64;
/// One of so many rows looks whether others come.
const PROBE_ROWS: u32 = 16;

/// The number of the group that a row was written with.
pub type WriteResult = Result<u64, HistoryError>;

/// The rows that wait, and the writer.
pub struct Rows {
    waiting: Mutex<Vec<WaitingRow>>,
    writer: Mutex<Writer>,
    estimate: GroupEstimate,
}

/// A row whose task lets others come: should that task be dropped meanwhile, the row is written all the same.
struct UnwrittenRow<'a> {
    rows: Option<&'a Rows>,
    orders: &'a Sender<Order>,
}

impl Drop for UnwrittenRow<'_> {
    fn drop(&mut self) {
        if let Some(rows) = self.rows {
            rows.write_for_others(OtherWriters::AreLeftAlone, self.orders);
        }
    }
}

/// Whether rows are likely to come while one is about to be written.
#[derive(Default)]
struct GroupEstimate {
    rows_left: AtomicU32,
    alone: AtomicU32,
}

impl GroupEstimate {
    fn is_likely(&self) -> bool {
        self.rows_left.load(Ordering::Relaxed) > 0
            || self.alone.fetch_add(1, Ordering::Relaxed) % PROBE_ROWS == PROBE_ROWS - 1
    }

    /// Learns from the size of a group.
    fn note(&self, rows: usize) {
        let left = self.rows_left.load(Ordering::Relaxed);
        let left = if rows > 1 { ROWS_AFTER_GROUP } else { left.saturating_sub(1) };
        self.rows_left.store(left, Ordering::Relaxed);
    }
}

struct WaitingRow {
    row: Row,
    answer: oneshot::Sender<WriteResult>,
}

/// What the thread that looks after the store is asked for.
pub enum Order {
    /// Write the rows that wait.
    Write,
    /// Look at the chores.
    Look,
    /// End.
    End,
}

impl Rows {
    pub fn new(writer: Writer) -> Self {
        Self { waiting: Mutex::default(), writer: Mutex::new(writer), estimate: GroupEstimate::default() }
    }

    pub fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a row, or waits until another thread has written it. For threads that may block.
    pub fn write(&self, row: Row, orders: &Sender<Order>) -> WriteResult {
        let mut answer = self.add(row);
        let mut writer = self.writer();
        let written = match answer.try_recv() {
            Ok(written) => written,
            Err(_) => {
                self.write_waiting(&mut writer, OtherWriters::AreWaitedFor, orders);
                answer.try_recv().unwrap_or_else(|_| Err(HistoryError("its writer has failed".to_owned())))
            }
        };
        drop(writer);
        self.write_for_others(OtherWriters::AreWaitedFor, orders);
        written
    }

    /// Writes a row if that can be done without waiting for another thread; else gives what it waits for. Where many rows
    /// come, other tasks of this thread add theirs first, and one of them writes them all.
    pub async fn write_at_once(
        &self,
        row: Row,
        orders: &Sender<Order>,
    ) -> Result<WriteResult, oneshot::Receiver<WriteResult>> {
        let mut answer = self.add(row);
        if self.estimate.is_likely() {
            let mut unwritten = UnwrittenRow { rows: Some(self), orders };
            tokio::task::yield_now().await;
            unwritten.rows = None;
        }
        // Another one may have written it by now.
        let written = answer.try_recv().or_else(|_| {
            self.write_for_others(OtherWriters::AreLeftAlone, orders);
            answer.try_recv()
        });
        written.map_err(|_| answer)
    }

    /// Writes the rows that wait, with the writer in hand. Returns whether none is left.
    pub fn write_waiting(&self, writer: &mut Writer, others: OtherWriters, orders: &Sender<Order>) -> bool {
        loop {
            let group: Vec<WaitingRow> = {
                let mut waiting = self.waiting();
                let most = waiting.len().min(MAX_GROUP);
                waiting.drain(..most).collect()
            };
            if group.is_empty() {
                return true;
            }
            self.estimate.note(group.len());
            let had_chores = writer.has_chores();
            match writer.commit(group.iter().map(|it| &it.row), others) {
                Some(written) => {
                    for one in group {
                        // Nobody may wait any more; the row is written all the same.
                        let _ = one.answer.send(written.clone());
                    }
                    if writer.wants_look(had_chores) {
                        // A thread that has ended has nothing to look after; the rows are written all the same.
                        let _ = orders.send(Order::Look);
                    }
                }
                None => {
                    let mut waiting = self.waiting();
                    let later = std::mem::replace(&mut *waiting, group);
                    waiting.extend(later);
                    drop(waiting);
                    if orders.send(Order::Write).is_err() {
                        // The thread has ended: those who wait learn it when their rows are dropped.
                        self.waiting().clear();
                    }
                    return false;
                }
            }
        }
    }

    /// Writes the rows of those who found the writer busy. Who holds it looks here again afterwards, so none is forgotten.
    pub fn write_for_others(&self, others: OtherWriters, orders: &Sender<Order>) {
        for _ in 0..MAX_GROUPS_FOR_OTHERS {
            if self.waiting().is_empty() {
                return;
            }
            let mut writer = match self.writer.try_lock() {
                Ok(writer) => writer,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            if !self.write_waiting(&mut writer, others, orders) {
                return;
            }
        }
        if !self.waiting().is_empty() && orders.send(Order::Write).is_err() {
            // As above.
            self.waiting().clear();
        }
    }

    fn add(&self, row: Row) -> oneshot::Receiver<WriteResult> {
        let (answer, written) = oneshot::channel();
        self.waiting().push(WaitingRow { row, answer });
        written
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<WaitingRow>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
