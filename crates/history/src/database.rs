//! The store's file: opening it, bringing its schema up to date, setting a damaged one aside.
//!
//! Files, all private (0600) in a folder of mode 0700: `history.db` (with `-wal` and `-shm`),
//! `history.anchor` (see `anchor.rs`), `history.lock` (held while the store is opened or set aside),
//! `history.key` (see `redact`). A damaged store is renamed to `history.db.damaged-<time>`.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use bailiwick_contract::{id, time};
use bailiwick_platform::fs::{FileId, FileLock, RetentionClock, create_private_dir, create_private_file};

use super::aside;
use super::row::{GENESIS, Hash};

/// The name of the store's file.
pub const FILE_NAME: &str = "history.db";
/// The name of its write-ahead log.
const LOG_NAME: &str = "history.db-wal";
const LOCK_NAME: &str = "history.lock";
/// How long to wait for another process that opens or writes the store.
const BUSY: Duration = Duration::from_secs(5);
/// How long others that write are asked for often, and how often: the log begins again in about 5 ms.
const SHORT_WAIT: Duration = Duration::from_millis(20);
const SHORT_PAUSE: Duration = Duration::from_micros(250);
/// How often they are asked for afterwards.
const PAUSE: Duration = Duration::from_millis(5);
/// Marks the file as ours: `BWLH`.
const APPLICATION_ID: i32 = 0x4257_4c48;
/// No version has more migrations: a larger number is damage.
const MAX_VERSION: usize = 1_000;
/// The migrations, in order; the number of those applied is the file's `user_version`.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001_events.sql")];

/// Why the store cannot be used now.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is not a store, or not a whole one.
    #[error("the store is damaged")]
    Damaged,
    /// It was written by a newer version.
    #[error("the store was made by a newer version of Bailiwick")]
    Newer,
    /// Another process holds it.
    #[error("another process holds the store")]
    Busy,
    /// The system refuses.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// SQLite refuses.
    #[error("{}", describe(.0))]
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            _ => Self::Sqlite(error),
        }
    }
}

impl StoreError {
    /// Judges an error of opening or writing a store, whose statements are always the same: what does not come from
    /// the system comes from the store.
    pub fn judged(self) -> Self {
        match self {
            Self::Sqlite(error) if !is_of_the_system(&error) => Self::Damaged,
            other => other,
        }
    }
}

/// Returns whether an error says something about the computer, and nothing about the store.
fn is_of_the_system(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DiskFull
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure
                | ErrorCode::OperationInterrupted
                | ErrorCode::OperationAborted
                | ErrorCode::OutOfMemory
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::NoLargeFileSupport
        )
    )
}

/// Returns what SQLite refuses, without paths.
fn describe(error: &rusqlite::Error) -> String {
    let said = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full",
        Some(ErrorCode::ReadOnly) => "the store is read-only",
        Some(ErrorCode::CannotOpen) => "the store cannot be opened",
        Some(ErrorCode::PermissionDenied) => "the system denies access to the store",
        Some(ErrorCode::SystemIoFailure) => "the disk reports an error",
        Some(ErrorCode::OperationInterrupted) => "the query was stopped",
        Some(ErrorCode::ConstraintViolation) => "the store refuses the row",
        _ => "SQLite reports an error",
    };
    match error {
        rusqlite::Error::SqliteFailure(error, _) => format!("{said} (SQLite {})", error.extended_code),
        _ => said.to_owned(),
    }
}

/// Which files a store has now. A log that was removed while it was in use makes it another store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreFiles {
    store: FileId,
    log: Option<FileId>,
}

impl StoreFiles {
    /// Finds the files of the store of a folder.
    pub fn of(folder: &Path) -> Option<Self> {
        Some(Self { store: FileId::of(&folder.join(FILE_NAME))?, log: FileId::of(&folder.join(LOG_NAME)) })
    }

    /// Returns whether both are files of one store, whatever its log.
    pub fn is_same_store(self, other: Self) -> bool {
        self.store == other.store
    }
}

/// The store's file, open for writing.
pub struct Database {
    pub connection: Connection,
    /// Whether a statement waits for other processes that write.
    waits: Arc<AtomicBool>,
    files: Option<StoreFiles>,
    folder: PathBuf,
}

impl Database {
    /// Opens the store of a folder, and makes both where there are none.
    ///
    /// A damaged store is set aside first; the second value is its new name.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open(folder: &Path) -> Result<(Self, Option<String>), StoreError> {
        create_private_dir(folder)?;
        let _lock = lock(folder)?;
        let open = || Self::open_in(folder).map_err(StoreError::judged);
        let is_damaged = |opened: &Result<Self, StoreError>| matches!(opened, Err(StoreError::Damaged));
        let mut opened = open();
        if is_damaged(&opened) {
            // SQLite calls it damage, too, where the disk refuses a read.
            opened = open();
        }
        if is_damaged(&opened) {
            let name = set_aside(folder)?;
            return Ok((open()?, Some(name)));
        }
        Ok((opened?, None))
    }

    fn open_in(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(FILE_NAME);
        create_private_file(&path)?;
        if !has_header(&path)? {
            return Err(StoreError::Damaged);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&path, flags)?;
        guard(&connection)?;
        let waits = wait_for_others(&mut connection)?;
        prepare(&connection, folder)?;
        check_schema(&connection)?;
        let mut database = Self { connection, waits, files: None, folder: folder.to_owned() };
        if !database.tail_is_whole()? && !database.is_whole()? {
            return Err(StoreError::Damaged);
        }
        // Now there is a log, too.
        database.files = StoreFiles::of(folder);
        Ok(database)
    }

    /// Opens the same store a second time, for what must not hold up who writes.
    ///
    /// # Errors
    /// See [`StoreError`]; [`StoreError::Busy`] where the paths lead to another store by now.
    pub fn opened_again(folder: &Path, files: StoreFiles) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(folder.join(FILE_NAME), flags)?;
        guard(&connection)?;
        let waits = wait_for_others(&mut connection)?;
        connection.execute_batch(SYNCED)?;
        let database = Self { connection, waits, files: Some(files), folder: folder.to_owned() };
        // Now it has read the store, and so has its log open.
        database.head()?;
        if database.is_current() { Ok(database) } else { Err(StoreError::Busy) }
    }

    /// Returns which files are open.
    pub fn files(&self) -> Option<StoreFiles> {
        self.files
    }

    /// Opens the log, to sync what was written to it.
    ///
    /// # Errors
    /// Those of the file system; [`StoreError::Busy`] where the path leads to another log by now.
    pub fn open_log(&self) -> Result<fs::File, StoreError> {
        let log = fs::OpenOptions::new().read(true).write(true).open(self.folder.join(LOG_NAME))?;
        if self.is_current() { Ok(log) } else { Err(StoreError::Busy) }
    }

    /// Begins the log again after it was written back, which syncs its head: else the next row would wait for that.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn begin_log(&self) -> Result<(), StoreError> {
        let version = MIGRATIONS.len();
        self.connection
            .execute_batch(&format!("BEGIN IMMEDIATE; PRAGMA user_version = {version}; COMMIT;"))
            .map_err(|error| {
                // Without a transaction there is nothing to undo, and that is well.
                let _ = self.connection.execute_batch("ROLLBACK");
                error.into()
            })
    }

    /// Begins a transaction that writes, which is undone where it is dropped.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn begin(&self) -> Result<WriteTransaction<'_>, StoreError> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(WriteTransaction { connection: &self.connection, is_open: true })
    }

    /// Sets whether a statement waits for other processes that write. It does at first.
    pub fn set_waits(&self, waits: bool) {
        self.waits.store(waits, Ordering::Relaxed);
    }

    /// Returns whether the paths still lead to the files that are open: another process may have set the store aside,
    /// and its log may have been removed.
    pub fn is_current(&self) -> bool {
        self.files.is_some() && StoreFiles::of(&self.folder) == self.files
    }

    /// Writes the log into the store if the log was removed while it was open, and nobody has written to another one.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn save_removed_log(&self) -> Result<bool, StoreError> {
        let _lock = lock(&self.folder)?;
        let is_empty = |log: &Path| fs::metadata(log).is_ok_and(|facts| facts.is_file() && facts.len() == 0);
        let log = self.folder.join(LOG_NAME);
        let is_removed = match (self.files, StoreFiles::of(&self.folder)) {
            (Some(open), Some(now)) => {
                open.store == now.store && open.log != now.log && (now.log.is_none() || is_empty(&log))
            }
            (None, _) | (_, None) => false,
        };
        if !is_removed {
            return Ok(false);
        }
        // Nobody's frames are looked for in the removed log afterwards.
        let busy: i64 = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        Ok(busy == 0)
    }

    /// Returns the number and hash of the newest row; `(0, GENESIS)` where there is none.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn head(&self) -> rusqlite::Result<(i64, Hash)> {
        let mut newest =
            self.connection.prepare_cached("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1")?;
        let head = newest.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        Ok(head.unwrap_or((0, GENESIS)))
    }

    /// Returns the id of the store, made with it.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn store_id(&self) -> rusqlite::Result<String> {
        store_id(&self.connection)
    }

    /// Returns the hash of a row; `None` where it is not kept.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn hash_of(&self, seq: i64) -> rusqlite::Result<Option<Hash>> {
        self.connection
            .query_row("SELECT hash FROM events WHERE seq = ?1", [seq], |row| row.get(0))
            .optional()
    }

    /// Reads the newest rows: the cheap sign of a damage.
    fn tail_is_whole(&self) -> Result<bool, StoreError> {
        let mut newest = self.connection.prepare("SELECT * FROM events ORDER BY seq DESC LIMIT 64")?;
        let mut rows = newest.query([])?;
        let mut expected: Option<i64> = None;
        loop {
            match rows.next() {
                Ok(None) => return Ok(true),
                Ok(Some(row)) => {
                    let seq: i64 = row.get("seq")?;
                    if expected.is_some_and(|expected| expected != seq) {
                        return Ok(false);
                    }
                    expected = seq.checked_sub(1);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Lets SQLite check the whole file.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn is_whole(&self) -> Result<bool, StoreError> {
        let said: String = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(said == "ok")
    }
}

/// A transaction whose statements are compiled once: rusqlite's own compiles them each time.
pub struct WriteTransaction<'a> {
    connection: &'a Connection,
    is_open: bool,
}

impl WriteTransaction<'_> {
    /// Puts what was done in force.
    ///
    /// # Errors
    /// Those of SQLite; nothing is in force then.
    pub fn commit(mut self) -> Result<(), StoreError> {
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Where SQLite has undone it already, there is nothing left to undo.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }
}

/// Has statements wait for others that write, for [`BUSY`] in all, as long as what is returned is set. SQLite itself sleeps for up
/// to 100 ms where the other one is done after a few.
fn wait_for_others(connection: &mut Connection) -> rusqlite::Result<Arc<AtomicBool>> {
    let waits = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&waits);
    let mut began = Instant::now();
    connection.busy_handler(Some(move |count| {
        if count == 0 {
            began = Instant::now();
        }
        let waited = began.elapsed();
        if !asked.load(Ordering::Relaxed) || waited >= BUSY {
            return false;
        }
        std::thread::sleep(if waited < SHORT_WAIT { SHORT_PAUSE } else { PAUSE });
        true
    }))?;
    Ok(waits)
}

/// Sets what holds for every connection, writing or reading.
pub fn guard(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    // Closing must not remove a log whose path may belong to another store by now.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON;
         PRAGMA cache_size = -1024; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;",
    )
}

/// How a writing connection syncs: what is written back, and no single row ([`super::writer`] does that).
const SYNCED: &str = "PRAGMA synchronous = NORMAL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
     PRAGMA secure_delete = FAST; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 4194304;";

/// Sets up a writing connection and brings the schema up to date.
fn prepare(connection: &Connection, folder: &Path) -> Result<(), StoreError> {
    // Before the first table, or it has no effect.
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL;")?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(io::Error::other("the file system does not support a write-ahead log").into());
    }
    connection.execute_batch(SYNCED)?;
    let Some(applied) = schema_version(connection)? else { return Err(StoreError::Newer) };
    for (at, migration) in MIGRATIONS.iter().enumerate().skip(applied) {
        let version = at + 1;
        let first = if at == 0 {
            format!(
                "PRAGMA application_id = {APPLICATION_ID}; INSERT INTO facts VALUES ('store', '{}'), ('begun', '{}');",
                id::new_id(),
                RetentionClock::below(folder).steady_ms(),
            )
        } else {
            String::new()
        };
        let done = connection.execute_batch(&format!(
            "BEGIN IMMEDIATE; {migration} {first} PRAGMA user_version = {version}; COMMIT;"
        ));
        if let Err(error) = done {
            // Without a transaction there is nothing to undo, and that is well.
            let _ = connection.execute_batch("ROLLBACK");
            return Err(error.into());
        }
    }
    Ok(())
}

/// Returns how many migrations were applied; `None` if a newer version has applied more.
fn schema_version(connection: &Connection) -> Result<Option<usize>, StoreError> {
    let number = |name: &str| -> rusqlite::Result<i64> {
        connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
    };
    let (version, application) = (number("user_version")?, number("application_id")?);
    let has_tables: bool =
        connection.query_row("SELECT count(*) > 0 FROM sqlite_schema", [], |row| row.get(0))?;
    match usize::try_from(version) {
        Ok(0) if !has_tables => Ok(Some(0)),
        Ok(version) if application == i64::from(APPLICATION_ID) && (1..=MAX_VERSION).contains(&version) => {
            Ok((version <= MIGRATIONS.len()).then_some(version))
        }
        // Tables that were not made by migrations are none of a store.
        Ok(_) | Err(_) => Err(StoreError::Damaged),
    }
}

/// Checks that the tables and indexes are those of the migrations, and that the store has its id. What lacks a trigger
/// works all the same.
fn check_schema(connection: &Connection) -> Result<(), StoreError> {
    let mut statements =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE type <> 'trigger' AND sql IS NOT NULL")?;
    let statements: Vec<String> =
        statements.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    // SQLite keeps statements as they were written.
    let is_made = |statement: &&String| MIGRATIONS.iter().any(|it| it.contains(statement.as_str()));
    let expected = |kind: &str| MIGRATIONS.iter().map(|it| it.matches(kind).count()).sum::<usize>();
    let is_complete = statements.iter().filter(is_made).count()
        == expected("\nCREATE TABLE ") + expected("\nCREATE INDEX ");
    if is_complete && id::is_id(&store_id(connection)?) { Ok(()) } else { Err(StoreError::Damaged) }
}

/// Returns whether a file is empty, or begins as a store does. SQLite takes some other beginnings for those of a store that
/// may only be read.
fn has_header(path: &Path) -> io::Result<bool> {
    let mut header = Vec::new();
    fs::File::open(path)?.take(24).read_to_end(&mut header)?;
    Ok(header.is_empty()
        || header.len() == 24
            && header.starts_with(b"SQLite format 3\0")
            && header[18..20].iter().all(|version| (1..=2).contains(version))
            && header[21..] == [64, 32, 32])
}

/// Returns why the store of a folder cannot be written, without changing it. A folder without a store has no reason.
pub fn writing_problem(folder: &Path) -> Option<StoreError> {
    let path = folder.join(FILE_NAME);
    if !path.exists() {
        return None;
    }
    let tried = (|| {
        if !has_header(&path)? {
            return Err(StoreError::Damaged);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)?;
        guard(&connection)?;
        match schema_version(&connection)? {
            None => return Err(StoreError::Newer),
            Some(version) if version == MIGRATIONS.len() => check_schema(&connection)?,
            Some(_) => {}
        }
        connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK;")?;
        super::anchor::read(folder)?;
        Ok(())
    })();
    tried.map_err(StoreError::judged).err()
}

/// Returns the id of the store that a connection leads to.
///
/// # Errors
/// Those of SQLite.
pub fn store_id(connection: &Connection) -> rusqlite::Result<String> {
    connection.query_row("SELECT value FROM facts WHERE name = 'store'", [], |row| row.get(0))
}

/// Opens a connection that only reads. The file must exist.
///
/// # Errors
/// See [`StoreError`].
pub fn open_reader(folder: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(folder.join(FILE_NAME), flags)?;
    guard(&connection)?;
    connection.execute_batch("PRAGMA query_only = ON;")?;
    Ok(connection)
}

/// Sets the store aside if it is still the damaged one, and gives the name that it got.
///
/// # Errors
/// See [`StoreError`].
pub fn set_damaged_aside(folder: &Path, damaged: Database) -> Result<Option<String>, StoreError> {
    let _lock = lock(folder)?;
    let current = damaged.is_current();
    // Closed before it is renamed, so that SQLite touches nothing under the old name afterwards.
    drop(damaged);
    if current { set_aside(folder).map(Some) } else { Ok(None) }
}

fn set_aside(folder: &Path) -> Result<String, StoreError> {
    read_through(folder)?;
    let stamp: String =
        time::rfc3339(time::now_ms()).chars().filter(|it| it.is_ascii_alphanumeric()).collect();
    Ok(aside::set_store_aside(folder, &stamp)?)
}

/// Reads the store and its log: what the disk does not give is not damaged, and stays where it is.
fn read_through(folder: &Path) -> io::Result<()> {
    for name in [FILE_NAME, LOG_NAME] {
        match fs::File::open(folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            file => drop(io::copy(&mut file?, &mut io::sink())?),
        }
    }
    Ok(())
}

/// Takes the lock that keeps processes from opening and setting aside at the same time.
pub fn lock(folder: &Path) -> Result<FileLock, StoreError> {
    let deadline = Instant::now() + BUSY;
    loop {
        match FileLock::try_take(folder, LOCK_NAME)? {
            Some(lock) => return Ok(lock),
            None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            None => return Err(StoreError::Busy),
        }
    }
}
