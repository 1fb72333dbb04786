//! Removing files, links and folders, by handle and from the bottom up.

use std::ffi::OsStr;

use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_platform::fs::{FileError, FileKind, Stat};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::file_failure;

use super::aside::{KeepFunction, ReplacedContent, WholeTree, put_aside};
use super::change::{ExistingFile, changed_meanwhile};
use super::temporary::TemporaryName;
use super::trade::{ExpectedFile, PATIENCE, Patience, Trade, take};
use super::tree::{AT_ONCE, Counts, Survey};
use super::version::facts_version;
use super::{FileLocation, Locks};

/// How to remove.
#[derive(Debug, Clone, Copy)]
pub struct Removal {
    /// Remove a folder with everything in it.
    pub recursive: bool,
    /// Find out what would go, and do nothing.
    pub dry_run: bool,
}

/// What was removed.
#[derive(Debug)]
pub struct RemovalResult {
    /// What the name stood for.
    pub stat: Stat,
    /// Everything that went, the name itself included.
    pub counts: Counts,
    /// What the client should know.
    pub warning: Option<String>,
}

/// Removes what has the name of a place. A link goes itself, never what it leads to. `keep` is asked right before
/// anything goes.
///
/// # Errors
/// `not_found`; `conflict` for a folder with entries without `recursive`; `permission_denied` if the
/// tree holds anything closed (nothing is removed then); `cancelled`, `timeout`, `execution_failed`
/// with `details.removed` where it stopped half-way.
pub fn remove(
    place: &FileLocation,
    removal: Removal,
    keep: &mut KeepFunction<'_>,
    locks: &Locks,
    cancel: &Cancel,
) -> Result<RemovalResult, Failure> {
    let _held = locks.take(&[place], cancel)?;
    let Some(whole) = WholeTree::at(place, None, cancel).map_err(untouched)? else {
        return Err(place.failure(&FileError::NotFound));
    };
    let stat = whole.stat;
    if !removal.recursive && stat.kind == FileKind::Dir && whole.counts.total() > 1 {
        return Err(place.failure(&FileError::NotEmpty));
    }
    cancel.check()?;
    if removal.dry_run {
        return Ok(RemovalResult { stat, counts: whole.counts, warning: None });
    }
    if let Some(slot) =
        keep(&ReplacedContent { old: Some(&whole), new: None, old_version: None, new_version: None })?
    {
        put_aside(place, &whole, &slot, locks, cancel)?;
        return Ok(RemovalResult { stat, counts: whole.counts, warning: None });
    }
    let mut counts = Counts::default();
    let Some(survey) = &whole.survey else {
        let aside = TemporaryName::new(locks.folder(), place.dir.id(), &place.path.shown())?;
        let version = facts_version(&stat);
        let warning = take_away(place, &aside, &ExistingFile { stat, version, file: None }, cancel)?;
        if let Err(error) = place.dir.sync() {
            // What is not known to be on the disk is not done.
            let _ = place.dir.rename_to_free(&aside.name, &place.dir, &place.name);
            return Err(place.failure(&error));
        }
        aside.discard(&place.dir);
        if stat.kind != FileKind::File {
            // Without its lock, a sweep would find only a file.
            let _ = place.dir.sync();
        }
        return Ok(RemovalResult { stat, counts: whole.counts, warning });
    };
    remove_tree(place, survey, &mut counts, cancel).map_err(|failure| {
        failure.detail("removed", serde_json::json!({"files": counts.files, "folders": counts.folders}))
    })?;
    Ok(RemovalResult { stat, counts, warning: None })
}

/// Takes a file or link from its name, to where it is removed. What another program wrote there since it was read is
/// renamed back. Returns what the client should know.
pub(super) fn take_away(
    place: &FileLocation,
    aside: &TemporaryName,
    before: &ExistingFile,
    cancel: &Cancel,
) -> Result<Option<String>, Failure> {
    let patience = Patience { writers: PATIENCE, cancel };
    let old = ExpectedFile { stat: &before.stat, version: &before.version, content: None };
    match take(&place.dir, (&place.name, old), &aside.name, patience) {
        Ok(Trade::Changed { kept }) => Err(changed_meanwhile(place, kept.as_deref())),
        Ok(Trade::Done { has_writer }) => Ok(has_writer.then(|| {
            let shown = place.path.shown();
            format!("Another program has `{shown}` open: what it writes from now on goes with it.")
        })),
        Err(error) => Err(place.failure(&error)),
    }
}

/// Removes a tree that was looked through, counting what goes.
pub(super) fn remove_tree(
    place: &FileLocation,
    survey: &Survey,
    counts: &mut Counts,
    cancel: &Cancel,
) -> Result<(), Failure> {
    for folder in survey.folders.iter().rev() {
        // The tree may have come here from where it was looked through.
        let path = folder
            .below
            .components()
            .try_fold(place.path.clone(), |path, name| path.child(OsStr::from_bytes(name)))?;
        let dir = path.open_dir_itself()?;
        if dir.id() != folder.stat.id {
            return Err(super::tree::changed(&path));
        }
        let mut removed = 1;
        // Folders may have any number of entries. Where nothing could be removed, what is left is said below.
        while removed > 0 {
            removed = 0;
            for entry in dir.entries(AT_ONCE).map_err(|error| file_failure(&error, &path))? {
                cancel.check()?;
                // Judged again: it may have come into being since.
                let child = path.child(&entry.name)?;
                let gone = |error: FileError| file_failure(&error, &child);
                let stat = match dir.stat(&entry.name) {
                    Ok(stat) => stat,
                    Err(FileError::NotFound) => continue,
                    Err(error) => return Err(gone(error)),
                };
                match stat.kind {
                    FileKind::Dir => dir.remove_dir(&entry.name),
                    _ => dir.remove_file(&entry.name),
                }
                .map_err(|error| match error {
                    FileError::NotEmpty => super::tree::changed(&child),
                    other => gone(other),
                })?;
                counts.add(&stat);
                removed += 1;
            }
        }
    }
    place.dir.remove_dir(&place.name).map_err(|error| match error {
        FileError::NotEmpty => super::tree::changed(&place.path),
        other => place.failure(&other),
    })?;
    counts.folders += 1;
    place.dir.sync().map_err(|error| place.failure(&error))
}

/// Says that nothing was done, for a refusal before the first change.
pub(super) fn untouched(failure: Failure) -> Failure {
    match failure.code {
        ErrorCode::PermissionDenied => {
            failure.hint("Nothing was changed. Take the other entries one by one.")
        }
        _ => failure,
    }
}
