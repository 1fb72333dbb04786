//! What the user is asked: only what was not said by flags, and only where something is to be written.

use std::env;
use std::path::{Path, PathBuf, is_separator};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::machine;

use super::super::args::HereArgs;
use super::super::ask::{self, Choice};
use super::super::printer::{Printer, failure_text, one_line};
use crate::installation::home::Home;
use crate::scope_setup::open_folder::{find_folder, is_open};
use crate::scope_setup::presets::Preset;

/// The presets, as they are offered.
const PRESETS: [(Choice, Preset); 3] = [
    (("read-only", "read and search files"), Preset::ReadOnly),
    (("coding", "also change files, and use Git"), Preset::Coding),
    (("full", "also run programs of projects, in a sandbox"), Preset::Full),
];
/// The place of the preset that an empty line chooses.
const USUAL_PRESET: usize = 1;

/// Asks which folder is to be opened, until there is one that can be; `None` for no folder.
///
/// # Errors
/// `cancelled` without an answer.
pub fn folder(home: &Home, printer: Printer, how: &HereArgs) -> Result<Option<PathBuf>, Failure> {
    let here = env::current_dir().ok().filter(|here| find_folder(home, here, how.whole_home.into()).is_ok());
    printer.talk("Which folder do you open to AI clients? They see nothing outside it.");
    let question = match &here {
        Some(here) => format!("A folder, or `none` [{}] ", one_line(&here.display().to_string())),
        None => "A folder, or `none`: ".to_owned(),
    };
    loop {
        let answer = ask::line(printer, &question)?;
        let named = match (answer.as_str(), &here) {
            ("", Some(here)) => here.clone(),
            ("", None) => continue,
            ("none", _) => return Ok(None),
            (answer, _) => without_tilde(answer),
        };
        match find_folder(home, &named, how.whole_home.into()) {
            Ok(folder) => return Ok(Some(folder)),
            Err(failure) => printer.talk(&failure_text(&failure)),
        }
    }
}

/// Asks what clients may do in a folder that is new to Bailiwick, unless that was said.
///
/// # Errors
/// `cancelled` without an answer.
pub fn preset(home: &Home, printer: Printer, folder: &Path, how: &mut HereArgs) -> Result<(), Failure> {
    let is_open = home
        .config_if_there()?
        .is_some_and(|config| config.scopes.iter().any(|scope| is_open(scope, folder, how.id.as_deref())));
    if how.preset.is_none() && !is_open {
        let choices = PRESETS.map(|(choice, _)| choice);
        let chosen = ask::choice(printer, "\nWhat may they do there?", &choices, USUAL_PRESET)?;
        how.preset = Some(PRESETS[chosen].1);
    }
    Ok(())
}

/// Creates the failure of a question that was not answered, or answered with a no.
pub fn nothing_written() -> Failure {
    Failure::new(ErrorCode::Cancelled, "nothing was set up, and nothing was written")
}

/// Creates the failure for a setup that has to ask, and cannot.
pub fn cannot_ask(has_folder: bool) -> Failure {
    let folder = if has_folder { "" } else { "a folder (or none), " };
    Failure::new(
        ErrorCode::ApprovalRequired,
        format!("nothing was set up, and nothing was written: {folder}what is opened and your approval are missing, and there is no terminal to ask at"),
    )
    .hint(
        "Say it by flags: `bailiwick setup FOLDER --yes`, with `--preset read-only`, `coding` (the default) or \
         `full`, `--id ID`, and `--client NAME` for each client to connect.",
    )
}

/// Reads `~` as a shell would have.
fn without_tilde(answer: &str) -> PathBuf {
    let home = machine::home_folder();
    match (answer.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home,
        (Some(rest), Some(home)) if rest.starts_with(is_separator) => {
            home.join(rest.trim_start_matches(is_separator))
        }
        _ => PathBuf::from(answer),
    }
}
