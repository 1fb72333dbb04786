//! The user's editor.

use std::env;
use std::path::Path;
use std::process::Command;

use bailiwick_contract::{ErrorCode, Failure};

use super::text::one_line;

/// Returns the command of the editor, in words.
///
/// # Errors
/// `not_found` where none is named.
pub fn editor() -> Result<Vec<String>, Failure> {
    let named = ["VISUAL", "EDITOR"].iter().filter_map(|name| env::var(name).ok());
    let mut words = named.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
    words.find(|words| !words.is_empty()).ok_or_else(|| {
        Failure::new(ErrorCode::NotFound, "no editor is named: neither VISUAL nor EDITOR is set")
            .hint("Run it as `EDITOR=nano bailiwick config edit`.")
    })
}

/// Has the user edit a file, and waits for the end of that.
///
/// # Errors
/// `execution_failed` when the editor cannot be started, or reports that it failed.
pub fn open(editor: &[String], copy: &Path) -> Result<(), Failure> {
    let shown = one_line(&editor.join(" "));
    let failed =
        |why: String| Failure::new(ErrorCode::ExecutionFailed, format!("the editor `{shown}` {why}"));
    let status = Command::new(&editor[0]).args(&editor[1..]).arg(copy).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("ended with {status}"))),
        Err(error) => Err(failed(format!("cannot be started: {error}"))),
    }
}
