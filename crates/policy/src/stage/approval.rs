//! Where the scope says `ask`: was this very request approved?

use bailiwick_contract::{Failure, StageName};

use super::super::{Approval, Question};
use super::Stage;

pub const STAGE: Stage =
    Stage { name: StageName::Approval, asks: "Where the scope says `ask`: was this very request approved?" };

/// Returns what was decided, in words.
pub fn note(needs_approval: bool) -> String {
    if needs_approval { "approved".to_owned() } else { "no approval is needed".to_owned() }
}

/// Returns the first question that no approval answers.
pub fn unanswered<'a>(questions: &'a [Question], approvals: &[Approval]) -> Option<&'a Question> {
    questions.iter().find(|question| !approvals.iter().any(|approval| approval.covers(question)))
}

pub fn check(questions: &[Question], approvals: &[Approval]) -> Result<(), Failure> {
    unanswered(questions, approvals).map_or(Ok(()), |question| Err(question.failure()))
}
