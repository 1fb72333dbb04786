//! Changing several files as one: if a step fails, those before it are taken back.
//!
//! Each file is old or new at every moment, also when the process is killed; which files are new by then
//! is not remembered.

use std::sync::Arc;
use std::time::Duration;

use bailiwick_contract::{Cancel, Failure};
use bailiwick_policy::{PermittedPath, WritablePath};

use super::aside::{ReplacedContent, Slot};
use super::change::{ExistingFile, existing, not_a_file};
use super::remove::take_away;
use super::replace::replace_held;
use super::temporary::TemporaryName;
use crate::versions::FileFacts;

use super::{FileLocation, IfExists, KnownContent, LockGuards, Replacement, find_place, missing_folders};
use bailiwick_platform::fs::{FileError, FileKind};

/// How long putting files back may take.
const ROLL_BACK: Duration = Duration::from_secs(60);

/// Where a step works.
#[derive(Debug)]
pub enum Site {
    /// At a place that is open.
    Place(FileLocation),
    /// At a path whose folder does not exist yet; it is made.
    Missing(WritablePath),
}

/// One change of one file.
#[derive(Debug)]
pub enum Step {
    /// The file gets another content.
    Write {
        /// Where.
        site: Site,
        /// The new content.
        content: Vec<u8>,
        /// Its version.
        version: String,
        /// The version and the content that are there now; `None` for a new file.
        before: Option<(String, Arc<Vec<u8>>)>,
        /// The permission bits; left out, those that it has.
        mode: Option<u32>,
        /// What else belongs to the content, where it is one that was there before.
        facts: Option<FileFacts>,
    },
    /// The file goes.
    Remove {
        /// Where.
        place: FileLocation,
        /// The version that is there now.
        version: String,
    },
    /// The file gets another name, which must be free.
    Rename {
        /// Where it is.
        from: FileLocation,
        /// Where it goes.
        to: Site,
        /// The version that is there now.
        version: String,
    },
}

impl Site {
    /// Returns how many folders above it are missing.
    pub fn missing_folders(&self) -> usize {
        match self {
            Self::Place(_) => 0,
            Self::Missing(path) => missing_folders(path),
        }
    }
}

/// What a step has done.
#[derive(Debug)]
pub struct StepResult {
    /// The path that was written, removed, or given to the file.
    pub path: PermittedPath,
    /// What the client should know.
    pub warnings: Vec<String>,
}

/// How a step is taken back.
enum Undo {
    Content { place: FileLocation, version: String, content: Arc<Vec<u8>>, mode: Option<u32> },
    New { place: FileLocation, version: String },
    Removed { place: FileLocation, aside: TemporaryName },
    Renamed { from: FileLocation, to: FileLocation },
}

/// Does the steps in order, all of them or none.
///
/// # Errors
/// Those of the step that failed, with `details.restored`: whether every file is as it was.
pub fn perform(steps: Vec<Step>, held: &LockGuards, cancel: &Cancel) -> Result<Vec<StepResult>, Failure> {
    let (mut done, mut undo) = (Vec::new(), Vec::new());
    let several = steps.len() > 1;
    for step in steps {
        match step_forward(step, held, cancel, &mut undo) {
            Ok(it) => done.push(it),
            Err(failure) => {
                let left = roll_back(undo, held);
                let failure = if several { failure.detail("restored", left.is_empty()) } else { failure };
                return Err(match left.is_empty() {
                    true if several => failure.hint("No file was changed."),
                    true => failure,
                    false => failure
                        .detail("notRestored", left)
                        .hint("The files of `details.notRestored` could not be put back: look at them."),
                });
            }
        }
    }
    for it in undo {
        if let Undo::Removed { place, aside } = it {
            // It is gone from its name; what cannot be removed now, a later sweep removes.
            let _ = place.dir.remove_file(&aside.name);
            remove_made_folders(&place);
        }
    }
    Ok(done)
}

/// All steps of a batch are kept before the first one.
fn kept_already(_: &ReplacedContent<'_>) -> Result<Option<Slot>, Failure> {
    Ok(None)
}

fn open(site: Site) -> Result<FileLocation, Failure> {
    match site {
        Site::Place(place) => Ok(place),
        Site::Missing(path) => find_place(&path, true),
    }
}

fn step_forward(
    step: Step,
    held: &LockGuards,
    cancel: &Cancel,
    undo: &mut Vec<Undo>,
) -> Result<StepResult, Failure> {
    match step {
        Step::Write { site, content, version, before, mode, facts } => {
            let place = open(site)?;
            let version_before = before.as_ref().map(|(version, _)| version.clone());
            let mode_before = match &before {
                Some(_) => place.stat()?.map(|stat| stat.mode & 0o777),
                None => None,
            };
            let replacement = Replacement {
                content: &content,
                version: Some(&version),
                if_version: version_before.as_deref(),
                known: before.as_ref().map(|(version, content)| KnownContent { version, content }),
                mode,
                facts: facts.as_ref(),
                if_exists: if before.is_some() { IfExists::Replace } else { IfExists::Fail },
                dry_run: false,
            };
            let replaced = match replace_held(&place, &replacement, &mut kept_already, held, cancel) {
                Ok(replaced) => replaced,
                Err(failure) => {
                    remove_made_folders(&place);
                    return Err(failure);
                }
            };
            let path = PermittedPath::clone(&place.path);
            undo.push(match before {
                Some((_, content)) => {
                    Undo::Content { place, version: replaced.version, content, mode: mode_before }
                }
                None => Undo::New { place, version: replaced.version },
            });
            Ok(StepResult { path, warnings: replaced.warnings })
        }
        Step::Remove { place, version } => {
            let Some(before) = check(&place, &version, cancel)? else {
                return Err(place.failure(&FileError::NotFound));
            };
            let aside = TemporaryName::new(held.folder(), place.dir.id(), &place.path.shown())?;
            let warning = take_away(&place, &aside, &before, cancel)?;
            let synced = place.dir.sync().map_err(|error| place.failure(&error));
            let path = PermittedPath::clone(&place.path);
            undo.push(Undo::Removed { place, aside });
            synced.map(|()| StepResult { path, warnings: warning.into_iter().collect() })
        }
        Step::Rename { from, to, version } => {
            check(&from, &version, cancel)?;
            let to = open(to)?;
            let renamed = from.dir.rename_to_free(&from.name, &to.dir, &to.name);
            if let Err(error) = renamed {
                remove_made_folders(&to);
                return Err(to.failure(&error));
            }
            let synced = to.dir.sync().and_then(|()| from.dir.sync()).map_err(|error| to.failure(&error));
            let path = PermittedPath::clone(&to.path);
            undo.push(Undo::Renamed { from, to });
            synced.map(|()| StepResult { path, warnings: Vec::new() })
        }
    }
}

/// Looks once more whether the file is the one that was read.
fn check(place: &FileLocation, version: &str, cancel: &Cancel) -> Result<Option<ExistingFile>, Failure> {
    cancel.check()?;
    match existing(place, Some(version), None, cancel)? {
        Some(found) if found.stat.kind != FileKind::File => Err(not_a_file(place, found.stat.kind)),
        found => Ok(found),
    }
}

/// Takes steps back, the last one first. Returns the paths for which that failed.
fn roll_back(undo: Vec<Undo>, held: &LockGuards) -> Vec<String> {
    // Also after a cancellation: half of a change helps nobody.
    let cancel = Cancel::after(ROLL_BACK);
    let mut left = Vec::new();
    for it in undo.into_iter().rev() {
        let (path, taken_back) = match it {
            Undo::Content { place, version, content, mode } => {
                let replacement = Replacement {
                    content: &content,
                    version: None,
                    if_version: Some(&version),
                    known: None,
                    mode,
                    facts: None,
                    if_exists: IfExists::Replace,
                    dry_run: false,
                };
                (
                    place.path.shown(),
                    replace_held(&place, &replacement, &mut kept_already, held, &cancel).is_ok(),
                )
            }
            Undo::New { place, version } => {
                let removed =
                    check(&place, &version, &cancel).is_ok() && place.dir.remove_file(&place.name).is_ok();
                remove_made_folders(&place);
                (place.path.shown(), removed)
            }
            Undo::Removed { place, aside } => {
                let back = place.dir.rename_to_free(&aside.name, &place.dir, &place.name);
                (place.path.shown(), back.is_ok())
            }
            Undo::Renamed { from, to } => {
                let back = to.dir.rename_to_free(&to.name, &from.dir, &from.name);
                remove_made_folders(&to);
                (from.path.shown(), back.is_ok())
            }
        };
        if !taken_back {
            left.push(path);
        }
    }
    left
}

/// Removes the folders that were made for a file, if they are empty.
pub fn remove_made_folders(place: &FileLocation) {
    remove_empty_folders(place.path.parent(), place.made_folders);
}

/// Removes so many empty folders: the one of a path, and those above it.
pub fn remove_empty_folders(mut folder: Option<WritablePath>, count: usize) {
    for _ in 0..count {
        let Some(path) = folder else { return };
        let Ok((dir, name, _)) = path.open_parent() else { return };
        // Someone else may use it by now; then it stays.
        if dir.remove_dir(&name).is_err() {
            return;
        }
        folder = path.parent();
    }
}
