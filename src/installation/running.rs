//! Where a running service can be reached, by a note that `start` leaves beside the socket; and what continues without it.

use std::fs::{OpenOptions, TryLockError};
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_config::TokenRecord;
use bailiwick_contract::time::now_ms;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{Secrecy, create_private_dir, read_own_file, replace_private_file};
use bailiwick_platform::launch::Launcher;
use bailiwick_platform::launch::kept::Status;
use bailiwick_providers::approval::{ApprovalError, Approvals, Ticket};
use bailiwick_providers::process::{Process, Processes};
use bailiwick_providers::secret_prompt::{Prompt, Prompts};

use super::home::Home;

/// The note. It holds no secret; it is gone when the service has ended in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunningNote {
    /// The service's process.
    pub process_id: u32,
    /// The URL of the MCP endpoint.
    pub url: String,
    /// The address that is listened on, if other computers can reach it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_to_network: Option<String>,
    /// The SHA-256 of the certificate, if connections are encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_sha256: Option<String>,
}

/// Returns the path of the socket of an installation.
pub fn socket_path(dirs: &Dirs) -> PathBuf {
    dirs.runtime.join("bailiwick.sock")
}

/// Returns whether a service holds the lock beside the socket.
pub fn is_running(home: &Home) -> bool {
    // Without a lock file there was never a service.
    OpenOptions::new()
        .write(true)
        .open(socket_path(&home.dirs).with_extension("lock"))
        .is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

impl RunningNote {
    /// Returns who can reach the service, if that is more than this computer, and whether they can read what others send.
    pub fn exposure(&self) -> Option<String> {
        let address = self.open_to_network.as_ref()?;
        let is_everywhere = address.parse::<SocketAddr>().is_ok_and(|it| it.ip().is_unspecified());
        let every =
            if is_everywhere { "the service listens on every address of this computer: " } else { "" };
        let encrypted = if self.certificate_sha256.is_some() {
            "the connection is encrypted"
        } else {
            "the connection is not encrypted, so anyone between can read tokens and answers"
        };
        Some(format!("{every}other computers can reach {address}, and need a token; {encrypted}"))
    }

    /// Returns the place of the note.
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

    /// Reads the note of a service that runs.
    pub fn of_running(home: &Home) -> Option<Self> {
        Self::read(&home.dirs).filter(|_| is_running(home))
    }

    /// Reads the note; believe it only while the socket answers.
    pub fn read(dirs: &Dirs) -> Option<Self> {
        let (text, _) = read_own_file(&Self::path(dirs), Secrecy::Secret, 4_096).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

/// Returns the secrets that programs ask for and that can be given to them now.
///
/// # Errors
/// Those of the file system.
pub fn prompts_to_answer(home: &Home) -> io::Result<Vec<(Prompt, Arc<Process>)>> {
    // The launcher starts nothing until something is started by it, which nothing is.
    let processes = Processes::new(&home.dirs, Arc::new(Launcher::new()));
    Prompts::new(&home.dirs.state).answerable(&processes, knows_owner(home))
}

/// Returns whether what a caller asks of the user can still be answered: nobody else has the token's id.
pub fn knows_owner(home: &Home) -> impl Fn(&str) -> bool {
    let tokens = home.tokens().ok();
    move |owner| {
        let is_token = |record: &TokenRecord| record.id == owner && !record.is_expired(now_ms());
        // While the tokens cannot be read, nothing is known against one.
        owner == "local" || tokens.as_ref().is_none_or(|tokens| tokens.records().iter().any(is_token))
    }
}

/// Returns the requests that need approval and that can be answered now.
///
/// # Errors
/// Those of the file system and of the config.
pub fn tickets_to_answer(home: &Home) -> Result<Vec<Ticket>, Failure> {
    let mut tickets =
        Approvals::below(&home.dirs.state).waiting().map_err(|error| unusable_approvals(&error.into()))?;
    let is_known = knows_owner(home);
    let config = home.config()?;
    tickets.retain(|ticket| {
        is_known(&ticket.caller_id) && config.scopes.iter().any(|scope| scope.id == ticket.scope)
    });
    Ok(tickets)
}

/// Creates the failure for files of approvals that cannot be used.
pub fn unusable_approvals(error: &ApprovalError) -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, format!("approvals cannot be used: {error}"))
        .hint("Check the owner, the permissions and the free space of the state folder.")
}

/// Counts what waits for the user: secrets that are asked for, and requests that need approval.
pub fn count_waiting(home: &Home) -> usize {
    prompts_to_answer(home).map_or(0, |waiting| waiting.len())
        + tickets_to_answer(home).map_or(0, |waiting| waiting.len())
}

/// Counts the processes that clients started to last, and that run.
pub fn processes_that_go_on(home: &Home) -> usize {
    // The launcher starts nothing until something is started by it, which nothing is.
    let processes = Processes::new(&home.dirs, Arc::new(Launcher::new()));
    let runs = |status: Status| !status.state.is_final();
    processes.all().iter().filter(|it| !it.facts.is_run && it.status().is_ok_and(runs)).count()
}
