//! Is the capability that it needs granted, by the scope and to the caller?

use bailiwick_contract::{Capability, FOR_USER, Failure};

use super::super::{Case, Standing};
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "capability",
    asks: "Is the capability that it needs granted by the scope, and to the caller?",
    builds_on: &["scope", "operation"],
    check,
    note: |_, draft| match draft.capability {
        Some(capability) => format!("`{capability}` is granted"),
        None => "the operation needs no capability".to_owned(),
    },
};

fn check<'a>(case: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    let spec = draft.candidate.expect("the operation stage passed").spec();
    let Some(scope) = draft.scope.clone() else {
        // Without a scope nothing is granted; only operations that need no capability get here.
        return match spec.capabilities.first() {
            None => Ok(()),
            Some(group) => Err(denied(spec.name, "(none)", group, true)),
        };
    };
    let standing = |capability: Capability| {
        if case.caller.capabilities.allows(capability) {
            scope.standing(capability)
        } else {
            Standing::Denied
        }
    };
    for group in spec.capabilities {
        let granted = group.iter().find(|capability| standing(**capability) == Standing::Granted);
        let asked = group.iter().find(|capability| standing(**capability) == Standing::Ask);
        match (granted, asked) {
            (Some(capability), _) => draft.capability = draft.capability.or(Some(*capability)),
            (None, Some(capability)) => {
                draft.capability = draft.capability.or(Some(*capability));
                draft.ask.push(*capability);
            }
            (None, None) => {
                let scope_grants = group.iter().any(|it| scope.standing(*it) != Standing::Denied);
                return Err(denied(spec.name, scope.id(), group, !scope_grants));
            }
        }
    }
    Ok(())
}

fn denied(op: &str, scope: &str, group: &[Capability], by_scope: bool) -> Failure {
    let names: Vec<&str> = group.iter().map(|capability| capability.as_str()).collect();
    let wanted = names.join(" or ");
    let first = names.first().copied().unwrap_or_default();
    if by_scope {
        Failure::denied(
            "scope-capabilities",
            format!("`{op}` needs {wanted}, which scope `{scope}` does not grant"),
        )
        .detail("needs", names.clone())
        .hint(format!("{FOR_USER}`bailiwick scope allow {scope} {first}` allows it."))
    } else {
        Failure::denied(
            "caller-capabilities",
            format!("`{op}` needs {wanted}, which this caller may not use"),
        )
        .detail("needs", names.clone())
        .hint(format!("{FOR_USER}the caller's token does not have {first}; `bailiwick token create NAME` makes one that does."))
    }
}
