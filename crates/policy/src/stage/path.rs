//! Are all paths in the scope's roots?

use bailiwick_contract::{Access, Failure, RawPath, TargetRule};

use super::super::located_path::LocatedPath;
use super::super::{Case, Scope};
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "path",
    asks: "Are all paths in the scope's folders?",
    builds_on: &["scope", "operation", "scope_type", "input"],
    check,
    note: |_, draft| match (&draft.located, draft.located_paths.as_slice()) {
        (Some(path), []) => format!("`{}`", path.shown()),
        (Some(path), more) => {
            let more: Vec<String> = more.iter().map(LocatedPath::shown).collect();
            format!("`{}`, `{}`", path.shown(), more.join("`, `"))
        }
        (None, _) => "the target is no path".to_owned(),
    },
};

fn check<'a>(case: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    let Some(scope) = draft.scope.clone() else { return Ok(()) };
    let spec = draft.candidate.expect("the operation stage passed").spec();
    if let TargetRule::Path(access) | TargetRule::PathOrRoot(access) = spec.target {
        let text = case.envelope.target.clone().unwrap_or_default();
        draft.located = Some(locate(&scope, &RawPath(text), access, "target")?);
    }
    let parsed = draft.parsed.as_ref().expect("the input stage passed");
    for input in &parsed.paths {
        draft.located_paths.push(locate(&scope, &input.path, input.access, input.field)?);
    }
    Ok(())
}

fn locate(scope: &Scope, path: &RawPath, access: Access, field: &str) -> Result<LocatedPath, Failure> {
    let path = scope.locate(path, access).map_err(|failure| failure.detail("field", field))?;
    path.root.problem().cloned().map_or(Ok(path), Err)
}
