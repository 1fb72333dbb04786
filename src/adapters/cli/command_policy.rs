//! What the rules of a scope say about a command: `policy explain 'COMMAND'` and `policy test FILE`.
//!
//! Judged by the code that judges real requests; nothing is run, and no program is looked up.

use std::fs;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::contract::{CommandInput, ErrorCode, Failure};
use crate::policy::command::{CommandPolicy, CommandVerdict, Decision, Grant, Verdict};
use crate::policy::{Scope, Scopes};

use super::args::PolicyTestArgs;
use super::home::Home;
use super::printer::{Paint, Report, one_line, paint};

/// Explains one command. Exits with 0 if it is allowed, 14 if a yes is needed, 12 if it is denied.
///
/// # Errors
/// When the scope is not there.
pub fn explain(home: &Home, scope: Option<&str>, command: &CommandInput) -> Result<Report, Failure> {
    let scopes = home.scopes()?;
    let scope = choose(&scopes, scope)?;
    let hold = scope.commands().hold();
    match scope.commands().verdict(command, Grant::Rules) {
        Ok(verdict) => {
            let json = json!({
                "ok": true,
                "scope": scope.id(),
                "verdict": verdict.decision.as_str(),
                "commands": verdict.to_json()["commands"],
                "containment": containment(hold, verdict.must_be_full()),
            });
            let exit = match verdict.decision {
                Decision::Allow => 0,
                Decision::Ask => ErrorCode::ApprovalRequired.facts().exit_code,
                Decision::Deny => ErrorCode::PermissionDenied.facts().exit_code,
            };
            Ok(Report { exit, ..Report::new(text(scope, hold, &verdict), json) })
        }
        Err(failure) => {
            let mut text = format!(
                "scope     {}\n{} {}\n",
                one_line(scope.id()),
                paint(Paint::Bad, "refused  "),
                one_line(&failure.message)
            );
            for hint in &failure.hints {
                text.push_str(&format!("{:10}{}\n", "", one_line(hint)));
            }
            let json = json!({
                "ok": true, "scope": scope.id(), "verdict": "deny", "commands": [], "error": failure.to_json(),
            });
            Ok(Report { exit: failure.code.facts().exit_code, ..Report::new(text, json) })
        }
    }
}

fn text(scope: &Scope, hold: &CommandPolicy, verdict: &Verdict) -> String {
    let mut text = format!("scope     {}\n", one_line(scope.id()));
    for command in &verdict.commands {
        text.push_str(&one(command));
    }
    let held = match verdict.must_be_full() {
        Some(why) => format!("in a full sandbox only: {why}"),
        None => format!("sandbox {}", hold.sandbox.as_str()),
    };
    text.push_str(&format!("held      {}; network {}\n", one_line(&held), hold.network));
    let colour = match verdict.decision {
        Decision::Allow => Paint::Good,
        Decision::Ask => Paint::Hint,
        Decision::Deny => Paint::Bad,
    };
    text.push_str(&format!("verdict   {}\n", paint(colour, verdict.decision.as_str())));
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

fn containment(hold: &CommandPolicy, must_be_full: Option<&str>) -> Value {
    json!({
        "sandbox": if must_be_full.is_some() { "full" } else { hold.sandbox.as_str() },
        "mustBeFull": must_be_full,
        "network": hold.network,
    })
}

/// One line of a file of commands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    verdict: String,
    command: CommandInput,
    #[serde(skip)]
    line: usize,
}

/// Judges the commands of a file and compares.
///
/// # Errors
/// When the file cannot be read or is not of its form.
pub fn test(home: &Home, args: &PolicyTestArgs) -> Result<Report, Failure> {
    let shown = args.file.display();
    let content = fs::read_to_string(&args.file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::new(ErrorCode::NotFound, format!("there is no file `{shown}`"))
        }
        _ => Failure::new(ErrorCode::OsPermissionRequired, format!("`{shown}`: {error}")),
    })?;
    let expected = read(&content)
        .map_err(|failure| Failure { message: format!("`{shown}`: {}", failure.message), ..failure })?;
    let scopes = home.scopes()?;
    let scope = choose(&scopes, args.scope.as_deref())?;
    let mut text = String::new();
    let mut failures = Vec::new();
    for case in &expected {
        let (found, why) = match scope.commands().verdict(&case.command, Grant::Rules) {
            Ok(verdict) => {
                let why = verdict.deciding().map(|(_, it)| format!("{}: {}", it.source.name(), it.why));
                (verdict.decision, why.unwrap_or_default())
            }
            Err(failure) => (Decision::Deny, failure.message),
        };
        if found.as_str() != case.verdict {
            text.push_str(&format!(
                "{} {shown}:{}: expected {}, found {}: {}\n",
                paint(Paint::Bad, "differs"),
                case.line,
                case.verdict,
                found.as_str(),
                one_line(&why)
            ));
            failures.push(json!({
                "line": case.line, "command": case.command, "expected": case.verdict,
                "found": found.as_str(), "why": why,
            }));
        }
    }
    text.push_str(&format!(
        "{} commands, {} as expected, {} not\n",
        expected.len(),
        expected.len() - failures.len(),
        failures.len()
    ));
    let json = json!({
        "ok": failures.is_empty(), "scope": scope.id(), "commands": expected.len(), "differences": failures,
    });
    Ok(Report { exit: u8::from(!failures.is_empty()), ..Report::new(text, json) })
}

/// Reads a file of commands: JSON, or lines of a verdict, a tab and a command.
fn read(content: &str) -> Result<Vec<Expected>, Failure> {
    let mut cases: Vec<Expected> = if content.trim_start().starts_with('[') {
        serde_json::from_str(content).map_err(|error| {
            Failure::invalid("file", format!("it is no array of `verdict` and `command`: {error}"))
        })?
    } else {
        let mut cases = Vec::new();
        for (at, line) in content.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let (verdict, command) = line.split_once('\t').ok_or_else(|| {
                Failure::invalid("file", format!("line {} has no tab between verdict and command", at + 1))
            })?;
            let command = if command.starts_with('[') {
                serde_json::from_str(command)
                    .map_err(|error| Failure::invalid("file", format!("line {}: {error}", at + 1)))?
            } else {
                CommandInput::Line(command.to_owned())
            };
            cases.push(Expected { verdict: verdict.trim().to_owned(), command, line: at + 1 });
        }
        cases
    };
    for (at, case) in cases.iter_mut().enumerate() {
        if case.line == 0 {
            case.line = at + 1;
        }
        if Decision::parse(&case.verdict).is_none() {
            return Err(Failure::invalid(
                "file",
                format!("`{}` in line {} is no verdict", case.verdict, case.line),
            )
            .hint("A verdict is allow, ask or deny."));
        }
    }
    Ok(cases)
}

/// Finds the scope by its id, or the only one.
fn choose<'a>(scopes: &'a Scopes, id: Option<&str>) -> Result<&'a Scope, Failure> {
    let ids = || scopes.all().map(|scope| scope.id()).collect::<Vec<_>>().join(", ");
    match id {
        Some(id) => scopes.find(id).map(|scope| &**scope).ok_or_else(|| {
            Failure::new(ErrorCode::UnknownScope, format!("there is no scope `{id}`"))
                .hint(format!("There are: {}.", ids()))
        }),
        None => {
            let mut all = scopes.all();
            match (all.next(), all.next()) {
                (Some(only), None) => Ok(only),
                (None, _) => Err(Failure::new(ErrorCode::UnknownScope, "no scope is open")
                    .hint("`bailiwick setup FOLDER` opens a folder.")),
                (Some(_), Some(_)) => Err(Failure::invalid("--scope", "several scopes are open")
                    .hint(format!("Add --scope: one of {}.", ids()))),
            }
        }
    }
}
