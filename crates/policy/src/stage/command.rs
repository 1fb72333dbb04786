//! May the command run? Its words are judged by the scope's rules and the profiles of programs.

use bailiwick_contract::{Failure, StageName};
use bailiwick_platform::launch::levels;

use super::super::command::{Decision, Grant, JudgedCommand};
use super::super::located_path::LocatedPath;
use super::super::{ParsedArguments, Scope, closed_words};
use super::Stage;

pub const STAGE: Stage =
    Stage { name: StageName::Command, asks: "Do the scope's rules allow every command that would start?" };

/// Returns what was decided, in words.
pub fn note(judged: Option<&JudgedCommand>) -> String {
    match judged {
        Some(judged) if judged.verdict.decision == Decision::Ask => "it needs approval".to_owned(),
        Some(judged) => match judged.permitted.must_be_full() {
            Some(why) => format!("allowed in a full sandbox only: {why}"),
            None => match judged.verdict.deciding() {
                Some((_, reason)) => format!("allowed by `{}`: {}", reason.source.name(), reason.why),
                None => "allowed".to_owned(),
            },
        },
        None => "no command is named".to_owned(),
    }
}

pub fn check(
    scope: Option<&Scope>,
    parsed: &ParsedArguments,
    folder: Option<&LocatedPath>,
) -> Result<Option<JudgedCommand>, Failure> {
    let Some(command) = &parsed.command else { return Ok(None) };
    let scope = scope.ok_or_else(|| Failure::invalid("scope", "a command runs inside a scope"))?;
    let judged = scope.commands().judge_at(command, Grant::Rules, levels().strongest)?;
    if let Some(folder) = folder {
        closed_words::check(&judged.permitted, folder)?;
    }
    Ok(Some(judged))
}
