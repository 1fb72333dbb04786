//! Where the scope says `ask`: is a person's yes there?

use bailiwick_contract::{ErrorCode, Failure};

use super::super::Case;
use super::super::command::Decision;
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "approval",
    asks: "Where the scope says `ask`: is a person's yes there?",
    builds_on: &["capability"],
    check,
    note: |_, _| "no approval is needed".to_owned(),
};

fn check<'a>(_: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    if draft.ask.is_empty() {
        let asked = draft.command.as_ref().filter(|judged| judged.verdict.decision == Decision::Ask);
        return asked.and_then(|judged| judged.verdict.failure()).map_or(Ok(()), Err);
    }
    let scope = draft.scope.as_ref().map_or("", |scope| scope.id());
    let names: Vec<&str> = draft.ask.iter().map(|capability| capability.as_str()).collect();
    Err(Failure::new(
        ErrorCode::ApprovalRequired,
        format!("scope `{scope}` grants {} only with a person's yes", names.join(", ")),
    )
    .detail("rule", "scope-ask")
    .hint(format!("For the person: `bailiwick scope allow {scope} {}` grants it without asking.", names[0])))
}
