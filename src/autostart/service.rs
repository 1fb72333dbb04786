//! The service of the user's own session: installed, asked, started, stopped and removed.

use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_providers::edit::{Text, text_diff};

use super::file;
use super::job::{Job, said_file};
use super::manager::{Manager, ServiceStatus, Words, manager};
use super::output::{InstallOutput, RemoveOutput, StatusOutput};
use crate::installation::home::Home;
use crate::installation::running::RunningNote;

/// What became of an installation.
pub struct InstallResult {
    /// What is reported of it.
    pub output: InstallOutput,
    /// Whether the file was there in the same words.
    pub is_same: bool,
    /// Whether the file was there in others.
    pub is_rewritten: bool,
    /// What changes in the file.
    pub diff: String,
    /// What to say of the check of the file by the system's own tool.
    pub finding: &'static str,
}

/// Installs the service. Running it twice changes nothing.
///
/// # Errors
/// When Bailiwick is not set up; `conflict` for a file of that name that is not ours; when the system refuses the file, which
/// is then put back as it was.
pub fn install(home: &Home, manager: &dyn Manager) -> Result<InstallResult, Failure> {
    // A service that would only fail is not installed.
    home.config()?;
    let path = manager.file();
    let after = manager.text(&Job::of(home)?)?;
    let before = file::read(path);
    if path.exists() && !before.as_deref().is_some_and(file::is_ours) {
        return Err(not_ours(path).hint("Move it away, and run this again."));
    }
    let is_same = before.as_deref() == Some(&after);
    let mut done = InstallResult {
        output: InstallOutput {
            ok: true,
            manager: manager.kind(),
            unit: path.to_owned(),
            changed: false,
            started: false,
            diff: None,
            unreachable: None,
        },
        is_same,
        is_rewritten: !is_same && before.is_some(),
        diff: diff(path, before.as_deref(), &after),
        finding: "",
    };
    if home.is_dry_run {
        done.output.diff = Some(done.diff.clone());
        return Ok(done);
    }
    if manager.words() == Words::File {
        file::make_folder_of(&said_file(home))?;
    }
    if !is_same {
        done.finding = write(manager, before.as_deref(), &after)?;
    }
    done.output.unreachable = manager.unreachable()?;
    if done.output.unreachable.is_none() {
        manager.take_up(!is_same).map_err(|failure| {
            failure.hint("The file is there; `bailiwick service install` tries the rest again.")
        })?;
    }
    (done.output.changed, done.output.started) = (!is_same, done.output.unreachable.is_none());
    Ok(done)
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

fn not_ours(path: &Path) -> Failure {
    Failure::new(ErrorCode::Conflict, format!("{} was not written by Bailiwick", path.display()))
}

/// Returns the manager's file.
///
/// # Errors
/// `not_found` where there is none.
pub fn installed(manager: &dyn Manager) -> Result<&Path, Failure> {
    let path = manager.file();
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::new(
        ErrorCode::NotFound,
        format!("the service is not installed: there is no {}", path.display()),
    )
    .hint("Run `bailiwick service install`."))
}

/// Returns the state of the service: its file, what its manager reports, and what the service itself reports.
///
/// # Errors
/// `not_found` if it is not installed.
pub fn status(home: &Home, manager: &dyn Manager) -> Result<StatusOutput, Failure> {
    let path = installed(manager)?;
    let current = file::read(path) == Some(manager.text(&Job::of(home)?)?);
    let unreachable = manager.unreachable()?;
    let ServiceStatus { is_running: running, words: state, .. } = match &unreachable {
        None => manager.standing()?,
        Some(why) => ServiceStatus {
            is_known: false,
            is_running: false,
            words: format!("unknown: it cannot be asked ({why})"),
        },
    };
    // A service that was killed leaves its note behind.
    let service = RunningNote::of_running(home);
    Ok(StatusOutput {
        ok: current && running && service.is_some(),
        manager: manager.kind(),
        unit: path.to_owned(),
        current,
        running,
        state,
        service,
        unreachable,
    })
}

/// Starts the service.
///
/// # Errors
/// `not_found` if it is not installed; what its manager says.
pub fn start(home: &Home, manager: &dyn Manager) -> Result<(), Failure> {
    // The manager would only say that it failed.
    home.config()?;
    reachable(manager)?;
    manager.start()
}

/// Ends the service; processes that clients started keep running.
///
/// # Errors
/// As [`start`].
pub fn stop(manager: &dyn Manager) -> Result<(), Failure> {
    reachable(manager)?;
    manager.stop()
}

fn reachable(manager: &dyn Manager) -> Result<(), Failure> {
    installed(manager)?;
    let Some(why) = manager.unreachable()? else { return Ok(()) };
    let name = manager.name();
    Err(Failure::new(ErrorCode::ProviderUnavailable, format!("{name} cannot be asked: {why}"))
        .hint(format!("{}; `bailiwick serve` serves without it.", manager.way_to_it())))
}

/// Returns the file of the service of this computer, if there is one that Bailiwick wrote.
pub fn installed_file(home: &Home) -> Option<PathBuf> {
    let manager = manager(home).ok()?;
    let path = manager.file();
    file::read(path).as_deref().is_some_and(file::is_ours).then(|| path.to_owned())
}

/// Removes the service. What clients started keeps running.
///
/// # Errors
/// `not_found` if it is not installed; `conflict` for a file that is not ours.
pub fn remove(home: &Home, manager: &dyn Manager) -> Result<RemoveOutput, Failure> {
    let path = installed(manager)?;
    if !file::read(path).as_deref().is_some_and(file::is_ours) {
        return Err(not_ours(path).hint("Remove it yourself, if it is yours to remove."));
    }
    let mut output = RemoveOutput {
        ok: true,
        manager: manager.kind(),
        unit: path.to_owned(),
        removed: false,
        unreachable: None,
    };
    if home.is_dry_run {
        return Ok(output);
    }
    output.unreachable = manager.unreachable()?;
    if output.unreachable.is_none() {
        manager.forget()?;
    }
    file::remove(path)?;
    output.removed = true;
    Ok(output)
}
