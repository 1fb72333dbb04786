//! What the changing operations of this family have in common: keeping files as they are before.

use std::sync::Arc;

use crate::contract::Cancel;
use crate::policy::Permit;
use crate::providers::file::{Current, Place, current, sha256_hex};
use crate::providers::versions::{Before, FileChange, VersionStore};
use crate::registry::Context;

/// The largest file that is kept.
const MAX_BYTES: u64 = 16 << 20;
/// How many digits of a hash stand for a scope's folders.
const KEY_DIGITS: usize = 16;

/// Makes what is kept of a file.
pub fn before(found: Current) -> Before {
    Before { content: Arc::new(found.bytes), sha256: found.sha256, mode: found.stat.mode }
}

/// Reads the regular file at a place with its version, if it can be kept.
pub fn read(place: &Place, cancel: &Cancel) -> Option<(String, Before)> {
    place.stat().ok().flatten().filter(|stat| stat.size <= MAX_BYTES)?;
    let found = current(place, None, cancel).ok().flatten()?;
    Some((found.version.clone(), before(found)))
}

/// Names the scope in the store: by its folders too, so that a scope that was given other ones finds
/// nothing of the old.
pub fn scope_key(permit: &Permit) -> String {
    let Some(scope) = permit.scope() else { return String::new() };
    let mut key = scope.id().to_owned();
    for root in scope.roots() {
        key.push('\0');
        key.push_str(&root.path.to_string_lossy());
    }
    let mut digits = sha256_hex(key.as_bytes());
    digits.truncate(KEY_DIGITS);
    format!("{} {digits}", scope.id())
}

/// Keeps files; gives the undo id. Without one the change goes on, and the client is told.
pub fn keep(cx: &Context, permit: &Permit, changes: &[FileChange]) -> Option<String> {
    let store = VersionStore::below(&cx.service.dirs.state);
    match store.keep(&scope_key(permit), permit.spec().name, changes) {
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
