//! Does the scope show that kind of thing? Which windows it shows is judged when they are read.

use bailiwick_contract::{Failure, OperationSpec, StageName, TargetRule};

use super::super::Scope;
use super::Stage;

pub const STAGE: Stage = Stage {
    name: StageName::Screen,
    asks: "Does the scope show displays, windows or processes, as this request needs?",
};

/// Returns what was decided, in words.
pub fn note(spec: &OperationSpec) -> String {
    match spec.target {
        TargetRule::Display | TargetRule::Window | TargetRule::ProcessWindow => {
            "allowed; windows are judged when the picture is taken".to_owned()
        }
        TargetRule::ActiveWindow
        | TargetRule::Element
        | TargetRule::WindowOrElement
        | TargetRule::Snapshot => "allowed; the window is judged when its elements are read".to_owned(),
        _ => "no picture is taken".to_owned(),
    }
}

pub fn check(scope: Option<&Scope>, spec: &OperationSpec) -> Result<(), Failure> {
    let Some(scope) = scope else { return Ok(()) };
    scope.screen().judge_input(spec, scope.id())?;
    scope.screen().judge_kind(spec.target, scope.id())
}
