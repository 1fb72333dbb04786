//! Finding out how things stand, and telling it.

use std::time::Duration;

use bailiwick_contract::{ErrorCode, Failure, Transport};

use super::super::printer::Report;
use super::text;
use crate::adapters::own_backend::{backend, service_facts};
use crate::diagnosis::status::{ServiceWords, Situation};
use crate::installation::home::Home;
use crate::installation::runtime;

/// How long a service may take to answer.
const TIME: Duration = Duration::from_secs(2);

/// Returns how things stand. Exits 0 when everything is valid, 18 when something is not.
///
/// # Errors
/// When it is not set up, or config or tokens are broken: with the place and the fix.
pub fn run(home: &Home, details: bool) -> Result<Report, Failure> {
    let found = Situation::of(home, ask)?;
    let exit = if found.output.ok { 0 } else { ErrorCode::ProviderUnavailable.facts().exit_code };
    Ok(Report { exit, ..Report::of(text::text(home, &found, details), &found.output) })
}

/// Asks the running service, or one in this process, how it is: whether it is the running one, and what it says.
/// `None` where the running one does not answer in time.
fn ask(home: &Home) -> Result<ServiceWords, Failure> {
    let runtime = runtime::small()?;
    let asked = runtime.block_on(async {
        let asked = async {
            let backend = backend(home, Transport::Cli, None).await?;
            let info = service_facts(&backend, &["service", "status", "sandbox"]).await?;
            Ok((backend.is_remote(), info))
        };
        tokio::time::timeout(TIME, asked).await.ok().transpose()
    });
    runtime.shutdown_background();
    asked
}
