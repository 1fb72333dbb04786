//! `completions`: made from the command line's own definition.

use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

use super::args::{Arguments, ShellName};
use super::printer::Report;

/// Makes the completions for a shell.
pub fn run(shell: ShellName) -> Report {
    let (shell, name) = match shell {
        ShellName::Bash => (Shell::Bash, "bash"),
        ShellName::Zsh => (Shell::Zsh, "zsh"),
        ShellName::Fish => (Shell::Fish, "fish"),
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "bailiwick", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let json = json!({"ok": true, "shell": name, "script": script});
    Report::new(script, json)
}
