//! Moving and copying files and whole folders. Either all of it arrives under the new name, or nothing.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::{
    ChangeAttributes, Dir, FileError, FileKind, ReadableFile, RelPath, Stat, WritableDir, next_data,
};
use bailiwick_policy::{PermittedPath, file_failure};

use super::aside::{
    KeepFunction, ReplacedContent, Slot, WholeTree, check_keepable, copy_aside, move_entry, save_aside,
};
use super::remove::untouched;
use super::replace::{IfExists, lost_attributes};
use super::temporary::{TemporaryName, is_temporary, sweep, temporary_name};
use super::trade::keep_both;
use super::tree::{AT_ONCE, Counts, Folder, Survey};
use super::version::{content_version, hash_file};
use super::{CopySource, FileLocation, Locks};

const CHUNK_BYTES: u64 = 8 << 20;

/// How to move or copy.
#[derive(Debug, Clone, Copy)]
pub struct Transfer {
    /// What to do about something that has the new name.
    pub if_exists: IfExists,
    /// Find out what would happen, and do nothing.
    pub dry_run: bool,
}

/// What was moved or copied.
#[derive(Debug)]
pub struct TransferResult {
    /// What it is.
    pub kind: FileKind,
    /// How much it is.
    pub counts: Counts,
    /// Whether something else had the new name and is gone.
    pub replaced: bool,
    /// What the user should know, if anything.
    pub warning: Option<String>,
}

/// Gives an entry another name, in another folder or the same. A link is moved itself.
///
/// # Errors
/// `not_found`, `conflict`, `permission_denied` if a folder holds anything closed, `invalid_request`,
/// `execution_failed` (another file system, among others), `cancelled`, `timeout`. Nothing is changed then.
pub fn rename(
    from: &FileLocation,
    to: &FileLocation,
    transfer: Transfer,
    keep: &mut KeepFunction<'_>,
    locks: &Locks,
    cancel: &Cancel,
) -> Result<TransferResult, Failure> {
    let _held = locks.take(&[from, to], cancel)?;
    let stat = from.must_stat()?;
    taken(&from.path, &stat, to, transfer)?;
    let survey = match stat.kind {
        FileKind::Dir => {
            Some(Survey::of(&from.path, stat, Some(&to.path), Some(to.dir.id()), cancel).map_err(untouched)?)
        }
        _ => None,
    };
    let new = WholeTree::of(&from.dir, &from.name, stat, survey).map_err(|error| from.failure(&error))?;
    let old = WholeTree::at(to, None, cancel).map_err(untouched)?;
    let done = TransferResult { kind: stat.kind, counts: new.counts, replaced: old.is_some(), warning: None };
    if transfer.dry_run {
        return Ok(done);
    }
    cancel.check()?;
    let slot =
        keep(&ReplacedContent { old: old.as_ref(), new: Some(&new), old_version: None, new_version: None })?;
    let Some(old) = &old else {
        commit((&from.dir, &from.name), to, None)?;
        let back = || to.dir.rename_to_free(&to.name, &from.dir, &from.name);
        return sync_names(&[from, to], back).map(|()| done);
    };
    if old.survey.is_none() {
        return replace_by_move(from, to, old, slot, locks, cancel).map(|()| done);
    }
    let failed = |error: FileError| to.failure(&error);
    if let Some(slot) = &slot {
        check_keepable(to, old)?;
        let traded = match slot.dir.id().device == from.dir.id().device {
            true => trade_aside(from, to, old, slot),
            false => Err(FileError::CrossDevice),
        };
        match traded {
            Err(FileError::CrossDevice) => copy_aside(to, old, slot, cancel)?,
            other => return other.map(|()| done).map_err(failed),
        }
    }
    let named = TemporaryName::new(locks.folder(), from.dir.id(), &from.path.shown())?;
    let dir = from.dir.open_dir_beneath(&RelPath::root()).map_err(failed)?;
    let traded = trade_aside(from, to, old, &Slot { dir, name: named.name.clone() });
    if let (Err(_), Some(slot)) = (&traded, &slot)
        && to.dir.stat(&to.name).is_ok_and(|stat| stat.id == old.stat.id)
    {
        let _ = slot.dir.remove_tree(&slot.name);
    }
    named.discard(&from.dir);
    traded.map_err(failed)?;
    Ok(done)
}

/// Copies a file, a link (as a link) or a folder with everything in it.
///
/// # Errors
/// As [`rename`].
pub fn copy(
    from: &CopySource,
    to: &FileLocation,
    transfer: Transfer,
    keep: &mut KeepFunction<'_>,
    locks: &Locks,
    cancel: &Cancel,
) -> Result<TransferResult, Failure> {
    let _held = locks.take(&[to], cancel)?;
    let stat = from.stat()?;
    taken(&from.path, &stat, to, transfer)?;
    let old = WholeTree::at(to, None, cancel).map_err(untouched)?;
    let mut counts = Counts::default();
    let survey = match stat.kind {
        FileKind::Dir => {
            let survey =
                Survey::of(&from.path, stat, Some(&to.path), Some(to.dir.id()), cancel).map_err(untouched)?;
            counts = survey.counts;
            Some(survey)
        }
        FileKind::File | FileKind::Symlink => {
            counts.add(&stat);
            None
        }
        other => return Err(file_failure(&FileError::NotRegular(other), &from.path)),
    };
    let mut done = TransferResult { kind: stat.kind, counts, replaced: old.is_some(), warning: None };
    if transfer.dry_run {
        return Ok(done);
    }
    sweep(&to.dir, locks.folder());
    let named = TemporaryName::new(locks.folder(), to.dir.id(), &to.path.shown())?;
    let temporary = &named.name;
    let made = match &survey {
        Some(survey) => copy_tree(survey, &Source::Judged, &to.dir, temporary, &to.path, cancel),
        None => copy_entry((&from.dir, &from.name), &stat, &from.path, (&to.dir, temporary), cancel),
    };
    let result = made.and_then(|has_attributes| {
        done.warning = (!has_attributes).then(|| lost_attributes(to));
        to.dir.sync_below().map_err(|error| to.failure(&error))?;
        cancel.check()?;
        commit_copy(to, temporary, old.as_ref(), keep, cancel)
    });
    if result.is_err() || old.is_some() {
        // What has the temporary name now is our own copy, or what it has replaced, which was looked through and is kept,
        // or is not wanted any more.
        named.discard(&to.dir);
    }
    result.map(|()| done)
}

/// Moves to the name of a file or link, which stays as it is if that fails.
fn replace_by_move(
    from: &FileLocation,
    to: &FileLocation,
    old: &WholeTree,
    slot: Option<Slot>,
    locks: &Locks,
    cancel: &Cancel,
) -> Result<(), Failure> {
    if let Some(slot) = &slot {
        save_aside(to, old, slot, cancel)?;
    }
    // What is replaced has a second name until the new one is on the disk, where the file system knows such names.
    let second = TemporaryName::new(locks.folder(), to.dir.id(), &to.path.shown())?;
    let linked = match to.dir.link(&to.name, &to.dir, &second.name) {
        Err(FileError::CrossDevice) => Ok(()),
        linked => linked.map_err(|error| to.failure(&error)),
    };
    let moved = linked.and_then(|()| commit((&from.dir, &from.name), to, Some(old))).and_then(|()| {
        sync_names(&[from, to], || {
            if to.dir.stat(&second.name).is_ok() {
                to.dir.rename_to_free(&to.name, &from.dir, &from.name)?;
                to.dir.rename_to_free(&second.name, &to.dir, &to.name)?;
            }
            Ok(())
        })
    });
    if moved.is_err() {
        keep_replaced(to, &second.name, old, slot.as_ref());
    }
    second.discard(&to.dir);
    moved
}

/// Waits until names are on the disk. What is not known to be there is not done: `back` takes it back.
fn sync_names(places: &[&FileLocation], back: impl FnOnce() -> Result<(), FileError>) -> Result<(), Failure> {
    for place in places {
        if let Err(error) = place.dir.sync() {
            let _ = back();
            return Err(place.failure(&error));
        }
    }
    Ok(())
}

/// Deals with a file or link that was to be replaced, after that has failed. If it has its name again, nothing of it is kept
/// aside; if not, it gets a name beside it.
fn keep_replaced(to: &FileLocation, temporary: &OsStr, old: &WholeTree, slot: Option<&Slot>) {
    let has_it = |name: &OsStr| to.dir.stat(name).is_ok_and(|stat| stat.id == old.stat.id);
    if has_it(&to.name) {
        if let Some(slot) = slot {
            let _ = slot.dir.remove_file(&slot.name);
        }
    } else if has_it(temporary) {
        keep_both(&to.dir, temporary, &to.name);
    }
}

/// Returns a finished copy its name, after what has it was kept.
fn commit_copy(
    to: &FileLocation,
    temporary: &OsStr,
    old: Option<&WholeTree>,
    keep: &mut KeepFunction<'_>,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let failed = |error: FileError| to.failure(&error);
    let at = Slot { dir: to.dir.open_dir_beneath(&RelPath::root()).map_err(failed)?, name: temporary.into() };
    let Some(new) = WholeTree::kept(&at, &to.path, cancel)? else { return Err(failed(FileError::NotFound)) };
    let version = match new.is_plain() {
        true => {
            Some(content_version(&hash_file(&mut at.dir.open_file(temporary).map_err(failed)?.file, cancel)?))
        }
        false => None,
    };
    let slot =
        keep(&ReplacedContent { old, new: Some(&new), old_version: None, new_version: version.as_deref() })?;
    let Some(old) = old else {
        commit((&to.dir, temporary), to, None)?;
        return sync_names(&[to], || to.dir.rename_to_free(&to.name, &to.dir, temporary));
    };
    let exchange = || match old.survey.is_some() {
        true => to.dir.exchange(temporary, &to.dir, &to.name, &temporary_name()).map(|()| true),
        false => to.dir.exchange_at_once(temporary, &to.dir, &to.name),
    };
    let trade = || match exchange().map_err(failed)? {
        true => sync_names(&[to], || exchange().map(drop)),
        // Nothing else replaces a file at once, and what it replaces cannot come back then.
        false => {
            commit((&to.dir, temporary), to, Some(old))?;
            to.dir.sync().map_err(failed)
        }
    };
    let Some(slot) = slot else {
        return trade().inspect_err(|_| keep_replaced(to, temporary, old, None));
    };
    if old.survey.is_none() {
        return save_aside(to, old, &slot, cancel)
            .and_then(|()| trade())
            .inspect_err(|_| keep_replaced(to, temporary, old, Some(&slot)));
    }
    check_keepable(to, old)?;
    // By way of the slot: at every moment the old folder has its name, or is where it is kept.
    match to.dir.rename_to_free(temporary, &slot.dir, &slot.name) {
        Ok(()) => {
            let exchange = || slot.dir.exchange(&slot.name, &to.dir, &to.name, &temporary_name());
            let swapped = exchange().and_then(|()| {
                slot.dir.sync().and_then(|()| to.dir.sync()).inspect_err(|_| {
                    // What is not known to be on the disk is not done.
                    let _ = exchange();
                })
            });
            if swapped.is_err() && !slot.dir.stat(&slot.name).is_ok_and(|stat| stat.id == old.stat.id) {
                // Our own copy goes where it is removed.
                let _ = slot.dir.rename_to_free(&slot.name, &to.dir, temporary);
            }
            swapped.map_err(failed)
        }
        Err(FileError::CrossDevice) => {
            copy_aside(to, old, &slot, cancel)?;
            trade().inspect_err(|_| keep_replaced(to, temporary, old, None))
        }
        Err(error) => Err(failed(error)),
    }
}

/// Lets two folders trade names, and puts the one that is replaced aside; or nothing is changed.
fn trade_aside(
    from: &FileLocation,
    to: &FileLocation,
    old: &WholeTree,
    slot: &Slot,
) -> Result<(), FileError> {
    let exchange = || from.dir.exchange(&from.name, &to.dir, &to.name, &temporary_name());
    exchange()?;
    let moved = move_entry((&from.dir, &from.name), old, (&slot.dir, &slot.name)).and_then(|()| {
        slot.dir.sync().and_then(|()| from.dir.sync()).and_then(|()| to.dir.sync()).inspect_err(|_| {
            let _ = move_entry((&slot.dir, &slot.name), old, (&from.dir, &from.name));
        })
    });
    moved.inspect_err(|_| {
        // What is not known to be on the disk is not done.
        let _ = exchange();
    })
}

/// Finds out whether something has the new name, and whether it may be replaced.
fn taken(
    from: &PermittedPath,
    stat: &Stat,
    to: &FileLocation,
    transfer: Transfer,
) -> Result<Option<Stat>, Failure> {
    let Some(old) = to.stat()? else { return Ok(None) };
    if old.id == stat.id {
        return Err(Failure::invalid(
            "input.to",
            format!("`{}` and `{}` are the same file", from.shown(), to.path.shown()),
        )
        .hint("Choose another name."));
    }
    let conflict = |message: String| Failure::new(ErrorCode::Conflict, message);
    if transfer.if_exists == IfExists::Fail {
        let failure = to
            .failure(&FileError::Exists)
            .detail("kind", old.kind.describe())
            .hint("Set `options.ifExists` to \"replace\" to replace it.");
        return Err(match old.kind {
            FileKind::Dir => failure.hint("`input.to` is the whole new path, the new name included."),
            _ => failure,
        });
    }
    match (stat.kind == FileKind::Dir, old.kind) {
        (true, FileKind::Dir) | (false, FileKind::File | FileKind::Symlink) => Ok(Some(old)),
        (true, _) => {
            Err(conflict(format!("`{}` is no folder, and a folder replaces only one", to.path.shown())))
        }
        (false, kind) => Err(conflict(format!(
            "`{}` is {}, which a file does not replace",
            to.path.shown(),
            kind.describe()
        ))),
    }
}

/// Puts the finished entry under its new name: the one step that counts.
fn commit(
    (dir, name): (&WritableDir, &OsStr),
    to: &FileLocation,
    old: Option<&WholeTree>,
) -> Result<(), Failure> {
    match old.map(|old| old.survey.is_some()) {
        None => dir.rename_to_free(name, &to.dir, &to.name),
        Some(false) => dir.rename(name, &to.dir, &to.name),
        Some(true) => dir.exchange(name, &to.dir, &to.name, &temporary_name()),
    }
    .map_err(|error| to.failure(&error))
}

/// From where a tree is copied.
pub(super) enum Source<'a> {
    /// From the judged paths of its folders.
    Judged,
    /// From a name in a private folder; the judged paths are where it goes.
    Kept(&'a Dir, &'a OsStr),
}

impl Source<'_> {
    fn open(&self, folder: &Folder) -> Result<Dir, Failure> {
        match self {
            Self::Judged => folder.open(),
            Self::Kept(dir, name) => {
                let opened = dir.open_dir(name).and_then(|top| top.open_dir_beneath(&folder.below));
                opened.map_err(|error| file_failure(&error, &folder.path))
            }
        }
    }
}

/// Copies a tree to a name that is free in an open folder. Returns whether all extended attributes came along.
pub(super) fn copy_tree(
    survey: &Survey,
    source: &Source<'_>,
    to: &WritableDir,
    name: &OsStr,
    path: &PermittedPath,
    cancel: &Cancel,
) -> Result<bool, Failure> {
    let failed = |error: FileError| file_failure(&error, path);
    let mut has_attributes = true;
    to.make_dir(name).map_err(failed)?;
    let open_new =
        |below: &RelPath| to.open_dir(name).and_then(|top| top.open_dir_beneath(below)).map_err(failed);
    for folder in &survey.folders {
        let dir = source.open(folder)?;
        let new = open_new(&folder.below)?;
        for entry in dir.entries_in_order(AT_ONCE) {
            let entry = entry.map_err(|error| file_failure(&error, &folder.path))?;
            cancel.check()?;
            if is_temporary(&entry.name) {
                continue;
            }
            // Judged again: it may have come into being since.
            let child = folder.path.child(&entry.name)?;
            if let Some(to) = &folder.to {
                to.child(&entry.name)?;
            }
            let stat = match dir.stat(&entry.name) {
                Ok(stat) => stat,
                Err(FileError::NotFound) => continue,
                Err(error) => return Err(file_failure(&error, &child)),
            };
            match stat.kind {
                FileKind::Dir => new.make_dir(&entry.name).map_err(failed)?,
                FileKind::File | FileKind::Symlink => {
                    has_attributes &=
                        copy_entry((&dir, &entry.name), &stat, &child, (&new, &entry.name), cancel)?;
                }
                // Pipes, sockets and devices have no content; the counts tell of them.
                FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {}
            }
        }
    }
    for folder in survey.folders.iter().rev() {
        let new = open_new(&folder.below)?;
        // A file system without attributes refuses; the content matters more.
        has_attributes &= new.copy_attributes(&source.open(folder)?).unwrap_or(false);
        new.set_mode(folder.stat.mode).map_err(failed)?;
        // Not every file system keeps times.
        let _ = new.set_modified_as(&folder.stat);
    }
    Ok(has_attributes)
}

/// Copies one file or link to a name that is free. Returns whether all extended attributes came along.
pub(super) fn copy_entry(
    (dir, name): (&Dir, &OsStr),
    stat: &Stat,
    path: &PermittedPath,
    (to, new_name): (&WritableDir, &OsStr),
    cancel: &Cancel,
) -> Result<bool, Failure> {
    let failed = |error: FileError| file_failure(&error, path);
    if stat.kind == FileKind::Symlink {
        let leads_to = dir.read_link(name).map_err(failed)?;
        return to.make_link(new_name, &leads_to).map(|()| true).map_err(failed);
    }
    let ReadableFile { mut file, stat } = dir.open_file(name).map_err(failed)?;
    path.judge_names_of(&stat)?;
    let mut new = to.create_file(new_name, 0o600).map_err(failed)?;
    // Before there is anything to read for those who may not.
    // A file system without attributes refuses; the content matters more.
    let has_attributes = new.copy_attributes(&file).map_err(failed)?;
    copy_content(&mut file, &mut new, stat.size, cancel).map_err(|failure| failure.unwrap_or_else(failed))?;
    new.set_mode(stat.mode).map_err(failed)?;
    // Not every file system keeps times.
    let _ = new.set_modified_as(&stat);
    Ok(has_attributes)
}

/// Why copying stopped: a failure that is complete, or one of a file that needs a path.
enum CopyStop {
    Told(Failure),
    File(FileError),
}

impl CopyStop {
    fn unwrap_or_else(self, failed: impl Fn(FileError) -> Failure) -> Failure {
        match self {
            Self::Told(failure) => failure,
            Self::File(error) => failed(error),
        }
    }
}

/// Copies a content. Holes stay holes.
fn copy_content(from: &mut File, to: &mut File, size: u64, cancel: &Cancel) -> Result<(), CopyStop> {
    let failed = |error: std::io::Error| CopyStop::File(error.into());
    let mut at = 0;
    while let Some(data) = next_data(from, at, size) {
        from.seek(SeekFrom::Start(data.start)).map_err(failed)?;
        to.seek(SeekFrom::Start(data.start)).map_err(failed)?;
        at = data.start;
        while at < data.end {
            cancel.check().map_err(CopyStop::Told)?;
            let chunk = CHUNK_BYTES.min(data.end - at);
            let copied = std::io::copy(&mut (&*from).take(chunk), to).map_err(failed)?;
            if copied == 0 {
                // It was cut meanwhile.
                to.set_len(at).map_err(failed)?;
                return to.flush().map_err(failed);
            }
            at += copied;
        }
    }
    if at < size {
        to.set_len(size).map_err(failed)?;
    }
    // What was added since it was checked belongs to it too.
    from.seek(SeekFrom::Start(size)).map_err(failed)?;
    to.seek(SeekFrom::Start(size)).map_err(failed)?;
    loop {
        cancel.check().map_err(CopyStop::Told)?;
        if std::io::copy(&mut (&*from).take(CHUNK_BYTES), to).map_err(failed)? == 0 {
            return to.flush().map_err(failed);
        }
    }
}
