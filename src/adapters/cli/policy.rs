//! `policy explain`: each stage's verdict on a request, by the code that judges real ones.
//!
//! A command in place of a request is explained by [`command_policy`].

use serde_json::json;

use bailiwick_contract::Failure;
use bailiwick_policy::{StageVerdict, Verdict};

use super::args::Shared;
use super::call::Words;
use super::command_policy;
use super::printer::{Paint, Report, one_line, paint, printable, to_user};
use crate::installation::home::Home;
use crate::scope_setup::explanation::Explanation;

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
    let is_verbose = words.verbose || shared.verbose;
    let token = words.caller.clone();
    let Explanation { output, verdicts, refusal } =
        Explanation::of(&home, token.as_deref(), || words.envelope())?;
    let mut text = match &refusal {
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
    let exit = refusal.map_or(0, |failure| failure.code.facts().exit_code);
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
