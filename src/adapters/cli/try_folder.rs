//! `try`: a real MCP conversation over a real folder, told step by step. Changes nothing of the user's.

use std::path::Path;

use bailiwick_contract::{ErrorCode, Failure};

use super::printer::{Printer, Report};
use super::step_lines::step_printer;
use crate::diagnosis::trial::Trial;

/// Tries Bailiwick on a folder.
///
/// # Errors
/// When the folder cannot or must not be opened, or the temporary folder cannot be used.
pub fn run(printer: Printer, folder: &Path) -> Result<Report, Failure> {
    let trial = Trial::of(folder)?;
    if !printer.json {
        printer.text(&format!(
            "Bailiwick on {}\n\
             A throw-away installation with two scopes: `project`, this folder, to read, and `scratch`, an empty\n\
             temporary folder, to write. A real MCP client talks to a real `bailiwick mcp`.\n\n",
            trial.folder().display()
        ));
    }
    let output = trial.run(step_printer(printer));
    let text = if output.ok {
        "\nNothing of yours was changed, and the throw-away installation is gone. To use it:\n  \
         bailiwick setup FOLDER      opens a folder, and prints how to connect your client\n  \
         bailiwick log               shows what was done\n"
    } else {
        "\nNot everything was as it must be; please report what is marked FAIL.\n"
    };
    let exit = if output.ok { 0 } else { ErrorCode::ExecutionFailed.facts().exit_code };
    Ok(Report { exit, ..Report::of(text, &output) })
}
