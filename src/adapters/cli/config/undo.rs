//! `config undo`: the config as it was before the last change.

use bailiwick_contract::{ErrorCode, Failure};

use super::super::args::ConfigUndoArgs;
use super::super::ask;
use super::super::printer::{Printer, Report, one_line, printable};
use super::edit::report;
use crate::diagnosis::config_files::{diff, read, write_over};
use crate::diagnosis::examine::{examine, problems_text};
use crate::installation::earlier_configs::KeptConfigs;
use crate::installation::home::{Home, changed_meanwhile};

/// Puts back the config as it was before the last change; the next call goes one change further back.
///
/// # Errors
/// `not_found` where none is kept; `conflict` where the kept one would be refused now.
pub fn run(home: &Home, printer: Printer, args: &ConfigUndoArgs) -> Result<Report, Failure> {
    let file = &home.config_path;
    let kept = KeptConfigs::of(&home.dirs).list().pop().ok_or_else(|| {
        Failure::new(ErrorCode::NotFound, "no earlier config is kept")
            .hint("The last 20 are kept that commands of this program have replaced.")
    })?;
    let (before, after) = (read(file)?, read(&kept)?);
    let problems = examine(home, &kept, &after);
    if !problems.is_empty() {
        let said = problems_text(&kept, &problems);
        return Err(Failure::new(
            ErrorCode::Conflict,
            format!("the earlier config would be refused: {said}"),
        )
        .hint(format!("`bailiwick config edit` changes the config; {} stays.", kept.display())));
    }
    let diff = diff(&before, &after);
    if args.dry_run {
        return Ok(report(format!("Would write:\n{}", printable(&diff)), file, false, diff, None));
    }
    let is_asked = !args.yes && ask::is_possible(printer);
    if is_asked {
        printer.talk(printable(&diff).trim_end());
        if !ask::yes(printer, "Write this?")? {
            return Ok(report("Left as it was.\n".to_owned(), file, false, diff, None));
        }
    }
    let lock = home.lock()?;
    if read(file)? != before || KeptConfigs::of(&home.dirs).list().last() != Some(&kept) {
        return Err(changed_meanwhile());
    }
    write_over(file, &after)?;
    drop(lock);
    KeptConfigs::of(&home.dirs).remove(&kept);
    let shown = one_line(&file.display().to_string());
    let shown_diff = if is_asked { String::new() } else { printable(&diff) };
    Ok(report(format!("{shown_diff}Wrote {shown}, as it was before.\n"), file, true, diff, None))
}
