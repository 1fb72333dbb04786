//! `config show`: what the config says, without secrets.

use bailiwick_contract::Failure;

use super::super::args::ConfigShowArgs;
use super::super::printer::{Report, printable};
use crate::diagnosis::config_files::{ShowOutput, shown_config};
use crate::installation::home::Home;

/// Prints the config.
///
/// # Errors
/// When there is none, or it is broken.
pub fn run(home: &Home, args: &ConfigShowArgs) -> Result<Report, Failure> {
    let (value, hides) = shown_config(home, args.defaults)?;
    let text = format!("{}\n", printable(&format!("{value:#}")));
    let report =
        Report::of(text, &ShowOutput { ok: true, file: home.config_path.clone(), config: value }).verbatim();
    Ok(if hides { report.note("\nValues of environment variables are not shown.") } else { report })
}
