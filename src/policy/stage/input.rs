//! Are target, input and options of the operation's form?

use crate::contract::{Failure, TargetRule};

use super::super::{Case, PermittedTarget};
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "input",
    asks: "Are target, input and options of the operation's form?",
    builds_on: &["operation"],
    check,
    note: |_, _| "of the operation's form".to_owned(),
};

fn check<'a>(case: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    let candidate = draft.candidate.expect("the operation stage passed");
    let spec = candidate.spec();
    let target = case.envelope.target.as_deref();
    match (spec.target, target) {
        (TargetRule::None, Some(_)) => {
            return Err(Failure::invalid("target", format!("`{}` takes no target", spec.name))
                .hint("Leave `target` out."));
        }
        (TargetRule::Path(_), None) => {
            return Err(Failure::invalid("target", format!("`{}` needs a path as `target`", spec.name))
                .hint(format!("For example {}", spec.example)));
        }
        (TargetRule::Id(what), None) => {
            return Err(Failure::invalid("target", format!("`{}` needs {what} as `target`", spec.name))
                .hint(format!("For example {}", spec.example)));
        }
        (TargetRule::Id(_) | TargetRule::OptionalId(_), Some(id)) => {
            draft.target = PermittedTarget::Id(id.to_owned());
        }
        (TargetRule::None | TargetRule::OptionalId(_), None)
        | (TargetRule::Path(_), Some(_))
        | (TargetRule::PathOrRoot(_), _) => {}
    }
    draft.parsed = Some(candidate.parse(case.envelope)?);
    Ok(())
}
