//! Does this type of scope, on this platform, support it?

use bailiwick_contract::{ErrorCode, Failure, OperationSpec, ScopeNeed, ScopeType, StageName};

use super::super::Scope;
use super::Stage;

pub const STAGE: Stage =
    Stage { name: StageName::ScopeType, asks: "Does this type of scope, on this platform, support it?" };

/// Returns what was decided, in words.
pub fn note(scope: Option<&Scope>) -> String {
    match scope {
        Some(scope) => format!("a {} scope", name(scope.scope_type())),
        None => "no scope is needed".to_owned(),
    }
}

pub fn check(scope: Option<&Scope>, spec: &OperationSpec) -> Result<(), Failure> {
    if let (ScopeNeed::In(types), Some(scope)) = (spec.scope, scope)
        && !types.contains(&scope.scope_type())
    {
        let wanted: Vec<&str> = types.iter().map(|it| name(*it)).collect();
        return Err(Failure::denied(
            "scope-type",
            format!(
                "`{}` acts in {} scopes; `{}` is a {} scope",
                spec.name,
                wanted.join(" or "),
                scope.id(),
                name(scope.scope_type())
            ),
        )
        .hint(format!("Use a {} scope.", wanted.join(" or ")))
        .hint("For the user: `bailiwick scope add FOLDER` makes a folder scope."));
    }
    let os = std::env::consts::OS;
    if !spec.supports_platform(os) {
        return Err(Failure::new(
            ErrorCode::UnsupportedPlatform,
            format!("`{}` is not available on {os}", spec.name),
        )
        .detail("platforms", spec.platforms.to_vec()));
    }
    Ok(())
}

fn name(scope_type: ScopeType) -> &'static str {
    match scope_type {
        ScopeType::Folder => "folder",
        ScopeType::Computer => "computer",
    }
}
