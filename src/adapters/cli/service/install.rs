//! `service install`: writes the manager's file, has the system's own tool check it, and starts the service if it can.

use std::path::Path;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_providers::edit::{Text, text_diff};

use super::super::home::Home;
use super::super::printer::Report;
use super::file;
use super::job::{Job, said_file};
use super::manager::{Manager, Words};
use super::output::InstallOutput;

/// Installs the service. Running it twice changes nothing.
///
/// # Errors
/// When Bailiwick is not set up; `conflict` for a file of that name that is not ours; when the system refuses the file, which
/// is then put back as it was.
pub fn run(home: &Home, manager: &dyn Manager) -> Result<Report, Failure> {
    // A service that would only fail is not installed.
    home.config()?;
    let (path, name) = (manager.file(), manager.name());
    let shown = path.display().to_string();
    let after = manager.text(&Job::of(home)?)?;
    let before = file::read(path);
    if path.exists() && !before.as_deref().is_some_and(file::is_ours) {
        return Err(Failure::new(ErrorCode::Conflict, format!("{shown} was not written by Bailiwick"))
            .hint("Move it away, and run this again."));
    }
    let diff = diff(path, before.as_deref(), &after);
    let is_same = before.as_deref() == Some(&after);
    let output = InstallOutput {
        ok: true,
        manager: manager.kind(),
        unit: path.to_owned(),
        changed: false,
        started: false,
        diff: None,
        unreachable: None,
    };
    if home.is_dry_run {
        let text = if is_same { format!("{shown} is as it would be written.\n") } else { diff.clone() };
        return Ok(Report::of(text, &InstallOutput { diff: Some(diff), ..output }));
    }
    if manager.words() == Words::File {
        file::make_folder_of(&said_file(home))?;
    }
    let finding = if is_same { "" } else { write(manager, before.as_deref(), &after)? };
    let mut text = match (is_same, before.is_some()) {
        (true, _) => format!("{shown} is there already.\n"),
        (false, true) => format!("Rewrote {shown}:\n{diff}"),
        (false, false) => format!("Wrote {shown}{finding}.\n"),
    };
    let why = manager.unreachable()?;
    if why.is_none() {
        manager.take_up(!is_same).map_err(|failure| {
            failure.hint("The file is there; `bailiwick service install` tries the rest again.")
        })?;
        text.push_str("It is started, and starts when you log in. `bailiwick service status` asks it.\n");
    }
    let output =
        InstallOutput { changed: !is_same, started: why.is_none(), unreachable: why.clone(), ..output };
    let report = Report::of(text, &output);
    Ok(match (why, manager.after_install()) {
        (Some(why), _) => report
            .note(format!("It is not started: {name} cannot be asked ({why})."))
            .note(format!("{}, and run this again.", manager.way_to_it())),
        (None, Some(note)) => report.note(note),
        (None, None) => report,
    })
}

fn diff(path: &Path, before: Option<&str>, after: &str) -> String {
    let shown = path.display().to_string();
    let name = shown.trim_start_matches('/');
    // Line ends are the form's own, and nothing to see.
    let text = |text: &str| Text::new(text.replace('\r', ""));
    text_diff((before.map(|_| name), Some(name)), &text(before.unwrap_or_default()), &text(after))
}

/// Writes the file, and has it checked. Returns what to say of that.
fn write(manager: &dyn Manager, before: Option<&str>, after: &str) -> Result<&'static str, Failure> {
    let path = manager.file();
    file::write(path, after)?;
    let problem = match manager.checked() {
        None => return Ok(""),
        Some(Ok(said)) if said.ok => return Ok(", which the system's own tool accepts"),
        Some(Ok(said)) => Failure::new(
            ErrorCode::ExecutionFailed,
            format!("{} refuses {}: {}", manager.name(), path.display(), said.text),
        ),
        Some(Err(failure)) => failure,
    };
    // As it was: the file is ours.
    let _ = match before {
        Some(text) => file::write(path, text),
        None => file::remove(path),
    };
    Err(problem)
}
