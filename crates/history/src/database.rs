//! The store's file: opening it, bringing its schema up to date, setting a damaged one aside.
//!
//! Files, all of mode 0600 in a folder of mode 0700: `history.db` (with `-wal` and `-shm`),
//! `history.anchor` (see `anchor.rs`), `history.lock` (held while the store is opened or set aside),
//! `history.key` (see `redact`). A damaged store is renamed to `history.db.damaged-<time>`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use bailiwick_contract::{id, time};
use bailiwick_platform::fs::{FileId, FileLock, create_private_dir, create_private_file};

use super::row::{GENESIS, Hash};

/// The name of the store's file.
pub const FILE_NAME: &str = "history.db";
const LOCK_NAME: &str = "history.lock";
/// How long to wait for another process that opens or writes the store.
const BUSY: Duration = Duration::from_secs(5);
/// Marks the file as ours: `BWLH`.
const APPLICATION_ID: i32 = 0x4257_4c48;
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

/// Says what SQLite refuses, without paths.
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

/// The store's file, open for writing.
pub struct Database {
    pub connection: Connection,
    file: Option<FileId>,
    path: PathBuf,
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
        let path = folder.join(FILE_NAME);
        match Self::open_at(&path) {
            Err(StoreError::Damaged) => {
                let name = set_aside(folder)?;
                Ok((Self::open_at(&path)?, Some(name)))
            }
            other => Ok((other?, None)),
        }
    }

    fn open_at(path: &Path) -> Result<Self, StoreError> {
        create_private_file(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        guard(&connection)?;
        prepare(&connection)?;
        let database = Self { connection, file: FileId::of(path), path: path.to_owned() };
        if !database.tail_is_whole()? && !database.is_whole()? {
            return Err(StoreError::Damaged);
        }
        Ok(database)
    }

    /// Tells whether the path still leads to the file that is open: another process may have set it aside.
    pub fn is_current(&self) -> bool {
        self.file.is_some() && FileId::of(&self.path) == self.file
    }

    /// Gives the number and hash of the newest row; `(0, GENESIS)` where there is none.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn head(&self) -> rusqlite::Result<(i64, Hash)> {
        let mut newest =
            self.connection.prepare_cached("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1")?;
        let head = newest.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        Ok(head.unwrap_or((0, GENESIS)))
    }

    /// Gives the id of the store, made with it.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn store_id(&self) -> rusqlite::Result<String> {
        store_id(&self.connection)
    }

    /// Gives the hash of a row; `None` where it is not kept.
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
                    expected = Some(seq - 1);
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

/// Sets up a writing connection and brings the schema up to date.
fn prepare(connection: &Connection) -> Result<(), StoreError> {
    // Before the first table, or it has no effect.
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL;")?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(io::Error::other("the file system does not support a write-ahead log").into());
    }
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;
         PRAGMA secure_delete = FAST; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 4194304;",
    )?;
    let applied: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let applied = applied as usize;
    if applied > MIGRATIONS.len() {
        return Err(StoreError::Newer);
    }
    for (at, migration) in MIGRATIONS.iter().enumerate().skip(applied) {
        let version = at + 1;
        let first = if at == 0 {
            format!(
                "PRAGMA application_id = {APPLICATION_ID}; INSERT INTO facts VALUES ('store', '{}');",
                id::new_id()
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

/// Gives the id of the store that a connection leads to.
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
    let stamp: String =
        time::rfc3339(time::now_ms()).chars().filter(|it| it.is_ascii_alphanumeric()).collect();
    let name = format!("{FILE_NAME}.damaged-{stamp}");
    fs::rename(folder.join(FILE_NAME), folder.join(&name))?;
    for (from, to) in [("history.db-wal", "-wal"), ("history.db-shm", "-shm"), ("history.anchor", ".anchor")]
    {
        match fs::rename(folder.join(from), folder.join(format!("{name}{to}"))) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(name)
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
