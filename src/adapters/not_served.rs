//! Why a service does not start, and what helps.

use std::net::TcpListener;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::port;

use super::socket::BindError;
use crate::installation::home::Home;
use crate::installation::running::RunningNote;
use crate::installation::text::one_line;

/// How many ports are tried for one that is free.
const PORTS_TRIED: u16 = 50;

/// Creates the failure of a local socket that cannot be bound.
pub fn not_bound(home: &Home, error: &BindError) -> Failure {
    match error {
        BindError::Running => {
            let place = RunningNote::read(&home.dirs)
                .map(|note| format!(", as process {}, at {}", note.process_id, one_line(&note.url)))
                .unwrap_or_default();
            Failure::new(ErrorCode::Conflict, format!("Bailiwick is running already for this config{place}"))
                .hint("Use that one (`bailiwick status`), or end it with Ctrl-C in its terminal.")
                .hint("A second one needs its own BAILIWICK_HOME.")
        }
        BindError::Occupied(_) | BindError::Io(_) => {
            Failure::new(ErrorCode::ProviderUnavailable, error.to_string())
                .hint("Check the folder's owner and permissions.")
        }
    }
}

/// Returns who has the port, where that is why it is not served, and which one is free.
pub fn with_holder(failure: Failure, host: &str, port: u16) -> Failure {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_free = |port: u16| TcpListener::bind((host, port)).is_ok();
    if failure.code != ErrorCode::ProviderUnavailable || port == 0 || is_free(port) {
        return failure;
    }
    let Some(found) = port::holder(port) else { return failure };
    let (program, id) = (one_line(&found.program), found.process_id);
    let mut told = Failure::new(
        failure.code,
        format!("cannot listen on {host}, port {port}: `{program}` (process {id}) listens there"),
    );
    if program == "bailiwick" {
        told = told.hint("It is a Bailiwick with another config: `ps` shows how it was started.");
    }
    let next = (port.saturating_add(1)..=port.saturating_add(PORTS_TRIED)).find(|port| is_free(*port));
    match next {
        Some(next) => told
            .hint(format!("End that program, or take a port that is free: `bailiwick serve --port {next}`.")),
        None => told.hint("End that program, or choose another port with --port."),
    }
}
