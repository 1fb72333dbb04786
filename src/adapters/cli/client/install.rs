//! `client add`.

use bailiwick_config::NewToken;
use bailiwick_contract::{ErrorCode, Failure, Transport, time};

use super::super::args::ConfirmArgs;
use super::super::connect::Connection;
use super::super::home::Home;
use super::super::printer::{Printer, Report};
use super::args::InstallArgs;
use super::choice::How;
use super::edit::Session;
use super::entry::Reach;
use super::kind::ClientKind;
use super::output::MadeToken;
use super::places::{evidence, project_file};
use super::plan;
use super::record::{Action, Records};

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
    how: &How,
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

/// Returns how the client reaches Bailiwick.
pub fn reach(how: &How, caller: Option<&RightsOf>) -> Reach {
    if how.http { Reach::Http } else { Reach::Stdio { caller: caller.map(|it| it.name.clone()) } }
}

/// The token whose rights a client gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RightsOf {
    /// Its name.
    pub name: String,
    /// The scopes, if it has to be made.
    pub scopes_of_new: Option<Vec<String>>,
}

/// Finds the token whose rights a client gets; `None` for those of the local user.
///
/// # Errors
/// `not_found` for a token that does not exist, `unknown_scope`, and `conflict` for a token of the client's name with
/// other rights.
pub fn caller(home: &Home, kind: ClientKind, how: &How) -> Result<Option<RightsOf>, Failure> {
    if let Some(name) = &how.caller {
        home.caller(Some(name), Transport::Stdio)?;
        return Ok(Some(RightsOf { name: name.clone(), scopes_of_new: None }));
    }
    if how.scope.is_empty() {
        return Ok(None);
    }
    let config = home.config()?;
    if let Some(unknown) = how.scope.iter().find(|id| !config.scopes.iter().any(|scope| scope.id == **id)) {
        return Err(Failure::new(ErrorCode::UnknownScope, format!("there is no scope `{unknown}`"))
            .hint("`bailiwick scope list` shows them."));
    }
    let name = kind.facts().id.to_owned();
    let tokens = home.tokens()?;
    let Some(there) = tokens.find(&name) else {
        return Ok(Some(RightsOf { name, scopes_of_new: Some(how.scope.clone()) }));
    };
    let mut wanted = how.scope.clone();
    let mut given = there.scopes.clone();
    wanted.sort();
    wanted.dedup();
    given.sort();
    if wanted != given || there.is_expired(time::now_ms()) {
        return Err(Failure::new(
            ErrorCode::Conflict,
            format!("the token `{name}` exists, with other rights"),
        )
        .hint(format!(
            "Use it as it is with `--token {name}`, or remove it: `bailiwick token revoke {name}`."
        )));
    }
    Ok(Some(RightsOf { name, scopes_of_new: None }))
}

fn make_token(
    home: &Home,
    name: String,
    scopes: Vec<String>,
    shows_secret: bool,
) -> Result<MadeToken, Failure> {
    let new = NewToken {
        name: name.clone(),
        scopes,
        capabilities: vec!["*".to_owned()],
        expires_at_ms: None,
        owner: false,
    };
    let (_, secret) =
        home.edit_tokens(|tokens| tokens.create(new, time::now_ms()).map_err(|error| error.for_person()))?;
    Ok(MadeToken { name, secret: shows_secret.then_some(secret) })
}
