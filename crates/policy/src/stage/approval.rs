//! Where the scope says `ask`, approval is needed. There is none yet, so the request is refused.

use bailiwick_contract::{ErrorCode, FOR_USER, Failure};

use super::super::Case;
use super::super::command::Decision;
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "approval",
    asks: "Does the scope say `ask`? Approvals are not available yet, so that is refused.",
    builds_on: &["capability"],
    check,
    note: |_, _| "no approval is needed".to_owned(),
};

fn check<'a>(_: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    if draft.ask.is_empty() {
        let asked = draft.command.as_ref().filter(|judged| judged.verdict.decision == Decision::Ask);
        return asked.and_then(|judged| judged.refusal()).map_or(Ok(()), Err);
    }
    let scope = draft.scope.as_ref().map_or("", |scope| scope.id());
    let names: Vec<&str> = draft.ask.iter().map(|capability| capability.as_str()).collect();
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
