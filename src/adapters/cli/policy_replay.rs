//! `policy test --against-history`: what another config would have judged otherwise.

use bailiwick_contract::Failure;

use super::args::PolicyTestArgs;
use super::printer::{Paint, Report, one_line, paint};
use crate::installation::home::Home;
use crate::past_requests::replay::{DecisionOutput, ReplayGroupOutput, replay};
use crate::text_layout::columns::cut;

/// How many groups of one kind are printed; JSON has all.
const SHOWN_GROUPS: usize = 20;
/// How much of a command or target is shown, in characters.
const SHOWN_CHARS: usize = 72;
/// Judges what the history holds.
///
/// # Errors
/// When the config cannot be read or would be refused, or the history cannot be read.
pub fn run(home: &Home, args: &PolicyTestArgs) -> Result<Report, Failure> {
    let output = replay(home, &args.file, args.scope.as_deref(), args.since.as_deref())?;
    let mut text = String::new();
    let mut listed = |words: &str, colour: Paint, groups: &[ReplayGroupOutput]| {
        let all: usize = groups.iter().map(|group| group.requests).sum();
        text.push_str(&format!("{} {all}\n", paint(colour, &format!("{words:<13}"))));
        text.extend(groups.iter().take(SHOWN_GROUPS).map(line));
        if groups.len() > SHOWN_GROUPS {
            let more = groups.len() - SHOWN_GROUPS;
            text.push_str(&format!("  and {more} more kinds; --json lists them\n"));
        }
    };
    listed("newly allowed", Paint::Bad, &output.newly_allowed);
    listed("newly denied", Paint::Hint, &output.newly_denied);
    listed("newly asked", Paint::Hint, &output.newly_asked);
    text.push_str(&format!("{} {}\n", paint(Paint::Good, "unchanged    "), output.unchanged));
    let left: usize = output.not_judged.iter().map(|it| it.requests).sum();
    text.push_str(&format!("not judged    {left}\n"));
    for it in &output.not_judged {
        text.push_str(&format!("  {}, because {}\n", it.requests, it.why));
    }
    let exit = u8::from(!output.ok);
    Ok(Report { exit, ..Report::of(text, &output) }
        .note("\nnote: files and links are not checked, and callers are judged by their current rights."))
}

fn line(group: &ReplayGroupOutput) -> String {
    let scope =
        if group.scope.is_empty() { String::new() } else { format!(" in {}", one_line(&group.scope)) };
    format!(
        "  {} × {}{scope}: {}, was {}; such as {} ({})\n",
        group.requests,
        one_line(&group.op),
        words(&group.now),
        words(&group.before),
        cut(&one_line(&group.example), SHOWN_CHARS),
        group.operation_id,
    )
}

fn words(decision: &DecisionOutput) -> String {
    match decision.rule.as_ref().or(decision.stage.as_ref()) {
        Some(rule) => format!("{} by {}", decision.verdict, one_line(rule)),
        None => decision.verdict.to_owned(),
    }
}
