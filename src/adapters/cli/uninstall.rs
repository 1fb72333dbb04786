//! `uninstall`: removes what Bailiwick has put on this computer, and nothing of the user's own.

use std::path::Path;

use bailiwick_contract::{ErrorCode, Failure};

use super::args::{ConfirmArgs, UninstallArgs};
use super::ask;
use super::client::remove_added;
use super::printer::{Printer, Report, one_line};
use super::processes::stop_all;
use super::service::remove_installed;
use crate::diagnosis::uninstall::UninstallOutput;
use crate::installation::home::Home;
use crate::installation::own_files;

/// Removes it all, or lists it.
///
/// # Errors
/// `conflict` while a service runs that is not to be removed; `approval_required` where nobody can be asked; what a step that
/// fails says: those before it are done.
pub fn run(home: &Home, printer: Printer, args: &UninstallArgs) -> Result<Report, Failure> {
    let mut output = UninstallOutput::of(home, args.keep_data)?;
    let list = listed(&output, args.keep_data);
    if args.dry_run {
        return Ok(Report::of(format!("Would remove:\n{list}{}", left(&output)), &output));
    }
    if !args.yes {
        if !ask::is_possible(printer) {
            return Err(Failure::new(
                ErrorCode::ApprovalRequired,
                "nothing was removed: there is no terminal to ask at",
            )
            .hint("`--dry-run` lists what would be removed; `--yes` removes it without asking."));
        }
        printer.talk(&format!("This is removed:\n{}", list.trim_end()));
        if !ask::yes(printer, "Remove it?")? {
            return Ok(Report::of("Left as it was.\n", &output));
        }
        if !args.keep_data && !output.data.is_empty() {
            let question =
                "Remove config, tokens, history and earlier versions of files too? They cannot be restored.";
            output.data_kept = !ask::yes(printer, question)?;
        }
    }
    let mut text = String::new();
    if output.processes > 0 {
        text.push_str(&stop_all(home)?.text);
    }
    if let Some(report) = remove_installed(home)? {
        text.push_str(&report.text);
    }
    if !output.clients.is_empty() {
        text.push_str(&remove_added(home, printer, ConfirmArgs { dry_run: false, yes: true })?.text);
    }
    if !output.data_kept {
        for path in &output.data {
            own_files::remove(path)?;
            text.push_str(&format!("Removed {}.\n", shown(path)));
        }
        own_files::remove_empty_folders(home);
    }
    output.written = true;
    text.push_str(&left(&output));
    Ok(Report::of(text, &output))
}

fn listed(output: &UninstallOutput, keep_data: bool) -> String {
    let mut text = String::new();
    let mut add = |label: &str, what: String| text.push_str(&format!("  {label:<10} {what}\n"));
    if output.processes > 0 {
        add("processes", format!("{} that clients started", output.processes));
    }
    if let Some(file) = &output.service {
        add("service", shown(file));
    }
    output
        .clients
        .iter()
        .for_each(|file| add("client", format!("the entry `client add` wrote into {}", shown(file))));
    if !keep_data {
        output.data.iter().for_each(|path| add("data", shown(path)));
    }
    if text.is_empty() { "  nothing\n".to_owned() } else { text }
}

fn left(output: &UninstallOutput) -> String {
    let program = output.program.as_ref().map_or_else(|| "the program".to_owned(), |path| shown(path));
    format!("Your files stay. So does {program}: remove it the way you installed it.\n")
}

fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}
