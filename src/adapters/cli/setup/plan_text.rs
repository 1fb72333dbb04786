//! What is shown of a plan before it is written: in plain words, a line for each right.

use bailiwick_contract::{Capability, Failure};

use super::super::printer::{Paint, labelled, one_line, paint};
use crate::scope_setup::commands_setup;
use crate::scope_setup::difference::Difference;
use crate::scope_setup::grants::{Closure, closure, describe_grants, secret_words};
use crate::scope_setup::open_folder::Change;
use crate::scope_setup::plan::Plan;

/// Returns what a plan opens or changes; an empty text where it does neither.
///
/// # Errors
/// When a rule for commands cannot be read.
pub fn opening(plan: &Plan) -> Result<String, Failure> {
    let (Some(opened), Some(scope)) = (&plan.opened, plan.scope()) else { return Ok(String::new()) };
    let folder = one_line(&opened.folder.display().to_string());
    let mut text = match opened.change {
        Change::Nothing => return Ok(String::new()),
        Change::Added => format!("{folder} will be open to AI clients as scope `{}`.\n", opened.id),
        Change::Changed => {
            let mut text = format!("{folder} is scope `{}`. This changes:\n", opened.id);
            for line in Difference::new(plan.scope_before(), Some(scope)).lines() {
                let kind = if line.starts_with('-') { Paint::Bad } else { Paint::Good };
                text.push_str(&format!("  {}\n", paint(kind, &line)));
            }
            text.push_str("Then:\n");
            text
        }
    };
    text.push_str(&labelled(&describe_grants(scope)));
    text.push_str(&labelled(&[(
        "closed",
        match closure(scope) {
            Closure::Everything => ".env files, keys and other credentials, until you open them",
            Closure::Programs => {
                "to file operations and commands: .env files, keys and other credentials, until you open them"
            }
            Closure::FileOperations => {
                "to file operations: .env files, keys and other credentials; programs that run here can read them"
            }
        }
        .to_owned(),
    )]));
    let secrets = secret_words(&scope.policy).map_or_else(
        || {
            format!(
                "in open files and output are shown; `bailiwick scope edit {} --secrets handles` changes that",
                scope.id
            )
        },
        str::to_owned,
    );
    text.push_str(&labelled(&[("secrets", secrets)]));
    if scope.capabilities.contains(&Capability::CommandRun) {
        text.push_str(&format!("\nCommands:\n{}", labelled(&commands_setup::describe(scope)?)));
    }
    Ok(text)
}
