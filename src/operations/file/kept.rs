//! What the changing operations of this family have in common: keeping files as they are before.

use crate::contract::Cancel;
use crate::policy::Permit;
use crate::providers::file::{Place, current};
use crate::providers::versions::{Before, FileChange, VersionStore};
use crate::registry::Context;

/// The largest file that is kept.
const MAX_BYTES: u64 = 16 << 20;

/// Reads the regular file at a place with its version, if it can be kept.
pub fn read(place: &Place, cancel: &Cancel) -> Option<(String, Before)> {
    place.stat().ok().flatten().filter(|stat| stat.size <= MAX_BYTES)?;
    let found = current(place, None, cancel).ok().flatten()?;
    Some((found.version, Before { content: found.bytes, mode: found.stat.mode }))
}

/// Keeps files; gives the undo id. Without one the change goes on, and the client is told.
pub fn keep(cx: &Context, permit: &Permit, changes: &[FileChange]) -> Option<String> {
    let scope = permit.scope()?;
    let store = VersionStore::below(&cx.service.dirs.state);
    match store.keep(scope.id(), permit.spec().name, changes) {
        Ok(undo_id) => Some(undo_id),
        Err(error) => {
            cx.warn(format!("The change cannot be undone: the version before is not kept ({error})."));
            None
        }
    }
}

/// Forgets what was kept for a change that was not made.
pub fn forget(cx: &Context, undo_id: Option<&str>) {
    if let Some(undo_id) = undo_id {
        VersionStore::below(&cx.service.dirs.state).forget(undo_id);
    }
}
