//! `policy learn`: the rules that would have spared you approvals, shown and made.

use bailiwick_contract::Failure;

use super::args::PolicyLearnArgs;
use super::printer::{Printer, Report, one_line, printable};
use super::scope;
use crate::approvals::learn::{PolicyLearnOutput, Proposals, propose};
use crate::approvals::ticket::apply_rules;
use crate::installation::home::Home;

/// Proposes rules, and makes the change where that is wanted.
///
/// # Errors
/// Those of [`propose`], and of changing a scope.
pub fn run(home: &Home, printer: Printer, args: &PolicyLearnArgs) -> Result<Report, Failure> {
    let Proposals { output, changes } = propose(home, args.scope.as_deref(), args.since.as_deref())?;
    let text = text(&output);
    if changes.is_empty() || !args.apply {
        let report = Report::of(text, &output);
        return Ok(match changes.is_empty() {
            true => report,
            false => report
                .note("\nhint: nothing was changed; `bailiwick policy learn --apply` makes these changes."),
        });
    }
    scope::confirmed(home, printer, args.confirm, "Make these changes?", |home, config| {
        let mut text = text.clone();
        for (id, rules) in &changes {
            let report = scope::change_in(home, config, id, |scope| {
                apply_rules(scope, rules);
                Ok(())
            })?;
            text.push_str(&report.text);
        }
        Ok(Report::of(text, &PolicyLearnOutput { applied: !home.is_dry_run, ..output.clone() }))
    })
}

fn text(output: &PolicyLearnOutput) -> String {
    let mut text = String::new();
    for it in &output.proposals {
        let covers: Vec<String> = it.covers.iter().map(|it| one_line(it)).collect();
        let (times, scope) = (counted(it.approvals, "time"), one_line(&it.scope));
        text.push_str(&format!("Approved {times} in scope {scope}: {}\n", covers.join(", ")));
        text.extend(it.commands.iter().map(|command| format!("  {}\n", printable(command))));
    }
    if output.proposals.is_empty() {
        text.push_str("No rules to propose.\n");
    }
    let PolicyLearnOutput { not_asked_now, without_rule, .. } = output;
    text.push_str(&format!(
        "{}: {not_asked_now} no longer asked for, {without_rule} that no rule can replace or that cannot be judged again\n",
        counted(output.approvals, "approval")
    ));
    text
}

fn counted(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}
