//! `completions`: made from the command line's own definition.

use clap_complete::Shell;
use schemars::JsonSchema;
use serde::Serialize;

use super::definition::definition;
use super::printer::Report;

/// `completions`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionsOutput {
    /// Always true.
    pub ok: bool,
    /// The shell's name.
    pub shell: String,
    /// The script that the shell reads.
    pub script: String,
}

/// Makes the completions for a shell.
pub fn run(shell: Shell) -> Report {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition(), "bailiwick", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let output = CompletionsOutput { ok: true, shell: shell.to_string(), script: script.clone() };
    Report::of(script, &output)
}
