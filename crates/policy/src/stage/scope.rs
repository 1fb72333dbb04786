//! Does the scope exist, and may the caller use it?

use std::sync::Arc;

use bailiwick_contract::{ErrorCode, Failure, ScopeNeed, StageName};

use super::super::scope::clip;
use super::super::{Case, Scope};
use super::Stage;

pub const STAGE: Stage =
    Stage { name: StageName::Scope, asks: "Does the scope exist, and may the caller use it?" };

/// Returns what was decided, in words.
pub fn note(scope: Option<&Scope>) -> String {
    match scope {
        Some(scope) => format!("scope `{}`", scope.id()),
        None => "the operation needs no scope".to_owned(),
    }
}

/// Returns the scope; `None` for operations that need none.
pub fn check(case: &Case<'_>) -> Result<Option<Arc<Scope>>, Failure> {
    if let Some(id) = &case.envelope.scope {
        // One answer for a scope that does not exist and for one that is closed to the caller.
        let scope = case.scopes.find(id).filter(|_| case.caller.scopes.allows(id));
        return Ok(Some(Arc::clone(scope.ok_or_else(|| unknown(case, id))?)));
    }
    let need = case.catalogue.find(&case.envelope.op).map(|op| op.spec().scope);
    if need == Some(ScopeNeed::Optional) {
        return Ok(None);
    }
    // Beside a folder, a screen is no second place for a file.
    if let Some(ScopeNeed::In(types)) = need {
        let mut fitting = case.scopes.open_to(case.caller).filter(|it| types.contains(&it.scope_type()));
        if let (Some(only), None) = (fitting.next(), fitting.next()) {
            return Ok(Some(Arc::clone(only)));
        }
    }
    let mut open = case.scopes.open_to(case.caller);
    match (open.next(), open.next()) {
        (Some(only), None) => Ok(Some(Arc::clone(only))),
        (None, _) => Err(Failure::new(ErrorCode::UnknownScope, "no scope is open to this caller")
            .hint("For the user: `bailiwick setup FOLDER` opens a folder; `bailiwick scope list` shows what is open.")),
        (Some(_), Some(_)) => {
            let ids: Vec<&str> = case.scopes.open_to(case.caller).map(|scope| scope.id()).collect();
            Err(Failure::invalid("scope", "`scope` is missing, and several scopes are open")
                .detail("scopes", ids.clone())
                .hint(format!("Add `scope`: one of {}.", ids.join(", "))))
        }
    }
}

fn unknown(case: &Case<'_>, id: &str) -> Failure {
    let ids: Vec<&str> = case.scopes.open_to(case.caller).map(|scope| scope.id()).collect();
    let failure =
        Failure::new(ErrorCode::UnknownScope, format!("no scope `{}` is open to this caller", clip(id)))
            .detail("scopes", ids.clone());
    if ids.is_empty() {
        failure.hint("For the user: `bailiwick setup FOLDER` opens a folder.")
    } else {
        failure.hint(format!("Use one of: {}.", ids.join(", ")))
    }
}
