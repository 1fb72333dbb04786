//! The one writer of this process, and the thread that looks after the store: it opens it, writes what found another
//! process writing, removes what is too old, and writes the log back on a connection of its own.
//!
//! Rows are written without syncing: they are in the system's page cache when they are answered, and survive SIGKILL. Those
//! that must survive a loss of power wait for [`LogSync`] afterwards.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rusqlite::OptionalExtension;

use super::anchor::Checkpoint;
use super::board::StoreState;
use super::database::{Database, StoreError, StoreFiles, set_damaged_aside};
use super::log_sync::LogSync;
use super::row::{Hash, NUMBERS, Row, TEXTS, chain};
use super::rows::{Order, Rows, WriteResult};
use super::store::{HistoryError, HistorySettings};
use super::{anchor, retention};

/// How long the opening waits for a first row, so as not to disturb the start of the process.
const OPEN_DELAY: Duration = Duration::from_millis(20);
/// After a failed opening: how long until the next try.
const RETRY: Duration = Duration::from_secs(1);
/// How long nothing must come before the thread tidies up.
const REST: Duration = Duration::from_secs(1);
/// About how many pages the log may hold before it is written back although requests wait.
const MAX_LOG_PAGES: usize = 8_192;
/// How often retention is checked when nothing else happens.
const RETENTION_INTERVAL: Duration = Duration::from_secs(3_600);
/// How often an answered group is checked against retention.
const RETENTION_ROWS: usize = 4_096;

/// Whether other processes that write are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OtherWriters {
    AreWaitedFor,
    /// By threads on which others wait; they do not open the store either.
    AreLeftAlone,
}

/// Serves orders until the last handle is gone: the body of the thread.
pub fn serve(rows: &Rows, orders: &Receiver<Order>, own_orders: &Sender<Order>) {
    let mut back = WriteBack::default();
    let mut next = orders.recv_timeout(OPEN_DELAY);
    if matches!(next, Err(RecvTimeoutError::Timeout)) {
        rows.writer().prepare();
    }
    loop {
        let chore = match next {
            Ok(Order::Write) => {
                let mut writer = rows.writer();
                rows.write_waiting(&mut writer, OtherWriters::AreWaitedFor, own_orders);
                writer.tidy(Idle::No)
            }
            Ok(Order::Look) => rows.writer().tidy(Idle::No),
            Err(RecvTimeoutError::Timeout) => rows.writer().rest(),
            Ok(Order::End) | Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Some(LogChore { files, is_full }) = chore {
            let folder = rows.writer().settings.folder.clone();
            // Without the writer in hand: the disk takes its time.
            let mut done = back.write_back(files, &folder);
            let mut writer = rows.writer();
            if is_full && done.is_ok() {
                // The log begins again only where all of it is written back. Rows that come without a pause would never let
                // that happen; what has come since the first time is little.
                done = back.write_back(files, &folder);
            }
            writer.judge_chore(done);
        }
        let rest = rows.writer().next_rest();
        // Who found the writer busy with chores is not forgotten.
        rows.write_for_others(OtherWriters::AreWaitedFor, own_orders);
        next = orders.recv_timeout(rest);
    }
    drop(back);
    rows.writer().close();
}

/// A log that is to be written back.
struct LogChore {
    files: StoreFiles,
    /// Whether it has grown so much that this is done although requests wait.
    is_full: bool,
}

/// Writes the log back on a connection of its own, so that nobody waits for that who writes a row.
#[derive(Default)]
struct WriteBack {
    database: Option<Database>,
}

impl WriteBack {
    fn write_back(&mut self, files: StoreFiles, folder: &Path) -> Result<(), StoreError> {
        if self.database.as_ref().is_none_or(|it| it.files() != Some(files) || !it.is_current()) {
            self.database = None;
            self.database = Some(Database::opened_again(folder, files)?);
        }
        let Some(database) = &self.database else { return Ok(()) };
        let done = anchor::checkpoint(database, folder, Checkpoint::Passive)
            .and_then(|is_all| if is_all { database.begin_log() } else { Ok(()) });
        if done.is_err() {
            self.database = None;
        }
        done
    }
}

/// What writes the rows, by whichever thread holds it.
pub struct Writer {
    settings: HistorySettings,
    board: Arc<StoreState>,
    log: Arc<LogSync>,
    database: Option<Database>,
    retry_at: Instant,
    last_row: Instant,
    log_pages: usize,
    rows_since_retention: usize,
    retention_due: bool,
    /// Whether the log of the store was removed, and its rows are in the store.
    log_was_saved: bool,
    /// Whether a chore found the store damaged, and it was not when it was opened again.
    is_doubted: bool,
}

impl Writer {
    pub fn new(settings: HistorySettings, board: Arc<StoreState>, log: Arc<LogSync>) -> Self {
        Self {
            settings,
            board,
            log,
            database: None,
            retry_at: Instant::now(),
            last_row: Instant::now(),
            log_pages: 0,
            rows_since_retention: 0,
            retention_due: true,
            log_was_saved: false,
            is_doubted: false,
        }
    }

    /// Opens the store while nobody waits for it.
    fn prepare(&mut self) {
        // What fails now is said again with the first row.
        let _ = self.open();
        // Made now, so that the first request does not wait for it.
        self.board.redactor();
    }

    /// Returns whether the thread has to look at the chores after a group, and before it rests.
    pub fn wants_look(&self, had_chores: bool) -> bool {
        !had_chores || self.log_pages >= MAX_LOG_PAGES || self.rows_since_retention >= RETENTION_ROWS
    }

    /// Tidies up after nothing has come for a while.
    fn rest(&mut self) -> Option<LogChore> {
        if self.last_row.elapsed() < REST && self.log_pages > 0 && !self.retention_due {
            // Rows come, by way of the threads that make them.
            return None;
        }
        self.retention_due |= self.rows_since_retention > 0 || !self.has_chores();
        self.rows_since_retention = 0;
        self.tidy(Idle::Yes)
    }

    /// Returns how long nothing must come before the next rest.
    fn next_rest(&self) -> Duration {
        match (self.retention_due, self.has_chores()) {
            (true, true) => Duration::from_millis(5),
            (false, true) => REST,
            (_, false) => RETENTION_INTERVAL,
        }
    }

    /// Writes a group: all of it or nothing. `None` where that would have to wait for other processes.
    pub fn commit<'a>(
        &mut self,
        rows: impl ExactSizeIterator<Item = &'a Row> + Clone,
        others: OtherWriters,
    ) -> Option<WriteResult> {
        if others == OtherWriters::AreWaitedFor {
            return Some(self.commit_waiting(rows));
        }
        let count = rows.len();
        let database = self.database.as_ref()?;
        database.set_waits(false);
        let written = self.write(rows);
        if let Some(database) = &self.database {
            database.set_waits(true);
        }
        match written {
            Ok(true) => Some(Ok(self.note_written(count))),
            // Whatever it is, it is found out where it can be waited for.
            Ok(false) | Err(_) => None,
        }
    }

    fn note_written(&mut self, rows: usize) -> u64 {
        self.last_row = Instant::now();
        self.log_pages += 3 + rows / 4;
        self.rows_since_retention += rows;
        self.board.mark_healthy();
        self.log.note_written()
    }

    fn commit_waiting<'a>(&mut self, rows: impl ExactSizeIterator<Item = &'a Row> + Clone) -> WriteResult {
        self.last_row = Instant::now();
        // A store can turn out to be damaged or replaced, after it was opened again; a fourth time something else is wrong.
        let mut last = StoreError::Damaged;
        let (mut was_set_aside, mut was_opened_again) = (false, false);
        for _ in 0..4 {
            if let Err(error) = self.open() {
                return Err(self.failed(&error));
            }
            match self.write(rows.clone()) {
                Ok(true) => return Ok(self.note_written(rows.len())),
                // Another process has set this store aside: the rows belong into the new one.
                Ok(false) => self.exchange(None),
                // SQLite calls it damage, too, where the disk refuses a read.
                Err(StoreError::Damaged) if !was_opened_again => {
                    was_opened_again = true;
                    self.exchange(None);
                }
                Err(StoreError::Damaged) if !was_set_aside => {
                    was_set_aside = true;
                    if let Err(error) = self.set_aside() {
                        return Err(self.failed(&error));
                    }
                }
                Err(error) => {
                    last = error;
                    break;
                }
            }
        }
        if was_set_aside {
            // What makes a new store look damaged at once would make a pile of them.
            self.retry_at = Instant::now() + RETRY;
        }
        self.exchange(None);
        Err(self.failed(&last))
    }

    fn write<'a>(&mut self, rows: impl Iterator<Item = &'a Row>) -> Result<bool, StoreError> {
        let Some(database) = &self.database else { return Ok(false) };
        // Looked at once, afterwards: the rows of a store that was set aside before are written again, to the new one.
        let (seq, hash) = match append_rows(database, rows).map_err(StoreError::judged) {
            Ok(head) => head,
            Err(error) if database.is_current() => return Err(error),
            Err(_) => {
                self.leave();
                return Ok(false);
            }
        };
        let is_kept = database.is_current() || self.leave();
        if is_kept {
            self.board.set_head(seq, hash);
        }
        Ok(is_kept)
    }

    /// Takes another store, or none.
    fn exchange(&mut self, database: Option<Database>) {
        let log = database.as_ref().and_then(|database| database.open_log().ok());
        self.log.exchange(log);
        self.database = database;
    }

    /// Leaves a store whose files are no longer those that are open. Returns whether all that was written stays in it.
    fn leave(&mut self) -> bool {
        let Some(database) = self.database.take() else { return false };
        self.log.exchange(None);
        // What could not be saved is missed when the store is opened again.
        let is_saved = database.save_removed_log().unwrap_or(false);
        self.log_was_saved |= is_saved;
        is_saved
    }

    /// Opens the store unless it is open; not more often than once in [`RETRY`] when that fails.
    fn open(&mut self) -> Result<(), StoreError> {
        if self.database.is_some() {
            return Ok(());
        }
        if Instant::now() < self.retry_at {
            return Err(StoreError::Io(std::io::Error::other(self.board.trouble())));
        }
        let opened = open_again(&self.settings.folder, &self.board).and_then(|database| {
            if std::mem::take(&mut self.log_was_saved) {
                let said = "the history's log was removed while it was in use; no row is missing";
                say(&database, &self.board, "history.log_removed", said)?;
                self.board.add_notice(said.to_owned());
            }
            Ok(database)
        });
        match opened {
            Ok(database) => {
                self.exchange(Some(database));
                self.board.mark_healthy();
                Ok(())
            }
            Err(error) => {
                self.retry_at = Instant::now() + RETRY;
                self.board.mark_failed(error.to_string());
                Err(error)
            }
        }
    }

    fn set_aside(&mut self) -> Result<(), StoreError> {
        let Some(damaged) = self.database.take() else { return Ok(()) };
        self.log.exchange(None);
        let name = set_damaged_aside(&self.settings.folder, damaged)?;
        let (database, _) = open_with_notice(&self.settings.folder, &self.board)?;
        if let Some(name) = name {
            say_set_aside(&database, &self.board, &name)?;
        }
        self.exchange(Some(database));
        Ok(())
    }

    fn failed(&self, error: &StoreError) -> HistoryError {
        let said = error.to_string();
        self.board.mark_failed(said.clone());
        HistoryError(said)
    }

    pub fn has_chores(&self) -> bool {
        self.database.is_some() && (self.retention_due || self.log_pages > 0)
    }

    /// Removes what is too old, in small steps, and returns the log that is to be written back, best when nobody waits.
    fn tidy(&mut self, idle: Idle) -> Option<LogChore> {
        if self.database.as_ref().is_some_and(|database| !database.is_current()) {
            self.leave();
        }
        let database = self.database.as_ref()?;
        if self.rows_since_retention >= RETENTION_ROWS {
            self.rows_since_retention = 0;
            self.retention_due = true;
        }
        let tidied = if self.board.take_suspicion() {
            database.is_whole().and_then(|whole| if whole { Ok(()) } else { Err(StoreError::Damaged) })
        } else if self.retention_due {
            retention::remove_batch(database, &self.settings, &self.board).map(|more| {
                self.retention_due = more;
                self.log_pages += usize::from(more) * 64;
            })
        } else if self.log_pages >= MAX_LOG_PAGES || (idle == Idle::Yes && self.log_pages > 0) {
            let is_full = std::mem::take(&mut self.log_pages) >= MAX_LOG_PAGES;
            return database.files().map(|files| LogChore { files, is_full });
        } else {
            Ok(())
        };
        self.judge_chore(tidied);
        None
    }

    /// Sets the store aside if a chore found it damaged, and opens it again if it could not be used.
    fn judge_chore(&mut self, done: Result<(), StoreError>) {
        match done.map_err(StoreError::judged) {
            Ok(()) => self.is_doubted = false,
            Err(StoreError::Busy) => {}
            Err(StoreError::Damaged) => {
                if let Err(error) = self.look_again() {
                    self.failed(&error);
                }
            }
            Err(error) => {
                self.failed(&error);
                self.exchange(None);
            }
        }
    }

    /// Opens a store again that seems damaged, and sets it aside if it is, or seems so a second time: SQLite calls it damage, too,
    /// where the disk refuses a read.
    fn look_again(&mut self) -> Result<(), StoreError> {
        self.exchange(None);
        self.open()?;
        let whole = self.database.as_ref().map_or(Ok(true), Database::is_whole).map_err(StoreError::judged);
        match whole {
            Ok(true) if !self.is_doubted => {
                self.is_doubted = true;
                Ok(())
            }
            Ok(_) | Err(StoreError::Damaged) => {
                self.is_doubted = false;
                self.set_aside()
            }
            Err(error) => Err(error),
        }
    }

    fn close(&mut self) {
        let Some(database) = self.database.take() else { return };
        self.log.exchange(None);
        // What another process holds up stays in the log, where it is as safe.
        let waited = database.connection.busy_timeout(Duration::from_millis(100)).map_err(StoreError::from);
        let closed =
            waited.and_then(|()| anchor::checkpoint(&database, &self.settings.folder, Checkpoint::Truncate));
        if let Err(error) = closed {
            self.failed(&error);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Idle {
    Yes,
    No,
}

/// Opens the store, and says what it lacks of what this process has written.
fn open_again(folder: &Path, board: &StoreState) -> Result<Database, StoreError> {
    let (seq, hash) = board.head();
    let (database, has_said) = open_with_notice(folder, board)?;
    let is_gone = || -> rusqlite::Result<bool> {
        if database.hash_of(seq)?.is_some_and(|it| it == hash) {
            return Ok(false);
        }
        // What retention has removed is not gone.
        let mut first = database.connection.prepare("SELECT seq FROM events ORDER BY seq LIMIT 1")?;
        Ok(first.query_row([], |row| row.get(0)).optional()?.is_none_or(|first: i64| first <= seq))
    };
    if seq > 0 && !has_said && is_gone()? {
        let said = format!("rows up to {seq} were in the history and are gone");
        say(&database, board, "history.contradiction", &said)?;
        board.add_notice(said);
    }
    Ok(database)
}

/// Opens the store and says what was found; a store that turns out to be damaged is set aside. The second value is
/// whether anything was said.
fn open_with_notice(folder: &Path, board: &StoreState) -> Result<(Database, bool), StoreError> {
    let (mut database, mut set_aside) = Database::open(folder)?;
    let mut said = anchor::contradiction(&database, folder).map_err(StoreError::judged);
    if matches!(said, Err(StoreError::Damaged)) {
        // SQLite calls it damage, too, where the disk refuses a read.
        drop(database);
        (database, set_aside) = Database::open(folder)?;
        said = anchor::contradiction(&database, folder).map_err(StoreError::judged);
    }
    let said = match said {
        Err(StoreError::Damaged) => {
            set_aside = set_damaged_aside(folder, database)?;
            (database, _) = Database::open(folder)?;
            None
        }
        said => said?,
    };
    let has_said = set_aside.is_some() || said.is_some();
    if let Some(name) = set_aside {
        say_set_aside(&database, board, &name)?;
    }
    if let Some(said) = said {
        say(&database, board, "history.contradiction", &said)?;
        board.add_notice(said);
    }
    let (seq, hash) = database.head()?;
    board.set_head(seq, hash);
    Ok((database, has_said))
}

fn say_set_aside(database: &Database, board: &StoreState, name: &str) -> Result<(), StoreError> {
    let said = format!("a damaged history was set aside as {name}");
    say(database, board, "history.set_aside", &said)?;
    board.add_notice(said);
    Ok(())
}

/// Appends a row by which the history tells of itself.
fn say(database: &Database, board: &StoreState, op: &'static str, said: &str) -> Result<(), StoreError> {
    let notice = board.redactor().notice(board.machine(), op, said);
    let (seq, hash) = append_rows(database, std::iter::once(&notice))?;
    board.set_head(seq, hash);
    Ok(())
}

/// Appends rows to the chain in one transaction, and gives the new head.
///
/// The head is read inside the transaction: other processes append to the same chain.
///
/// # Errors
/// See [`StoreError`]; nothing is appended then.
pub fn append_rows<'a>(
    database: &Database,
    rows: impl Iterator<Item = &'a Row>,
) -> Result<(i64, Hash), StoreError> {
    let transaction = database.begin()?;
    let head = insert_rows(database, rows)?;
    transaction.commit()?;
    Ok(head)
}

/// As [`append_rows`], within a transaction that is open already.
///
/// # Errors
/// See [`StoreError`].
pub fn insert_rows<'a>(
    database: &Database,
    rows: impl Iterator<Item = &'a Row>,
) -> Result<(i64, Hash), StoreError> {
    let (mut seq, mut hash) = database.head()?;
    let mut insert = database.connection.prepare_cached(INSERT)?;
    for row in rows {
        seq = seq.checked_add(1).ok_or(StoreError::Damaged)?;
        let (numbers, texts) = (row.numbers(), row.texts());
        hash = chain(&hash, seq, &numbers, &texts);
        insert.raw_bind_parameter(1, seq)?;
        for (at, number) in numbers.iter().enumerate() {
            insert.raw_bind_parameter(2 + at, number)?;
        }
        for (at, text) in texts.iter().enumerate() {
            insert.raw_bind_parameter(2 + NUMBERS.len() + at, text)?;
        }
        insert.raw_bind_parameter(2 + NUMBERS.len() + TEXTS.len(), hash.as_slice())?;
        insert.raw_execute()?;
    }
    Ok((seq, hash))
}

/// The columns in the order of [`NUMBERS`] and [`TEXTS`].
const INSERT: &str = "INSERT INTO events (seq, kind, at_ms, duration_us, bytes, has_effect,
    id, machine, caller, client, session, transport, scope, op, target, capability, stage, rule, code,
    summary, error, template, hash)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)";
