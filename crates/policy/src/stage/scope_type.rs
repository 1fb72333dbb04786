//! Does this type of scope, on this platform, support it?

use bailiwick_contract::{ErrorCode, Failure, ScopeNeed, ScopeType};

use super::super::Case;
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "scope_type",
    asks: "Does this type of scope, on this platform, support it?",
    builds_on: &["scope", "operation"],
    check,
    note: |_, draft| match &draft.scope {
        Some(scope) => format!("a {} scope", name(scope.scope_type())),
        None => "no scope is needed".to_owned(),
    },
};

fn check<'a>(_: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    let spec = draft.candidate.expect("the operation stage passed").spec();
    if let (ScopeNeed::In(types), Some(scope)) = (spec.scope, &draft.scope)
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
        .hint(match types {
            [ScopeType::Computer] => {
                "For the user: `bailiwick scope add screen --type computer --screen` makes one."
            }
            _ => "For the user: `bailiwick scope add FOLDER` makes a folder scope.",
        }));
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
