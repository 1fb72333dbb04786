//! What the rules of a scope say about a command: `policy explain 'COMMAND'` and `policy test FILE`.

use bailiwick_contract::{CommandInput, ErrorCode, Failure};
use bailiwick_policy::Scope;
use bailiwick_policy::command::{CommandPolicy, CommandVerdict, Decision, Grant, Verdict};

use super::args::PolicyTestArgs;
use super::printer::{Paint, Report, one_line, paint, to_user};
use crate::installation::home::Home;
use crate::scope_setup::command_verdicts::{self, ExplainCommandOutput, choose};

/// Explains one command. Exits with 0 if it is allowed, 14 if approval is needed, 12 if it is denied.
///
/// # Errors
/// When the scope is not there.
pub fn explain(home: &Home, scope: Option<&str>, command: &CommandInput) -> Result<Report, Failure> {
    let scopes = home.scopes()?;
    let scope = choose(&scopes, scope)?;
    let judged = scope.commands().verdict(command, Grant::Rules);
    let output = ExplainCommandOutput::of(scope, &judged);
    let (exit, text) = match &judged {
        Ok(verdict) => {
            let exit = match verdict.decision {
                Decision::Allow => 0,
                Decision::Ask => ErrorCode::ApprovalRequired.facts().exit_code,
                Decision::Deny => ErrorCode::PermissionDenied.facts().exit_code,
            };
            (exit, text(scope, scope.commands().hold(), verdict))
        }
        Err(failure) => {
            let mut text = format!(
                "scope     {}\n{} {}\n",
                one_line(scope.id()),
                paint(Paint::Bad, "refused  "),
                one_line(&failure.message)
            );
            for hint in &failure.hints {
                text.push_str(&format!("{:10}{}\n", "", one_line(&to_user(hint))));
            }
            (failure.code.facts().exit_code, text)
        }
    };
    Ok(Report { exit, ..Report::of(text, &output) })
}

/// What `ask` means today.
const NOT_YET: &str = ": needs your approval";

fn text(scope: &Scope, hold: &CommandPolicy, verdict: &Verdict) -> String {
    let mut text = format!("scope     {}\n", one_line(scope.id()));
    for command in &verdict.commands {
        text.push_str(&one(command));
    }
    let held = match verdict.must_be_full() {
        Some(why) => format!("in a full sandbox only: {why}"),
        None => format!("sandbox {}", hold.sandbox.as_str()),
    };
    let network = match &hold.hosts {
        Some(rules) => format!("hosts ({})", one_line(&rules.texts().join(", "))),
        None => hold.network.to_string(),
    };
    text.push_str(&format!("held      {}; network {network}\n", one_line(&held)));
    let colour = match verdict.decision {
        Decision::Allow => Paint::Good,
        Decision::Ask => Paint::Hint,
        Decision::Deny => Paint::Bad,
    };
    let note = if verdict.decision == Decision::Ask { NOT_YET } else { "" };
    text.push_str(&format!("verdict   {}{note}\n", paint(colour, verdict.decision.as_str())));
    text
}

fn one(command: &CommandVerdict) -> String {
    let words: Vec<String> = command.argv.iter().map(|word| format!("{word:?}")).collect();
    let mut text = format!("words     {}\n", one_line(&words.join(" ")));
    for reason in &command.reasons {
        let rule = reason.source.name();
        text.push_str(&format!(
            "  {:<7} {}: {}\n",
            reason.decision.as_str(),
            one_line(&rule),
            one_line(&reason.why)
        ));
    }
    if let Some(implied) = &command.implies {
        text.push_str(&format!("  implies any code: `{}`: {}\n", implied.program, implied.why));
    }
    if command.profile.is_none() {
        text.push_str("  no profile: nothing is known about what this program can start\n");
    }
    text
}

/// Judges the commands of a file and compares.
///
/// # Errors
/// When the file cannot be read or is not of its form.
pub fn test(home: &Home, args: &PolicyTestArgs) -> Result<Report, Failure> {
    let output = command_verdicts::test(home, &args.file, args.scope.as_deref())?;
    let shown = args.file.display();
    let mut text = String::new();
    for it in &output.differences {
        text.push_str(&format!(
            "{} {shown}:{}: expected {}, found {}: {}\n",
            paint(Paint::Bad, "differs"),
            it.line,
            it.expected,
            it.found,
            one_line(&it.why)
        ));
    }
    let differences = output.differences.len();
    text.push_str(&format!(
        "{} commands, {} as expected, {differences} not\n",
        output.commands,
        output.commands - differences
    ));
    Ok(Report { exit: u8::from(!output.ok), ..Report::of(text, &output) })
}
