//! Logins: tokens that a client obtains by OAuth after the owner has agreed, and renews on its own.
//!
//! A login is a token whose secret changes every hour. The refresh token that renews it is used once: one that comes a
//! second time was copied, and ends the login.

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use bailiwick_contract::id;
use bailiwick_contract::time::{parse_rfc3339, rfc3339};

use super::secret_hash::SecretHash;
use super::{ConfigError, TokenRecord, Tokens};

/// How long an access token opens something: one hour, in milliseconds.
pub const ACCESS_MS: i64 = 3_600_000;
/// How long a login lasts without being renewed: 30 days, in milliseconds.
pub const REFRESH_MS: i64 = 30 * 24 * ACCESS_MS;
/// How many logins there are at most.
const MAX_LOGINS: usize = 100;
/// How many used refresh tokens of a login are remembered.
const MAX_USED: usize = 32;
/// How many logins of one name are told apart.
const MAX_NUMBER: u32 = 1_000;

/// What `tokens.json` holds of a login beyond a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Login {
    /// The id by which the client calls itself.
    pub client_id: String,
    /// The host to which the browser went back.
    pub redirect_host: String,
    /// The URL for which its tokens are made; they open nothing elsewhere.
    pub resource: String,
    /// From when on the current access token opens nothing, RFC 3339.
    pub access_expires_at: String,
    /// The hash of the current refresh token.
    pub refresh_hash: SecretHash,
    /// The hashes of refresh tokens that were used, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used_refresh_hashes: Vec<SecretHash>,
}

impl Login {
    /// Returns the field that is not of the required form.
    pub(super) fn problem(&self) -> Option<&'static str> {
        parse_rfc3339(&self.access_expires_at).is_none().then_some("login.accessExpiresAt")
    }
}

/// What a new login may use, and whose it is.
#[derive(Debug, Clone)]
pub struct NewLogin {
    /// The client's name; a number is added where it is taken.
    pub name: String,
    /// Scope ids, or `*`.
    pub scopes: Vec<String>,
    /// Capability names, or `*`.
    pub capabilities: Vec<String>,
    /// The id by which the client calls itself.
    pub client_id: String,
    /// The host to which the browser goes back.
    pub redirect_host: String,
    /// The URL for which its tokens are made.
    pub resource: String,
}

/// Tokens for a client, shown to it this once.
#[derive(Debug, Clone)]
pub struct LoginTokens {
    /// The login as it is kept.
    pub record: TokenRecord,
    /// The access token.
    pub access: String,
    /// The refresh token.
    pub refresh: String,
}

/// How the use of a refresh token ended.
#[derive(Debug)]
pub enum Refresh {
    /// It was good: these are the next ones.
    Renewed(Box<LoginTokens>),
    /// It had been used before, so its login was ended.
    Reused(Box<TokenRecord>),
    /// No login of this client has it, or its time is over.
    Unknown,
}

impl Tokens {
    /// Begins a login. Call [`Tokens::save`].
    ///
    /// # Errors
    /// When there are too many, the name cannot be used, or the system gives no random bytes.
    pub fn log_in(&mut self, new: NewLogin, now_ms: i64) -> Result<LoginTokens, ConfigError> {
        let path = self.path.clone();
        self.records.retain(|record| record.login.is_none() || !record.is_expired(now_ms));
        if self.records.iter().filter(|record| record.login.is_some()).count() >= MAX_LOGINS {
            let fix = "End some with `bailiwick token revoke NAME`; `bailiwick token list` shows them.";
            return Err(ConfigError::new(&path, "", format!("there are {MAX_LOGINS} logins already"), fix));
        }
        let numbered = (2..MAX_NUMBER).map(|number| format!("{} {number}", new.name));
        let name = std::iter::once(new.name.clone())
            .chain(numbered)
            .find(|name| self.name_problem(name).is_none())
            .ok_or_else(|| {
                let problem = self.name_problem(&new.name).unwrap_or_default();
                ConfigError::new(&path, "", problem, "The client has to give another name.")
            })?;
        let (access, refresh) = (self.new_secret()?, self.new_secret()?);
        let record = TokenRecord {
            id: id::new_id(),
            name,
            hash: SecretHash::of(&access),
            scopes: new.scopes,
            capabilities: new.capabilities,
            created_at: rfc3339(now_ms),
            expires_at: Some(rfc3339(now_ms + REFRESH_MS)),
            owner: false,
            login: Some(Login {
                client_id: new.client_id,
                redirect_host: new.redirect_host,
                resource: new.resource,
                access_expires_at: rfc3339(now_ms + ACCESS_MS),
                refresh_hash: SecretHash::of(&refresh),
                used_refresh_hashes: Vec::new(),
            }),
        };
        self.records.push(record.clone());
        Ok(LoginTokens { record, access, refresh })
    }

    /// Returns whether a login has this token: its access token, or a refresh token, used ones too.
    pub fn is_of_login(&self, presented: &str) -> bool {
        let hash = SecretHash::of(presented);
        let is_its = |record: &TokenRecord| {
            record.login.as_ref().is_some_and(|login| {
                let refresh = std::iter::once(&login.refresh_hash).chain(&login.used_refresh_hashes);
                refresh.chain([&record.hash]).any(|it| bool::from(it.ct_eq(&hash)))
            })
        };
        self.records.iter().any(is_its)
    }

    /// Uses a refresh token: it is exchanged for new tokens, or ends its login if it was used before. Call
    /// [`Tokens::save`].
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn refresh(&mut self, presented: &str, client_id: &str, now_ms: i64) -> Result<Refresh, ConfigError> {
        let hash = SecretHash::of(presented);
        let is_current = |login: &Login| bool::from(login.refresh_hash.ct_eq(&hash));
        let was_used = |login: &Login| login.used_refresh_hashes.iter().any(|it| bool::from(it.ct_eq(&hash)));
        let place = self.records.iter().position(|record| {
            record.login.as_ref().is_some_and(|login| is_current(login) || was_used(login))
        });
        let Some(place) = place else { return Ok(Refresh::Unknown) };
        let (access, refresh) = (self.new_secret()?, self.new_secret()?);
        let record = &mut self.records[place];
        let is_expired = record.is_expired(now_ms);
        let Some(login) = record.login.as_mut() else { return Ok(Refresh::Unknown) };
        if !is_current(login) {
            return Ok(Refresh::Reused(Box::new(self.records.remove(place))));
        }
        if is_expired || login.client_id != client_id {
            return Ok(Refresh::Unknown);
        }
        let used = std::mem::replace(&mut login.refresh_hash, SecretHash::of(&refresh));
        login.used_refresh_hashes.push(used);
        let surplus = login.used_refresh_hashes.len().saturating_sub(MAX_USED);
        login.used_refresh_hashes.drain(..surplus);
        login.access_expires_at = rfc3339(now_ms + ACCESS_MS);
        record.hash = SecretHash::of(&access);
        record.expires_at = Some(rfc3339(now_ms + REFRESH_MS));
        Ok(Refresh::Renewed(Box::new(LoginTokens { record: record.clone(), access, refresh })))
    }

    /// Ends the login of this client whose access or refresh token this is. Call [`Tokens::save`].
    pub fn log_out(&mut self, presented: &str, client_id: &str) -> Option<TokenRecord> {
        let hash = SecretHash::of(presented);
        let place = self.records.iter().position(|record| {
            let is_its = |login: &Login| {
                login.client_id == client_id
                    && (bool::from(login.refresh_hash.ct_eq(&hash) | record.hash.ct_eq(&hash)))
            };
            record.login.as_ref().is_some_and(is_its)
        })?;
        Some(self.records.remove(place))
    }
}

#[cfg(test)]
mod tests {
    use bailiwick_platform::dirs::Dirs;

    use super::*;

    fn with_tokens(test: impl FnOnce(&mut Tokens, &Dirs)) {
        let home = std::env::temp_dir().join(format!("bailiwick-logins-{}", id::new_id()));
        let dirs = Dirs::below(home.clone());
        test(&mut Tokens::load(&dirs).expect("no file is no tokens"), &dirs);
        if home.exists() {
            bailiwick_platform::fs::remove_tree(&home).expect("removed");
        }
    }

    fn login(name: &str) -> NewLogin {
        NewLogin {
            name: name.to_owned(),
            scopes: vec!["app".to_owned()],
            capabilities: vec!["fs:read".to_owned()],
            client_id: "client-1".to_owned(),
            redirect_host: "127.0.0.1".to_owned(),
            resource: "https://bw.example/mcp".to_owned(),
        }
    }

    fn renewed(refresh: Refresh) -> LoginTokens {
        let Refresh::Renewed(tokens) = refresh else { panic!("not renewed: {refresh:?}") };
        *tokens
    }

    #[test]
    fn an_access_token_opens_for_an_hour_and_its_login_lasts_as_it_is_renewed() {
        with_tokens(|tokens, dirs| {
            let first = tokens.log_in(login("Claude"), 0).expect("logged in");
            tokens.save().expect("saved");
            let mut tokens = Tokens::load(dirs).expect("read back");
            assert_eq!(
                tokens.verify(&first.access, ACCESS_MS - 1).map(|it| it.name.as_str()),
                Some("Claude")
            );
            assert!(tokens.verify(&first.access, ACCESS_MS).is_none());
            assert!(tokens.verify(&first.refresh, 0).is_none(), "a refresh token is no access token");
            let now = REFRESH_MS - 1;
            let second = renewed(tokens.refresh(&first.refresh, "client-1", now).expect("renewed"));
            assert_eq!(second.record.id, first.record.id);
            assert!(tokens.verify(&first.access, now).is_none());
            assert!(tokens.verify(&second.access, now).is_some());
            let over = tokens.refresh(&second.refresh, "client-1", now + REFRESH_MS).expect("judged");
            assert!(matches!(over, Refresh::Unknown));
        });
    }

    #[test]
    fn a_refresh_token_that_comes_twice_ends_its_login() {
        with_tokens(|tokens, _| {
            let first = tokens.log_in(login("Claude"), 0).expect("logged in");
            let other = tokens.log_in(login("Claude"), 0).expect("logged in");
            assert_eq!(other.record.name, "Claude 2");
            let second = renewed(tokens.refresh(&first.refresh, "client-1", 1).expect("renewed"));
            for its in [&first.refresh, &second.access, &second.refresh] {
                assert!(tokens.is_of_login(its));
            }
            assert!(!tokens.is_of_login(&first.access) && !tokens.is_of_login("bwl_other"));
            let again = tokens.refresh(&first.refresh, "client-1", 2).expect("judged");
            assert!(matches!(again, Refresh::Reused(record) if record.name == "Claude"));
            assert!(tokens.verify(&second.access, 2).is_none());
            assert!(matches!(tokens.refresh(&second.refresh, "client-1", 2), Ok(Refresh::Unknown)));
            assert!(tokens.verify(&other.access, 2).is_some(), "another login stays");
        });
    }

    #[test]
    fn another_client_neither_renews_nor_ends_a_login() {
        with_tokens(|tokens, _| {
            let first = tokens.log_in(login("Claude"), 0).expect("logged in");
            assert!(matches!(tokens.refresh(&first.refresh, "client-2", 1), Ok(Refresh::Unknown)));
            assert!(tokens.log_out(&first.refresh, "client-2").is_none());
            renewed(tokens.refresh(&first.refresh, "client-1", 1).expect("renewed"));
            assert!(tokens.log_out(&first.access, "client-1").is_none(), "that access token was replaced");
        });
    }

    #[test]
    fn logins_are_bounded_and_those_that_are_over_make_room() {
        with_tokens(|tokens, _| {
            for _ in 0..MAX_LOGINS {
                tokens.log_in(login("Claude"), 0).expect("logged in");
            }
            let problem = tokens.log_in(login("Claude"), 1).expect_err("too many").problem;
            assert!(problem.contains("100 logins"), "{problem}");
            tokens.log_in(login("Claude"), REFRESH_MS).expect("the others are over");
            assert_eq!(tokens.records().len(), 1);
            let problem = tokens.log_in(login("local"), REFRESH_MS).expect("numbered").record.name;
            assert_eq!(problem, "local 2");
            assert!(tokens.rotate("Claude", 0).is_err());
        });
    }
}
