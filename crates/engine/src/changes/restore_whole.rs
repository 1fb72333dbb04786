//! Putting back what is kept whole: folders, links and large files.

use crate::registry::Context;
use bailiwick_contract::{Failure, RawPath};
use bailiwick_policy::{Permit, PermittedPath, WritablePath};
use bailiwick_providers::file::{
    FileLocation, Locks, Site, Slot, WholeTree, find_place, put_aside, put_back, remove_empty_folders,
    remove_kept,
};
use bailiwick_providers::versions::{FoundRecord, Location, Relocation, StoredFile, VersionStore};

use super::keep::{Undo, has_undo_begun, whole_file};
use super::restore::{RestoreOutput, RestoredFile, changed_since, not_kept, site};

/// One thing that is put elsewhere.
struct Step {
    thing: WholeTree,
    from: RestoreSite,
    to: RestoreSite,
}

/// Where a thing is, or goes.
enum RestoreSite {
    /// At a place of the scope.
    Place(FileLocation),
    /// With the record that is taken back.
    Kept(Slot),
    /// With the record of this restoring, under a number.
    Aside(usize),
}

/// Puts back what a change has replaced, removed or moved, all of it or nothing. `times` are those that files had before
/// they were put back by the same undo.
///
/// # Errors
/// `not_found` if it is not kept any more; `conflict` if something was changed since, or if something else has the name;
/// those of the path rules, which judge every entry.
pub fn restore_whole(
    cx: &Context,
    permit: &Permit,
    found: &FoundRecord,
    times: &[(String, i64)],
) -> Result<RestoreOutput, Failure> {
    let resolve = |(path, modified_ns): &(String, i64)| {
        let path = permit.resolve_writable(&RawPath(path.clone())).ok()?;
        Some((PermittedPath::clone(&path), *modified_ns))
    };
    let times: Vec<(PermittedPath, i64)> = times.iter().filter_map(resolve).collect();
    let dry_run = permit.common().dry_run;
    let record = &found.record;
    let mut places = Vec::new();
    for relocation in &record.relocations {
        for location in [&relocation.from, &relocation.to] {
            if let Location::Path(path) = location {
                let path = permit.resolve_writable(&RawPath(path.clone()))?;
                places.push(site(&path)?);
            }
        }
    }
    let opened: Vec<&FileLocation> = places
        .iter()
        .filter_map(|site| match site {
            Site::Place(place) => Some(place),
            Site::Missing(_) => None,
        })
        .collect();
    let locks = Locks::below(&cx.service.dirs.state);
    let _held = locks.take(&opened, &cx.cancel)?;
    if !dry_run {
        finish_trade(cx, found, &places, &locks)?;
    }
    let mut made = MadeFolders::default();
    let steps = work_out(cx, permit, found, places, &times, &mut made)?;
    let files = restored(&steps);
    let names: Vec<&str> = files.iter().take(8).map(|file| file.path.as_str()).collect();
    cx.summarize(format!("{} restored: {}", files.len(), names.join(", ")));
    if dry_run {
        return Ok(RestoreOutput { files, undo_id: None, more_files: None, dry_run });
    }
    if steps.is_empty() {
        // It was cut off before it did anything, or is taken back already.
        if cx.request.is_rollback {
            VersionStore::below(&cx.service.dirs.state).forget(&record.undo_id);
        }
        return Ok(RestoreOutput { files, undo_id: None, more_files: None, dry_run });
    }
    let mut undo = Undo::taking_back(cx, permit, vec![record.undo_id.clone()]);
    keep(&mut undo, &steps)?;
    let mut done: Vec<&Step> = Vec::with_capacity(steps.len());
    let mut result = Ok(());
    for step in &steps {
        result = carry_out(cx, step, &undo, &locks);
        if result.is_err() {
            // What was done is taken back, the last first; nothing is lost where that fails.
            done.iter().rev().for_each(|step| drop(carry_back(cx, step, &undo, &locks)));
            break;
        }
        done.push(step);
    }
    let ((), undo_id) = undo.settle(result)?;
    made.0.clear();
    Ok(RestoreOutput { files, undo_id, more_files: None, dry_run })
}

/// Finishes a move over a folder that was cut off when the two folders had traded names: the one that was replaced goes to where it
/// is kept.
fn finish_trade(cx: &Context, found: &FoundRecord, places: &[Site], locks: &Locks) -> Result<(), Failure> {
    let (record, [Site::Place(to), Site::Place(place), _]) = (&found.record, places) else { return Ok(()) };
    let [moved, Relocation { from: Location::Kept(number), version, .. }] = &record.relocations[..] else {
        return Ok(());
    };
    let is_moved =
        || Ok(WholeTree::at(to, None, &cx.cancel)?.is_some_and(|thing| thing.version == moved.version));
    let Some(slot) = found.slot(*number).ok().filter(|_| record.op == "file.move") else { return Ok(()) };
    let Some(replaced) = WholeTree::at(place, None, &cx.cancel)? else { return Ok(()) };
    if replaced.version != *version {
        return Ok(());
    }
    match WholeTree::kept(&slot, &place.path, &cx.cancel)? {
        None => put_aside(place, &replaced, &slot, locks, &cx.cancel),
        // It was copied there before, and the other folder has its name.
        Some(kept) if kept.version == *version && is_moved()? => remove_kept(place, &replaced, locks),
        Some(_) => Ok(()),
    }
}

/// The folders that are made for what comes back, by the paths that are in them. They go if it does not come back.
#[derive(Default)]
struct MadeFolders(Vec<(WritablePath, usize)>);

impl Drop for MadeFolders {
    fn drop(&mut self) {
        for (path, count) in self.0.iter().rev() {
            remove_empty_folders(path.parent(), *count);
        }
    }
}

/// Returns whether a change has left something that can be taken back.
///
/// # Errors
/// As [`restore_whole`].
pub fn is_whole_in_effect(cx: &Context, permit: &Permit, found: &FoundRecord) -> Result<bool, Failure> {
    for relocation in &found.record.relocations {
        let site_of = |location: &Location| match location {
            Location::Path(path) => {
                permit.resolve_writable(&RawPath(path.clone())).and_then(|it| site(&it)).map(Some)
            }
            Location::Kept(_) => Ok(None),
        };
        let (from, to) = (site_of(&relocation.from)?, site_of(&relocation.to)?);
        let is_there = match &from {
            Some(Site::Place(place)) => place.stat()?.is_some(),
            Some(Site::Missing(_)) => false,
            None => true,
        };
        let cut_off = cut_off(cx, permit, found, from.as_ref(), to.as_ref(), relocation)?;
        if is_there && matches!(cut_off, CutOff::No) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Looks whether everything is as the record says.
fn work_out(
    cx: &Context,
    permit: &Permit,
    found: &FoundRecord,
    places: Vec<Site>,
    times: &[(PermittedPath, i64)],
    made: &mut MadeFolders,
) -> Result<Vec<Step>, Failure> {
    let dry_run = permit.common().dry_run;
    let mut places = places.into_iter();
    let mut steps: Vec<Step> = Vec::new();
    let mut aside = 0;
    let mut edited = None;
    for relocation in &found.record.relocations {
        let mut next = |location: &Location| match location {
            Location::Path(_) => places.next(),
            Location::Kept(_) => None,
        };
        let (from, to) = (next(&relocation.from), next(&relocation.to));
        match cut_off(cx, permit, found, from.as_ref(), to.as_ref(), relocation)? {
            CutOff::No => {}
            CutOff::Unchanged => continue,
            CutOff::Edited(path) => {
                edited = edited.or(Some(path));
                continue;
            }
        }
        let is_cleared = |path: &str| {
            steps
                .iter()
                .any(|step| matches!(&step.from, RestoreSite::Place(place) if place.path.shown() == path))
        };
        let to = match (to, &relocation.to) {
            (Some(Site::Place(place)), Location::Path(path)) => {
                if place.stat()?.is_some() && !is_cleared(path) {
                    return Err(changed_since(path));
                }
                Some(RestoreSite::Place(place))
            }
            (Some(Site::Missing(path)), _) if dry_run => {
                // The folders that are missing are made when it is done.
                drop(path);
                None
            }
            (Some(Site::Missing(path)), _) => {
                let place = find_place(&path, true)?;
                made.0.push((place.path.clone(), place.made_folders));
                Some(RestoreSite::Place(place))
            }
            (None, _) | (Some(Site::Place(_)), Location::Kept(_)) => {
                aside += 1;
                Some(RestoreSite::Aside(aside - 1))
            }
        };
        let (from, thing) = match (from, &relocation.from) {
            (Some(Site::Place(place)), _) => {
                let goes_to = match &to {
                    Some(RestoreSite::Place(to)) => Some(to),
                    Some(RestoreSite::Kept(_) | RestoreSite::Aside(_)) | None => None,
                };
                let thing = WholeTree::at(&place, goes_to, &cx.cancel)?;
                (RestoreSite::Place(place), thing)
            }
            (Some(Site::Missing(path)), _) => return Err(changed_since(&path.shown())),
            (None, location) => {
                let (Location::Kept(number), Location::Path(path)) = (location, &relocation.to) else {
                    return Err(not_kept("that change"));
                };
                let gone = || not_kept(&format!("`{path}` as it was"));
                let slot = found.slot(*number).map_err(|_| gone())?;
                // Every entry is judged as if it were there.
                let judged = match &to {
                    Some(RestoreSite::Place(place)) => WholeTree::kept(&slot, &place.path, &cx.cancel)?,
                    Some(RestoreSite::Kept(_) | RestoreSite::Aside(_)) | None => None,
                };
                if judged.is_none() && to.is_none() {
                    continue;
                }
                (RestoreSite::Kept(slot), Some(judged.ok_or_else(gone)?))
            }
        };
        let Some(to) = to else { continue };
        match (thing, &from) {
            // What a crash has put aside already need not go aside.
            (None, RestoreSite::Place(_)) if matches!(to, RestoreSite::Aside(_)) => aside -= 1,
            (None, RestoreSite::Place(place)) => return Err(changed_since(&place.path.shown())),
            (None, _) => return Err(not_kept("that change")),
            // What others have put into a new folder stays, and the folder with it.
            (Some(thing), RestoreSite::Place(place))
                if found.record.op == "file.mkdir" && thing.version != relocation.version =>
            {
                drop(thing);
                aside -= 1;
                cx.warn(format!("`{}` was used since; it stays.", place.path.shown()));
            }
            (Some(thing), RestoreSite::Place(place))
                if thing.version != relocation.version
                    && thing.version_with_times(place, times) != relocation.version =>
            {
                drop(thing);
                return Err(changed_since(&place.path.shown()));
            }
            (Some(thing), _) => {
                if thing.version != relocation.version
                    && let RestoreSite::Place(place) = &to
                {
                    cx.warn(format!(
                        "`{}` was changed by another program while it was kept.",
                        place.path.shown()
                    ));
                }
                steps.push(Step { thing, from, to });
            }
        }
    }
    match edited {
        // Nothing was cut off: it is back for long, and was changed since.
        Some(path) if steps.is_empty() => Err(changed_since(&path)),
        _ => Ok(steps),
    }
}

/// Whether a thing is still, or again, where it goes back to.
enum CutOff {
    /// It is not.
    No,
    /// It is, as it was before the change.
    Unchanged,
    /// Something else is there, and an undo of the change has begun; with its path.
    Edited(String),
}

/// Returns whether a thing is still where it goes back to, since the change was cut off before it moved it, or an undo was
/// after it had.
fn cut_off(
    cx: &Context,
    permit: &Permit,
    found: &FoundRecord,
    from: Option<&Site>,
    to: Option<&Site>,
    relocation: &Relocation,
) -> Result<CutOff, Failure> {
    let Some(Site::Place(to)) = to else { return Ok(CutOff::No) };
    let has_gone = match (from, &relocation.from) {
        (Some(Site::Place(from)), _) => from.stat()?.is_none(),
        (None, Location::Kept(number)) => match found.slot(*number) {
            Ok(slot) => WholeTree::kept(&slot, &to.path, &cx.cancel)?.is_none(),
            Err(_) => false,
        },
        (Some(Site::Missing(_)), _) => true,
        (None, Location::Path(_)) => false,
    };
    if !has_gone {
        return Ok(CutOff::No);
    }
    let Some(thing) = WholeTree::at(to, None, &cx.cancel)? else { return Ok(CutOff::No) };
    if thing.version == relocation.version {
        return Ok(CutOff::Unchanged);
    }
    // An undo that was cut off has put it there; what is in it may have been put back before.
    match has_undo_begun(cx, permit, &found.record.undo_id)? {
        true => Ok(CutOff::Edited(to.path.shown())),
        false => Ok(CutOff::No),
    }
}

/// Writes down how the restoring is taken back: the same, the other way round.
fn keep(undo: &mut Undo<'_>, steps: &[Step]) -> Result<(), Failure> {
    let mut relocations = Vec::with_capacity(steps.len());
    let mut files: Vec<StoredFile> = Vec::new();
    let mut disk_bytes = 0;
    let mut has_aside = false;
    for step in steps.iter().rev() {
        let location = |spot: &RestoreSite| match spot {
            RestoreSite::Place(place) => Location::Path(place.path.shown()),
            RestoreSite::Kept(_) => Location::Kept(0),
            RestoreSite::Aside(number) => Location::Kept(*number),
        };
        relocations.push(Relocation {
            from: location(&step.to),
            to: location(&step.from),
            version: step.thing.version.clone(),
        });
        let version = Some(step.thing.version.clone());
        match (&step.from, &step.to) {
            (RestoreSite::Place(from), RestoreSite::Aside(_)) => {
                (has_aside, disk_bytes) = (true, disk_bytes + step.thing.disk_bytes());
                files.push(whole_file(from.path.shown(), Some(&step.thing), None));
            }
            (RestoreSite::Place(from), RestoreSite::Place(to)) => files.push(StoredFile {
                path: to.path.shown(),
                moved_from: Some(from.path.shown()),
                version_after: version,
                ..StoredFile::default()
            }),
            (_, RestoreSite::Place(to)) => files.push(whole_file(to.path.shown(), None, version)),
            (_, RestoreSite::Kept(_) | RestoreSite::Aside(_)) => {}
        }
    }
    if has_aside {
        undo.whole(disk_bytes, files, relocations).map(drop)
    } else {
        undo.moves(files, relocations)
    }
}

fn carry_out(cx: &Context, step: &Step, undo: &Undo<'_>, locks: &Locks) -> Result<(), Failure> {
    match (&step.from, &step.to) {
        (RestoreSite::Place(from), RestoreSite::Place(to)) => exchange_names(from, to),
        (RestoreSite::Place(from), RestoreSite::Aside(number)) => {
            put_aside(from, &step.thing, &undo.slot(*number)?, locks, &cx.cancel)
        }
        (RestoreSite::Kept(slot), RestoreSite::Place(to)) => {
            put_back(slot, &step.thing, to, locks, &cx.cancel)
        }
        (RestoreSite::Place(_), RestoreSite::Kept(_)) | (RestoreSite::Kept(_) | RestoreSite::Aside(_), _) => {
            Err(not_kept("that change"))
        }
    }
}

fn carry_back(cx: &Context, step: &Step, undo: &Undo<'_>, locks: &Locks) -> Result<(), Failure> {
    match (&step.from, &step.to) {
        (RestoreSite::Place(from), RestoreSite::Place(to)) => exchange_names(to, from),
        (RestoreSite::Place(from), RestoreSite::Aside(number)) => {
            put_back(&undo.slot(*number)?, &step.thing, from, locks, &cx.cancel)
        }
        (RestoreSite::Kept(slot), RestoreSite::Place(to)) => {
            put_aside(to, &step.thing, slot, locks, &cx.cancel)
        }
        (RestoreSite::Place(_), RestoreSite::Kept(_)) | (RestoreSite::Kept(_) | RestoreSite::Aside(_), _) => {
            Ok(())
        }
    }
}

/// Renames what is at one place to another, which must be free.
fn exchange_names(from: &FileLocation, to: &FileLocation) -> Result<(), Failure> {
    from.dir.rename_to_free(&from.name, &to.dir, &to.name).map_err(|error| to.failure(&error))?;
    to.dir.sync().and_then(|()| from.dir.sync()).map_err(|error| {
        // What is not known to be on the disk is not done.
        let _ = to.dir.rename_to_free(&to.name, &from.dir, &from.name);
        to.failure(&error)
    })
}

fn restored(steps: &[Step]) -> Vec<RestoredFile> {
    let mut files: Vec<RestoredFile> = Vec::new();
    for step in steps {
        let version = Some(step.thing.version.clone());
        match (&step.from, &step.to) {
            (RestoreSite::Place(from), RestoreSite::Place(to)) => files.push(RestoredFile {
                path: to.path.shown(),
                moved_from: Some(from.path.shown()),
                version_before: version.clone(),
                version,
                diff: None,
                modified_ns: None,
            }),
            (RestoreSite::Place(from), _) => files.push(RestoredFile {
                path: from.path.shown(),
                moved_from: None,
                version_before: version,
                version: None,
                diff: None,
                modified_ns: None,
            }),
            (_, RestoreSite::Place(to)) => {
                let path = to.path.shown();
                match files.iter_mut().find(|file| file.path == path && file.version.is_none()) {
                    // Something else had its name until now.
                    Some(file) => file.version = version,
                    None => {
                        files.push(RestoredFile {
                            path,
                            moved_from: None,
                            version_before: None,
                            version,
                            diff: None,
                            modified_ns: None,
                        });
                    }
                }
            }
            (RestoreSite::Kept(_) | RestoreSite::Aside(_), _) => {}
        }
    }
    files
}
