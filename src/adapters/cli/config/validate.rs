//! `config validate`: what is wrong, and where.

use bailiwick_contract::Failure;

use super::super::args::ConfigValidateArgs;
use super::super::printer::{Paint, Report, one_line, paint};
use crate::diagnosis::config_files::{ValidateOutput, validate};
use crate::diagnosis::examine::problems_text;
use crate::installation::home::Home;

/// Looks for mistakes. Exits with 1 if there are any.
///
/// # Errors
/// `not_found` where there is no such file.
pub fn run(home: &Home, args: &ConfigValidateArgs) -> Result<Report, Failure> {
    let file = args.file.clone().unwrap_or_else(|| home.config_path.clone());
    let ValidateOutput { problems, .. } = validate(home, &file, args.file.is_none())?;
    let ok = problems.is_empty();
    let mut text = problems_text(&file, &problems);
    let shown = one_line(&file.display().to_string());
    text.push_str(&match problems.len() {
        0 => format!("{} {shown} would be accepted.\n", paint(Paint::Good, "in order:")),
        1 => "1 mistake; nothing is served by this file.\n".to_owned(),
        more => format!("{more} mistakes; nothing is served by this file.\n"),
    });
    let report = Report { exit: u8::from(!ok), ..Report::of(text, &ValidateOutput { ok, file, problems }) };
    Ok(if ok || args.file.is_some() {
        report
    } else {
        report.note("\nhint: `bailiwick doctor --fix --dry-run` shows what can be fixed automatically.")
    })
}
