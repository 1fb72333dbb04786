//! Tokens as the user's commands work on them: what each opens, until when, and when it was last used.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::{NewToken, TokenRecord, Tokens};
use bailiwick_contract::time::{now_ms, parse_rfc3339, rfc3339};
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_history::Filter;

use super::home::Home;
use super::known_token::known;
use super::local_time::{DAY_MS, span_ms};
use super::text::{one_line, with_nearest};

/// Tokens that expire within so many days are said to expire soon.
pub const SOON_DAYS: i64 = 7;

/// Whether a token opens anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TokenState {
    /// It does.
    Valid,
    /// It does, for at most seven days more.
    ExpiresSoon,
    /// It does not any more.
    Expired,
}

/// What may be told about a token: everything but its hash.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenOutput {
    /// Its id.
    pub id: String,
    /// The name that the history shows as the caller.
    pub name: String,
    /// The ids of the scopes that it opens; `*` for all.
    pub scopes: Vec<String>,
    /// The capabilities that it may use, of those that a scope grants; `*` for all.
    pub capabilities: Vec<String>,
    /// When its value was made (RFC 3339).
    pub created_at: String,
    /// From when on it opens nothing (RFC 3339); null for never.
    pub expires_at: Option<String>,
    /// Whether it opens anything.
    pub state: TokenState,
    /// Whether it is the owner's.
    pub owner: bool,
    /// Where the browser went after the login by which a client got it; null for a token that was made by hand.
    pub login: Option<String>,
    /// When its name was last used since its value was made (RFC 3339); null where the history knows of no use.
    pub last_used_at: Option<String>,
}

/// A token whose value is shown, this once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownToken {
    /// The token.
    #[serde(flatten)]
    pub token: TokenOutput,
    /// Its value, which is kept nowhere; null with `--dry-run`.
    pub secret: Option<String>,
}

/// `token create` and `token rotate`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenShownOutput {
    /// Always true.
    pub ok: bool,
    /// The token with its value.
    pub token: ShownToken,
}

/// `token list`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenListOutput {
    /// Always true.
    pub ok: bool,
    /// The tokens, in the order in which they were made.
    pub tokens: Vec<TokenOutput>,
}

/// `token revoke`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenRevokeOutput {
    /// Always true.
    pub ok: bool,
    /// The token as it was.
    pub revoked: TokenOutput,
    /// Whether it was revoked; not with `--dry-run`, and not if you said no.
    pub written: bool,
}

/// `token code`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenCodeOutput {
    /// Always true.
    pub ok: bool,
    /// The code, valid once and for ten minutes.
    pub code: String,
}

/// Refuses scopes that there are not.
///
/// # Errors
/// `unknown_scope`; when the config cannot be read.
pub fn check_scopes(home: &Home, scopes: &[String]) -> Result<(), Failure> {
    let config = home.config()?;
    let ids = || config.scopes.iter().map(|scope| scope.id.as_str());
    if let Some(unknown) = scopes.iter().find(|id| *id != "*" && !ids().any(|known| known == **id)) {
        let failure =
            Failure::new(ErrorCode::UnknownScope, format!("there is no scope `{}`", one_line(unknown)));
        return Err(with_nearest(failure, unknown, ids(), "`bailiwick scope list` shows them."));
    }
    Ok(())
}

/// Creates a token.
///
/// # Errors
/// `conflict` for a name that is taken; when the tokens cannot be read or written.
pub fn create(home: &Home, new: NewToken, now: i64) -> Result<(TokenRecord, String), Failure> {
    home.edit_tokens(|tokens| {
        if tokens.find(&new.name).is_some() {
            return Err(Failure::new(
                ErrorCode::Conflict,
                format!("there is a token `{}` already", one_line(&new.name)),
            )
            .hint(format!("Choose another name, or run `bailiwick token rotate {}`.", new.name)));
        }
        tokens.create(new, now).map_err(|error| Failure::invalid("name", error.problem).hint(error.fix))
    })
}

/// Creates the owner's token where there never was one: HTTP is wanted, and somebody sees it. Elsewhere it would stay in
/// a log, and who has revoked all wants none.
///
/// # Errors
/// When the tokens cannot be read or written.
pub fn first_token(home: &Home) -> Result<Option<String>, Failure> {
    home.edit_tokens(|tokens| {
        if Tokens::path(&home.dirs).exists() {
            return Ok(None);
        }
        let new = NewToken {
            name: "owner".to_owned(),
            scopes: vec!["*".to_owned()],
            capabilities: vec!["*".to_owned()],
            expires_at_ms: None,
            owner: true,
        };
        let (_, secret) = tokens.create(new, now_ms()).map_err(|error| error.for_person())?;
        Ok(Some(secret))
    })
}

/// Gives a token another value, and another end if one is named.
///
/// # Errors
/// `not_found`; `conflict` for one that has expired and gets no other end; when the tokens cannot be read or written.
pub fn rotate(
    home: &Home,
    name: &str,
    expires: Option<Option<i64>>,
    now: i64,
) -> Result<(TokenRecord, String), Failure> {
    home.edit_tokens(|tokens| {
        let record = known(tokens.records(), name)?;
        if expires.is_none() && record.is_expired(now) {
            return Err(Failure::new(
                ErrorCode::Conflict,
                format!("the token `{}` has expired: a new value would open nothing", one_line(&record.name)),
            )
            .hint("Add when the new value expires, such as `--expires 30d` or `--expires never`."));
        }
        if let Some(at) = expires {
            tokens.set_expiry(name, at);
        }
        tokens.rotate(name, now).map_err(|error| error.for_person())
    })
}

/// Looks up when a token was last used, in milliseconds since the epoch.
pub fn last_used(home: &Home, record: &TokenRecord) -> Option<i64> {
    // A name that was used before is another token's use.
    let since_ms = parse_rfc3339(&record.created_at);
    let filter = Filter { caller: Some(record.name.clone()), since_ms, limit: 1, ..Filter::default() };
    let page = bailiwick_history::query(&home.dirs.state, &filter).ok()?;
    page.entries.first().map(|entry| entry.at_ms)
}

/// Returns whether a token opens anything at a moment.
pub fn state(record: &TokenRecord, now: i64) -> TokenState {
    if record.is_expired(now) {
        return TokenState::Expired;
    }
    match record.expires_at.as_deref().and_then(parse_rfc3339) {
        Some(at) if at - now <= SOON_DAYS * DAY_MS => TokenState::ExpiresSoon,
        _ => TokenState::Valid,
    }
}

/// Returns what may be told about a token.
pub fn facts(record: &TokenRecord, last_used: Option<i64>) -> TokenOutput {
    TokenOutput {
        id: record.id.clone(),
        name: record.name.clone(),
        scopes: record.scopes.clone(),
        capabilities: record.capabilities.clone(),
        created_at: record.created_at.clone(),
        expires_at: record.expires_at.clone(),
        state: state(record, now_ms()),
        owner: record.owner,
        login: record.login.as_ref().map(|login| login.redirect_host.clone()),
        last_used_at: last_used.map(rfc3339),
    }
}

/// Returns what a token opens.
pub fn rights(record: &TokenRecord) -> String {
    let or_all = |list: &[String], all: &str| {
        if list.iter().any(|it| it == "*") { all.to_owned() } else { list.join(" ") }
    };
    format!(
        "{}: {}",
        or_all(&record.scopes, "all scopes"),
        or_all(&record.capabilities, "whatever they grant")
    )
}

/// Reads `30d`, `8h` or a date as a moment in the future.
///
/// # Errors
/// `invalid_request` for anything else.
pub fn expiry(when: &str, now: i64) -> Result<i64, Failure> {
    let wrong = |problem: &str| {
        Failure::invalid("--expires", format!("`{}` {problem}", one_line(when)))
            .hint("Use a number of days (30d) or hours (8h), or a date (2027-01-31).")
    };
    let span = span_ms(when).filter(|ms| *ms > 0 && when.ends_with(['d', 'h']));
    let at = span.map(|ms| now + ms).or_else(|| parse_rfc3339(when)).ok_or_else(|| wrong("is not a time"))?;
    // A leap day that does not exist would be another day when read back.
    if when.len() == 10 && !rfc3339(at).starts_with(when) {
        return Err(wrong("is not a day"));
    }
    if at <= now { Err(wrong("has passed")) } else { Ok(at) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiry_reads_spans_and_dates_and_refuses_the_past() {
        let now = parse_rfc3339("2026-11-21").expect("a date");
        assert_eq!(expiry("30d", now).map(rfc3339), Ok("2026-12-21T00:00:00.000Z".to_owned()));
        assert_eq!(expiry("8h", now).map(rfc3339), Ok("2026-11-21T08:00:00.000Z".to_owned()));
        assert_eq!(expiry("2027-01-31", now).map(rfc3339), Ok("2027-01-31T00:00:00.000Z".to_owned()));
        for wrong in ["", "d", "0d", "-1d", "soon", "2026-01-01", "2027-02-30", "99999999999d"] {
            assert!(expiry(wrong, now).is_err(), "{wrong}");
        }
    }
}
