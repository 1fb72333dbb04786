//! Is the capability that it needs granted, by the scope and to the caller?

use bailiwick_contract::{Capability, FOR_USER, Failure, OperationSpec, StageName};

use super::super::{CapabilityStatus, Grants, Scope};
use super::Stage;

pub const STAGE: Stage = Stage {
    name: StageName::Capability,
    asks: "Is the capability that it needs granted by the scope, and to the caller?",
};

/// By which capabilities a request is permitted.
#[derive(Debug, Clone, Default)]
pub struct CapabilityChoice {
    /// The one that the history names.
    pub capability: Option<Capability>,
    /// Those that need approval.
    pub ask: Vec<Capability>,
}

impl CapabilityChoice {
    /// Returns what was decided, in words.
    pub fn note(&self) -> String {
        match (self.capability, self.ask.as_slice()) {
            (None, _) => "the operation needs no capability".to_owned(),
            (Some(capability), []) => format!("`{capability}` is granted"),
            (Some(_), ask) => format!("`{}` needs approval", names(ask).join("` and `")),
        }
    }
}

pub fn check(
    scope: Option<&Scope>,
    spec: &OperationSpec,
    grants: &Grants,
) -> Result<CapabilityChoice, Failure> {
    let mut needed = CapabilityChoice::default();
    for group in spec.capabilities {
        let Some((capability, level)) = grants.best_of(group) else {
            let id = scope.map_or("(none)", Scope::id);
            return Err(denied(format!("`{}`", spec.name), id, group, grants));
        };
        needed.capability = needed.capability.or(Some(capability));
        if level == CapabilityStatus::Ask {
            needed.ask.push(capability);
        }
    }
    Ok(needed)
}

/// Creates the refusal of what needs one of several capabilities.
pub fn denied(what: String, scope: &str, group: &[Capability], grants: &Grants) -> Failure {
    let names = names(group);
    let wanted = names.join(" or ");
    let first = names.first().copied().unwrap_or_default();
    let failure = if group.iter().all(|it| grants.of_scope(*it) == CapabilityStatus::Denied) {
        Failure::denied(
            "scope-capabilities",
            format!("{what} needs {wanted}, which scope `{scope}` does not grant"),
        )
        .hint(format!("{FOR_USER}`bailiwick scope allow {scope} {first}` allows it."))
    } else {
        Failure::denied("caller-capabilities", format!("{what} needs {wanted}, which this caller may not use"))
            .hint(format!("{FOR_USER}the caller's token does not have {first}; `bailiwick token create NAME` makes one that does."))
    };
    failure.detail("needs", names)
}

fn names(capabilities: &[Capability]) -> Vec<&'static str> {
    capabilities.iter().map(|capability| capability.as_str()).collect()
}
