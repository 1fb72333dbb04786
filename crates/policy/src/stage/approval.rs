//! Where the scope says `ask`, approval is needed. There is none yet, so the request is refused.

use bailiwick_contract::{Capability, ErrorCode, FOR_USER, Failure, StageName};

use super::super::Scope;
use super::super::command::{Decision, JudgedCommand};
use super::Stage;

pub const STAGE: Stage = Stage {
    name: StageName::Approval,
    asks: "Does the scope say `ask`? Approvals are not available yet, so that is refused.",
};

pub fn check(
    scope: Option<&Scope>,
    ask: &[Capability],
    command: Option<&JudgedCommand>,
) -> Result<(), Failure> {
    if ask.is_empty() {
        let asked = command.filter(|judged| judged.verdict.decision == Decision::Ask);
        return asked.and_then(JudgedCommand::refusal).map_or(Ok(()), Err);
    }
    let scope = scope.map_or("", Scope::id);
    let names: Vec<&str> = ask.iter().map(|capability| capability.as_str()).collect();
    Err(Failure::new(
        ErrorCode::ApprovalRequired,
        format!(
            "{} needs approval in scope `{scope}`, and approvals are not available yet",
            names.join(" and ")
        ),
    )
    .detail("rule", "scope-ask")
    .hint(format!("{FOR_USER}`bailiwick scope allow {scope} {}` allows it.", names.join(" "))))
}
