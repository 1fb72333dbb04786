//! `config edit`: a copy in the user's editor, checked, shown as a diff, and written only then.

use std::fs;
use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, Failure, id};
use bailiwick_platform::fs::replace_private_file;

use super::super::args::ConfigEditArgs;
use super::super::ask;
use super::super::printer::{Printer, Report, one_line, printable};
use crate::diagnosis::config_files::{EditOutput, check_owner, diff, read, unwritable, write_over};
use crate::diagnosis::examine::{ProblemOutput, examine, problems_text};
use crate::installation::editor::{editor, open};
use crate::installation::home::Home;

/// Has the user edit the config.
///
/// # Errors
/// When there is no editor or nobody to ask, the file is another user's, or it was changed meanwhile.
pub fn run(home: &Home, printer: Printer, args: &ConfigEditArgs) -> Result<Report, Failure> {
    let file = &home.config_path;
    let before = read(file)?;
    check_owner(file)?;
    if !args.confirm.yes && !args.confirm.dry_run && !ask::is_possible(printer) {
        return Err(Failure::new(ErrorCode::ApprovalRequired, "there is no terminal to ask at")
            .hint("`--yes` writes what is valid without asking."));
    }
    let editor = editor()?;
    let copy = match &args.from {
        Some(copy) => copy.clone(),
        None => {
            // Beside the config, so that the editor finds the schema that it names.
            let copy = file.with_file_name(format!("config.edit-{}.json", id::new_id()));
            replace_private_file(&copy, &before).map_err(|error| unwritable(&copy, &error))?;
            copy
        }
    };
    loop {
        if let Err(failure) = open(&editor, &copy) {
            if args.from.is_some() || read(&copy).ok().as_ref() != Some(&before) {
                return Err(failure.hint(kept(&copy).trim_end().to_owned()));
            }
            remove(&copy);
            return Err(failure.hint("Set VISUAL or EDITOR to the command of your editor."));
        }
        let after = read(&copy)?;
        if after == before {
            remove(&copy);
            return Ok(report("Nothing was changed.\n".to_owned(), file, false, String::new(), None));
        }
        let problems = examine(home, &copy, &after);
        let diff = diff(&before, &after);
        if problems.is_empty() {
            return finish(home, printer, args, &before, &after, &copy, diff);
        }
        let text = problems_text(&copy, &problems);
        if !args.confirm.asks(printer) {
            return Ok(broken(file, &copy, text, diff, problems));
        }
        printer.talk(text.trim_end());
        // No answer is a no: the copy is kept.
        if !ask::yes(printer, "It is not valid. Edit it again?").unwrap_or(false) {
            return Ok(broken(file, &copy, text, diff, problems));
        }
    }
}

/// Shows the diff, asks, and writes.
fn finish(
    home: &Home,
    printer: Printer,
    args: &ConfigEditArgs,
    before: &[u8],
    after: &[u8],
    copy: &Path,
    diff: String,
) -> Result<Report, Failure> {
    let file = &home.config_path;
    if args.confirm.dry_run {
        let text = format!("Would write:\n{}{}", printable(&diff), kept(copy));
        return Ok(report(text, file, false, diff, Some(copy.to_owned())));
    }
    if !args.confirm.yes {
        printer.talk(printable(&diff).trim_end());
        if !ask::yes(printer, "Write this?").unwrap_or(false) {
            let text = format!("Left as it was. {}", kept(copy));
            return Ok(report(text, file, false, diff, Some(copy.to_owned())));
        }
    }
    let _lock = home.lock()?;
    if read(file)? != before {
        return Err(Failure::new(ErrorCode::Conflict, "the config was changed by something else meanwhile")
            .hint(kept(copy).trim_end().to_owned()));
    }
    home.keep_config()?;
    write_over(file, after)?;
    remove(copy);
    let shown = one_line(&file.display().to_string());
    let text = if args.confirm.yes {
        format!("{}Wrote {shown}.\n", printable(&diff))
    } else {
        format!("Wrote {shown}.\n")
    };
    Ok(report(text, file, true, diff, None))
}

/// What `config edit` and `undo` print.
pub fn report(text: String, file: &Path, written: bool, diff: String, copy: Option<PathBuf>) -> Report {
    let output = EditOutput { ok: true, file: file.to_owned(), written, diff, copy, problems: Vec::new() };
    Report::of(text, &output)
}

fn broken(file: &Path, copy: &Path, text: String, diff: String, problems: Vec<ProblemOutput>) -> Report {
    let text = format!("{text}Nothing was written. {}", kept(copy));
    let copy = Some(copy.to_owned());
    let output = EditOutput { ok: false, file: file.to_owned(), written: false, diff, copy, problems };
    Report { exit: 1, ..Report::of(text, &output) }
}

fn kept(copy: &Path) -> String {
    let shown = one_line(&copy.display().to_string());
    format!("Your text is kept: `bailiwick config edit --from {shown}` continues with it.\n")
}

fn remove(copy: &Path) {
    // A copy that stays is untidy, and no loss.
    let _ = fs::remove_file(copy);
}
