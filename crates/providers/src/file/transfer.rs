//! Moving and copying files and whole folders. Either all of it arrives under the new name, or nothing.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::{Attributes, Dir, DoorError, FileKind, Opened, Stat};
use bailiwick_policy::{PermittedPath, door_failure};

use super::remove::{open_below, remove_tree, untouched};
use super::replace::IfExists;
use super::temporary::{is_temporary, sweep, temporary_name};
use super::tree::{Counts, Folder, Survey};
use super::{Locks, Place};

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
pub struct Transferred {
    /// What it is.
    pub kind: FileKind,
    /// How much it is.
    pub counts: Counts,
    /// Whether something else had the new name and is gone.
    pub replaced: bool,
}

/// Gives an entry another name, in another folder or the same. A link is moved itself.
///
/// # Errors
/// `not_found`, `conflict`, `permission_denied` if a folder holds anything closed, `invalid_request`,
/// `execution_failed` (another file system, among others), `cancelled`, `timeout`. Nothing is changed then.
pub fn rename(
    from: &Place,
    to: &Place,
    transfer: Transfer,
    locks: &Locks,
    cancel: &Cancel,
) -> Result<Transferred, Failure> {
    let _held = locks.take(&[from, to], cancel)?;
    let stat = from.must_stat()?;
    let old = taken(from, &stat, to, transfer)?;
    let mut counts = Counts::default();
    if stat.kind == FileKind::Dir {
        let survey =
            Survey::of(&from.path, stat, Some(&to.path), Some(to.dir.id()), cancel).map_err(untouched)?;
        counts = survey.counts;
    } else {
        counts.add(&stat);
    }
    let replaced = old.is_some();
    let done = Transferred { kind: stat.kind, counts, replaced };
    let old_tree = survey_old(to, old, cancel)?;
    if transfer.dry_run {
        return Ok(done);
    }
    cancel.check()?;
    commit(&from.dir, &from.name, to, replaced, old_tree.is_some())?;
    if let Some(survey) = old_tree {
        // The old folder stands under the old name now.
        remove_exchanged(from, &survey, cancel)?;
    }
    from.dir.sync().map_err(|error| from.failure(&error))?;
    to.dir.sync().map_err(|error| to.failure(&error))?;
    Ok(done)
}

/// Copies a file, a link (as a link) or a folder with everything in it.
///
/// # Errors
/// As [`rename`].
pub fn copy(
    from: &Place,
    to: &Place,
    transfer: Transfer,
    locks: &Locks,
    cancel: &Cancel,
) -> Result<Transferred, Failure> {
    let _held = locks.take(&[to], cancel)?;
    let stat = from.must_stat()?;
    let old = taken(from, &stat, to, transfer)?;
    let replaced = old.is_some();
    let old_tree = survey_old(to, old, cancel)?;
    let temporary = temporary_name();
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
        other => return Err(from.failure(&DoorError::NotRegular(other))),
    };
    let done = Transferred { kind: stat.kind, counts, replaced };
    if transfer.dry_run {
        return Ok(done);
    }
    sweep(&to.dir);
    let made = match &survey {
        Some(survey) => copy_tree(survey, to, &temporary, cancel),
        None => copy_entry(&from.dir, &from.name, &stat, &from.path, &to.dir, &temporary, cancel),
    };
    let result = made.and_then(|()| {
        to.dir.sync_below().map_err(|error| to.failure(&error))?;
        cancel.check()?;
        commit(&to.dir, &temporary, to, replaced, old_tree.is_some())
    });
    if result.is_err() || old_tree.is_some() {
        // What has the temporary name now is our own copy, or the folder that it has replaced,
        // which was looked through before. What stays is removed by nobody but costs only space.
        let _ = match (stat.kind, &result) {
            (FileKind::Dir, _) => to.dir.remove_tree(&temporary),
            _ => to.dir.remove_file(&temporary),
        };
    }
    result?;
    to.dir.sync().map_err(|error| to.failure(&error))?;
    Ok(done)
}

/// Finds out whether something has the new name, and whether it may be replaced.
fn taken(from: &Place, stat: &Stat, to: &Place, transfer: Transfer) -> Result<Option<Stat>, Failure> {
    let Some(old) = to.stat()? else { return Ok(None) };
    if old.id == stat.id {
        return Err(Failure::invalid(
            "input.to",
            format!("`{}` and `{}` are the same file", from.path.shown(), to.path.shown()),
        )
        .hint("Choose another name."));
    }
    let conflict = |message: String| Failure::new(ErrorCode::Conflict, message);
    if transfer.if_exists == IfExists::Fail {
        let failure = to
            .failure(&DoorError::Exists)
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

/// Looks through a folder that is to be replaced.
fn survey_old(to: &Place, old: Option<Stat>, cancel: &Cancel) -> Result<Option<Survey>, Failure> {
    match old {
        Some(stat) if stat.kind == FileKind::Dir => {
            Survey::of(&to.path, stat, None, None, cancel).map(Some).map_err(untouched)
        }
        _ => Ok(None),
    }
}

/// Puts the finished entry under its new name: the one step that counts.
fn commit(dir: &Dir, name: &OsStr, to: &Place, replaced: bool, old_is_tree: bool) -> Result<(), Failure> {
    match (replaced, old_is_tree) {
        (false, _) => dir.rename_to_free(name, &to.dir, &to.name),
        (true, false) => dir.rename(name, &to.dir, &to.name),
        (true, true) => dir.exchange(name, &to.dir, &to.name, &temporary_name()),
    }
    .map_err(|error| to.failure(&error))
}

/// Removes a folder that was looked through under another name, before both traded places.
fn remove_exchanged(at: &Place, survey: &Survey, cancel: &Cancel) -> Result<(), Failure> {
    let moved = survey.folders.iter().map(|folder| {
        let mut path = at.path.clone();
        for name in folder.below.components() {
            path = path.child(bailiwick_platform::names::OsStrExt::from_bytes(name))?;
        }
        Ok(Folder { path, to: None, below: folder.below.clone(), stat: folder.stat })
    });
    let survey = Survey { folders: moved.collect::<Result<_, Failure>>()?, counts: survey.counts };
    remove_tree(at, &survey, &mut Counts::default(), cancel)
}

fn copy_tree(survey: &Survey, to: &Place, temporary: &OsStr, cancel: &Cancel) -> Result<(), Failure> {
    let failed = |error: DoorError| to.failure(&error);
    to.dir.make_dir(temporary).map_err(failed)?;
    for folder in &survey.folders {
        let dir = folder.open()?;
        let new = open_below(&to.dir, temporary, &folder.below).map_err(failed)?;
        for entry in dir.entries().map_err(|error| door_failure(&error, &folder.path))? {
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
                Err(DoorError::NotFound) => continue,
                Err(error) => return Err(door_failure(&error, &child)),
            };
            match stat.kind {
                FileKind::Dir => new.make_dir(&entry.name).map_err(failed)?,
                FileKind::File | FileKind::Symlink => {
                    copy_entry(&dir, &entry.name, &stat, &child, &new, &entry.name, cancel)?;
                }
                // Pipes, sockets and devices have no content; the counts tell of them.
                FileKind::Fifo | FileKind::Socket | FileKind::Device | FileKind::Other => {}
            }
        }
    }
    for folder in survey.folders.iter().rev() {
        let new = open_below(&to.dir, temporary, &folder.below).map_err(failed)?;
        new.set_mode(folder.stat.mode).map_err(failed)?;
        // Not every file system keeps times.
        let _ = new.set_modified_as(&folder.stat);
    }
    Ok(())
}

/// Copies one file or link to a name that is free.
fn copy_entry(
    dir: &Dir,
    name: &OsStr,
    stat: &Stat,
    path: &PermittedPath,
    to: &Dir,
    new_name: &OsStr,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let failed = |error: DoorError| door_failure(&error, path);
    if stat.kind == FileKind::Symlink {
        let leads_to = dir.read_link(name).map_err(failed)?;
        return to.make_link(new_name, &leads_to).map_err(failed);
    }
    let Opened { mut file, stat } = dir.open_file(name).map_err(failed)?;
    path.judge_names_of(&stat)?;
    let mut new = to.create_file(new_name, 0o600).map_err(failed)?;
    // Before there is anything to read for those who may not.
    new.copy_attributes(&file).map_err(failed)?;
    copy_content(&mut file, &mut new, cancel).map_err(|failure| failure.unwrap_or_else(failed))?;
    new.set_mode(stat.mode).map_err(failed)?;
    // Not every file system keeps times.
    let _ = new.set_modified_as(&stat);
    Ok(())
}

/// Why copying stopped: a failure that is complete, or one of the door that needs a path.
enum Stopped {
    Told(Failure),
    Door(DoorError),
}

impl Stopped {
    fn unwrap_or_else(self, failed: impl Fn(DoorError) -> Failure) -> Failure {
        match self {
            Self::Told(failure) => failure,
            Self::Door(error) => failed(error),
        }
    }
}

fn copy_content(from: &mut File, to: &mut File, cancel: &Cancel) -> Result<(), Stopped> {
    loop {
        cancel.check().map_err(Stopped::Told)?;
        let copied = std::io::copy(&mut (&*from).take(CHUNK_BYTES), to)
            .map_err(|error| Stopped::Door(error.into()))?;
        if copied == 0 {
            return to.flush().map_err(|error| Stopped::Door(error.into()));
        }
    }
}
