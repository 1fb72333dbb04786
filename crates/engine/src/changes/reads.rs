//! What clients have read and written, so that each learns what others have changed since, and edits are merged with that.

use super::keep::scope_key;
use crate::registry::Context;
use bailiwick_contract::{Capability, ErrorCode, Failure};
use bailiwick_policy::{PathRules, Permit, PermittedPath};
use bailiwick_providers::edit::Basis;
use bailiwick_providers::versions::VersionStore;

/// How many changed files a warning names.
const MAX_NAMED: usize = 8;

/// Holds a content that a caller has read who may also write it, so that edits for it can be merged with what
/// comes meanwhile. Sensitive files are never held.
pub fn see(cx: &Context, permit: &Permit, path: &PermittedPath, version: &str, content: Vec<u8>) {
    if may_be_kept(permit, path) {
        cx.service.seen.hold(scope_key(permit).to_owned(), path.shown(), version, content);
    }
}

/// As [`see`], of a content that is too large to be held: its version.
pub fn note(cx: &Context, permit: &Permit, path: &PermittedPath, version: &str) {
    if may_be_kept(permit, path) {
        cx.service.seen.note(scope_key(permit).to_owned(), path.shown(), version);
    }
}

fn may_be_kept(permit: &Permit, path: &PermittedPath) -> bool {
    permit.allows(Capability::FsWrite) && !PathRules::is_sensitive(path.rel())
}

/// Names who asks: the token, or the user. Clients on standard input and output, which have no token as a rule, are told
/// apart by their sessions; elsewhere a session is one connection, or one command, of a client that has many.
pub(super) fn asker(cx: &Context) -> String {
    format!("{}\0{}", cx.caller.identity(), cx.caller.client_session().unwrap_or_default())
}

/// Remembers that the caller has read a version of a file.
pub fn has_read(cx: &Context, permit: &Permit, path: &str, version: &str) {
    cx.service.seen.authors.read(scope_key(permit), path, version, &asker(cx));
}

/// Remembers that the caller has written a version of a file. Call it with the file's lock held.
pub fn has_written(cx: &Context, permit: &Permit, path: String, version: &str) {
    cx.service.seen.authors.write(scope_key(permit).to_owned(), path, version, &asker(cx));
}

/// Warns of files that others have changed since the caller has read them. Each is named once.
pub fn warn_of_changes(cx: &Context, permit: &Permit) {
    // The answers of steps have no room for warnings; that of the batch has.
    if cx.request.batch.is_some() {
        return;
    }
    let news = cx.service.seen.authors.news(|| scope_key(permit).to_owned(), || asker(cx));
    if news.is_empty() {
        return;
    }
    let names: Vec<String> = news.iter().take(MAX_NAMED).map(|path| format!("`{path}`")).collect();
    let more = match news.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let them = if news.len() == 1 { "it" } else { "them" };
    cx.warn(format!(
        "Another client changed {}{more} since you last read {them}. Read {them} again before you edit {them}.",
        names.join(", ")
    ));
}

/// Refuses to write over what another caller has written, and this one has not read.
///
/// # Errors
/// `conflict` with the rule `written-by-another`.
pub fn refuse_unknown(cx: &Context, permit: &Permit, path: &str, version: &str) -> Result<(), Failure> {
    if !cx.service.seen.authors.is_unknown_to(scope_key(permit), path, version, &asker(cx)) {
        return Ok(());
    }
    Err(Failure::new(
        ErrorCode::Conflict,
        format!("another client wrote `{path}`, and you have not read that"),
    )
    .detail("rule", "written-by-another")
    .detail("version", version)
    .hint("Read the file, and write what takes its content into account.")
    .hint("Or set `options.overwrite` to true to replace it whatever it holds."))
}

/// Returns the content that a file had in a version, if it is held or kept, and can be read.
pub fn content_of_version(cx: &Context, permit: &Permit, path: &str, version: &str) -> Option<Vec<u8>> {
    let scope = scope_key(permit);
    let store = || VersionStore::below(&cx.service.dirs.state);
    // Without it, edits are not merged: the caller hears of the other version.
    let kept = || store().content_of_version(scope, path, version).ok().flatten();
    cx.service.seen.find(scope, path, version).or_else(kept)
}

/// Returns what is known of the version that edits were made for which name none.
pub fn basis(cx: &Context, permit: &Permit, path: &str, version: &str) -> Basis {
    match cx.service.seen.is_known(scope_key(permit), path, version) {
        None => Basis::Unknown,
        Some(true) => Basis::Read,
        Some(false) => Basis::Outdated,
    }
}
