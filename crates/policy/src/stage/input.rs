//! Are target, input and options of the operation's form?

use bailiwick_contract::{Envelope, Failure, StageName, TargetRule};

use super::super::{Candidate, ParsedArguments};
use super::Stage;

pub const STAGE: Stage =
    Stage { name: StageName::Input, asks: "Are target, input and options of the operation's form?" };

pub fn check(envelope: &Envelope, candidate: &dyn Candidate) -> Result<ParsedArguments, Failure> {
    let spec = candidate.spec();
    match (spec.target, envelope.target.as_deref()) {
        (TargetRule::None, Some(_)) => {
            Err(Failure::invalid("target", format!("`{}` takes no target", spec.name))
                .hint("Leave `target` out."))
        }
        (rule, None) if !rule.is_optional() => {
            let what = rule.id_of().unwrap_or("a path");
            Err(Failure::invalid("target", format!("`{}` needs {what} as `target`", spec.name))
                .hint(format!("For example {}", spec.example)))
        }
        // Left out, an identifier, or a path, which has a stage of its own.
        _ => candidate.parse(envelope),
    }
}
