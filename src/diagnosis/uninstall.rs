//! What Bailiwick has put on this computer, for removing it.

use std::env;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_contract::{ErrorCode, Failure};

use crate::autostart::service::installed_file;
use crate::client_settings::look::added_settings;
use crate::installation::home::Home;
use crate::installation::own_files::own_files;
use crate::installation::own_program::own_program;
use crate::installation::running::{RunningNote, is_running, processes_that_go_on};

/// `uninstall`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UninstallOutput {
    /// Always true.
    pub ok: bool,
    /// Whether anything was removed; not with `--dry-run`, and not if you said no.
    pub written: bool,
    /// How many background processes clients started that were running.
    pub processes: usize,
    /// The file of the service, if it was installed.
    pub service: Option<PathBuf>,
    /// The settings files with entries that `client add` wrote.
    pub clients: Vec<PathBuf>,
    /// Files and folders of Bailiwick's own.
    pub data: Vec<PathBuf>,
    /// Whether those were kept.
    pub data_kept: bool,
    /// The program, which stays.
    pub program: Option<PathBuf>,
}

impl UninstallOutput {
    /// Finds what there is to remove.
    ///
    /// # Errors
    /// `conflict` while a service runs that is not to be removed; when the list of changed settings cannot be read.
    pub fn of(home: &Home, keep_data: bool) -> Result<Self, Failure> {
        let output = Self {
            ok: true,
            written: false,
            processes: processes_that_go_on(home),
            service: installed_file(home),
            clients: added_settings(home)?,
            data: own_files(home),
            data_kept: keep_data,
            program: env::current_exe().ok().map(|path| own_program(&path)),
        };
        if output.service.is_none() && is_running(home) {
            let process = RunningNote::read(&home.dirs)
                .map_or_else(String::new, |note| format!(", as process {}", note.process_id));
            return Err(Failure::new(ErrorCode::Conflict, format!("a service runs{process}"))
                .hint("End it first: Ctrl-C in its terminal."));
        }
        Ok(output)
    }
}
