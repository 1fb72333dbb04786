//! `policy explain`: each stage's verdict on a request, by the code that judges real ones.
//!
//! A command in place of a request is explained by [`command_policy`].

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use bailiwick_contract::{Envelope, Failure, Transport};
use bailiwick_engine::operations::FAMILIES;
use bailiwick_engine::registry::Registry;
use bailiwick_policy::{Case, StageVerdict, Verdict, explain};
use bailiwick_providers::untrusted_reads::UntrustedReads;

use super::args::Shared;
use super::call::Words;
use super::command_policy;
use super::home::Home;
use super::printer::{Paint, Report, one_line, paint, printable, to_user};

const HELP: &str = "\
Print each stage's verdict on a request, without running it

Usage: bailiwick policy explain 'COMMAND WITH ITS WORDS'
       bailiwick policy explain OPERATION [TARGET] [--FIELD VALUE …]
       bailiwick policy explain '{\"scope\":\"app\",\"op\":\"file.read\",\"target\":\"README.md\"}'

  --scope ID     the scope; needed where several are open
  --token NAME   judge it with the rights of this token
  -v             show every stage, not only those that refuse
  --json         print the verdicts as JSON

Nothing is read from the disk: a link is judged when it is followed.
Exits as a call of it would be judged: 0 if it is permitted, 14 if it needs approval,
else with the code of the first refusal.

Examples:
  bailiwick policy explain 'git status' --scope app
  bailiwick policy explain file.read hello.txt --scope app
";

/// `policy explain` of a request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ExplainOutput {
    /// Always true.
    pub ok: bool,
    /// Whether it would be permitted.
    pub permitted: bool,
    /// The code of the first refusal.
    pub code: Option<&'static str>,
    /// Whose rights it was judged with.
    pub caller: String,
    /// The request.
    pub envelope: Envelope,
    /// What each stage says: `stage`, `asks`, `verdict`, and `note` or `error`.
    pub stages: Vec<Value>,
}

/// Explains one request. Exits as a call of it would be judged: 0, or the code of the first refusal.
///
/// # Errors
/// When the request cannot be read, or Bailiwick is not set up.
pub fn run(shared: &Shared, words: Words) -> Result<Report, Failure> {
    if words.help || words.first.is_none() {
        return Ok(Report::new(HELP, json!({"ok": true, "help": HELP})));
    }
    let home = Home::find(words.config.as_deref().or(shared.config.as_deref()))?;
    if let Some(command) = words.command()? {
        return command_policy::explain(&home, words.scope.as_deref(), &command);
    }
    let scopes = home.scopes()?;
    let caller = home.caller(words.caller.as_deref(), Transport::Cli)?;
    let is_verbose = words.verbose || shared.verbose;
    let envelope = words.envelope()?;
    let registry = Registry::new(FAMILIES);
    let untrusted = match scopes.asks_after_untrusted(&caller, envelope.scope.as_deref()) {
        true => UntrustedReads::below(&home.dirs.state).of(&caller),
        false => Vec::new(),
    };
    let case = Case {
        caller: &caller,
        envelope: &envelope,
        scopes: &scopes,
        catalogue: &registry,
        approvals: &[],
        untrusted: &untrusted,
        is_rollback: false,
    };
    let verdicts = explain(&case);

    let first = verdicts.iter().find_map(|it| match &it.verdict {
        Verdict::Refused(failure) => Some(failure),
        Verdict::Passed(_) | Verdict::NotAsked => None,
    });
    let mut text = match first {
        None => format!("{}\n", paint(Paint::Good, "Permitted.")),
        Some(failure) => {
            let stage = failure.stage().unwrap_or_default();
            format!("{} by `{stage}` ({}).\n", paint(Paint::Bad, "Denied"), failure.code)
        }
    };
    let shown: Vec<String> = verdicts
        .iter()
        .filter(|it| is_verbose || matches!(it.verdict, Verdict::Refused(_)))
        .map(line)
        .collect();
    if !shown.is_empty() {
        text.push_str(&format!("\n{}", shown.concat()));
    }
    let output = ExplainOutput {
        ok: true,
        permitted: first.is_none(),
        code: first.map(|failure| failure.code.as_str()),
        caller: caller.name.clone(),
        envelope: envelope.clone(),
        stages: verdicts.iter().map(StageVerdict::to_json).collect(),
    };
    let exit = first.map_or(0, |failure| failure.code.facts().exit_code);
    Ok(Report { exit, ..Report::of(text, &output) })
}

fn line(verdict: &StageVerdict) -> String {
    match &verdict.verdict {
        Verdict::Passed(note) => {
            format!("{} {:<11} {}\n", paint(Paint::Good, "passed "), verdict.stage, one_line(note))
        }
        Verdict::Refused(failure) => {
            let mut text = format!(
                "{} {:<11} {}\n",
                paint(Paint::Bad, "refused"),
                verdict.stage,
                one_line(&failure.message)
            );
            for hint in &failure.hints {
                text.push_str(&format!("{:20}{}\n", "", printable(&to_user(hint))));
            }
            text
        }
        Verdict::NotAsked => {
            format!(
                "{} {:<11} {}\n",
                "-      ", verdict.stage, "not asked: an earlier stage refused what it builds on"
            )
        }
    }
}
