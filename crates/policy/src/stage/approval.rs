//! Where the scope says `ask`: was this very request approved?

use bailiwick_contract::{Failure, StageName};

use super::super::{Approval, Question};
use super::Stage;

pub const STAGE: Stage =
    Stage { name: StageName::Approval, asks: "Where the scope says `ask`: was this very request approved?" };

/// Returns what was decided, in words.
pub fn note(approved: Option<&str>) -> String {
    match approved {
        None => "no approval is needed".to_owned(),
        Some(_) => "approved".to_owned(),
    }
}

pub fn check(question: Option<&Question>, approval: Option<&Approval>) -> Result<(), Failure> {
    match question {
        Some(question) if !approval.is_some_and(|approval| approval.covers(question)) => {
            Err(question.failure())
        }
        Some(_) | None => Ok(()),
    }
}
