//! Making folders, all of them or none.

use std::ffi::OsStr;

use bailiwick_contract::{Cancel, Failure};
use bailiwick_platform::fs::{FileError, RelPath};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::PermittedPath;

use super::aside::{KeepFunction, ReplacedContent, Slot, WholeTree};
use super::temporary::{TemporaryName, sweep};
use super::{FileLocation, Locks};

/// Makes the folder of a place, and the folders `below` it. They are made under a temporary name first; `keep` is asked
/// right before they get their own.
///
/// # Errors
/// `conflict` if something has the name, and the usual ones. Nothing is changed then.
pub fn make_folders(
    place: &FileLocation,
    below: &RelPath,
    keep: &mut KeepFunction<'_>,
    locks: &Locks,
    cancel: &Cancel,
) -> Result<(), Failure> {
    let _held = locks.take(&[place], cancel)?;
    let failed = |error: FileError| place.failure(&error);
    if place.stat()?.is_some() {
        return Err(failed(FileError::Exists));
    }
    // Each is judged before anything is made.
    below
        .components()
        .try_fold(PermittedPath::clone(&place.path), |path, name| path.child(OsStr::from_bytes(name)))?;
    sweep(&place.dir, locks.folder());
    let named = TemporaryName::new(locks.folder(), place.dir.id(), &place.path.shown())?;
    let made = (|| {
        place.dir.make_dir(&named.name).map_err(failed)?;
        let mut dir = place.dir.open_dir(&named.name).map_err(failed)?;
        for name in below.components() {
            let name = OsStr::from_bytes(name);
            dir.make_dir(name).map_err(failed)?;
            dir.sync().map_err(failed)?;
            dir = dir.open_dir(name).map_err(failed)?;
        }
        dir.sync().map_err(failed)?;
        let beside = Slot {
            dir: place.dir.open_dir_beneath(&RelPath::root()).map_err(failed)?,
            name: named.name.clone(),
        };
        let new =
            WholeTree::kept(&beside, &place.path, cancel)?.ok_or_else(|| failed(FileError::NotFound))?;
        keep(&ReplacedContent { old: None, new: Some(&new), old_version: None, new_version: None })?;
        place.dir.rename_to_free(&named.name, &place.dir, &place.name).map_err(failed)?;
        place.dir.sync().map_err(|error| {
            // What is not known to be on the disk is not done.
            let _ = place.dir.rename_to_free(&place.name, &place.dir, &named.name);
            failed(error)
        })
    })();
    if made.is_err() {
        named.discard(&place.dir);
    }
    made
}
