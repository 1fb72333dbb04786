//! `client add`.

use bailiwick_contract::{ErrorCode, Failure};

use super::super::args::ConfirmArgs;
use super::super::printer::{Printer, Report};
use super::args::InstallArgs;
use super::edit::Session;
use crate::client_settings::choice::EntryOptions;
use crate::client_settings::connection::Connection;
use crate::client_settings::kind::ClientKind;
use crate::client_settings::places::{evidence, project_file};
use crate::client_settings::plan;
use crate::client_settings::record::{Action, Records};
use crate::client_settings::rights::{RightsOf, caller, make_token, reach};
use crate::installation::home::Home;

/// Puts Bailiwick into the settings of clients.
///
/// # Errors
/// When Bailiwick is not set up, or a client that was named cannot be connected; nothing is written then.
pub fn run(home: &Home, printer: Printer, args: &InstallArgs) -> Result<Report, Failure> {
    if args.all {
        let fits = |kind: &ClientKind| args.how.place.project.is_none() || project_file(*kind).is_some();
        let found: Vec<ClientKind> =
            ClientKind::all().iter().copied().filter(fits).filter(|kind| evidence(*kind).is_some()).collect();
        if found.is_empty() {
            return Err(Failure::new(ErrorCode::NotFound, "no client was found on this computer")
                .hint("Name one: `bailiwick client add CLIENT`; `bailiwick client list` shows all."));
        }
        return install(home, printer, args.confirm, &found, &args.how.choice(), OnFailure::GoOn);
    }
    if args.how.place.settings.is_some() && args.clients.len() > 1 {
        return Err(Failure::invalid("--settings", "one settings file belongs to one client")
            .hint("Name the clients one by one."));
    }
    install(home, printer, args.confirm, &args.clients, &args.how.choice(), OnFailure::Stop)
}

/// What a client that cannot be connected means for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// Nothing is written.
    Stop,
    /// They are connected, and the exit code tells.
    GoOn,
}

/// Puts Bailiwick into the settings of these clients.
///
/// # Errors
/// As [`run`].
pub fn install(
    home: &Home,
    printer: Printer,
    confirm: ConfirmArgs,
    kinds: &[ClientKind],
    how: &EntryOptions,
    on_failure: OnFailure,
) -> Result<Report, Failure> {
    let connection = Connection::new(home, &home.config()?);
    let records = Records::load(home)?;
    let mut session = Session::new(home, printer, confirm);
    let mut all = Vec::new();
    for kind in kinds {
        match caller(home, *kind, how).and_then(|caller| {
            let reach = reach(how, caller.as_ref());
            Ok((plan::install(*kind, &connection, &records, &reach, how)?, caller))
        }) {
            Ok(planned) => all.push(planned),
            Err(failure) if on_failure == OnFailure::Stop => return Err(failure),
            Err(failure) => session.failed(*kind, &how.place.name, Action::Install, &failure),
        }
    }
    let (planned, callers): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    session.check_that_one_can_ask(&planned)?;
    for (planned, caller) in planned.into_iter().zip(callers) {
        let shows_secret = how.http;
        session.go(planned, || match caller {
            Some(RightsOf { name, scopes_of_new: Some(scopes) }) => {
                make_token(home, name, scopes, shows_secret).map(Some)
            }
            _ => Ok(None),
        })?;
    }
    Ok(session.report())
}
