//! What the rules of a scope say about a command, and about the commands of a file.
//!
//! Judged by the code that judges real requests; nothing is run, and no program is looked up.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use bailiwick_contract::{CommandInput, ErrorCode, Failure};
use bailiwick_policy::command::{CommandPolicy, Decision, Grant, Verdict};
use bailiwick_policy::{Scope, Scopes};

use crate::installation::home::Home;
use crate::installation::text::{one_line, with_nearest};

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

impl ExplainCommandOutput {
    /// Describes what the rules of a scope say.
    pub fn of(scope: &Scope, judged: &Result<Verdict, Failure>) -> Self {
        let (verdict, commands, must_be_full) = match judged {
            Ok(verdict) => {
                let commands = verdict.to_json()["commands"].as_array().cloned().unwrap_or_default();
                (verdict.decision, commands, Some(verdict.must_be_full()))
            }
            Err(_) => (Decision::Deny, Vec::new(), None),
        };
        Self {
            ok: true,
            scope: scope.id().to_owned(),
            verdict: verdict.as_str(),
            commands,
            containment: must_be_full.map(|why| containment(scope.commands().hold(), why)),
            error: judged.as_ref().err().map(Failure::to_json),
        }
    }
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

/// Judges the commands of a file by the rules of a scope, and compares; gives the scope's verdicts that differ.
///
/// # Errors
/// When the file cannot be read or is not of its form, or the scope is not there.
pub fn test(home: &Home, file: &Path, scope: Option<&str>) -> Result<PolicyTestOutput, Failure> {
    let shown = file.display();
    let content = fs::read_to_string(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::new(ErrorCode::NotFound, format!("there is no file `{shown}`"))
        }
        _ => Failure::new(ErrorCode::OsPermissionRequired, format!("`{shown}`: {error}")),
    })?;
    let expected = read(&content)
        .map_err(|failure| Failure { message: format!("`{shown}`: {}", failure.message), ..failure })?;
    let scopes = home.scopes()?;
    let scope = choose(&scopes, scope)?;
    let mut differences = Vec::new();
    for case in &expected {
        let (found, why) = match scope.commands().verdict(&case.command, Grant::Rules) {
            Ok(verdict) => {
                let why = verdict.deciding().map(|(_, it)| format!("{}: {}", it.source.name(), it.why));
                (verdict.decision, why.unwrap_or_default())
            }
            Err(failure) => (Decision::Deny, failure.message),
        };
        if found.as_str() != case.verdict {
            differences.push(DifferenceOutput {
                line: case.line,
                command: case.command.clone(),
                expected: case.verdict.clone(),
                found: found.as_str(),
                why,
            });
        }
    }
    Ok(PolicyTestOutput {
        ok: differences.is_empty(),
        scope: scope.id().to_owned(),
        commands: expected.len(),
        differences,
    })
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
///
/// # Errors
/// `unknown_scope`; `invalid_request` where several are open and none is named.
pub fn choose<'a>(scopes: &'a Scopes, id: Option<&str>) -> Result<&'a Scope, Failure> {
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
