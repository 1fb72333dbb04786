//! Does the scope take pictures of that kind? Which windows are in them is judged when they are taken.

use bailiwick_contract::{Failure, TargetRule};

use super::super::Case;
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "screen",
    asks: "Does the scope take pictures of displays, windows or processes, as this one is?",
    builds_on: &["scope", "operation", "scope_type", "input"],
    check,
    note: |_, draft| match draft.candidate.map(|candidate| candidate.spec().target) {
        Some(TargetRule::Display | TargetRule::Window | TargetRule::ProcessWindow) => {
            "allowed; windows are judged when the picture is taken".to_owned()
        }
        _ => "no picture is taken".to_owned(),
    },
};

fn check<'a>(_: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    let Some(scope) = draft.scope.clone() else { return Ok(()) };
    let spec = draft.candidate.expect("the operation stage passed").spec();
    scope.screen().judge_kind(spec.target, scope.id())
}
