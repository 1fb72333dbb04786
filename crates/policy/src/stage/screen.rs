//! Does the scope take pictures of that kind? Which windows are in them is judged when they are taken.

use bailiwick_contract::{Failure, OperationSpec, StageName, TargetRule};

use super::super::Scope;
use super::Stage;

pub const STAGE: Stage = Stage {
    name: StageName::Screen,
    asks: "Does the scope take pictures of displays, windows or processes, as this one is?",
};

/// Returns what was decided, in words.
pub fn note(spec: &OperationSpec) -> String {
    match spec.target {
        TargetRule::Display | TargetRule::Window | TargetRule::ProcessWindow => {
            "allowed; windows are judged when the picture is taken".to_owned()
        }
        _ => "no picture is taken".to_owned(),
    }
}

pub fn check(scope: Option<&Scope>, spec: &OperationSpec) -> Result<(), Failure> {
    scope.map_or(Ok(()), |scope| scope.screen().judge_kind(spec.target, scope.id()))
}
