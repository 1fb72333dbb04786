//! What the rules of a scope say about a command: `policy explain 'COMMAND'` and `policy test FILE`.
//!
//! Judged by the code that judges real requests; nothing is run, and no program is looked up.

use std::fs;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use bailiwick_contract::{CommandInput, ErrorCode, Failure};
use bailiwick_policy::command::{CommandPolicy, CommandVerdict, Decision, Grant, Verdict};
use bailiwick_policy::{Scope, Scopes};

use super::args::PolicyTestArgs;
use super::home::Home;
use super::printer::{Paint, Report, one_line, paint, to_user, with_nearest};

/// `policy explain` of a command.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainCommandOutput {
    /// Always true.
    pub ok: bool,
    /// The scope whose rules were asked.
    pub scope: String,
    /// `allow`, `ask` or `deny`.
    pub verdict: &'static str,
    /// Each command of the line: `argv`, `verdict`, `reasons`, `profile`, `mustBeFull` and `implies`.
    pub commands: Vec<Value>,
    /// How it would be held: `sandbox`, `mustBeFull`, `network` and `hosts`; null for what is no command.
    pub containment: Option<Value>,
    /// Why it is no command that could run.
    pub error: Option<Value>,
}

/// A verdict that is not the expected one.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DifferenceOutput {
    /// The line in the file, or the place in the array, from 1.
    pub line: usize,
    /// The command.
    pub command: CommandInput,
    /// The expected verdict.
    pub expected: String,
    /// The verdict.
    pub found: &'static str,
    /// What decided.
    pub why: String,
}

/// `policy test`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyTestOutput {
    /// Whether all verdicts are as expected.
    pub ok: bool,
    /// The scope whose rules were asked.
    pub scope: String,
    /// How many commands were judged.
    pub commands: usize,
    /// The verdicts that are not as expected.
    pub differences: Vec<DifferenceOutput>,
}

/// Explains one command. Exits with 0 if it is allowed, 14 if approval is needed, 12 if it is denied.
///
/// # Errors
/// When the scope is not there.
pub fn explain(home: &Home, scope: Option<&str>, command: &CommandInput) -> Result<Report, Failure> {
    let scopes = home.scopes()?;
    let scope = choose(&scopes, scope)?;
    let hold = scope.commands().hold();
    match scope.commands().verdict(command, Grant::Rules) {
        Ok(verdict) => {
            let output = ExplainCommandOutput {
                ok: true,
                scope: scope.id().to_owned(),
                verdict: verdict.decision.as_str(),
                commands: verdict.to_json()["commands"].as_array().cloned().unwrap_or_default(),
                containment: Some(containment(hold, verdict.must_be_full())),
                error: None,
            };
            let exit = match verdict.decision {
                Decision::Allow => 0,
                Decision::Ask => ErrorCode::ApprovalRequired.facts().exit_code,
                Decision::Deny => ErrorCode::PermissionDenied.facts().exit_code,
            };
            Ok(Report { exit, ..Report::of(text(scope, hold, &verdict), &output) })
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
            let output = ExplainCommandOutput {
                ok: true,
                scope: scope.id().to_owned(),
                verdict: Decision::Deny.as_str(),
                commands: Vec::new(),
                containment: None,
                error: Some(failure.to_json()),
            };
            Ok(Report { exit: failure.code.facts().exit_code, ..Report::of(text, &output) })
        }
    }
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

fn containment(hold: &CommandPolicy, must_be_full: Option<&str>) -> Value {
    json!({
        "sandbox": if must_be_full.is_some() { "full" } else { hold.sandbox.as_str() },
        "mustBeFull": must_be_full,
        "network": hold.network,
        "hosts": hold.hosts.as_ref().map(|rules| rules.texts()),
    })
}

/// One line of a file of commands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedVerdict {
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
            failures.push(DifferenceOutput {
                line: case.line,
                command: case.command.clone(),
                expected: case.verdict.clone(),
                found: found.as_str(),
                why,
            });
        }
    }
    text.push_str(&format!(
        "{} commands, {} as expected, {} not\n",
        expected.len(),
        expected.len() - failures.len(),
        failures.len()
    ));
    let exit = u8::from(!failures.is_empty());
    let output = PolicyTestOutput {
        ok: failures.is_empty(),
        scope: scope.id().to_owned(),
        commands: expected.len(),
        differences: failures,
    };
    Ok(Report { exit, ..Report::of(text, &output) })
}

/// Reads a file of commands: JSON, or lines of a verdict, a tab and a command.
fn read(content: &str) -> Result<Vec<ExpectedVerdict>, Failure> {
    let mut cases: Vec<ExpectedVerdict> = if content.trim_start().starts_with('[') {
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
            cases.push(ExpectedVerdict { verdict: verdict.trim().to_owned(), command, line: at + 1 });
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
            let failure =
                Failure::new(ErrorCode::UnknownScope, format!("there is no scope `{}`", one_line(id)));
            let known = scopes.all().map(|scope| scope.id());
            with_nearest(failure, id, known, &format!("There are: {}.", ids()))
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
