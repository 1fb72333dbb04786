//! Keeping contents and records, and finding them again.
//!
//! A change is one file in `log`: a line of JSON, and after it the contents that the change replaces, in pieces; the
//! chunks of large ones are in packs of the same part. All of it is on disk before the change is seen. What is kept whole
//! is beside its record, in a part of its own.

#![expect(clippy::disallowed_methods, reason = "the folder is Bailiwick's own, in its state folder")]

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::file::{Slot, content_version, sha256_hex};
use bailiwick_contract::{id, time};
use bailiwick_platform::fs::modes::{DirBuilderExt, sync_folder};
use bailiwick_platform::fs::{
    FileError, RelPath, RetainedFolder, RetentionClock, RetentionLimits, Root, Secrecy, new_private_file,
    open_own_file, write_private_file,
};

use super::chunks::{Chunks, MIN_CUT_BYTES};
use super::pieces::{StoredContents, damaged, read_pieces, undamaged};
use super::record::{ChangeSource, FileFacts, Record, Relocation, StoredFile};
use super::tree::{TreeSummary, trees};

/// The largest content that is kept: of a file that is edited.
const MAX_CONTENT_BYTES: u64 = 64 << 20;
/// The largest record.
const MAX_RECORD_BYTES: u64 = 4 << 20;
/// How many characters of an id's end name a change.
const SHORT_ID: usize = 6;
/// How many digits of a hash name a path.
const PATH_DIGITS: usize = 32;
/// How much a file takes beside its content.
pub(super) const FILE_BYTES: u64 = 4_096;
/// How long a change can be taken back.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3_600);

/// What changes of files keep: 512 MiB, less what a part that is being removed takes.
const CHANGES: RetentionLimits = RetentionLimits {
    max_age: MAX_AGE,
    max_bytes: 496 << 20,
    max_parts: 256,
    part_bytes: 16 << 20,
    part_things: 1_024,
    part_span: Duration::from_secs(24 * 3_600),
};

/// What is kept whole: folders, links, large files.
const WHOLE: RetentionLimits = RetentionLimits {
    max_age: MAX_AGE,
    max_bytes: 512 << 20,
    max_parts: 1_024,
    part_bytes: 0,
    part_things: 1,
    part_span: Duration::ZERO,
};

/// The kept versions of one installation.
#[derive(Debug, Clone)]
pub struct VersionStore {
    changes: RetainedFolder,
    whole: RetainedFolder,
    clock: RetentionClock,
}

/// A file as it is before a change.
#[derive(Debug, Clone)]
pub struct Before {
    /// Its content.
    pub content: Arc<Vec<u8>>,
    /// The SHA-256 of the content, in hexadecimal.
    pub sha256: String,
    /// Its permission bits.
    pub mode: u32,
    /// What else belongs to it.
    pub facts: FileFacts,
}

/// The change of one file.
#[derive(Debug, Clone)]
pub struct FileChange {
    /// The path that it gets, or has.
    pub path: String,
    /// The path that it had, if that was another.
    pub moved_from: Option<String>,
    /// What it was; `None` if there was no file.
    pub before: Option<Before>,
    /// The version that it gets; `None` if it goes.
    pub version_after: Option<String>,
    /// How many folders above it are made with it.
    pub made_folders: usize,
}

/// Room for things that are kept whole, with the record that says how they are put back.
#[derive(Debug)]
pub struct Deposit {
    part: PathBuf,
    folder: RetainedFolder,
    undo_id: String,
}

/// A record that was found, and where.
#[derive(Debug, Clone)]
pub struct FoundRecord {
    /// The record.
    pub record: Record,
    pub(super) file: PathBuf,
    contents_at: u64,
}

impl VersionStore {
    /// Finds the store in Bailiwick's state folder.
    pub fn below(state: &Path) -> Self {
        let folder = state.join("versions");
        Self {
            changes: RetainedFolder::new(folder.join("changes"), CHANGES),
            whole: RetainedFolder::new(folder.join("whole"), WHOLE),
            clock: RetentionClock::below(state),
        }
    }

    /// Returns the most that is kept whole, in bytes.
    pub const fn max_whole_bytes() -> u64 {
        WHOLE.max_bytes
    }

    /// Returns how long a change can be taken back, unless its room is needed before.
    pub const fn max_age() -> Duration {
        MAX_AGE
    }

    /// Keeps files as they are before a change, and returns the id by which the change can be taken back. All of it is
    /// on disk then.
    ///
    /// # Errors
    /// Those of the file system; `FileTooLarge` for a content over 64 MiB.
    pub fn keep(&self, source: ChangeSource<'_>, changes: &[FileChange]) -> io::Result<String> {
        let contents = || changes.iter().filter_map(|change| change.before.as_ref());
        if contents().any(|before| before.content.len() as u64 > MAX_CONTENT_BYTES) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let undo_id = id::new_id();
        // Large contents share chunks with those in the part that is filled just now.
        let has_large = contents().any(|before| before.content.len() >= MIN_CUT_BYTES);
        let mut within = has_large.then(|| self.changes.parts().into_iter().next()).flatten();
        loop {
            let mut chunks = Chunks::new(within.as_deref(), source.scope, &undo_id);
            let mut stored = StoredContents::default();
            let files = changes.iter().map(|change| stored_file(change, &mut stored, &mut chunks)).collect();
            let record = new_record(&undo_id, source, files, Vec::new(), None);
            let json = to_line(&record)?;
            let of_pack = if stored.pack.is_empty() { 0 } else { chunks.bytes() + FILE_BYTES };
            let bytes = stored.bytes + of_pack + json.len() as u64 + FILE_BYTES;
            let part = match within.take() {
                Some(part) => {
                    if !self.changes.reserve_within(&part, bytes, chunks.shared_bytes, &self.clock)? {
                        // The next part has none of them yet.
                        continue;
                    }
                    part
                }
                None => self.changes.reserve(bytes, &self.clock)?,
            };
            if !stored.pack.is_empty() {
                chunks.write_pack(&part, &stored.pack)?;
            }
            write_record(&part, &record, &json, stored.pieces.iter().map(|piece| &piece[..]))?;
            return Ok(undo_id);
        }
    }

    /// Keeps a record alone, of things that are not kept but only moved. It is on disk then.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn note(
        &self,
        source: ChangeSource<'_>,
        files: Vec<StoredFile>,
        relocations: Vec<Relocation>,
    ) -> io::Result<String> {
        let undo_id = id::new_id();
        let record = new_record(&undo_id, source, files, relocations, None);
        let json = to_line(&record)?;
        let part = self.changes.reserve(json.len() as u64 + FILE_BYTES, &self.clock)?;
        write_record(&part, &record, &json, std::iter::empty())?;
        Ok(undo_id)
    }

    /// Makes room for things that are kept whole. `bytes` is what they take.
    ///
    /// # Errors
    /// Those of the file system; `FileTooLarge` for more than is kept in all.
    pub fn deposit(&self, bytes: u64) -> io::Result<Deposit> {
        let part = self.whole.reserve(bytes.saturating_add(FILE_BYTES), &self.clock)?;
        Ok(Deposit { part, folder: self.whole.clone(), undo_id: id::new_id() })
    }

    /// Forgets a change that was not made after all. Its contents go when they are old.
    pub fn forget(&self, undo_id: &str) {
        if !id::is_id(undo_id) {
            return;
        }
        for part in self.changes.parts() {
            if fs::remove_file(part.join("log").join(undo_id)).is_ok() {
                let _ = fs::remove_file(trees(&part).join(undo_id));
                return;
            }
        }
    }

    /// Makes room for a change of so many bytes.
    pub(super) fn reserve_change(&self, bytes: u64) -> io::Result<PathBuf> {
        self.changes.reserve(bytes, &self.clock)
    }

    /// Gives room back that a change does not need after all.
    pub(super) fn give_back(&self, part: &Path, bytes: u64) {
        self.changes.give_back(part, bytes);
    }

    /// Gives the room of a change back whose things were all put back.
    pub fn release(&self, found: &FoundRecord) {
        if let Some(part) = found.part().filter(|part| self.whole.parts().iter().any(|it| it == part)) {
            release_empty(&self.whole, part);
        }
    }

    /// Lists the parts of the store, the newest first of each kind.
    fn all_parts(&self) -> io::Result<Vec<PathBuf>> {
        let mut parts = self.changes.all_parts().map_err(|error| unread("the kept changes", &error))?;
        parts.extend(self.whole.all_parts().map_err(|error| unread("the kept changes", &error))?);
        Ok(parts)
    }

    /// Finds a change of a scope by its id, or by the end of its id that no other has.
    ///
    /// # Errors
    /// Those of the file system: what is there could not be read.
    pub fn record(&self, scope: &str, undo_id: &str) -> io::Result<Option<FoundRecord>> {
        if !id::is_id(undo_id) {
            return if undo_id.len() >= SHORT_ID { self.record_by_end(scope, undo_id) } else { Ok(None) };
        }
        for part in self.all_parts()? {
            if let Some(found) = read_record(&part.join("log").join(undo_id), scope, undo_id)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn record_by_end(&self, scope: &str, end: &str) -> io::Result<Option<FoundRecord>> {
        let wanted = end.to_ascii_uppercase();
        // Only names are read of all the others.
        let mut found =
            self.changes_named(Some(scope), |id, _| id.ends_with(&wanted), |_| ControlFlow::Continue(true))?;
        Ok(found.pop().filter(|_| found.is_empty()))
    }

    /// Lists the changes of a path in a scope, the newest first.
    ///
    /// # Errors
    /// Those of the file system: what is there could not be read.
    pub fn changes_of(&self, scope: &str, path: &str) -> io::Result<Vec<FoundRecord>> {
        let key = path_key(scope, path);
        let mut found = Vec::new();
        for part in self.all_parts()? {
            for (undo_id, _) in names_in(&part.join("paths").join(&key))? {
                found.extend(read_record(&part.join("log").join(&undo_id), scope, &undo_id)?);
            }
        }
        found.sort_by(|one, next| next.record.undo_id.cmp(&one.record.undo_id));
        Ok(found)
    }

    /// Lists the changes of a scope that began within two times, both included, the newest first: those that
    /// `is_wanted` takes, which may also end the search.
    ///
    /// # Errors
    /// Those of the file system: what is there could not be read.
    pub fn changes_since(
        &self,
        scope: &str,
        since_ms: i64,
        until_ms: i64,
        is_wanted: impl FnMut(&Record) -> ControlFlow<(), bool>,
    ) -> io::Result<Vec<FoundRecord>> {
        self.changes_between(Some(scope), since_ms, until_ms, is_wanted)
    }

    /// As [`VersionStore::changes_since`], of every scope. For the user.
    ///
    /// # Errors
    /// As [`VersionStore::changes_since`].
    pub fn all_changes_since(
        &self,
        since_ms: i64,
        is_wanted: impl FnMut(&Record) -> ControlFlow<(), bool>,
    ) -> io::Result<Vec<FoundRecord>> {
        self.changes_between(None, since_ms, i64::MAX, is_wanted)
    }

    fn changes_between(
        &self,
        scope: Option<&str>,
        since_ms: i64,
        until_ms: i64,
        is_wanted: impl FnMut(&Record) -> ControlFlow<(), bool>,
    ) -> io::Result<Vec<FoundRecord>> {
        self.changes_named(scope, |_, began_ms| (since_ms..=until_ms).contains(&began_ms), is_wanted)
    }

    /// Lists changes, the newest first: those of whose id and time `is_named` takes, and of them what `is_wanted` takes.
    fn changes_named(
        &self,
        scope: Option<&str>,
        is_named: impl Fn(&str, i64) -> bool,
        mut is_wanted: impl FnMut(&Record) -> ControlFlow<(), bool>,
    ) -> io::Result<Vec<FoundRecord>> {
        let mut names: Vec<(String, PathBuf)> = Vec::new();
        for part in self.all_parts()? {
            names.extend(names_in(&part.join("log"))?.into_iter().filter(|(undo_id, _)| {
                id::began_ms(undo_id).is_some_and(|began_ms| is_named(undo_id, began_ms))
            }));
        }
        names.sort_unstable_by(|one, next| next.0.cmp(&one.0));
        let mut found = Vec::new();
        for (undo_id, file) in names {
            let Some(record) = read_any_record(&file, &undo_id)? else { continue };
            if scope.is_some_and(|scope| record.record.scope != scope) {
                continue;
            }
            match is_wanted(&record.record) {
                ControlFlow::Continue(true) => found.push(record),
                ControlFlow::Continue(false) => {}
                ControlFlow::Break(()) => break,
            }
        }
        Ok(found)
    }

    /// Looks for changes of which something is damaged, the newest first, for so long. Returns their ids, each with the path
    /// of a file that cannot come back.
    ///
    /// # Errors
    /// Those of the file system: what is there could not be read.
    pub fn damaged_changes(&self, time: Duration) -> io::Result<Vec<(String, String)>> {
        let began = Instant::now();
        let has_time = |share: u32| began.elapsed() < time / share;
        let found = self.all_changes_since(i64::MIN, |_| match has_time(2) {
            true => ControlFlow::Continue(true),
            false => ControlFlow::Break(()),
        })?;
        let mut damaged = Vec::new();
        for found in found.iter().take_while(|_| has_time(1)) {
            for (at, file) in found.record.files.iter().enumerate().take_while(|_| has_time(1)) {
                if file.sha256.is_none() || found.content(at)?.is_some() {
                    continue;
                }
                // What has gone meanwhile is not damaged.
                if found.file.exists() && found.part().is_some_and(Path::exists) {
                    damaged.push((found.record.undo_id.clone(), file.path.clone()));
                }
                break;
            }
        }
        Ok(damaged)
    }

    /// Returns the content that a path had in a version (`s-` and digits), if it is kept.
    ///
    /// # Errors
    /// Those of the file system: what is there could not be read.
    pub fn content_of_version(&self, scope: &str, path: &str, version: &str) -> io::Result<Option<Vec<u8>>> {
        for found in self.changes_of(scope, path)? {
            let of_path = |kept: &StoredFile| {
                let is_named = kept.path == path || kept.moved_from.as_deref() == Some(path);
                is_named && kept.sha256.as_deref().is_some_and(|it| content_version(it) == version)
            };
            let Some(at) = found.record.files.iter().position(of_path) else { continue };
            if let Some(content) = found.content(at)? {
                return Ok(Some(content));
            }
        }
        Ok(None)
    }
}

impl FoundRecord {
    /// Returns the content of one of the record's files; `None` if it is damaged, or if there was no file.
    ///
    /// # Errors
    /// Those of the file system: what is there could not be read.
    pub fn content(&self, at: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(kept) = self.record.files.get(at) else { return Ok(None) };
        let Some(sha256) = kept.sha256.as_deref() else { return Ok(None) };
        let bytes = kept.bytes.min(MAX_CONTENT_BYTES);
        let read = self.read_kept(|| {
            if self.record.tree.is_some() {
                let read = self.tree_contents()?.read(kept.at.ok_or_else(damaged)?, bytes)?;
                return read.ok_or_else(damaged);
            }
            let (mut file, _) = open_own_file(&self.file, Secrecy::Secret)?;
            if let Some(at) = kept.at {
                let part = self.part().ok_or_else(damaged)?;
                let at = self.contents_at.checked_add(at).ok_or_else(damaged)?;
                return read_pieces(&file, part, at, bytes);
            }
            // Earlier versions kept contents as they were, one after the other.
            let has_content = |kept: &&StoredFile| kept.sha256.is_some();
            let before: u64 = self.record.files[..at].iter().filter(has_content).map(|kept| kept.bytes).sum();
            file.seek(SeekFrom::Start(self.contents_at + before))?;
            let mut content = Vec::new();
            file.take(bytes).read_to_end(&mut content)?;
            Ok(content)
        })?;
        Ok(read.filter(|content| sha256_hex(content) == sha256))
    }

    /// Reads something that is kept with the record; `None` where it is damaged or has gone.
    pub(super) fn read_kept<T>(&self, read: impl FnOnce() -> io::Result<T>) -> io::Result<Option<T>> {
        undamaged(read()).map_err(|error| unread(&format!("change {}", self.record.undo_id), &error))
    }

    /// Returns the part of the store that it is in.
    pub(super) fn part(&self) -> Option<&Path> {
        self.file.parent().and_then(Path::parent)
    }

    /// Returns whether it puts back things that are still kept with it.
    pub fn has_kept(&self) -> bool {
        let is_there = |number: &usize| {
            self.slot(*number)
                .is_ok_and(|slot| !matches!(slot.dir.stat(&slot.name), Err(FileError::NotFound)))
        };
        let kept: Vec<usize> = self.record.relocations.iter().filter_map(|it| it.from.kept()).collect();
        !kept.is_empty() && kept.iter().all(is_there)
    }

    /// Opens the place of one of the things that are kept whole with the record.
    ///
    /// # Errors
    /// [`FileError::NotFound`] if the record has gone meanwhile, and the usual ones.
    pub fn slot(&self, number: usize) -> Result<Slot, FileError> {
        slot(self.part().ok_or(FileError::NotFound)?, number)
    }
}

impl Deposit {
    /// Returns the id by which the change can be taken back.
    pub fn undo_id(&self) -> &str {
        &self.undo_id
    }

    /// Opens the place of one of its things.
    ///
    /// # Errors
    /// The usual ones.
    pub fn slot(&self, number: usize) -> Result<Slot, FileError> {
        slot(&self.part, number)
    }

    /// Writes the record. It is on disk then.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(
        &self,
        source: ChangeSource<'_>,
        files: Vec<StoredFile>,
        relocations: Vec<Relocation>,
    ) -> io::Result<()> {
        let record = new_record(&self.undo_id, source, files, relocations, None);
        write_record(&self.part, &record, &to_line(&record)?, std::iter::empty())
    }

    /// Gives the room back, if nothing was put there.
    pub fn discard(self) {
        release_empty(&self.folder, &self.part);
    }
}

fn stored_file<'a>(
    change: &'a FileChange,
    stored: &mut StoredContents<'a>,
    chunks: &mut Chunks,
) -> StoredFile {
    let before = change.before.as_ref();
    StoredFile {
        path: change.path.clone(),
        moved_from: change.moved_from.clone(),
        sha256: before.map(|before| before.sha256.clone()),
        bytes: before.map_or(0, |before| before.content.len() as u64),
        mode: before.map_or(0, |before| before.mode & 0o7777),
        version_after: change.version_after.clone(),
        facts: before.map(|before| before.facts.clone()).unwrap_or_default(),
        made_folders: change.made_folders,
        whole: false,
        at: before.map(|before| stored.add(&before.content, chunks)),
    }
}

/// How names of things that are kept whole begin.
const THING: &str = "thing-";

/// Gives a part back in which there is no thing.
fn release_empty(folder: &RetainedFolder, part: &Path) {
    let is_thing = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(THING);
    let is_empty = fs::read_dir(part)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| !is_thing(&entry))));
    if is_empty {
        folder.release(part);
    }
}

fn slot(part: &Path, number: usize) -> Result<Slot, FileError> {
    let dir = Root::open(part)?.open_writable_dir(&RelPath::root())?;
    Ok(Slot { dir, name: OsString::from(format!("{THING}{number}")) })
}

pub(super) fn new_record(
    undo_id: &str,
    source: ChangeSource<'_>,
    files: Vec<StoredFile>,
    relocations: Vec<Relocation>,
    tree: Option<TreeSummary>,
) -> Record {
    Record {
        undo_id: undo_id.to_owned(),
        at_ms: time::now_ms(),
        scope: source.scope.to_owned(),
        op: source.op.to_owned(),
        operation_id: source.operation_id.to_owned(),
        caller: source.caller.to_owned(),
        batch: source.batch.map(str::to_owned),
        takes_back: source.takes_back.to_vec(),
        is_rollback: source.is_rollback,
        files,
        relocations,
        tree,
    }
}

pub(super) fn to_line(record: &Record) -> io::Result<Vec<u8>> {
    let mut json = serde_json::to_vec(record).map_err(io::Error::other)?;
    json.push(b'\n');
    if json.len() as u64 > MAX_RECORD_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(json)
}

fn path_key(scope: &str, path: &str) -> String {
    let mut key = sha256_hex(format!("{scope}\0{path}").as_bytes());
    key.truncate(PATH_DIGITS);
    key
}

/// Writes a record with its contents, and waits until it is on disk. It has its name only then: a change that was not
/// begun yet must not look like one whose contents are damaged.
pub(super) fn write_record<'a>(
    part: &Path,
    record: &Record,
    json: &[u8],
    contents: impl Iterator<Item = &'a [u8]> + Clone,
) -> io::Result<()> {
    let written = write_record_files(part, record, json, contents);
    if written.is_err() {
        // Nothing is changed then, and nobody must take the record for one of a change.
        let _ = fs::remove_file(part.join("log").join(&record.undo_id));
    }
    written
}

fn write_record_files<'a>(
    part: &Path,
    record: &Record,
    json: &[u8],
    contents: impl Iterator<Item = &'a [u8]> + Clone,
) -> io::Result<()> {
    let log = part.join("log");
    let write = || {
        write_private_file(&log.join(&record.undo_id), |file| {
            file.write_all(json)?;
            contents.clone().try_for_each(|content| file.write_all(content))
        })
    };
    match write() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_folder(&log)?;
            sync_folder(part)?;
            write()?;
        }
        other => other?,
    }
    for kept in &record.files {
        for path in std::iter::once(&kept.path).chain(&kept.moved_from) {
            name_by_path(part, &path_key(&record.scope, path), &record.undo_id)?;
        }
    }
    Ok(())
}

/// Creates a folder in a part, but never the part: one that has gone meanwhile stays away.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Creates a record findable by a path.
fn name_by_path(part: &Path, key: &str, undo_id: &str) -> io::Result<()> {
    let folder = part.join("paths").join(key);
    let make = || match new_private_file(&folder.join(undo_id)) {
        // A file of two names, both of this path.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    };
    match make() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            folder.parent().into_iter().try_for_each(create_folder)?;
            create_folder(&folder)?;
            make()
        }
        other => other,
    }
}

fn read_record(file: &Path, scope: &str, undo_id: &str) -> io::Result<Option<FoundRecord>> {
    Ok(read_any_record(file, undo_id)?.filter(|found| found.record.scope == scope))
}

/// Reads a record, whatever its scope is; `None` if it is damaged or has gone.
fn read_any_record(file: &Path, undo_id: &str) -> io::Result<Option<FoundRecord>> {
    let read = || {
        let (opened, _): (File, _) = open_own_file(file, Secrecy::Secret)?;
        let mut json = Vec::new();
        BufReader::new(opened.take(MAX_RECORD_BYTES)).read_until(b'\n', &mut json)?;
        Ok(json)
    };
    let json: Option<Vec<u8>> =
        undamaged(read()).map_err(|error| unread(&format!("change {undo_id}"), &error))?;
    let Some(json) = json else { return Ok(None) };
    let record = json.strip_suffix(b"\n").and_then(|line| serde_json::from_slice::<Record>(line).ok());
    Ok(record.filter(|record| record.undo_id == undo_id).map(|record| FoundRecord {
        record,
        file: file.to_owned(),
        contents_at: json.len() as u64,
    }))
}

/// Lists the names in a folder that may not be there, with their paths.
fn names_in(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let list = || {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            names.extend(entry.file_name().into_string().ok().map(|name| (name, entry.path())));
        }
        Ok(names)
    };
    Ok(undamaged(list()).map_err(|error| unread("the kept changes", &error))?.unwrap_or_default())
}

/// Creates the error for something of the store that is there and cannot be read.
fn unread(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what} cannot be read: {error}"))
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
