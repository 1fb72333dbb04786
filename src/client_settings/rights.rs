//! Whose rights a client gets: those of the local user, or of a token.

use bailiwick_config::NewToken;
use bailiwick_contract::{ErrorCode, Failure, Transport, time};

use super::choice::EntryOptions;
use super::entry::Reach;
use super::kind::ClientKind;
use super::output::MadeToken;
use crate::installation::home::Home;

/// Returns how the client reaches Bailiwick.
pub fn reach(how: &EntryOptions, caller: Option<&RightsOf>) -> Reach {
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
pub fn caller(home: &Home, kind: ClientKind, how: &EntryOptions) -> Result<Option<RightsOf>, Failure> {
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

/// Creates the token of a client.
///
/// # Errors
/// When the tokens cannot be read or written.
pub fn make_token(
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
