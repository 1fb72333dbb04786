//! Putting files back: all of a change or of several, or one version of one file.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::journal::Journal;
use super::keep::{self, Undo, scope_key};
use super::reads::has_written;
use super::restore_tree::{is_half_done, is_tree_in_effect, restore_tree, unkept};
use super::restore_whole::{is_whole_in_effect, restore_whole};
use crate::registry::Context;
use bailiwick_contract::{Capability, ErrorCode, Failure, RawPath};
use bailiwick_policy::{Permit, WritablePath};
use bailiwick_providers::edit::{Text, text_diff};
use bailiwick_providers::file::{
    CurrentFile, FileLocation, LockGuards, Locks, Site, Step, content_version, current, perform, sha256_hex,
};
use bailiwick_providers::versions::{FileChange, FileFacts, FoundRecord, Record, StoredFile, VersionStore};

/// The rule of a conflict with later changes.
const CHANGED_SINCE: &str = "changed-since";
/// The rule by which nothing is kept of what is asked for.
pub const NOTHING_KEPT: &str = "nothing-kept";
/// What names the changes that a failed undo has left taken back.
pub const UNDO_IDS: &str = "undoIds";
/// The largest text that is compared for a preview.
pub(super) const MAX_DIFF_BYTES: usize = 1 << 20;

/// What was restored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreOutput {
    /// Each file.
    pub files: Vec<RestoredFile>,
    /// Takes the restoring back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_id: Option<String>,
    /// How many further files there are, where these are not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_files: Option<u64>,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// One file that was restored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoredFile {
    /// The path that it has again.
    pub path: String,
    /// The path that it had until now, if that was another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// The version until now; `null` if there was no file.
    pub version_before: Option<String>,
    /// The version now; `null` if the file is gone again.
    pub version: Option<String>,
    /// The change as a unified diff, with `dryRun`, of text and as far as there is room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// When it was changed before, where it has another time now.
    #[serde(skip)]
    pub modified_ns: Option<i64>,
}

/// A file, and what it shall be again.
struct RestoreTarget {
    /// Where it is.
    path: WritablePath,
    /// Where it shall be, if elsewhere.
    back_to: Option<WritablePath>,
    /// What it shall be.
    kept: StoredFile,
    /// Its content, if it shall be a file that is not there now or has another content.
    content: Option<Vec<u8>>,
    /// The version that it must have now; `None` inside for no file at all.
    must_be: Option<Option<String>>,
    /// The version that it had before the change, `None` inside for no file: it is so still where the change was cut off.
    before: Option<Option<String>>,
}

/// Creates the failure for what cannot be brought back.
pub fn not_kept(what: &str) -> Failure {
    Failure::new(ErrorCode::NotFound, format!("{what} is not kept, or not any more"))
        .hint("Use file.history to see what is kept.")
}

/// Creates the failure for what is kept, but cannot be read now.
pub fn unreadable(error: &io::Error) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("undo is not possible now: {error}"))
        .hint("Nothing was changed. Try again; if it stays so, check the disk of Bailiwick's state folder.")
}

/// Creates the failure for a content that does not fit its hash any more.
fn damaged(path: &str) -> Failure {
    let message = format!("what is kept of `{path}` is damaged or gone, so it cannot come back");
    Failure::new(ErrorCode::NotFound, message)
        .detail("path", path)
        .hint("Nothing was changed. `bailiwick doctor` names the changes that are damaged.")
}

/// Takes changes back together, the newest of them first: all of them, or none. What is kept whole comes alone.
///
/// # Errors
/// `not_found` if something is not kept any more; `conflict` if a file was changed since, or between two of them; those
/// of the path rules, which judge every path.
pub fn restore_changes(
    cx: &Context,
    permit: &Permit,
    changes: &[FoundRecord],
) -> Result<RestoreOutput, Failure> {
    restore_changes_after(cx, permit, changes, &[])
}

/// Runs an undo, under a journal where it takes several steps: if the service is killed meanwhile, the next one makes everything
/// as it was before. So does a later request where the undo fails and that cannot be done at once.
///
/// # Errors
/// `invalid_request` with the rule `no-undo` if the journal cannot be written, and those of the undo.
pub fn in_journal<T>(
    cx: &Context,
    permit: &Permit,
    changes: &[FoundRecord],
    undo: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let is_one_step = |it: &Record| it.tree.is_none() && it.files.len() <= 1 && it.relocations.len() <= 1;
    let is_one_step = matches!(changes, [] | [_]) && changes.iter().all(|it| is_one_step(&it.record));
    // The journal of what a rollback takes back is there still.
    if permit.common().dry_run || cx.request.is_rollback || is_one_step {
        return undo();
    }
    let scope = permit.needed_scope()?.id();
    let begun = Journal::begin(&cx.service.dirs.state, &cx.request.id, scope, &cx.caller);
    let journal = begun.map_err(|error| unkept(&error))?;
    let done = undo();
    if done.as_ref().err().is_none_or(|failure| !is_half_done(failure)) {
        journal.end();
    }
    done
}

/// Returns whether a change is in effect: not one that was cut off before it did anything, nor one that is as it was by other
/// means. One that cannot be judged counts, so that its undo says why.
pub fn is_in_effect(cx: &Context, permit: &Permit, found: &FoundRecord) -> bool {
    let in_effect = if found.record.tree.is_some() {
        is_tree_in_effect(cx, permit, found)
    } else if found.record.relocations.is_empty() {
        let wanted = by_changes(permit, std::slice::from_ref(found));
        wanted
            .and_then(|wanted| prepare(cx, permit, wanted))
            .map(|(ready, _)| ready.iter().any(|it| !it.steps.is_empty()))
    } else {
        is_whole_in_effect(cx, permit, found)
    };
    in_effect.unwrap_or(true)
}

/// As [`restore_changes`], after others were taken back: `times` are those that files had before that.
///
/// # Errors
/// As [`restore_changes`].
pub fn restore_changes_after(
    cx: &Context,
    permit: &Permit,
    changes: &[FoundRecord],
    times: &[(String, i64)],
) -> Result<RestoreOutput, Failure> {
    match changes {
        [found] if found.record.tree.is_some() => restore_tree(cx, permit, found),
        [found] if !found.record.relocations.is_empty() => restore_whole(cx, permit, found, times),
        _ => {
            let takes_back = changes.iter().map(|it| it.record.undo_id.clone()).collect();
            restore(cx, permit, by_changes(permit, changes)?, takes_back)
        }
    }
}

/// Gives the target the content that it had in a version, if it is in `if_version` now; `None` asks for none.
///
/// # Errors
/// `invalid_request` without a target; `not_found` if that version is not kept; those of [`restore_changes`].
pub fn restore_version(
    cx: &Context,
    permit: &Permit,
    version: &str,
    if_version: Option<&str>,
) -> Result<RestoreOutput, Failure> {
    let path = permit.writable_path();
    if path.rel().is_root() {
        return Err(Failure::invalid("target", "`version` needs the file as `target`"));
    }
    let (store, scope, shown) =
        (VersionStore::below(&cx.service.dirs.state), scope_key(permit), path.shown());
    let is_it = |kept: &StoredFile| {
        let is_named = kept.path == shown || kept.moved_from.as_deref() == Some(&shown);
        is_named && kept.sha256.as_deref().is_some_and(|sha256| content_version(sha256) == version)
    };
    let changes = store.changes_of(scope, &shown).map_err(|error| unreadable(&error))?;
    let found = changes.iter().find_map(|it| Some((it, it.record.files.iter().position(is_it)?)));
    let (found, at) = found.ok_or_else(|| not_kept("that version of the file"))?;
    let (kept, must_be) = (found.record.files[at].clone(), if_version.map(|it| Some(it.to_owned())));
    let content = content(found, at)?;
    let target = RestoreTarget { path: path.clone(), back_to: None, content, kept, must_be, before: None };
    restore(cx, permit, vec![target], Vec::new())
}

/// Gives the room back that changes took which were kept whole. For when all that was asked for is back: if something else
/// fails, they are made again, and have to be known then.
pub fn release(cx: &Context, changes: &[FoundRecord]) {
    let store = VersionStore::below(&cx.service.dirs.state);
    changes.iter().filter(|it| !it.record.relocations.is_empty()).for_each(|it| store.release(it));
}

fn by_changes(permit: &Permit, changes: &[FoundRecord]) -> Result<Vec<RestoreTarget>, Failure> {
    let judged = |path: &str| permit.resolve_writable(&RawPath(path.to_owned()));
    let mut targets: Vec<RestoreTarget> = Vec::new();
    // Which target has a name, as it was before the changes so far.
    let mut by_name: HashMap<String, usize> = HashMap::new();
    for found in changes {
        for (at, kept) in found.record.files.iter().enumerate() {
            let back_to = kept.moved_from.as_deref().map(judged).transpose()?;
            let content = content(found, at)?;
            let before = kept.sha256.as_deref().map(content_version);
            let version = |index: &usize| targets[*index].kept.sha256.as_deref().map(content_version);
            // A move that was cut off: what came later knows the file by its old name.
            if !by_name.contains_key(&kept.path)
                && let Some(later) = kept.moved_from.as_ref().and_then(|from| by_name.get(from))
                && version(later) == before
            {
                continue;
            }
            let index = match by_name.remove(&kept.path) {
                Some(index) => {
                    let target = &mut targets[index];
                    let version = target.kept.sha256.as_deref().map(content_version);
                    // A change that was cut off has left the file as it was before.
                    if version != kept.version_after && (version != before || kept.moved_from.is_some()) {
                        return Err(changed_since(&kept.path));
                    }
                    match back_to {
                        // It is gone: it comes back under the name that it had.
                        Some(path) if target.must_be == Some(None) => target.path = path,
                        Some(path) => target.back_to = Some(path),
                        None => {}
                    }
                    (target.content, target.kept) = (content, kept.clone());
                    index
                }
                None => {
                    let must_be = Some(kept.version_after.clone());
                    let path = judged(&kept.path)?;
                    targets.push(RestoreTarget {
                        content,
                        path,
                        back_to,
                        must_be,
                        before: Some(before),
                        kept: kept.clone(),
                    });
                    targets.len() - 1
                }
            };
            by_name.insert(kept.moved_from.clone().unwrap_or_else(|| kept.path.clone()), index);
        }
    }
    // What was not there at all before goes, whatever its name is now.
    targets.iter_mut().filter(|it| it.content.is_none()).for_each(|it| it.back_to = None);
    Ok(targets)
}

/// Returns the content that a file had; `None` if there was no file.
fn content(found: &FoundRecord, at: usize) -> Result<Option<Vec<u8>>, Failure> {
    let Some(kept) = found.record.files.get(at).filter(|kept| kept.sha256.is_some()) else { return Ok(None) };
    let content = found.content(at).map_err(|error| unreadable(&error))?;
    content.map(Some).ok_or_else(|| damaged(&kept.path))
}

/// What is to be done about one file.
struct RestoreStep {
    steps: Vec<Step>,
    change: FileChange,
    restored: RestoredFile,
}

/// Takes the locks, and works out what is to be done about each file.
fn prepare(
    cx: &Context,
    permit: &Permit,
    wanted: Vec<RestoreTarget>,
) -> Result<(Vec<RestoreStep>, LockGuards), Failure> {
    let mut sites = Vec::with_capacity(wanted.len());
    for it in &wanted {
        cx.cancel.check()?;
        let back_to = it.back_to.as_ref().map(site).transpose()?;
        sites.push((site(&it.path)?, back_to));
    }
    let places: Vec<&FileLocation> = sites
        .iter()
        .flat_map(|(at, back_to)| std::iter::once(at).chain(back_to))
        .filter_map(|site| match site {
            Site::Place(place) => Some(place),
            Site::Missing(_) => None,
        })
        .collect();
    let held = Locks::below(&cx.service.dirs.state).take(&places, &cx.cancel)?;
    let mut preview = Preview::new(permit);
    let mut ready = Vec::with_capacity(wanted.len());
    let mut conflicts = Vec::new();
    for (it, (at, back_to)) in wanted.into_iter().zip(sites) {
        cx.cancel.check()?;
        match work_out(cx, it, at, back_to, &mut preview) {
            Ok(step) => ready.push(step),
            Err(failure) if failure.rule() == Some(CHANGED_SINCE) => conflicts.push(failure),
            Err(failure) => return Err(failure),
        }
    }
    match several_conflicts(conflicts) {
        Some(failure) => Err(failure),
        None => Ok((ready, held)),
    }
}

fn restore(
    cx: &Context,
    permit: &Permit,
    wanted: Vec<RestoreTarget>,
    takes_back: Vec<String>,
) -> Result<RestoreOutput, Failure> {
    let dry_run = permit.common().dry_run;
    let (mut ready, held) = prepare(cx, permit, wanted)?;
    let mut undo_id = None;
    if !dry_run {
        let changes: Vec<FileChange> = ready.iter().map(|it| it.change.clone()).collect();
        let mut undo = Undo::taking_back(cx, permit, takes_back);
        undo.contents(&changes)?;
        let steps = ready.iter_mut().flat_map(|it| std::mem::take(&mut it.steps)).collect();
        let done;
        (done, undo_id) = undo.settle(perform(steps, &held, &cx.cancel))?;
        for it in &ready {
            if let Some(version) = &it.restored.version {
                has_written(cx, permit, it.restored.path.clone(), version);
            }
        }
        done.into_iter().flat_map(|done| done.warnings).for_each(|warning| cx.warn(warning));
    }
    let files: Vec<RestoredFile> = ready.into_iter().map(|it| it.restored).collect();
    let names: Vec<&str> = files.iter().take(8).map(|file| file.path.as_str()).collect();
    let count = match files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    cx.summarize(format!("{count} restored: {}", names.join(", ")));
    Ok(RestoreOutput { files, undo_id, more_files: None, dry_run })
}

/// Shows what a restoring changes, to those who may read it.
pub(super) struct Preview {
    is_dry_run: bool,
    /// How many bytes of diffs may still be shown.
    room: usize,
}

impl Preview {
    pub(super) fn new(permit: &Permit) -> Self {
        let may_read = permit.allows(Capability::FsRead);
        let room = if may_read { permit.limits().max_output_bytes / 4 } else { 0 };
        Self { is_dry_run: permit.common().dry_run, room }
    }

    /// Returns what becomes of a text; `None` where it is no text, or where there is no room.
    pub(super) fn diff(
        &mut self,
        names: (&str, &str),
        now: Option<&[u8]>,
        then: Option<&[u8]>,
    ) -> Option<String> {
        let text = |bytes: Option<&[u8]>| Text::decode(bytes.unwrap_or_default().to_vec()).ok();
        let names = (now.map(|_| names.0), then.map(|_| names.1));
        if self.room == 0 || now.map_or(0, <[u8]>::len).max(then.map_or(0, <[u8]>::len)) > MAX_DIFF_BYTES {
            return None;
        }
        let diff = text_diff(names, &text(now)?, &text(then)?);
        self.room = self.room.checked_sub(diff.len())?;
        Some(diff)
    }
}

/// Opens the folder of a path; the name itself is not followed.
pub(super) fn site(path: &WritablePath) -> Result<Site, Failure> {
    match FileLocation::of(path) {
        Ok(place) => Ok(Site::Place(place)),
        Err(failure) if failure.code == ErrorCode::NotFound => Ok(Site::Missing(path.clone())),
        Err(failure) => Err(failure),
    }
}

fn found_at(site: &Site, cx: &Context) -> Result<Option<CurrentFile>, Failure> {
    match site {
        Site::Place(place) => current(place, None, &cx.cancel),
        Site::Missing(_) => Ok(None),
    }
}

fn work_out(
    cx: &Context,
    wanted: RestoreTarget,
    mut at: Site,
    mut back_to: Option<Site>,
    preview: &mut Preview,
) -> Result<RestoreStep, Failure> {
    let RestoreTarget { mut path, kept, mut must_be, before, content, back_to: mut goes_to } = wanted;
    let mut found = found_at(&at, cx)?;
    let wanted_version = content.as_ref().map(|content| content_version(&sha256_hex(content)));
    // A move that was cut off, or was taken back before: the file has its old name.
    if found.is_none()
        && let Some(old) = &back_to
        && let Some(still) = found_at(old, cx)?
        && (before == Some(Some(still.version.clone())) || wanted_version.as_ref() == Some(&still.version))
    {
        (must_be, found) = (Some(Some(still.version.clone())), Some(still));
        (at, path) = (back_to.take().unwrap_or(at), goes_to.take().unwrap_or(path));
    }
    let (shown, now) = (path.shown(), goes_to.map(|path| path.shown()));
    let version_now = found.as_ref().map(|found| found.version.clone());
    let bytes_now = found.as_ref().map(|found| &found.bytes[..]);
    let is_unchanged = now.is_none() && before.as_ref() == Some(&version_now);
    // An undo that was cut off has put its content back. Who asks for a version has said what must be there.
    let is_back = before.is_some() && version_now == wanted_version;
    if !is_unchanged && !is_back && must_be.is_some_and(|must_be| must_be != version_now) {
        let failure = changed_since(&shown);
        return Err(match preview.diff((&shown, &shown), bytes_now, content.as_deref()) {
            Some(diff) => failure.detail("diff", diff),
            None => failure,
        });
    }
    if let Some(Site::Place(place)) = &back_to
        && place.stat()?.is_some()
    {
        return Err(changed_since(&place.path.shown()));
    }
    let version = wanted_version;
    let name = now.as_deref().unwrap_or(&shown);
    let diff = preview.is_dry_run.then(|| preview.diff((&shown, name), bytes_now, content.as_deref()));
    let attributes = |facts: &FileFacts| facts.attributes.iter().cloned().collect::<BTreeSet<_>>();
    // Of what earlier versions kept, that is not known.
    let has_facts = kept.facts.modified_ns.is_some();
    let has_others =
        has_facts && found.as_ref().is_some_and(|found| attributes(&found.facts) != attributes(&kept.facts));
    let mode_now = found.as_ref().map(|found| found.stat.mode & 0o777);
    let before = found.map(keep::before);
    let content_now = before.as_ref().map(|before| Arc::clone(&before.content));
    let change = FileChange {
        path: now.clone().unwrap_or_else(|| shown.clone()),
        moved_from: now.as_ref().map(|_| shown.clone()),
        before,
        version_after: version.clone(),
        made_folders: back_to.as_ref().unwrap_or(&at).missing_folders(),
    };
    let restored = RestoredFile {
        path: change.path.clone(),
        moved_from: change.moved_from.clone(),
        version_before: version_now.clone(),
        version: version.clone(),
        diff: diff.flatten(),
        modified_ns: kept.facts.modified_ns.filter(|_| version.is_some()),
    };
    let before = version_now.zip(content_now);
    let mut steps = Vec::new();
    match (content.zip(version), before, at) {
        (None, None, _) => {}
        (None, Some((version, _)), Site::Place(mut place)) => {
            place.made_folders = kept.made_folders;
            steps.push(Step::Remove { place, version });
        }
        (Some((content, version)), None, site) => {
            let (mode, facts) = (Some(kept.mode), Some(kept.facts));
            steps.push(Step::Write { site, content, version, before: None, mode, facts });
        }
        (Some((content, version)), Some(before), Site::Place(place)) => {
            if version != before.0 || mode_now != Some(kept.mode & 0o777) || has_others {
                let site = Site::Place(FileLocation::of(&place.path)?);
                let (version, before) = (version.clone(), Some(before));
                // Its time is that of this change.
                let facts = has_facts.then_some(FileFacts { modified_ns: None, ..kept.facts });
                let mode = Some(kept.mode);
                steps.push(Step::Write { site, content, version, before, mode, facts });
            }
            if let Some(to) = back_to {
                steps.push(Step::Rename { from: place, to, version });
            }
        }
        // Without a folder there is no file.
        (_, Some(_), Site::Missing(_)) => return Err(changed_since(&shown)),
    }
    Ok(RestoreStep { steps, change, restored })
}

/// Creates one failure out of those of several files; `None` if there is none.
pub(super) fn several_conflicts(mut conflicts: Vec<Failure>) -> Option<Failure> {
    if conflicts.len() < 2 {
        return conflicts.pop();
    }
    let each = |failure: &Failure| {
        let named = ["path", "diff"].iter().filter_map(|name| Some((*name, failure.details.get(*name)?)));
        named.map(|(name, value)| (name.to_owned(), value.clone())).collect::<Map<String, Value>>()
    };
    let all: Vec<Map<String, Value>> = conflicts.iter().map(each).collect();
    let mut first = conflicts.swap_remove(0);
    let path = first.details.get("path").and_then(Value::as_str).unwrap_or_default();
    let more = match all.len() - 1 {
        1 => "1 more file".to_owned(),
        count => format!("{count} more files"),
    };
    first.message = format!("`{path}` and {more} were changed again since");
    Some(first.detail("conflicts", json!(all)))
}

pub(super) fn changed_since(shown: &str) -> Failure {
    Failure::new(ErrorCode::Conflict, format!("`{shown}` was changed again since"))
        .detail("rule", CHANGED_SINCE)
        .detail("path", shown)
        .hint("Take the later changes back first; file.history lists them, the newest first.")
        .hint("Or bring back one version of one file, by `version`.")
}
