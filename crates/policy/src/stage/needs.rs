//! Are the capabilities granted that the given fields need beyond those of the operation?

use bailiwick_contract::{Capability, Failure, StageName};

use super::super::{CapabilityStatus, Grants, ParsedArguments, Scope};
use super::{Stage, capability};

pub const STAGE: Stage = Stage {
    name: StageName::Needs,
    asks: "Are the further capabilities granted that the given fields need?",
};

/// Returns those of them that need approval.
pub fn check(
    scope: Option<&Scope>,
    parsed: &ParsedArguments,
    grants: &Grants,
) -> Result<Vec<Capability>, Failure> {
    let mut ask = Vec::new();
    for need in &parsed.needs {
        match grants.level(need.capability) {
            CapabilityStatus::Granted => {}
            CapabilityStatus::Ask => ask.push(need.capability),
            CapabilityStatus::Denied => {
                let id = scope.map_or("(none)", Scope::id);
                let mut failure = capability::denied(need.what.to_owned(), id, &[need.capability], grants)
                    .detail("field", need.field);
                failure.hints.insert(0, need.instead.to_owned());
                return Err(failure);
            }
        }
    }
    Ok(ask)
}
