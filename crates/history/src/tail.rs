//! Following the history: the rows that come, in the order of the chain, whichever process writes them.
//!
//! Reads from time to time, on a connection of its own. Never waits for the writer, and keeps nothing but its place.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use super::database::{StoreError, StoreFiles, open_reader};
use super::query::{Entry, Filter, entry, has_schema, holds};
use super::row::Kind;
use super::store::HistoryReadError;

/// The rows after one, so many at most.
const ROWS_AFTER: &str = "SELECT * FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2";
/// How many rows [`Tail::more_of`] looks at.
const MAX_ROWS: i64 = 1_000;

/// A place in the history, from which is read on.
#[derive(Debug)]
pub struct Tail {
    folder: PathBuf,
    open: Option<(StoreFiles, Connection)>,
    after: i64,
}

impl Tail {
    /// Begins behind the newest row that is there now.
    ///
    /// # Errors
    /// When the store cannot be read. A store that is not there yet is no error.
    pub fn from_now(folder: &Path) -> Result<Self, HistoryReadError> {
        let mut tail = Self { folder: folder.to_owned(), open: None, after: 0 };
        let newest = tail.read(|connection, _| {
            Ok(connection.query_row("SELECT ifnull(max(seq), 0) FROM events", [], |row| row.get(0))?)
        })?;
        tail.after = newest.unwrap_or(0);
        Ok(tail)
    }

    /// Returns the rows that came since, oldest first, at most so many. An operation with an effect has two of them.
    ///
    /// # Errors
    /// When the store cannot be read; the place is kept, so that it can be tried again.
    pub fn more(&mut self, limit: usize) -> Result<Vec<Entry>, HistoryReadError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let entries = self.read(|connection, after| {
            let mut rows = connection.prepare_cached(ROWS_AFTER)?;
            let entries = rows.query_map(params![after, limit], entry)?;
            Ok(entries.collect::<rusqlite::Result<Vec<_>>>()?)
        })?;
        let entries = entries.unwrap_or_default();
        if let Some(last) = entries.last() {
            self.after = last.seq;
        }
        Ok(entries)
    }

    /// Returns what came since, oldest first: operations that ended, and notices, as far as the filter holds. The
    /// filter's cursor and limit are not asked.
    ///
    /// # Errors
    /// As [`Tail::more`].
    pub fn more_of(&mut self, filter: &Filter) -> Result<Vec<Entry>, HistoryReadError> {
        let needle = filter.text.as_deref().map(str::to_lowercase);
        let read = self.read(|connection, after| {
            let mut rows = connection.prepare_cached(ROWS_AFTER)?;
            let mut rows = rows.query(params![after, MAX_ROWS])?;
            let (mut entries, mut seen) = (Vec::new(), after);
            while let Some(row) = rows.next()? {
                seen = row.get("seq")?;
                let (kind, scope): (i64, String) = (row.get("kind")?, row.get("scope")?);
                let is_asked_for = filter.scope.as_ref().is_none_or(|wanted| *wanted == scope);
                if kind != Kind::Received as i64 && is_asked_for && holds(row, filter, needle.as_deref())? {
                    entries.push(entry(row)?);
                }
            }
            Ok((entries, seen))
        })?;
        let Some((entries, seen)) = read else { return Ok(Vec::new()) };
        self.after = seen;
        Ok(entries)
    }

    /// Returns the number of the last row that it has looked at; 0 before the first.
    pub fn place(&self) -> i64 {
        self.after
    }

    fn read<T>(
        &mut self,
        work: impl FnOnce(&Connection, i64) -> Result<T, StoreError>,
    ) -> Result<Option<T>, HistoryReadError> {
        let Some(files) = StoreFiles::of(&self.folder) else {
            self.forget();
            return Ok(None);
        };
        match &self.open {
            // The store was set aside: all of the new one is new.
            Some((of, _)) if !of.is_same_store(files) => self.forget(),
            // Its log was removed.
            Some((of, _)) if *of != files => self.open = None,
            Some(_) | None => {}
        }
        let result = (|| {
            if self.open.is_none() {
                self.open = Some((files, open_reader(&self.folder)?));
            }
            match &self.open {
                Some((_, connection)) if has_schema(connection)? => work(connection, self.after).map(Some),
                _ => Ok(None),
            }
        })();
        result.map_err(|error: StoreError| {
            self.open = None;
            HistoryReadError(error.to_string())
        })
    }

    fn forget(&mut self) {
        self.open = None;
        self.after = 0;
    }
}
