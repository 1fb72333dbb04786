//! Taking over what a command has changed in its preview, where the user has approved exactly that: all of it, or nothing. The command
//! does not run again.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coverage::CommandChanges;
use crate::changes::{Journal, apply_whole, scope_key};
use crate::registry::Context;
use bailiwick_contract::{Access, Caller, Cancel, ErrorCode, Failure, RawPath};
use bailiwick_policy::{ApprovedChanges, Permit, WritablePath};
use bailiwick_providers::approval::Approvals;
use bailiwick_providers::command::{CapturedStream, ReadyCommand};
use bailiwick_providers::coverage::{
    ChangeState, PreviewedChanges, Restoration, RestoreRoot, RestoreStep, closing_rule,
};
use bailiwick_providers::file::Locks;
use bailiwick_providers::versions::{ChangeSource, VersionStore};

/// How a command has ended in its preview, and what it printed.
#[derive(Debug, Serialize, Deserialize)]
pub struct PreviewOutcome {
    /// The exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<String>,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// Standard output and standard error.
    pub streams: [CapturedStream; 2],
}

/// Takes over what a command has changed in its preview. Returns how it ended there, and what that has changed now.
///
/// # Errors
/// `conflict` if what it touches has changed since, or is not kept as it was approved; `permission_denied` where the caller may not write
/// it any more; `invalid_request` where undo cannot keep what it replaces. Nothing is changed then.
pub async fn commit(
    cx: &Context,
    permit: &Permit,
    prepared: &ReadyCommand,
    approved: &ApprovedChanges,
) -> Result<(PreviewOutcome, Option<CommandChanges>), Failure> {
    let scope = permit.needed_scope()?;
    let paths = scope.roots().iter().enumerate().map(|(at, root)| {
        let text = if at == 0 { ".".to_owned() } else { format!("{}:.", root.name) };
        permit.resolve_writable(&RawPath(text))
    });
    let job = Commit {
        state: cx.service.dirs.state.clone(),
        approved: approved.clone(),
        roots: paths.collect::<Result<_, _>>()?,
        may_write: prepared.writes,
        scope: scope.id().to_owned(),
        scope_key: scope_key(permit).to_owned(),
        op: permit.spec().name,
        operation_id: cx.request.id.clone(),
        caller: Arc::clone(&cx.caller),
        batch: cx.request.batch.clone(),
        cancel: cx.cancel.clone(),
    };
    let done = tokio::task::spawn_blocking(move || {
        let done = job.run();
        // It was approved once, whatever has come of that.
        Approvals::below(&job.state).remove_changes(&job.approved.ticket);
        done
    });
    done.await.unwrap_or_else(|_| {
        Err(Failure::new(
            ErrorCode::ExecutionFailed,
            "the changes could not be taken over (a bug in Bailiwick)",
        ))
    })
}

/// All that is needed to take changes over.
struct Commit {
    state: PathBuf,
    approved: ApprovedChanges,
    roots: Vec<WritablePath>,
    may_write: bool,
    scope: String,
    scope_key: String,
    op: &'static str,
    operation_id: String,
    caller: Arc<Caller>,
    batch: Option<String>,
    cancel: Cancel,
}

impl Commit {
    fn run(&self) -> Result<(PreviewOutcome, Option<CommandChanges>), Failure> {
        let file = Approvals::below(&self.state).changes(&self.approved.ticket);
        let changes = file.ok().and_then(|file| PreviewedChanges::read(file, &self.approved.sha256));
        let outcome = |it: &PreviewedChanges| serde_json::from_slice::<PreviewOutcome>(&it.outcome).ok();
        let Some((changes, outcome)) = changes.and_then(|it| outcome(&it).map(|outcome| (it, outcome)))
        else {
            return Err(refused(
                "changes-not-kept",
                "the changes that were approved are not kept, or were altered",
            ));
        };
        let record = &changes.record;
        if record.difference.changes.is_empty() {
            return Ok((outcome, None));
        }
        if !self.may_write {
            return Err(Failure::denied(
                "changes-closed",
                "commands may not write in the scope's folders any more",
            ));
        }
        let roots = self.open_roots(record)?;
        for change in &record.difference.changes {
            let path = &roots[change.root].path;
            if closing_rule(path.rules(), &change.path).is_some() {
                let shown = match path.rules().rule_for_path(&change.path, Access::Read) {
                    Some(_) => "a closed file".to_owned(),
                    None => format!("`{}`", path.show(&change.path)),
                };
                let message = format!("nothing was taken over: {shown} may not be written any more");
                return Err(Failure::denied("changes-closed", message));
            }
        }
        let store = VersionStore::below(&self.state);
        let held = Locks::below(&self.state).take_all(&self.cancel)?;
        let mut plan = Restoration::plan(&roots, record, false, &self.cancel)?;
        let is_as_previewed = |step: &&RestoreStep| step.is_as_left && step.state == ChangeState::Pending;
        if let Some(step) = plan.steps.iter().find(|step| !is_as_previewed(step)) {
            let shown = plan.shown(step);
            return Err(refused(
                "changed-since-preview",
                &format!("`{shown}` has changed since the preview"),
            )
            .detail("path", shown));
        }
        let journal = Journal::begin(&self.state, &self.operation_id, &self.scope, &self.caller);
        let source = ChangeSource {
            scope: &self.scope_key,
            op: self.op,
            operation_id: &self.operation_id,
            caller: self.caller.identity(),
            batch: self.batch.as_deref(),
            takes_back: &[],
            is_rollback: false,
        };
        let journal = journal.map_err(|error| not_undoable(&error))?;
        let undo_id = apply_whole(&store, source, &roots, &mut plan, &held, Some(journal), not_undoable)?;
        // A change of the record is that from the preview back to the folders.
        let changes = record.difference.changes.iter().map(|it| (it.after.is_some(), it.before.is_some()));
        Ok((outcome, Some(CommandChanges::taken_over(changes, undo_id))))
    }

    /// Opens the roots, which have to be those of the preview.
    fn open_roots(
        &self,
        record: &bailiwick_providers::coverage::TreeRecord,
    ) -> Result<Vec<RestoreRoot>, Failure> {
        let replaced =
            || refused("changed-since-preview", "the scope has another folder than in the preview");
        if self.roots.len() != record.roots.len() {
            return Err(replaced());
        }
        let mut roots = Vec::with_capacity(self.roots.len());
        for (path, id) in self.roots.iter().zip(&record.roots) {
            let (dir, path) = path.open_dir()?;
            if dir.id() != *id {
                return Err(replaced());
            }
            roots.push(RestoreRoot { path, dir });
        }
        Ok(roots)
    }
}

/// Creates the failure for changes that are not taken over as they were approved.
fn refused(rule: &str, why: &str) -> Failure {
    Failure::new(ErrorCode::Conflict, format!("nothing was taken over: {why}"))
        .detail("rule", rule)
        .hint("Send the same request again: a new preview is made, which needs approval.")
}

fn not_undoable(error: &std::io::Error) -> Failure {
    let message = format!("nothing was taken over: what that replaces could not be kept for undo: {error}");
    Failure::new(ErrorCode::InvalidRequest, message)
        .detail("rule", "no-undo")
        .hint("For the user: free space on the disk of Bailiwick's state folder.")
        .hint("Send the same request again: a new preview is made, which needs approval.")
}
