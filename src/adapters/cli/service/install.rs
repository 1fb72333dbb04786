//! `service install`: writes the unit, has systemd check it, and starts it if it can.

use std::fs::{self, DirBuilder};
use std::path::Path;

use crate::contract::{ErrorCode, Failure, id};
use crate::platform::fs::modes::DirBuilderExt;
use crate::platform::fs::{create_private_dir, replace_private_file};
use crate::providers::edit::{Text, text_diff};

use super::super::args::ServiceInstallArgs;
use super::super::home::Home;
use super::super::printer::Report;
use super::manager::{Said, ask, systemctl, unreachable};
use super::output::InstallOutput;
use super::unit::{UNIT, path, text};

/// Installs the service. Running it twice changes nothing.
///
/// # Errors
/// When Bailiwick is not set up; `conflict` for a unit of that name that is not ours; when systemd refuses the unit, which
/// is then put back as it was.
pub fn run(home: &Home, args: &ServiceInstallArgs) -> Result<Report, Failure> {
    // A service that would only fail is not installed.
    home.config()?;
    let unit = path()?;
    let shown = unit.display().to_string();
    let after = text(home)?;
    let before = fs::read_to_string(&unit).ok();
    if before.as_deref().is_some_and(|text| !is_ours(text)) {
        return Err(Failure::new(ErrorCode::Conflict, format!("{shown} was not written by Bailiwick"))
            .hint("Move it away, and run this again."));
    }
    let name = shown.trim_start_matches('/');
    let old = Text::new(before.clone().unwrap_or_default());
    let diff = text_diff((before.as_ref().map(|_| name), Some(name)), &old, &Text::new(after.clone()));
    let is_same = before.as_deref() == Some(&after);
    if args.dry_run {
        let text = if is_same { format!("{shown} is as it would be written.\n") } else { diff.clone() };
        let diff = Some(diff);
        let output =
            InstallOutput { ok: true, unit, changed: false, started: false, diff, unreachable: None };
        return Ok(Report::of(text, &output));
    }
    if !is_same {
        write(&unit, before.as_deref(), &after)?;
    }
    let mut text = match (is_same, before.is_some()) {
        (true, _) => format!("{shown} is there already.\n"),
        (false, true) => format!("Wrote {shown} anew:\n{diff}"),
        (false, false) => format!("Wrote {shown}, which systemd finds in order.\n"),
    };
    let why = unreachable()?;
    let mut started = false;
    if why.is_none() {
        for words in [&["daemon-reload"][..], &["enable", UNIT], &["restart", UNIT]] {
            // A service that runs as it should is left alone.
            if words[0] == "restart" && is_same && systemctl(&["is-active", UNIT])?.ok {
                continue;
            }
            let said = systemctl(words)?;
            if !said.ok {
                return Err(Failure::new(ErrorCode::ExecutionFailed, format!("systemd: {}", said.text))
                    .hint(format!(
                        "The unit is there; `systemctl --user {} {UNIT}` does this step.",
                        words[0]
                    ))
                    .hint("`bailiwick service logs` shows what the service said."));
            }
        }
        started = true;
        text.push_str("It is started, and starts when you log in. `bailiwick service status` asks it.\n");
    }
    let output =
        InstallOutput { ok: true, unit, changed: !is_same, started, diff: None, unreachable: why.clone() };
    let report = Report::of(text, &output);
    Ok(match why {
        None => report.note("To have it run while you are not logged in: `loginctl enable-linger`."),
        Some(why) => report
            .note(format!("It is not started: your systemd cannot be asked ({why})."))
            .note("Log in to a session with systemd, and run this again."),
    })
}

/// Tells whether Bailiwick wrote a unit.
pub fn is_ours(text: &str) -> bool {
    text.starts_with("# Written by `bailiwick service install`")
}

fn write(unit: &Path, before: Option<&str>, after: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::ProviderUnavailable, format!("{}: {error}", unit.display()))
            .hint("Check the folder's owner, permissions and free space.")
    };
    let folder = unit.parent().ok_or_else(|| failed(std::io::ErrorKind::InvalidInput.into()))?;
    DirBuilder::new().recursive(true).mode(0o755).create(folder).map_err(failed)?;
    replace_private_file(unit, after.as_bytes()).map_err(failed)?;
    let problem = match verified(unit).map_err(failed)? {
        Ok(said) if said.ok => return Ok(()),
        Ok(said) => {
            Failure::new(ErrorCode::ExecutionFailed, format!("systemd refuses the unit: {}", said.text))
        }
        Err(failure) => failure,
    };
    // As it was: the file is ours.
    let _ = match before {
        Some(text) => replace_private_file(unit, text.as_bytes()),
        None => fs::remove_file(unit),
    };
    Err(problem)
}

/// Has systemd's own tool read the unit. It wants a runtime folder, which a person without a session lacks.
fn verified(unit: &Path) -> std::io::Result<Result<Said, Failure>> {
    let runtime = std::env::temp_dir().join(format!("bailiwick-{}", id::new_id()));
    create_private_dir(&runtime)?;
    let words = ["--user", "verify", &unit.display().to_string()];
    let said = ask("systemd-analyze", &words, &[("XDG_RUNTIME_DIR", &runtime)]);
    fs::remove_dir_all(&runtime)?;
    Ok(said)
}
