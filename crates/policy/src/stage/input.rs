//! Are target, input and options of the operation's form?

use bailiwick_contract::{Failure, TargetRule};

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
        (rule, None) if !rule.is_optional() => {
            let what = rule.id_of().unwrap_or("a path");
            return Err(Failure::invalid("target", format!("`{}` needs {what} as `target`", spec.name))
                .hint(format!("For example {}", spec.example)));
        }
        (rule, Some(id)) if rule.id_of().is_some() => draft.target = PermittedTarget::Id(id.to_owned()),
        // Left out, or a path, which has a stage of its own.
        _ => {}
    }
    draft.parsed = Some(candidate.parse(case.envelope)?);
    Ok(())
}
