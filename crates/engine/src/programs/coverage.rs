//! What a command changes in the folders of its scope: looked at before and after, and kept so that it can be taken back.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::running::{CommandNote, CutOffCommand, RunningCommand, find_cut_off};
use crate::registry::Context;
use bailiwick_config::UndoMode;
use bailiwick_contract::{Cancel, ErrorCode, Failure, hex, id};
use bailiwick_platform::fs::{CAN_RESTORE_TREES, FileId, RelPath, Volume};
use bailiwick_platform::names::OsStrExt;
use bailiwick_policy::{Permit, Scope, Scopes};
use bailiwick_providers::command::ReadyCommand;
use bailiwick_providers::coverage::{
    CoverageStore, CoveredRoot, Difference, LookError, Node, Snapshot, TreeRecord, keep_difference,
};
use bailiwick_providers::file::{content_version, rest_of};
use bailiwick_providers::versions::{ChangeSource, TreeSummary, VersionStore};

/// How many paths are named that are not covered.
const MAX_NAMED: usize = 8;
/// How long looking at the folders may take after a command.
const AFTER: Duration = Duration::from_secs(20);
/// How long after it was given up the folders are read: what it started is being killed.
const UNTIL_KILLED: Duration = Duration::from_millis(300);

/// What is said where a scope is not covered.
const TOO_LARGE: &str = "What this command changes cannot be taken back: the scope's folders have too many entries, or take too long to read.";
/// After how long a scope is read again that could not be covered: what was read is known by then.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

/// The scopes that are too large to be covered, by their names in stores, and until when they are not read.
static TOO_LARGE_SCOPES: Mutex<BTreeMap<String, Instant>> = Mutex::new(BTreeMap::new());

fn too_large() -> MutexGuard<'static, BTreeMap<String, Instant>> {
    TOO_LARGE_SCOPES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_too_large(scope: &str) -> bool {
    too_large().get(scope).is_some_and(|until| Instant::now() < *until)
}

/// What a command changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandChanges {
    /// How many files, folders and links are new.
    pub created: u64,
    /// How many have another content, or other facts.
    pub changed: u64,
    /// How many are gone.
    pub removed: u64,
    /// Takes it back, by file.restore; history.undo takes the `operationId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo_id: Option<String>,
    /// What history.undo does not bring back: the first paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<String>,
    /// How many further paths it does not bring back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_not_covered: Option<u64>,
    /// The operations whose commands ran in the scope at the same time: some of these changes may be theirs, and some of its
    /// own may be in theirs. history.undo takes them back with `input.shared` only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<String>,
    /// Why nothing of it could be kept.
    #[serde(skip)]
    not_kept: Option<String>,
}

impl CommandChanges {
    /// Creates those that were taken over from a preview: of each path whether something was there, and whether something is.
    pub fn taken_over(paths: impl Iterator<Item = (bool, bool)>, undo_id: String) -> Self {
        let mut changes = Self {
            created: 0,
            changed: 0,
            removed: 0,
            undo_id: Some(undo_id),
            not_covered: Vec::new(),
            more_not_covered: None,
            shared_with: Vec::new(),
            not_kept: None,
        };
        for path in paths {
            match path {
                (false, _) => changes.created += 1,
                (true, true) => changes.changed += 1,
                (true, false) => changes.removed += 1,
            }
        }
        changes
    }

    /// Creates those of a command of which nothing is known.
    fn unknown(problem: String) -> Self {
        Self {
            undo_id: None,
            not_covered: vec![".".to_owned()],
            not_kept: Some(problem),
            ..Self::taken_over(std::iter::empty(), String::new())
        }
    }

    /// Says it in a few words, for the history.
    pub fn summary(&self) -> Option<String> {
        let counts = [(self.created, "created"), (self.changed, "changed"), (self.removed, "removed")];
        let words: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let lost = if self.not_kept.is_some() { ", which cannot be taken back" } else { "" };
        (!words.is_empty()).then(|| words.join(", ") + lost)
    }
}

/// The folders of a scope before a command. If the command is abandoned, what it changed is still kept.
pub struct CommandCoverage {
    inner: Option<Inner>,
}

struct Inner {
    scope: Arc<Scope>,
    state: PathBuf,
    /// What commands cannot change, by root.
    closed: Vec<HashSet<RelPath>>,
    before: Snapshot,
    note: CommandNote,
    running: RunningCommand,
    /// Whether its service was killed while it ran.
    is_cut_off: bool,
}

impl CommandCoverage {
    /// Looks at the folders before a command; `None` where it is not covered, which a warning says if it should be.
    ///
    /// # Errors
    /// `cancelled`, `timeout`, `invalid_request` where there is no room for what undo needs.
    pub async fn begin(
        cx: &Context,
        permit: &Permit,
        prepared: &ReadyCommand,
    ) -> Result<Option<Self>, Failure> {
        if !prepared.writes {
            return Ok(None);
        }
        Self::of_folders(cx, permit, prepared.hidden_paths().map(|path| path.to_owned()).collect()).await
    }

    /// Looks at the folders of the scope, as before a command that cannot change some paths.
    ///
    /// # Errors
    /// As [`CommandCoverage::begin`].
    pub async fn of_folders(
        cx: &Context,
        permit: &Permit,
        hidden: Vec<PathBuf>,
    ) -> Result<Option<Self>, Failure> {
        let scope = Arc::clone(permit.needed_scope()?);
        if scope.undo() != UndoMode::Commands || !CAN_RESTORE_TREES {
            return Ok(None);
        }
        if is_too_large(scope.storage_key()) {
            cx.warn(TOO_LARGE);
            return Ok(None);
        }
        let key = scope.storage_key().to_owned();
        let (state, cancel) = (cx.service.dirs.state.clone(), cx.cancel.clone());
        let mut note = CommandNote {
            scope: scope.id().to_owned(),
            key: key.clone(),
            op: permit.spec().name.to_owned(),
            operation_id: cx.request.id.clone(),
            caller: cx.caller.identity().to_owned(),
            batch: cx.request.batch.clone(),
            closed: Vec::new(),
        };
        let looked = tokio::task::spawn_blocking(move || {
            let closed = closed_paths(&scope, &hidden);
            note.closed =
                closed.iter().map(|it| it.iter().map(|path| path.as_bytes().to_vec()).collect()).collect();
            let running = RunningCommand::begin(&state, &note)?;
            match look(&scope, &state, &closed, None, Some(&running.state_before()), &cancel) {
                Ok(before) => Ok(Inner { scope, state, closed, before, note, running, is_cut_off: false }),
                Err(error) => {
                    running.end(true);
                    Err(error)
                }
            }
        });
        match looked.await {
            Ok(Ok(inner)) => {
                if !inner.before.is_complete() {
                    let _ = tokio::task::spawn_blocking(move || inner.running.end(true)).await;
                    too_large().insert(key, Instant::now() + LOOK_AGAIN);
                    cx.warn(TOO_LARGE);
                    return Ok(None);
                }
                let needed = inner.before.most_kept_bytes();
                if let Ok(disk) = Volume::of(&inner.state)
                    && disk.free_bytes < needed
                {
                    let _ = tokio::task::spawn_blocking(move || inner.running.end(true)).await;
                    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
                    let why = format!(
                        "it could replace {} MiB, and the disk of the state folder has {} MiB left",
                        mebibytes(needed),
                        disk.free_bytes >> 20
                    );
                    return Err(no_room(permit, ErrorKind::StorageFull, &why));
                }
                Ok(Some(Self { inner: Some(inner) }))
            }
            Ok(Err(LookError::Stopped(failure))) => Err(failure),
            Ok(Err(LookError::Io(error))) if lacks_room(&error) => {
                Err(no_room(permit, error.kind(), &error.to_string()))
            }
            Ok(Err(LookError::Io(error))) => {
                cx.warn(format!("What this command changes cannot be taken back: {error}."));
                Ok(None)
            }
            Err(_) => {
                cx.warn("What this command changes cannot be taken back (a bug in Bailiwick).");
                Ok(None)
            }
        }
    }

    /// Finds out what the command changed, and keeps what it replaced; `None` if it changed nothing.
    pub async fn finish(mut self, cx: &Context) -> Option<CommandChanges> {
        let inner = self.inner.take()?;
        match tokio::task::spawn_blocking(move || inner.finish()).await {
            Ok(Ok(changes)) => {
                if let Some(why) = changes.as_ref().and_then(|it| it.not_kept.as_ref()) {
                    cx.warn(format!("What this command changed cannot be taken back: {why}."));
                }
                changes
            }
            Ok(Err(problem)) => {
                cx.warn(format!("What this command changed cannot be taken back: {problem}."));
                Some(CommandChanges::unknown(problem))
            }
            Err(_) => {
                cx.warn("What this command changed cannot be taken back (a bug in Bailiwick).");
                None
            }
        }
    }
}

/// Counts how many paths are new, have another content or other facts, and are gone.
fn counts(difference: &Difference) -> [u64; 3] {
    let mut counts = [0; 3];
    for change in &difference.changes {
        let which = match (&change.before, &change.after) {
            (None, _) => 0,
            (Some(_), Some(_)) => 1,
            (Some(_), None) => 2,
        };
        counts[which] += 1;
    }
    counts
}

/// Returns whether a file system has no room for what is kept.
fn lacks_room(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem)
}

fn no_room(permit: &Permit, kind: ErrorKind, why: &str) -> Failure {
    let scope = permit.scope().map_or("SCOPE", |scope| scope.id());
    Failure::new(
        ErrorCode::InvalidRequest,
        format!("nothing was run: what it changes could not be kept for undo: {why}"),
    )
    .detail("rule", "no-undo")
    .detail("disk", if kind == ErrorKind::ReadOnlyFilesystem { "readOnly" } else { "full" })
    .hint("For the user: free space on the disk of Bailiwick's state folder.")
    .hint(format!("For the user: `bailiwick scope edit {scope} --undo files` runs commands without undo."))
}

/// Warns that what a process changes is not covered, where what commands change is. It may run for days, beside other
/// programs and the user: what of all that is its own could not be told apart.
pub fn warn_of_process(cx: &Context, permit: &Permit, prepared: &ReadyCommand) {
    if prepared.writes && permit.scope().is_some_and(|scope| scope.undo() == UndoMode::Commands) {
        cx.warn("What this process changes cannot be taken back: undo covers commands that end.");
    }
}

impl Drop for CommandCoverage {
    fn drop(&mut self) {
        let Some(inner) = self.inner.take() else { return };
        // Its client has left, and what it started is being killed. Without a thread, nothing of it is kept.
        let _ = std::thread::Builder::new().name("coverage".to_owned()).spawn(move || {
            std::thread::sleep(UNTIL_KILLED);
            drop(inner.finish());
        });
    }
}

impl Inner {
    /// Creates what finds out what a command has changed whose service was killed; its files where that cannot be found out, or
    /// is kept already; none where it can be tried again.
    fn of_cut_off(
        state: &Path,
        scopes: &Scopes,
        command: CutOffCommand,
    ) -> Result<Self, Option<RunningCommand>> {
        let CutOffCommand { note, running } = command;
        let Ok(found) = state_before(state, scopes, &note, &running) else { return Err(None) };
        let Some((scope, before)) = found else { return Err(Some(running)) };
        let paths = |paths: &Vec<Vec<u8>>| paths.iter().filter_map(|it| RelPath::parse(it).ok()).collect();
        let closed = note.closed.iter().map(paths).collect();
        Ok(Self { scope, state: state.to_owned(), closed, before, note, running, is_cut_off: true })
    }

    fn finish(self) -> Result<Option<CommandChanges>, String> {
        let mut has_changed = true;
        let changes = self.keep(&mut has_changed);
        // Only now: what a killed service has left is kept by the next one.
        self.running.end(has_changed);
        changes
    }

    /// Finds out what has changed and keeps it. `has_changed` is whether anything has, also of others.
    fn keep(&self, has_changed: &mut bool) -> Result<Option<CommandChanges>, String> {
        let cancel = Cancel::after(AFTER);
        let after = look(&self.scope, &self.state, &self.closed, Some(&self.before), None, &cancel);
        let after = after.map_err(|error| match error {
            LookError::Stopped(failure) => failure.message,
            LookError::Io(error) => error.to_string(),
        })?;
        let mut difference = Difference::between(&self.before, &after);
        *has_changed = !difference.changes.is_empty() || !difference.uncovered.is_empty();
        let together = if *has_changed { self.running.together() } else { Vec::new() };
        let store = VersionStore::below(&self.state);
        let left_out = self.leave_out_others(&store, &mut difference);
        let source = ChangeSource {
            scope: self.scope.storage_key(),
            op: &self.note.op,
            operation_id: &self.note.operation_id,
            caller: &self.note.caller,
            batch: self.note.batch.as_deref(),
            takes_back: &[],
            is_rollback: false,
        };
        let of =
            TreeSummary { together: together.clone(), is_cut_off: self.is_cut_off, ..TreeSummary::default() };
        let roots: Vec<_> = self.scope.root_paths().collect();
        let show = |root: usize, path: &RelPath| roots[root].show(path);
        let counted = counts(&difference);
        let paths: Vec<_> = difference.changes.iter().map(|it| (it.root, it.path.clone())).collect();
        let kept =
            left_out.and_then(|()| keep_difference(&store, source, &mut difference, &self.before, of, &show));
        let (undo_id, not_kept) = match kept {
            Ok(undo_id) => (undo_id, None),
            Err(error) => {
                difference.uncovered.extend(paths);
                let why = match error.kind() {
                    ErrorKind::FileTooLarge => "it is more than is kept for undo".to_owned(),
                    _ => error.to_string(),
                };
                (None, Some(why))
            }
        };
        if difference.changes.is_empty() && difference.uncovered.is_empty() && together.is_empty() {
            return Ok(None);
        }
        let [created, changed, removed] = if not_kept.is_some() { counted } else { counts(&difference) };
        let is_closed = |root: usize, path: &RelPath| {
            let rules = roots[root].rules();
            rules.rule_for_path(path, bailiwick_contract::Access::Read).is_some()
        };
        let uncovered: Vec<_> = difference.outermost_uncovered().collect();
        let shown = uncovered.iter().filter(|(root, path)| !is_closed(*root, path));
        let not_covered: Vec<String> =
            shown.take(MAX_NAMED).map(|(root, path)| roots[*root].show(path)).collect();
        let more = uncovered.len() - not_covered.len();
        Ok(Some(CommandChanges {
            created,
            changed,
            removed,
            undo_id,
            not_covered,
            more_not_covered: (more > 0).then_some(more as u64),
            shared_with: together,
            not_kept,
        }))
    }

    /// Leaves out what other requests have changed while the command ran, as far as it is as they left it. What both have
    /// changed is not covered.
    fn leave_out_others(&self, store: &VersionStore, difference: &mut Difference) -> io::Result<()> {
        let mut files: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut trees: HashMap<(usize, RelPath), Option<Node>> = HashMap::new();
        let records =
            store.changes_since(self.scope.storage_key(), self.before.began_ms, i64::MAX, |it| {
                std::ops::ControlFlow::Continue(it.operation_id != self.note.operation_id)
            })?;
        for found in records.iter().rev() {
            // What a command changed is in its tree.
            for file in found.record.files.iter().filter(|_| found.record.tree.is_none()) {
                files.insert(file.path.clone(), file.version_after.clone());
                files.extend(file.moved_from.iter().map(|from| (from.clone(), None)));
            }
            for change in TreeRecord::read(found)?.into_iter().flat_map(|tree| tree.difference.changes) {
                trees.insert((change.root, change.path), change.after);
            }
        }
        if files.is_empty() && trees.is_empty() {
            return Ok(());
        }
        let roots: Vec<_> = self.scope.root_paths().collect();
        let uncovered = &mut difference.uncovered;
        difference.changes.retain(|change| {
            let shown = roots[change.root].show(&change.path);
            let of_file = files.keys().any(|file| rest_of(&shown, file).is_some());
            let version = change.after.as_ref().and_then(|after| Some(&after.content.as_ref()?.sha256));
            let version = version.map(|sha256| content_version(&hex(sha256)));
            if files
                .get(&shown)
                .is_some_and(|left| *left == version && left.is_some() == change.after.is_some())
            {
                return false;
            }
            match trees.get(&(change.root, change.path.clone())) {
                Some(after) if is_same(after.as_ref(), change.after.as_ref()) => false,
                None if !of_file => true,
                Some(_) | None => {
                    uncovered.insert((change.root, change.path.clone()));
                    false
                }
            }
        });
        Ok(())
    }
}

/// Keeps what commands have changed whose service was killed while they ran, so that it can be taken back. Returns
/// whether others run in other processes.
pub fn keep_cut_off(state: &Path, scopes: &Scopes) -> bool {
    let (found, are_some_running) = find_cut_off(state);
    let mut are_some_left = false;
    if !found.is_empty() {
        // What they started is being killed.
        std::thread::sleep(UNTIL_KILLED);
    }
    for command in found {
        match Inner::of_cut_off(state, scopes, command) {
            // What cannot be kept cannot be taken back; no answer is left to say it in.
            Ok(inner) => drop(inner.finish()),
            Err(Some(running)) => running.end(true),
            // A later look finds it again.
            Err(None) => are_some_left = true,
        }
    }
    are_some_running || are_some_left
}

/// Returns the scope of a command whose service was killed, and the state of its folders before it; `None` where it is not
/// covered any more, or what it changed is kept already.
///
/// # Errors
/// Those of the file system: whether it is kept cannot be found out now.
fn state_before(
    state: &Path,
    scopes: &Scopes,
    note: &CommandNote,
    running: &RunningCommand,
) -> io::Result<Option<(Arc<Scope>, Snapshot)>> {
    let scope = scopes.find(&note.scope).filter(|it| it.storage_key() == note.key);
    let Some((scope, began_ms)) = scope.zip(id::began_ms(&note.operation_id)) else { return Ok(None) };
    let mut is_kept = false;
    VersionStore::below(state).changes_since(&note.key, began_ms, i64::MAX, |it| {
        is_kept |= it.operation_id == note.operation_id && it.tree.is_some();
        std::ops::ControlFlow::Continue(false)
    })?;
    if is_kept || scope.undo() != UndoMode::Commands {
        return Ok(None);
    }
    let before = CoverageStore::below(state).kept(&note.key, &running.state_before(), began_ms);
    Ok(before.map(|before| (Arc::clone(scope), before)))
}

/// Returns whether two states of a path are the same one.
fn is_same(one: Option<&Node>, other: Option<&Node>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one.stat.kind == other.stat.kind && one.link == other.link && one.has_content_of(other)
        }
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Looks at the roots of a scope.
fn look(
    scope: &Scope,
    state: &Path,
    closed: &[HashSet<RelPath>],
    before: Option<&Snapshot>,
    keep_as: Option<&Path>,
    cancel: &Cancel,
) -> Result<Snapshot, LookError> {
    let mut roots = Vec::new();
    for (root, closed) in scope.root_paths().zip(closed) {
        let (dir, _) = root.open_dir()?;
        roots.push(CoveredRoot { dir, closed: closed.clone() });
    }
    let rules = scope.path_rules();
    let is_own = |id: FileId| rules.is_own_folder(id);
    CoverageStore::below(state).look(scope.storage_key(), roots, &is_own, before, keep_as, cancel)
}

/// Returns which paths beneath each root are hidden from commands.
fn closed_paths(scope: &Scope, hidden: &[PathBuf]) -> Vec<HashSet<RelPath>> {
    let below = |root: PathBuf| paths_below(&root, hidden);
    scope.root_paths().map(|root| root.on_disk().map(below).unwrap_or_default()).collect()
}

/// Returns those of some paths that are beneath a root, relative to it.
pub(super) fn paths_below<T: FromIterator<RelPath>>(root: &Path, paths: &[PathBuf]) -> T {
    let below = paths.iter().filter_map(|path| path.strip_prefix(root).ok());
    below.filter_map(|path| RelPath::parse(OsStr::as_bytes(path.as_os_str())).ok()).collect()
}
