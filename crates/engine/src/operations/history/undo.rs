//! `history.undo`: take back what operations changed, one or all since a time.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use serde_json::Value;

use super::query;
use crate::changes::{
    NOTHING_KEPT, RestoredFile, UNDO_IDS, check_origin, in_journal, is_in_effect, not_kept, release,
    restore_changes, restore_changes_after, scope_key, unreadable,
};
use crate::registry::prelude::*;
use bailiwick_contract::{ErrorCode, Transport, id, time};
use bailiwick_providers::file::rest_of;
use bailiwick_providers::versions::{FoundRecord, VersionStore};

/// How many changes are taken back at once.
const MAX_CHANGES: usize = 1_000;
/// How long after it began an operation may make its last change, in milliseconds.
const LONGEST_OPERATION_MS: i64 = 2 * 3_600 * 1_000;

/// The operation.
pub struct Op;

/// What to take back; without a field, the caller's newest change that is in effect.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Input {
    /// The `operationId` of a request, also of a batch: all that it changed.
    pub operation: Option<String>,
    /// All that this caller changed at this time or later: RFC 3339 in UTC, or a date.
    pub since: Option<String>,
    /// With `since`: no later than this time.
    pub until: Option<String>,
    /// `true` takes back also changes of a command that may be those of another one, which ran at the same time.
    pub shared: bool,
    /// Whose changes count: `own` (default), or `all`, which only the user at this computer can ask for, at the command line.
    pub callers: Callers,
}

/// Whose changes are taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Callers {
    /// Those of the caller who asks.
    #[default]
    Own,
    /// Those of every caller.
    All,
}

/// What was taken back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The changes, the newest first.
    pub changes: Vec<UndoneChange>,
    /// Each file, as file.restore describes it.
    pub files: Vec<RestoredFile>,
    /// How many further files there are, where these are not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_files: Option<u64>,
    /// `true` if nothing was done, since `options.dryRun` was set.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// One change that was taken back.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoneChange {
    /// The operation that made it.
    pub op: String,
    /// When it was made, RFC 3339 in UTC.
    pub at: String,
    /// The id of the request that made it.
    pub operation_id: String,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "history.undo",
        summary: "Take back what operations changed",
        details: "Files, folders and links become what they were before: the changes of one request, by its \
                  `operationId`; all of this caller since a time; or the newest. What commands change is kept \
                  where the scope's `undo` is `commands`: their answers say so in `changes`. If something was changed again since, nothing is taken \
                  back: that is a conflict, with the difference in `details.diff`. `options.dryRun` shows each \
                  difference before. An undo is a change, too: the `operationId` of its answer takes it back.",
        capabilities: &[&[Capability::FsWrite]],
        effect: Effect::Destroys,
        target: TargetRule::None,
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::DryRun],
        timeout_seconds: 120,
        audited_fields: &["operation", "since", "until", "callers", "shared"],
        example: r#"{"op":"history.undo","input":{"operation":"01JD0000000000000000000000"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = NoFields;
    type Output = Output;
    // The paths of a change are in its record; each is judged before anything is opened.
    const JUDGED: JudgedFields<Input> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, input: &Input, _: &NoFields) -> Result<Output, Failure> {
        let changes = not_done_before(cx, permit, find(cx, permit, input)?)?;
        let dry_run = permit.common().dry_run;
        check_origin(cx, &changes, input.shared || dry_run)?;
        let output = in_journal(cx, permit, &changes, || take_back(cx, permit, &changes))?;
        // Only now: what is taken back after a kill has to be known.
        if !dry_run {
            release(cx, &changes);
        }
        Ok(output)
    }
}

/// Takes changes back, the newest first: all of them, or none.
fn take_back(cx: &Context, permit: &Permit, changes: &[FoundRecord]) -> Result<Output, Failure> {
    let dry_run = permit.common().dry_run;
    let mut output = Output {
        changes: changes.iter().map(described).collect(),
        files: Vec::new(),
        more_files: None,
        dry_run,
    };
    let mut undo_ids = Vec::new();
    // Contents go back together; what is kept whole, and what a command changed, goes back alone.
    let is_whole = |it: &FoundRecord| !it.record.relocations.is_empty() || it.record.tree.is_some();
    let mut groups: Vec<_> = changes.chunk_by(|one, next| !is_whole(one) && !is_whole(next)).rev().collect();
    // The times that files had, for what is known by them.
    let mut times: Vec<(String, i64)> = Vec::new();
    // The conflict of changes that were tried together, where that names several files.
    let mut together: Option<Failure> = None;
    while let Some(group) = groups.pop() {
        let restored = match restore_changes_after(cx, permit, group, &times) {
            Ok(restored) => restored,
            // A name that was given away and used again is free only once the later change is back.
            Err(failure) if failure.code == ErrorCode::Conflict && group.len() > 1 => {
                together = Some(failure);
                groups.extend(group.chunks(1).rev());
                continue;
            }
            // What comes later in a preview may stand on what is not done yet.
            Err(failure) if dry_run && stands_on(&failure, &output.files) => {
                cx.warn(format!("The preview ends here: {}.", failure.message));
                break;
            }
            Err(failure) => {
                let failure = together.filter(|it| is_among(&failure, it)).unwrap_or(failure);
                return Err(do_again(cx, permit, &undo_ids, failure));
            }
        };
        for file in &restored.files {
            if let Some(from) = &file.moved_from {
                times.iter_mut().for_each(|(path, _)| rename(path, from, &file.path));
            }
            times.extend(file.modified_ns.map(|modified_ns| (file.path.clone(), modified_ns)));
        }
        output.files.extend(restored.files);
        if let Some(more) = restored.more_files {
            *output.more_files.get_or_insert_default() += more;
        }
        undo_ids.extend(restored.undo_id);
    }
    let more = output.more_files.map_or(0, |more| usize::try_from(more).unwrap_or(usize::MAX / 2));
    cx.summarize(format!(
        "{} taken back, {}",
        query::counted(output.changes.len(), "change"),
        query::counted(output.files.len() + more, "file")
    ));
    Ok(output)
}

fn described(found: &FoundRecord) -> UndoneChange {
    let record = &found.record;
    UndoneChange {
        op: record.op.clone(),
        at: time::rfc3339(record.at_ms),
        operation_id: record.operation_id.clone(),
    }
}

/// Finds the changes, the newest first.
fn find(cx: &Context, permit: &Permit, input: &Input) -> Result<Vec<FoundRecord>, Failure> {
    let store = VersionStore::below(&cx.service.dirs.state);
    let scope = scope_key(permit);
    // Clients without a token, of MCP or on loopback, are not the user at the command line.
    let is_user = cx.caller.token.is_none() && cx.caller.transport == Transport::Cli;
    if input.callers == Callers::All && !is_user {
        return Err(Failure::invalid(
            "input.callers",
            "only the user at this computer can undo the changes of other clients by time",
        )
        .detail("rule", "undo-of-others")
        .hint("Name one request by `operation`, or leave `callers` out."));
    }
    let is_ours = |caller: &str| input.callers == Callers::All || caller == cx.caller.identity();
    let until_ms = query::moment("input.until", input.until.as_deref())?;
    if until_ms.is_some() && input.since.is_none() {
        return Err(Failure::invalid("input.until", "`until` needs `since`"));
    }
    let mut count = 0;
    let mut take = |is_wanted: bool| {
        count += usize::from(is_wanted);
        if count > MAX_CHANGES || cx.cancel.check().is_err() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(is_wanted)
        }
    };
    let found = match (&input.operation, &input.since) {
        (Some(operation), None) => {
            let began_ms = id::began_ms(operation).ok_or_else(|| {
                Failure::invalid("input.operation", "`operation` is not an operation's id")
                    .hint("Use the `operationId` of a result; history.timeline lists them.")
            })?;
            let until_ms = began_ms.saturating_add(LONGEST_OPERATION_MS);
            store.changes_since(scope, began_ms, until_ms, |it| {
                take(it.operation_id == *operation || it.batch.as_deref() == Some(operation))
            })
        }
        (None, Some(_)) => {
            let since_ms = query::moment("input.since", input.since.as_deref())?.unwrap_or_default();
            let until_ms = until_ms.unwrap_or(i64::MAX);
            store.changes_since(scope, since_ms, until_ms, |it| take(is_ours(&it.caller)))
        }
        (None, None) => {
            return newest_in_effect(cx, permit, &store, is_ours)?
                .map(|it| vec![it])
                .ok_or_else(nothing_kept);
        }
        (Some(_), Some(_)) => {
            return Err(Failure::invalid("input", "`input` takes either `operation` or `since`"));
        }
    };
    let found = found.map_err(|error| unreadable(&error))?;
    cx.cancel.check()?;
    if count > MAX_CHANGES {
        return Err(Failure::invalid("input", format!("these are more than {MAX_CHANGES} changes"))
            .hint("Take back a shorter time at once, the newest first."));
    }
    if found.is_empty() {
        return Err(nothing_kept());
    }
    Ok(found)
}

fn nothing_kept() -> Failure {
    Failure::new(ErrorCode::NotFound, "nothing is kept that could be taken back")
        .detail("rule", NOTHING_KEPT)
        .hint("What operations of Bailiwick change is kept for 30 days; what commands change only where the scope's `undo` is `commands`.")
        .hint("Without `operation`, only changes of this caller count. history.timeline lists requests.")
}

/// Finds the newest change that is in effect: not one that was cut off before it did anything, nor what a rollback did, nor what
/// that has taken back.
fn newest_in_effect(
    cx: &Context,
    permit: &Permit,
    store: &VersionStore,
    is_ours: impl Fn(&str) -> bool,
) -> Result<Option<FoundRecord>, Failure> {
    let scope = scope_key(permit);
    let mut passed = HashSet::new();
    loop {
        cx.cancel.check()?;
        let mut is_found = false;
        let found = store.changes_since(scope, 0, i64::MAX, |it| {
            if is_found || cx.cancel.check().is_err() {
                return ControlFlow::Break(());
            }
            is_found = is_ours(&it.caller) && !passed.contains(&it.undo_id);
            ControlFlow::Continue(is_found)
        });
        let found = found.map_err(|error| unreadable(&error))?.pop();
        let Some(newest) = found.filter(|_| passed.len() < MAX_CHANGES) else { return Ok(None) };
        let record = &newest.record;
        // So does an undo that failed, with what it had taken back before.
        let mut is_rollback = record.is_rollback;
        for undo_id in &record.takes_back {
            let before = store.record(scope, undo_id).map_err(|error| unreadable(&error))?;
            is_rollback |= before.is_some_and(|it| it.record.operation_id == record.operation_id);
        }
        if !is_rollback && is_in_effect(cx, permit, &newest) {
            return Ok(Some(newest));
        }
        passed.insert(record.undo_id.clone());
        if is_rollback {
            passed.extend(record.takes_back.iter().cloned());
        }
    }
}

/// Returns whether a conflict is about a name that the files of a preview have or had, or about what is in them.
fn stands_on(failure: &Failure, files: &[RestoredFile]) -> bool {
    let Some(path) = failure.details.get("path").and_then(Value::as_str) else { return false };
    let is_below = |one: &str, other: &str| rest_of(one, other).is_some();
    let mut names = files.iter().flat_map(|file| std::iter::once(&file.path).chain(&file.moved_from));
    failure.code == ErrorCode::Conflict && names.any(|name| is_below(name, path) || is_below(path, name))
}

/// Replaces the folder `from` in a path that is that folder or below it.
fn rename(path: &mut String, from: &str, to: &str) {
    if let Some(rest) = rest_of(path, from) {
        *path = format!("{to}{rest}");
    }
}

/// Returns whether a conflict is one of several.
fn is_among(failure: &Failure, several: &Failure) -> bool {
    let all = several.details.get("conflicts").and_then(Value::as_array);
    all.is_some_and(|all| all.iter().any(|it| Some(&it["path"]) == failure.details.get("path")))
}

/// Leaves out what was taken back by an undo that was cut off later: it had begun with the changes before. What an undo that
/// failed has taken back and made again is as that has left it.
fn not_done_before(
    cx: &Context,
    permit: &Permit,
    mut changes: Vec<FoundRecord>,
) -> Result<Vec<FoundRecord>, Failure> {
    let Some(oldest) = changes.last() else { return Ok(changes) };
    let since_ms = id::began_ms(&oldest.record.undo_id).unwrap_or_default();
    let own: HashSet<String> = changes.iter().map(|it| it.record.undo_id.clone()).collect();
    let (mut later, mut taken_back, mut done) = (HashSet::new(), HashSet::new(), HashSet::new());
    // The newest change that takes each back.
    let mut by: HashMap<String, String> = HashMap::new();
    let store = VersionStore::below(&cx.service.dirs.state);
    store
        .changes_since(scope_key(permit), since_ms, i64::MAX, |it| {
            if cx.cancel.check().is_err() {
                return ControlFlow::Break(());
            }
            for id in &it.takes_back {
                by.entry(id.clone()).or_insert_with(|| it.undo_id.clone());
            }
            // An undo that is taken back itself, now or before, does not count.
            if !it.takes_back.is_empty() && !own.contains(&it.undo_id) && !taken_back.contains(&it.undo_id) {
                taken_back.extend(it.takes_back.iter().cloned());
                if !later.insert(it.operation_id.clone()) {
                    done.extend(it.takes_back.iter().cloned());
                }
            }
            ControlFlow::Continue(false)
        })
        .map_err(|error| unreadable(&error))?;
    cx.cancel.check()?;
    changes.retain(|it| !done.contains(&it.record.undo_id));
    for change in changes.iter_mut().filter(|it| !it.record.relocations.is_empty()) {
        // What was made again is kept with that.
        while !change.has_kept()
            && let Some(again) = by.get(&change.record.undo_id).and_then(|undo| by.get(undo))
            && let Some(found) = store.record(scope_key(permit), again).map_err(|error| unreadable(&error))?
            && !found.record.relocations.is_empty()
        {
            *change = found;
        }
    }
    Ok(changes)
}

/// Does again what was taken back before something failed, so that all stays as it was.
fn do_again(cx: &Context, permit: &Permit, undo_ids: &[String], failure: Failure) -> Failure {
    let store = VersionStore::below(&cx.service.dirs.state);
    let scope = scope_key(permit);
    for undo_id in undo_ids.iter().rev() {
        let again = store
            .record(scope, undo_id)
            .map_err(|error| unreadable(&error))
            .and_then(|found| found.ok_or_else(|| not_kept("what was taken back")))
            .and_then(|found| restore_changes(cx, permit, &[found]));
        if let Err(again) = again {
            return failure.detail(UNDO_IDS, undo_ids.to_vec()).hint(format!(
                "A part stays taken back, since that could not be undone: {}. Bailiwick tries that again at later requests; file.restore takes each of `details.undoIds`.",
                again.message
            ));
        }
    }
    failure
}
