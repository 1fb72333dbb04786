//! That nobody reaches a tunnel without a token: the token that one without logins adds to requests.

use bailiwick_config::{Config, KeyRing};
use bailiwick_contract::{Failure, Transport};

use crate::installation::home::Home;
use crate::installation::tokens::rights;

/// A token that OpenAI's program adds to requests.
pub struct AddedToken {
    /// Its name.
    pub name: String,
    /// What it opens, in words.
    pub rights: String,
    /// Its value.
    pub secret: String,
}

/// Reads the token that a tunnel without logins needs.
///
/// # Errors
/// `permission_denied` where there is none, or it opens nothing.
pub fn token(home: &Home) -> Result<AddedToken, Failure> {
    let refused = |problem: &str| {
        Failure::denied("token-needed", problem)
            .hint("Make one for the tunnel: `bailiwick token create openai --scope ID`.")
            .hint("Then set it: `export BAILIWICK_TOKEN=...`.")
    };
    let secret = std::env::var("BAILIWICK_TOKEN").ok().filter(|secret| !secret.is_empty());
    let secret = secret.ok_or_else(|| {
        refused("this tunnel has no login, so it needs a token, and the variable BAILIWICK_TOKEN holds none")
    })?;
    let keys = KeyRing::open(home.dirs.clone());
    let caller = keys.verify(keys.refresh(), &secret, Transport::Http, None)?;
    let id = caller.and_then(|caller| caller.token);
    let tokens = home.tokens()?;
    let record = tokens.records().iter().find(|record| Some(&record.id) == id.as_ref());
    let record =
        record.ok_or_else(|| refused("the token in the variable BAILIWICK_TOKEN opens nothing here"))?;
    Ok(AddedToken { name: record.name.clone(), rights: rights(record), secret })
}

/// Refuses to let anybody reach a service that needs no token.
///
/// # Errors
/// Where the config says so.
pub fn refuse_without_token(config: &Config) -> Result<(), Failure> {
    if !config.http.allow_loopback_without_token {
        return Ok(());
    }
    Err(Failure::denied(
        "token-needed",
        "`http.allowLoopbackWithoutToken` is on: through a tunnel it could admit everybody",
    )
    .hint("Set it to false first: `bailiwick config edit`."))
}
