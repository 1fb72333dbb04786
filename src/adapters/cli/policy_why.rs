//! `policy why`: why a recorded request was allowed or refused, and what would change it.

use bailiwick_contract::Failure;
use bailiwick_history::Entry;

use super::args::PolicyWhyArgs;
use super::printer::{Paint, Report, labelled, one_line, paint};
use crate::installation::home::Home;
use crate::past_requests::why::{PolicyWhyOutput, why};

/// Explains a recorded request.
///
/// # Errors
/// As [`why`].
pub fn run(home: &Home, args: &PolicyWhyArgs) -> Result<Report, Failure> {
    let (output, row) = why(home, &args.id)?;
    Ok(Report::of(text(&output, &row), &output))
}

fn text(it: &PolicyWhyOutput, row: &Entry) -> String {
    let verdict = match it.decided.verdict {
        "allow" => paint(Paint::Good, "Allowed"),
        "ask" if it.approved => paint(Paint::Good, "Allowed after approval"),
        "ask" => paint(Paint::Hint, "Needed approval"),
        _ => paint(Paint::Bad, "Refused"),
    };
    let by = match (&it.decided.stage, &it.decided.rule) {
        (Some(stage), Some(rule)) => format!(" by stage `{}`, rule `{}`", one_line(stage), one_line(rule)),
        (Some(stage), None) => format!(" by stage `{}`", one_line(stage)),
        (None, _) => String::new(),
    };
    let scope =
        if it.scope.is_empty() { String::new() } else { format!(" in scope {}", one_line(&it.scope)) };
    let mut lines = vec![(
        "request",
        format!(
            "{} {}{scope}, by {} over {}, {}",
            one_line(&it.op),
            one_line(&it.about),
            one_line(&row.caller),
            row.transport,
            it.at
        ),
    )];
    if !it.why.is_empty() {
        lines.push(("because", it.why.iter().map(|why| one_line(why)).collect::<Vec<_>>().join("\n")));
    }
    match (&it.now, it.not_judged) {
        (Some(now), _) if now.verdict == it.decided.verdict => {
            lines.push(("now", "judged the same".to_owned()));
        }
        (Some(now), _) => {
            let rule = now.rule.as_ref().or(now.stage.as_ref());
            let rule = rule.map(|rule| format!(" by `{}`", one_line(rule))).unwrap_or_default();
            lines.push(("now", format!("{}{rule}", now.verdict)));
        }
        (None, Some(why)) => lines.push(("now", format!("not judged: {why}"))),
        (None, None) => {}
    }
    if !it.change.is_empty() {
        lines.push(("change", it.change.iter().map(|it| one_line(it)).collect::<Vec<_>>().join("\n")));
    }
    format!("{verdict}{by}.\n{}", labelled(&lines))
}
