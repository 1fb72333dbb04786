//! From a permit to a Git that is ready, which every operation here begins with.

use std::sync::Arc;

use crate::contract::{ErrorCode, Failure};
use crate::policy::Permit;
use crate::providers::git::{Git, Repository, Surroundings};
use crate::registry::Context;

/// Finds the repository of the permit's target, and makes Git ready for it.
///
/// # Errors
/// `not_found`, `path_out_of_scope`, `provider_unavailable`.
pub async fn open(cx: &Context, permit: &Permit) -> Result<Git, Failure> {
    let scope = permit.scope().ok_or_else(|| Failure::invalid("scope", "no scope is named"))?;
    let (target, scope) = (permit.path().clone(), Arc::clone(scope));
    let around = Surroundings {
        launcher: Arc::clone(&cx.service.launcher),
        dirs: cx.service.dirs.clone(),
        scope: Arc::clone(&scope),
        scopes: Arc::clone(&cx.service.scopes),
        cancel: cx.cancel.clone(),
    };
    let found = tokio::task::spawn_blocking(move || Repository::find(&target, &scope)).await;
    let found = found.map_err(|error| {
        Failure::new(ErrorCode::ExecutionFailed, format!("the repository could not be looked for: {error}"))
    })?;
    Git::ready(found?, around).await
}

/// Shows the top of the working tree; `None` if it lies above the scope's folder.
pub fn top(git: &Git) -> Option<String> {
    let repository = &git.repository;
    repository.is_whole().then(|| repository.start.shown())
}
