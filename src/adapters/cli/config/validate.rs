//! `config validate`: what is wrong, and where.

use std::fs;
use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::fs::{Protection, Secrecy, read_own_file};

use super::super::args::ConfigValidateArgs;
use super::super::home::Home;
use super::super::printer::{Paint, Report, one_line, paint};
use super::examine::{ProblemOutput, examine, problems_text};
use super::output::ValidateOutput;

/// The largest file that is checked.
const LIMIT_BYTES: u64 = 4 << 20;

/// Looks for mistakes. Exits with 1 if there are any.
///
/// # Errors
/// `not_found` where there is no such file.
pub fn run(home: &Home, args: &ConfigValidateArgs) -> Result<Report, Failure> {
    let file = args.file.clone().unwrap_or_else(|| home.config_path.clone());
    let content = read(&file)?;
    let mut problems = examine(home, &file, &content);
    if args.file.is_none()
        && let Err(error) = read_own_file(&file, Secrecy::Guarded, LIMIT_BYTES)
    {
        problems.insert(
            0,
            ProblemOutput {
                line: None,
                column: None,
                field: String::new(),
                problem: error.to_string(),
                fix: format!(
                    "Run `{}`, as the user whose file it is.",
                    Protection::narrowing_command(&file, false)
                ),
            },
        );
    }
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

/// Reads a file to look at.
///
/// # Errors
/// `not_found`, or why it cannot be read.
pub fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let shown = one_line(&PathBuf::from(file).display().to_string());
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::new(ErrorCode::NotFound, format!("there is no file `{shown}`"))
                .hint("`bailiwick config path` names the files in force.")
        }
        _ => Failure::new(ErrorCode::OsPermissionRequired, format!("`{shown}`: {error}")),
    };
    let facts = fs::metadata(file).map_err(failed)?;
    if !facts.is_file() || facts.len() > LIMIT_BYTES {
        return Err(Failure::invalid("FILE", format!("`{shown}` is no config: it is no file, or too large")));
    }
    fs::read(file).map_err(failed)
}
