//! Rows on their way to the store: who finds the writer free writes the rows of all who wait, as one group.

use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use tokio::sync::oneshot;

use super::row::Row;
use super::store::HistoryError;
use super::writer::{Others, Writer};

/// How many rows one transaction takes at most.
const MAX_GROUP: usize = 512;
/// How many groups a thread writes for others after its own.
const MAX_GROUPS_FOR_OTHERS: usize = 2;

/// The number of the group that a row was written with.
pub type WriteResult = Result<u64, HistoryError>;

/// The rows that wait, and the writer.
pub struct Rows {
    waiting: Mutex<Vec<WaitingRow>>,
    writer: Mutex<Writer>,
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
        Self { waiting: Mutex::default(), writer: Mutex::new(writer) }
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
                self.write_waiting(&mut writer, Others::AreWaitedFor, orders);
                answer.try_recv().unwrap_or_else(|_| Err(HistoryError("its writer has failed".to_owned())))
            }
        };
        drop(writer);
        self.write_for_others(Others::AreWaitedFor, orders);
        written
    }

    /// Writes a row if that can be done at once; else gives what it waits for.
    pub fn write_at_once(
        &self,
        row: Row,
        orders: &Sender<Order>,
    ) -> Result<WriteResult, oneshot::Receiver<WriteResult>> {
        let mut answer = self.add(row);
        self.write_for_others(Others::AreLeftAlone, orders);
        answer.try_recv().map_err(|_| answer)
    }

    /// Writes the rows that wait, with the writer in hand. Returns whether none is left.
    pub fn write_waiting(&self, writer: &mut Writer, others: Others, orders: &Sender<Order>) -> bool {
        loop {
            let group: Vec<WaitingRow> = {
                let mut waiting = self.waiting();
                let most = waiting.len().min(MAX_GROUP);
                waiting.drain(..most).collect()
            };
            if group.is_empty() {
                return true;
            }
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
    pub fn write_for_others(&self, others: Others, orders: &Sender<Order>) {
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
