//! Putting things aside instead of removing them, and putting them back: folders, links and large files as they are.
//!
//! Where the file system is the same, a thing is moved, which takes no time and keeps all that belongs to it; elsewhere
//! it is copied. At no moment is it neither here nor there.

use std::ffi::{OsStr, OsString};

use bailiwick_contract::{Cancel, Failure};
use bailiwick_platform::fs::{
    ChangeAttributes, Dir, FileError, FileKind, NO_USER, RelPath, Stat, WritableDir,
};
use bailiwick_platform::machine::user_id;
use bailiwick_policy::PermittedPath;

use super::temporary::{TemporaryName, sweep};
use super::transfer::{Source, copy_entry, copy_tree};
use super::tree::{Counts, Fingerprint, Survey};
use super::{FileLocation, Locks};

/// The largest file whose content is kept with the record of a change.
pub const MAX_PLAIN_BYTES: u64 = 16 << 20;
/// How much an entry takes beside its content.
const ENTRY_BYTES: u64 = 4_096;
/// A file has holes that count if they are larger than this.
const MIN_HOLE_BYTES: u64 = 64 << 10;

/// A free name in a folder that no scope and no command reaches.
#[derive(Debug)]
pub struct Slot {
    /// The folder.
    pub dir: WritableDir,
    /// The name.
    pub name: OsString,
}

/// What a change replaces or removes, and what comes in its place.
#[derive(Debug, Clone, Copy)]
pub struct ReplacedContent<'a> {
    /// What goes; `None` if the name is free.
    pub old: Option<&'a WholeTree>,
    /// What comes; `None` if the name is free afterwards.
    pub new: Option<&'a WholeTree>,
    /// The version of the content of a file that goes, where it is known.
    pub old_version: Option<&'a str>,
    /// The version of the content of a file that comes, where it is known.
    pub new_version: Option<&'a str>,
}

/// Keeps what goes, right before it goes. All of it is on disk then; where it returns a slot, what goes is put there.
pub type KeepFunction<'a> = dyn FnMut(&ReplacedContent<'_>) -> Result<Option<Slot>, Failure> + 'a;

/// A thing with all that is in it, looked through.
#[derive(Debug)]
pub struct WholeTree {
    /// What it is.
    pub stat: Stat,
    /// What is in it, itself included.
    pub counts: Counts,
    /// Stands for it as it is.
    pub version: String,
    fingerprint: Fingerprint,
    pub(super) survey: Option<Survey>,
}

impl WholeTree {
    /// Looks at what has the name of a place; `None` if nothing has. Every entry is judged, and with `to` also where it
    /// would go.
    ///
    /// # Errors
    /// Those of [`Survey::of`].
    pub fn at(
        place: &FileLocation,
        to: Option<&FileLocation>,
        cancel: &Cancel,
    ) -> Result<Option<Self>, Failure> {
        let Some(stat) = place.stat()? else { return Ok(None) };
        let survey = match stat.kind {
            FileKind::Dir => {
                let (path, folder) = (to.map(|to| &*to.path), to.map(|to| to.dir.id()));
                Some(Survey::of(&place.path, stat, path, folder, cancel)?)
            }
            _ => None,
        };
        Self::of(&place.dir, &place.name, stat, survey).map(Some).map_err(|error| place.failure(&error))
    }

    /// Looks at what was put aside, and judges every entry as if it were at `path`; `None` if nothing is there.
    ///
    /// # Errors
    /// Those of [`Survey::of_kept`].
    pub fn kept(slot: &Slot, path: &PermittedPath, cancel: &Cancel) -> Result<Option<Self>, Failure> {
        let failed = |error: FileError| bailiwick_policy::file_failure(&error, path);
        let stat = match slot.dir.stat(&slot.name) {
            Ok(stat) => stat,
            Err(FileError::NotFound) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let survey = match stat.kind {
            FileKind::Dir => Some(Survey::of_kept(&slot.dir, &slot.name, path, stat, cancel)?),
            _ => None,
        };
        Self::of(&slot.dir, &slot.name, stat, survey).map(Some).map_err(failed)
    }

    pub(super) fn of(dir: &Dir, name: &OsStr, stat: Stat, survey: Option<Survey>) -> Result<Self, FileError> {
        let (mut counts, mut fingerprint) = (Counts::default(), Fingerprint::default());
        if let Some(survey) = &survey {
            (counts, fingerprint) = (survey.counts, survey.fingerprint);
        } else {
            counts.add(&stat);
        }
        fingerprint.add(dir, name, &RelPath::root(), &stat)?;
        Ok(Self { stat, counts, version: fingerprint.version(), fingerprint, survey })
    }

    /// Returns the version that it would have if files of it had been changed at these times.
    pub fn version_with_times(&self, place: &FileLocation, times: &[(PermittedPath, i64)]) -> String {
        let mut fingerprint = self.fingerprint;
        let own = place.path.rel().as_bytes();
        for (path, modified_ns) in times {
            let below = path.rel().as_bytes().strip_prefix(own).and_then(|rest| match rest {
                [] => Some(RelPath::root()),
                [b'/', rest @ ..] => RelPath::parse(rest).ok(),
                _ => None,
            });
            if let (Some(below), Ok(stat)) = (below, path.stat())
                && stat.kind == FileKind::File
            {
                fingerprint.set_time(&below, &stat, *modified_ns);
            }
        }
        fingerprint.version()
    }

    /// Returns whether it is a file whose content, with its facts, says all there is to it.
    pub fn is_plain(&self) -> bool {
        is_plain(&self.stat)
    }

    /// Returns how much it takes where it is kept.
    pub fn disk_bytes(&self) -> u64 {
        self.counts.bytes.saturating_add(self.counts.total().saturating_mul(ENTRY_BYTES))
    }
}

/// Returns whether facts are those of a file whose content says all there is to it: of usual size, with one name, without
/// holes, of this user, and without bits
/// that give rights.
pub fn is_plain(stat: &Stat) -> bool {
    stat.kind == FileKind::File
        && stat.size <= MAX_PLAIN_BYTES
        && stat.links < 2
        && stat.mode & !0o777 == 0
        && (stat.user == NO_USER || stat.user == user_id())
        && stat.disk_bytes.saturating_add(MIN_HOLE_BYTES) >= stat.size
}

/// Puts what has the name of a place aside; the name is free then.
///
/// # Errors
/// The usual ones; nothing is changed then.
pub fn put_aside(
    place: &FileLocation,
    whole: &WholeTree,
    slot: &Slot,
    locks: &Locks,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let failed = |error: FileError| place.failure(&error);
    check_keepable(place, whole)?;
    match move_entry((&place.dir, &place.name), whole, (&slot.dir, &slot.name)) {
        Ok(()) => {
            return slot.dir.sync().and_then(|()| place.dir.sync()).map_err(|error| {
                // What is not known to be on the disk is not done.
                let _ = move_entry((&slot.dir, &slot.name), whole, (&place.dir, &place.name));
                failed(error)
            });
        }
        Err(FileError::CrossDevice) => {}
        Err(error) => return Err(failed(error)),
    }
    copy_aside(place, whole, slot, cancel)?;
    remove_kept(place, whole, locks).inspect_err(|_| {
        if place.dir.stat(&place.name).is_ok() {
            discard(&slot.dir, &slot.name, whole.stat.kind);
        }
    })
}

/// Removes what is kept by now: it loses its name at once.
///
/// # Errors
/// The usual ones; nothing is changed then.
pub fn remove_kept(place: &FileLocation, whole: &WholeTree, locks: &Locks) -> Result<(), Failure> {
    let named = TemporaryName::new(locks.folder(), place.dir.id(), &place.path.shown())?;
    let (at, aside) = ((&place.dir, &*place.name), (&place.dir, &*named.name));
    let moved = move_entry(at, whole, aside).and_then(|()| {
        place.dir.sync().inspect_err(|_| {
            // What is not known to be on the disk is not done.
            let _ = move_entry(aside, whole, at);
        })
    });
    moved.map_err(|error| place.failure(&error))?;
    named.discard(&place.dir);
    Ok(())
}

/// Refuses what cannot be put aside whole.
pub(super) fn check_keepable(place: &FileLocation, whole: &WholeTree) -> Result<(), Failure> {
    match whole.survey.as_ref().is_some_and(|survey| survey.is_mixed) {
        true => Err(not_copied(place, "a part of it is on another file system")),
        false => Ok(()),
    }
}

/// Creates a second name aside for what has the name of a place, or makes a copy there: the name itself stays. Not for
/// folders.
///
/// # Errors
/// The usual ones; nothing is changed then.
pub(super) fn save_aside(
    place: &FileLocation,
    whole: &WholeTree,
    slot: &Slot,
    cancel: &Cancel,
) -> Result<(), Failure> {
    match place.dir.link(&place.name, &slot.dir, &slot.name) {
        Ok(()) => slot.dir.sync().map_err(|error| place.failure(&error)),
        Err(FileError::CrossDevice) => copy_aside(place, whole, slot, cancel),
        Err(error) => Err(place.failure(&error)),
    }
}

/// Copies what has the name of a place aside, all of it or nothing.
pub(super) fn copy_aside(
    place: &FileLocation,
    whole: &WholeTree,
    slot: &Slot,
    cancel: &Cancel,
) -> Result<(), Failure> {
    if whole.counts.others > 0 {
        return Err(not_copied(place, "pipes, sockets and devices cannot be copied"));
    }
    let copied = match &whole.survey {
        Some(survey) => copy_tree(survey, &Source::Judged, &slot.dir, &slot.name, &place.path, cancel),
        None => {
            let (from, to) = ((&*place.dir, &*place.name), (&slot.dir, &*slot.name));
            copy_entry(from, &whole.stat, &place.path, to, cancel)
        }
    };
    // Of what is kept, the content matters more than attributes that the file system refuses.
    let copied = copied.and_then(|_| slot.dir.sync_below().map_err(|error| place.failure(&error)));
    if copied.is_err() {
        discard(&slot.dir, &slot.name, whole.stat.kind);
    }
    copied
}

/// Puts what was put aside under the name of a place, which must be free.
///
/// # Errors
/// The usual ones; nothing is changed then.
pub fn put_back(
    slot: &Slot,
    whole: &WholeTree,
    place: &FileLocation,
    locks: &Locks,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let failed = |error: FileError| place.failure(&error);
    match move_entry((&slot.dir, &slot.name), whole, (&place.dir, &place.name)) {
        Ok(()) => {
            return place.dir.sync().and_then(|()| slot.dir.sync()).map_err(|error| {
                // What is not known to be on the disk is not done.
                let _ = move_entry((&place.dir, &place.name), whole, (&slot.dir, &slot.name));
                failed(error)
            });
        }
        Err(FileError::CrossDevice) => {}
        Err(error) => return Err(failed(error)),
    }
    sweep(&place.dir, locks.folder());
    let named = TemporaryName::new(locks.folder(), place.dir.id(), &place.path.shown())?;
    let temporary = &named.name;
    let copied = match &whole.survey {
        Some(survey) => {
            let source = Source::Kept(&slot.dir, &slot.name);
            copy_tree(survey, &source, &place.dir, temporary, &place.path, cancel)
        }
        None => {
            let (from, to) = ((&*slot.dir, &*slot.name), (&place.dir, &**temporary));
            copy_entry(from, &whole.stat, &place.path, to, cancel)
        }
    };
    let done = copied.and_then(|_| {
        place.dir.sync_below().map_err(failed)?;
        place.dir.rename_to_free(temporary, &place.dir, &place.name).map_err(failed)
    });
    let done = done.and_then(|()| {
        place.dir.sync().map_err(|error| {
            // What is not known to be on the disk is not done.
            let _ = place.dir.rename_to_free(&place.name, &place.dir, temporary);
            failed(error)
        })
    });
    if done.is_err() {
        named.discard(&place.dir);
        return done;
    }
    // It is back; what stays aside goes when it is old.
    discard(&slot.dir, &slot.name, whole.stat.kind);
    Ok(())
}

/// Moves an entry to a free name in another folder of the file system.
pub(super) fn move_entry(
    from: (&WritableDir, &OsStr),
    whole: &WholeTree,
    to: (&WritableDir, &OsStr),
) -> Result<(), FileError> {
    match from.0.rename_to_free(from.1, to.0, to.1) {
        // An empty folder that may not be written can be removed, and so it can be moved.
        Err(FileError::Denied) if whole.stat.kind == FileKind::Dir && whole.counts.total() == 1 => {
            let dir = from.0.open_dir(from.1)?;
            dir.set_mode(whole.stat.mode | 0o700)?;
            let moved = from.0.rename_to_free(from.1, to.0, to.1);
            dir.set_mode(whole.stat.mode)?;
            moved
        }
        other => other,
    }
}

/// Removes a copy of our own. What stays costs only space.
fn discard(dir: &WritableDir, name: &OsStr, kind: FileKind) {
    let _ = match kind {
        FileKind::Dir => dir.remove_tree(name),
        _ => dir.remove_file(name),
    };
}

/// Returns why something cannot be kept.
fn not_copied(place: &FileLocation, why: &str) -> Failure {
    cannot_undo(&format!("`{}` cannot be kept for undo: {why}", place.path.shown()))
}

/// Creates the failure of a change that could not be undone.
pub fn cannot_undo(message: &str) -> Failure {
    Failure::invalid("options.withoutUndo", message)
        .detail("rule", "no-undo")
        .hint("Set `options.withoutUndo` to true to do it without undo. Nothing was changed.")
}
