//! Where a running service can be reached, by a note that `start` leaves beside the socket; and what goes on without it.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{Secrecy, create_private_dir, read_own_file, replace_private_file};
use bailiwick_platform::launch::Launcher;
use bailiwick_platform::launch::kept::Status;
use bailiwick_providers::process::Processes;

use super::home::Home;

/// The note. It holds no secret; it is gone when the service has ended in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunningNote {
    /// The service's process.
    pub process_id: u32,
    /// The URL of the MCP endpoint.
    pub url: String,
}

impl RunningNote {
    /// Gives the place of the note.
    pub fn path(dirs: &Dirs) -> PathBuf {
        dirs.runtime.join("service.json")
    }

    /// Leaves the note. Nothing depends on it but what `status` prints.
    pub fn leave(&self, dirs: &Dirs) {
        let text = serde_json::to_vec(self).expect("a note has a JSON form");
        let _ =
            create_private_dir(&dirs.runtime).and_then(|()| replace_private_file(&Self::path(dirs), &text));
    }

    /// Removes the note.
    pub fn remove(dirs: &Dirs) {
        let _ = std::fs::remove_file(Self::path(dirs));
    }

    /// Reads the note; believe it only while the socket answers.
    pub fn read(dirs: &Dirs) -> Option<Self> {
        let (text, _) = read_own_file(&Self::path(dirs), Secrecy::Secret, 4_096).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

/// Counts the processes that clients started to last, and that run.
pub fn processes_that_go_on(home: &Home) -> usize {
    // The launcher starts nothing until something is started by it, which nothing is.
    let processes = Processes::new(&home.dirs, Arc::new(Launcher::new()));
    let runs = |status: Status| !status.state.is_final();
    processes.all().iter().filter(|it| !it.facts.is_run && it.status().is_ok_and(runs)).count()
}
