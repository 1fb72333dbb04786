//! What the changing operations of this family have in common: keeping files as they are before.

use std::sync::Arc;

use crate::registry::Context;
use bailiwick_contract::{Cancel, Capability};
use bailiwick_policy::{PathRules, Permit, PermittedPath, Standing};
use bailiwick_providers::file::{Current, Place, current, sha256_hex};
use bailiwick_providers::versions::{Before, FileChange, MAX_SEEN_BYTES, VersionStore};

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

/// Holds a content that a caller has read who may also write it, so that edits for it can be merged with what
/// comes meanwhile. Sensitive files are never held.
pub fn see(cx: &Context, permit: &Permit, path: &PermittedPath, version: &str, content: Vec<u8>) {
    let may_write = cx.caller.capabilities.allows(Capability::FsWrite)
        && permit.scope().is_some_and(|it| it.standing(Capability::FsWrite) == Standing::Granted);
    if may_write && content.len() <= MAX_SEEN_BYTES && !PathRules::is_sensitive(path.rel()) {
        cx.service.seen.hold(scope_key(permit), path.shown(), version, content);
    }
}

/// Gives the content that a file had in a version, if it is held or kept.
pub fn content_of_version(cx: &Context, permit: &Permit, path: &str, version: &str) -> Option<Vec<u8>> {
    let scope = scope_key(permit);
    cx.service
        .seen
        .find(&scope, path, version)
        .or_else(|| VersionStore::below(&cx.service.dirs.state).content_of_version(&scope, path, version))
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
