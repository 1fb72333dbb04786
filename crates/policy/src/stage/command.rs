//! May the command run? Its words are judged by the scope's rules and the profiles of programs.

use bailiwick_contract::Failure;
use bailiwick_platform::launch::levels;

use super::super::command::{Decision, Grant};
use super::super::{Case, closed_words};
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "command",
    asks: "Do the scope's rules allow every command that would start?",
    builds_on: &["scope", "operation", "scope_type", "input"],
    check,
    note: |_, draft| match &draft.command {
        Some(judged) if judged.verdict.decision == Decision::Ask => {
            "it needs approval, which the last stage refuses".to_owned()
        }
        Some(judged) => match judged.permitted.must_be_full() {
            Some(why) => format!("allowed in a full sandbox only: {why}"),
            None => "allowed".to_owned(),
        },
        None => "no command is named".to_owned(),
    },
};

fn check<'a>(_: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    let parsed = draft.parsed.as_ref().expect("the input stage passed");
    let Some(command) = &parsed.command else { return Ok(()) };
    let scope =
        draft.scope.as_ref().ok_or_else(|| Failure::invalid("scope", "a command runs inside a scope"))?;
    let judged = scope.commands().judge_at(command, Grant::Rules, levels().strongest)?;
    if let Some(folder) = &draft.located {
        closed_words::check(&judged.permitted, folder)?;
    }
    draft.command = Some(judged);
    Ok(())
}
