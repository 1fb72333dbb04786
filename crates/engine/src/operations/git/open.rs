//! From a permit to a Git that is ready, which every operation here begins with.

use std::sync::Arc;

use crate::registry::Context;
use bailiwick_contract::{Cancel, ErrorCode, Failure};
use bailiwick_policy::{Permit, PermittedPath};
use bailiwick_providers::git::{Git, GitContext, Repository, in_scope};

/// Finds the repository of the permit's target, and makes Git ready for it.
///
/// # Errors
/// `not_found`, `path_out_of_scope`, `provider_unavailable`.
pub async fn open(cx: &Context, permit: &Permit) -> Result<Git, Failure> {
    open_at(cx, permit, permit.path().clone()).await
}

/// As [`open`], for the folder of a working tree, which may have been permitted to be written.
///
/// # Errors
/// As [`open`]; `path_out_of_scope` if it may not be read.
pub async fn open_work_tree(cx: &Context, permit: &Permit, top: &PermittedPath) -> Result<Git, Failure> {
    let scope = permit.needed_scope()?;
    // Written, its `.git` is closed; read, it says where the repository is.
    let target = in_scope(scope, &top.on_disk()?).ok_or_else(|| {
        Failure::new(ErrorCode::PathOutOfScope, format!("`{}` cannot be read in this scope", top.shown()))
    })?;
    open_at(cx, permit, target).await
}

async fn open_at(cx: &Context, permit: &Permit, target: PermittedPath) -> Result<Git, Failure> {
    open_until(cx.cancel.clone(), cx, permit, target)?.await
}

/// As [`open`], for calls that may continue when the request has ended, until another flag is raised.
///
/// # Errors
/// As [`open`].
pub fn open_until(
    cancel: Cancel,
    cx: &Context,
    permit: &Permit,
    target: PermittedPath,
) -> Result<impl Future<Output = Result<Git, Failure>> + Send + use<>, Failure> {
    let around = GitContext {
        launcher: Arc::clone(&cx.service.launcher),
        dirs: cx.service.dirs.clone(),
        scope: Arc::clone(permit.needed_scope()?),
        roots: cx.service.roots.clone(),
        cancel,
    };
    Ok(find(around, target))
}

async fn find(around: GitContext, target: PermittedPath) -> Result<Git, Failure> {
    let scope = Arc::clone(&around.scope);
    let found = tokio::task::spawn_blocking(move || Repository::find(&target, &scope)).await;
    let found = found.map_err(|error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("the repository could not be looked for: {error}"))
    })?;
    Git::ready(found?, around).await
}

/// Shows the top of the working tree; `None` if it is above the scope's folder.
pub fn top(git: &Git) -> Option<String> {
    let repository = &git.repository;
    repository.is_whole().then(|| repository.start.shown())
}
