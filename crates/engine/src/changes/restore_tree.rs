//! Taking back what a command changed in the folders of its scope: all of it, or nothing.
//!
//! Before the first change a journal says that it is not finished (`super::restore::in_journal`), and what it replaces is kept.
//! If the service is killed then, what was done is taken back before any service with the same state folder answers its next
//! request.

use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::registry::Context;
use bailiwick_contract::{Cancel, ErrorCode, Failure, RawPath, hex};
use bailiwick_platform::fs::FileKind;
use bailiwick_policy::Permit;
use bailiwick_providers::coverage::{Node, Restoration, RestoreRoot, RestoreStep, TreeRecord};
use bailiwick_providers::file::{LockGuards, Locks, cannot_undo, content_version, facts_version};
use bailiwick_providers::versions::{ChangeSource, FoundRecord, VersionStore};

use super::journal::Journal;
use super::keep::{scope_key, with_disk};
use super::restore::{
    MAX_DIFF_BYTES, Preview, RestoreOutput, RestoredFile, UNDO_IDS, changed_since, not_kept,
    several_conflicts, unreadable,
};

/// How many paths a result names.
const MAX_FILES: usize = 500;
/// How many paths a warning names.
const MAX_NAMED: usize = 8;
/// How long going back may take after something failed.
const ROLL_BACK: Duration = Duration::from_secs(60);

/// Takes back what a command changed, or an undo of that.
///
/// # Errors
/// `not_found` if it is not kept any more; `conflict` if something was changed since.
pub fn restore_tree(cx: &Context, permit: &Permit, found: &FoundRecord) -> Result<RestoreOutput, Failure> {
    let record = read_tree(found)?;
    let roots = open_roots(permit, &record)?;
    let store = VersionStore::below(&cx.service.dirs.state);
    let held = Locks::below(&cx.service.dirs.state).take_all(&cx.cancel)?;
    let mut plan = Restoration::plan(&roots, &record, cx.request.is_rollback, &cx.cancel)?;
    if cx.request.is_rollback {
        plan.sweep(&held);
    }
    let mut preview = Preview::new(permit);
    let conflicts: Vec<Failure> = plan.conflicts().map(|step| conflict(&plan, step, &mut preview)).collect();
    if let Some(failure) = several_conflicts(conflicts) {
        // An undo that a killed service has left is taken back as far as it can be: what others have changed since stays.
        // So can what it has left of changes that it took over from a preview.
        if !cx.request.is_rollback || found.record.batch.is_some() {
            return Err(failure);
        }
        cx.warn(format!("{}; that stays as it is.", failure.message));
    }
    let dry_run = permit.common().dry_run;
    let pending = plan.pending().count();
    let files: Vec<RestoredFile> =
        plan.pending().take(MAX_FILES).map(|step| restored(&plan, step, dry_run, &mut preview)).collect();
    warn_of_rest(cx, &plan);
    cx.summarize(format!("{pending} restored"));
    let more = pending - files.len();
    let mut output =
        RestoreOutput { files, undo_id: None, dry_run, more_files: (more > 0).then_some(more as u64) };
    if dry_run || pending == 0 {
        if cx.request.is_rollback && plan.conflicts().next().is_none() {
            // It was cut off before it did anything.
            store.forget(&found.record.undo_id);
        }
        return Ok(output);
    }
    let takes_back = [found.record.undo_id.clone()];
    let source = ChangeSource {
        scope: scope_key(permit),
        op: permit.spec().name,
        operation_id: &cx.request.id,
        caller: cx.caller.identity(),
        batch: cx.request.batch.as_deref(),
        takes_back: &takes_back,
        is_rollback: cx.request.is_rollback,
    };
    output.undo_id = Some(apply_whole(&store, source, &roots, &mut plan, &held, None, unkept)?);
    Ok(output)
}

/// What marks the failure of an undo of which a part is done, since that could not be taken back.
const NOT_RESTORED: &str = "notRestored";

/// Returns whether a failed undo has left a part done.
pub fn is_half_done(failure: &Failure) -> bool {
    failure.details.contains_key(NOT_RESTORED) || failure.details.contains_key(UNDO_IDS)
}

fn read_tree(found: &FoundRecord) -> Result<TreeRecord, Failure> {
    let record = TreeRecord::read(found).map_err(|error| unreadable(&error))?;
    record.ok_or_else(|| not_kept("that change"))
}

/// Does what is planned, whole or not at all, and keeps what it replaces. Returns the id by which it is taken back. `journal` says
/// that it has begun, unless another one does.
///
/// # Errors
/// `unkept` where what it replaces cannot be kept; `conflict`, and those of a file.
pub fn apply_whole(
    store: &VersionStore,
    source: ChangeSource<'_>,
    roots: &[RestoreRoot],
    plan: &mut Restoration<'_>,
    held: &LockGuards,
    journal: Option<Journal>,
    unkept: impl FnOnce(&std::io::Error) -> Failure,
) -> Result<String, Failure> {
    let done = plan.keep(store, source).map_err(|error| unkept(&error)).and_then(|undo_id| {
        let applied = plan.apply(held);
        applied
            .map_err(|failure| go_back(store, source.scope, roots, held, &undo_id, failure))
            .map(|()| undo_id)
    });
    let is_finished = done.as_ref().err().is_none_or(|failure| !is_half_done(failure));
    if let Some(journal) = journal.filter(|_| is_finished) {
        journal.end();
    }
    done
}

/// Checks that what commands have changed is theirs alone, as far as that is known. With `may_be_shared`, a warning says
/// where it is not.
///
/// # Errors
/// `conflict` for what may be of a command that is not taken back with it.
pub fn check_origin(cx: &Context, changes: &[FoundRecord], may_be_shared: bool) -> Result<(), Failure> {
    let is_taken_back = |id: &String| changes.iter().any(|it| it.record.operation_id == *id);
    for record in changes.iter().map(|it| &it.record) {
        let Some(tree) = &record.tree else { continue };
        if tree.is_cut_off {
            cx.warn(format!(
                "The service was killed while `{}` ran: what has changed until it was started again counts as the command's.",
                record.op
            ));
        }
        let others: Vec<String> = tree.together.iter().filter(|id| !is_taken_back(id)).cloned().collect();
        if others.is_empty() {
            continue;
        }
        let ids = named(&others);
        let message = format!(
            "some of what `{}` changed may be of commands that ran at the same time: {ids}",
            record.operation_id
        );
        if !may_be_shared {
            return Err(Failure::new(ErrorCode::Conflict, message)
                .detail("rule", "ran-together")
                .detail("operations", others)
                .hint("See what would come back with `options.dryRun`; history.undo with `input.shared` takes all of it back.")
                .hint("With `input.since`, history.undo takes these commands back together."));
        }
        cx.warn(format!("This is all that has changed while it ran: {message}."));
    }
    Ok(())
}

/// Opens the roots that a record is about.
fn open_roots(permit: &Permit, record: &TreeRecord) -> Result<Vec<RestoreRoot>, Failure> {
    let scope = permit.needed_scope()?;
    let replaced = || {
        Failure::new(ErrorCode::Conflict, "the scope has another folder than when the command ran")
            .detail("rule", "changed-since")
    };
    if scope.roots().len() != record.roots.len() {
        return Err(replaced());
    }
    let mut roots = Vec::with_capacity(record.roots.len());
    for (at, (root, id)) in scope.roots().iter().zip(&record.roots).enumerate() {
        let text = if at == 0 { ".".to_owned() } else { format!("{}:.", root.name) };
        let (dir, path) = permit.resolve_writable(&RawPath(text))?.open_dir()?;
        if dir.id() != *id {
            return Err(replaced());
        }
        roots.push(RestoreRoot { path, dir });
    }
    Ok(roots)
}

/// Creates the failure for an undo that cannot be written down.
pub fn unkept(error: &std::io::Error) -> Failure {
    with_disk(cannot_undo(&format!("what the undo replaces cannot be kept: {error}")), error)
}

/// Returns whether a change of a command has left something that can be taken back.
///
/// # Errors
/// As [`restore_tree`].
pub fn is_tree_in_effect(cx: &Context, permit: &Permit, found: &FoundRecord) -> Result<bool, Failure> {
    let record = read_tree(found)?;
    let roots = open_roots(permit, &record)?;
    let _held = Locks::below(&cx.service.dirs.state).take_all(&cx.cancel)?;
    let plan = Restoration::plan(&roots, &record, false, &cx.cancel)?;
    Ok(plan.pending().next().is_some() || plan.conflicts().next().is_some() || plan.left().next().is_some())
}

/// Takes back what was done before something failed.
fn go_back(
    store: &VersionStore,
    scope: &str,
    roots: &[RestoreRoot],
    held: &LockGuards,
    undo_id: &str,
    failure: Failure,
) -> Failure {
    // Also after a cancellation: half of an undo helps nobody.
    let cancel = Cancel::after(ROLL_BACK);
    let record = store.record(scope, undo_id).map_err(|error| unreadable(&error));
    let record = record.and_then(|found| read_tree(&found.ok_or_else(|| not_kept("what was done"))?));
    let gone_back = record.and_then(|record| {
        let plan = Restoration::plan(roots, &record, true, &cancel)?;
        plan.apply(held)
    });
    match gone_back {
        Ok(()) => {
            store.forget(undo_id);
            failure.hint("Nothing was changed.")
        }
        Err(error) => failure
            .detail(NOT_RESTORED, true)
            .hint(format!("A part is done, since that could not be taken back: {}.", error.message))
            .hint("Bailiwick tries that again at later requests."),
    }
}

/// Creates the failure for a path that was changed again.
fn conflict(plan: &Restoration<'_>, step: &RestoreStep, preview: &mut Preview) -> Failure {
    let shown = plan.shown(step);
    let failure = changed_since(&shown);
    match diff(plan, step, preview) {
        Some(diff) => failure.detail("diff", diff),
        None => failure,
    }
}

/// Shows what becomes of a text that is not closed.
fn diff(plan: &Restoration<'_>, step: &RestoreStep, preview: &mut Preview) -> Option<String> {
    let is_text = |node: &Option<Node>| node.as_ref().is_none_or(|it| it.stat.kind == FileKind::File);
    if plan.is_closed(step) || !is_text(&step.now) || !is_text(&step.change.before) {
        return None;
    }
    let (now, then) = plan.contents(step, MAX_DIFF_BYTES as u64);
    // A file whose content is not at hand (it stays as it is, or is too large) is not one that is not there.
    let is_known = |node: &Option<Node>, content: &Option<Vec<u8>>| node.is_none() || content.is_some();
    if !is_known(&step.now, &now) || !is_known(&step.change.before, &then) {
        return None;
    }
    let shown = plan.shown(step);
    preview.diff((&shown, &shown), now.as_deref(), then.as_deref())
}

fn restored(
    plan: &Restoration<'_>,
    step: &RestoreStep,
    dry_run: bool,
    preview: &mut Preview,
) -> RestoredFile {
    RestoredFile {
        path: plan.shown(step),
        moved_from: None,
        version_before: step.now.as_ref().map(version),
        version: step.change.before.as_ref().map(version),
        diff: if dry_run { diff(plan, step, preview) } else { None },
        modified_ns: None,
    }
}

/// Returns a version of what is at a path.
fn version(node: &Node) -> String {
    match (node.stat.kind, &node.content) {
        (FileKind::File, Some(content)) => content_version(&hex(&content.sha256)),
        (FileKind::File, None) => facts_version(&node.stat),
        (kind, _) => {
            let mut hash = Sha256::new();
            hash.update(kind.describe());
            hash.update((node.stat.mode & 0o7777).to_le_bytes());
            hash.update(node.link.as_deref().unwrap_or_default());
            format!("t-{}", &hex(&hash.finalize())[..24])
        }
    }
}

/// Says what does not come back.
fn warn_of_rest(cx: &Context, plan: &Restoration<'_>) {
    let left: Vec<String> = plan.left().map(|step| plan.shown(step)).collect();
    if !left.is_empty() {
        cx.warn(format!("These stay as they are: {}.", named(&left)));
    }
    let uncovered: Vec<String> = plan.uncovered().collect();
    if !uncovered.is_empty() {
        cx.warn(format!("These were changed, too, and are not covered by undo: {}.", named(&uncovered)));
    }
}

fn named(paths: &[String]) -> String {
    let names: Vec<String> = paths.iter().take(MAX_NAMED).map(|path| format!("`{path}`")).collect();
    match paths.len().saturating_sub(MAX_NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}
