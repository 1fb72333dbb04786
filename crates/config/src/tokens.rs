//! Tokens: `tokens.json`, which holds the hash of each and never the token itself.
//!
//! A token has 256 bits from the operating system, so one SHA-256 is enough at rest.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use bailiwick_contract::time::{parse_rfc3339, rfc3339};
use bailiwick_contract::{Caller, Capability, CapabilityGrant, ScopeGrant, Transport, hex, id};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{
    FileStamp, OwnFileError, Protection, Secrecy, create_private_dir, read_own_file, replace_private_file,
};
use bailiwick_platform::quoting::quote;

use super::logins::Login;
use super::secret_hash::SecretHash;
use super::{ConfigError, token_names};

/// What every token begins with, so that redaction and secret scanners find it.
pub const PREFIX: &str = "bwl_";
/// The largest `tokens.json` that is read.
const LIMIT_BYTES: u64 = 1 << 20;

/// One token, as `tokens.json` holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TokenRecord {
    /// Its id.
    pub id: String,
    /// The name that the history shows as the caller.
    pub name: String,
    /// The hash of the token.
    pub hash: SecretHash,
    /// The ids of the scopes that it opens; `*` for all.
    pub scopes: Vec<String>,
    /// The capabilities that it may use, of those that a scope grants; `*` for all.
    pub capabilities: Vec<String>,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// From when on it opens nothing, RFC 3339; never if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Whether it is the owner's.
    #[serde(default)]
    pub owner: bool,
    /// Whose it is and how it is renewed, where it came by a login. `hash` is then the one of the current access token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
}

impl TokenRecord {
    /// Creates the caller that presents this token.
    pub fn caller(&self, transport: Transport) -> Caller {
        let scopes = if self.scopes.iter().any(|id| id == "*") {
            ScopeGrant::All
        } else {
            ScopeGrant::Only(self.scopes.iter().cloned().collect())
        };
        let capabilities = if self.capabilities.iter().any(|name| name == "*") {
            CapabilityGrant::All
        } else {
            CapabilityGrant::Only(
                self.capabilities.iter().filter_map(|name| Capability::parse(name)).collect(),
            )
        };
        Caller {
            name: self.name.clone(),
            token: Some(self.id.clone()),
            transport,
            scopes,
            capabilities,
            client: None,
            session: None,
            connection: None,
        }
    }

    /// Returns whether the token has expired.
    pub fn is_expired(&self, now_ms: i64) -> bool {
        // `load` refuses times that cannot be read; one that slipped in counts as passed.
        has_passed(self.expires_at.as_deref(), now_ms)
    }

    /// Returns whether its secret opens something: for a login, its current access token.
    fn opens(&self, now_ms: i64) -> bool {
        let access = self.login.as_ref().map(|login| login.access_expires_at.as_str());
        !self.is_expired(now_ms) && !has_passed(access, now_ms)
    }
}

fn has_passed(time: Option<&str>, now_ms: i64) -> bool {
    time.is_some_and(|text| parse_rfc3339(text).is_none_or(|at| at <= now_ms))
}

/// What a new token is to be.
#[derive(Debug, Clone, Default)]
pub struct NewToken {
    /// The name; unique among the tokens.
    pub name: String,
    /// Scope ids, or `*`.
    pub scopes: Vec<String>,
    /// Capability names, or `*`.
    pub capabilities: Vec<String>,
    /// When it expires, in milliseconds since the epoch.
    pub expires_at_ms: Option<i64>,
    /// Whether it is the owner's.
    pub owner: bool,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    tokens: Vec<TokenRecord>,
}

/// The tokens of this computer.
#[derive(Debug, Clone)]
pub struct Tokens {
    pub(super) path: PathBuf,
    pub(super) records: Vec<TokenRecord>,
    stamp: Option<FileStamp>,
}

impl Tokens {
    /// Returns the file that holds the tokens of an installation.
    pub fn path(dirs: &Dirs) -> PathBuf {
        dirs.config.join("tokens.json")
    }

    /// Reads the tokens; without a file there are none.
    ///
    /// # Errors
    /// When the file is a link, belongs to another user, can be read by others, or is not of the
    /// required form. Nothing is accepted then.
    pub fn load(dirs: &Dirs) -> Result<Self, ConfigError> {
        let path = Self::path(dirs);
        let (content, stamp) = match read_own_file(&path, Secrecy::Secret, LIMIT_BYTES) {
            Ok((content, stamp)) => (content, Some(stamp)),
            Err(OwnFileError::NotFound) => (br#"{"tokens":[]}"#.to_vec(), None),
            Err(error) => {
                let fix = match &error {
                    OwnFileError::Exposed(_) => {
                        format!(
                            "Run `{}`, and rotate the tokens if others could read it.",
                            Protection::narrowing_command(&path, false)
                        )
                    }
                    OwnFileError::Link => "Put the file itself in its place, private (0600).".to_owned(),
                    _ => "Check the file's kind, owner and permissions.".to_owned(),
                };
                return Err(ConfigError::new(&path, "", error.to_string(), fix));
            }
        };
        let fix = "Remove the file and make new tokens with `bailiwick token create NAME`.";
        let file: File = serde_json::from_slice(&content).map_err(|error| {
            // The parser's own text could quote a value; the place is enough.
            let place = format!("line {}, column {}", error.line(), error.column());
            ConfigError::new(&path, &place, "the token file is not of the required form", fix)
        })?;
        for (index, record) in file.tokens.iter().enumerate() {
            let wrong = |field: &str, problem: &str| {
                ConfigError::new(&path, &format!("tokens[{index}].{field}"), problem, fix)
            };
            if record.expires_at.as_deref().is_some_and(|text| parse_rfc3339(text).is_none()) {
                return Err(wrong("expiresAt", "a time such as 2027-01-31T00:00:00Z was expected"));
            }
            if let Some(field) = record.login.as_ref().and_then(Login::problem) {
                return Err(wrong(field, "the value is not of the required form"));
            }
            let known = |name: &String| name == "*" || Capability::parse(name).is_some();
            if !record.capabilities.iter().all(known) {
                return Err(wrong("capabilities", "an unknown capability is named"));
            }
            if file.tokens[..index].iter().any(|other| other.name == record.name || other.id == record.id) {
                return Err(wrong("name", "two tokens have this name or id"));
            }
        }
        Ok(Self { path, records: file.tokens, stamp })
    }

    /// Returns the tokens, in the order in which they were made.
    pub fn records(&self) -> &[TokenRecord] {
        &self.records
    }

    /// Returns whether the file is another one than when it was read; costs one `stat`.
    pub fn is_stale(&self) -> bool {
        FileStamp::of(&self.path) != self.stamp
    }

    /// Finds the token that a caller presents. Expired ones never match.
    ///
    /// Compares with every record in constant time, so that the time taken tells nothing.
    pub fn verify(&self, presented: &str, now_ms: i64) -> Option<&TokenRecord> {
        self.presented(presented).filter(|record| record.opens(now_ms))
    }

    /// Finds the name of the token that a caller presents although it has expired. Only for the history.
    pub fn expired(&self, presented: &str) -> Option<&str> {
        self.presented(presented).map(|record| record.name.as_str())
    }

    fn presented(&self, secret: &str) -> Option<&TokenRecord> {
        let hash = SecretHash::of(secret);
        let (mut place, mut found) = (0_u64, Choice::from(0));
        for (index, record) in (0_u64..).zip(&self.records) {
            let matches = hash.ct_eq(&record.hash);
            place.conditional_assign(&index, matches);
            found |= matches;
        }
        bool::from(found).then(|| &self.records[usize::try_from(place).expect("an index of a list")])
    }

    /// Finds a token by name or id.
    pub fn find(&self, name: &str) -> Option<&TokenRecord> {
        self.records.iter().find(|record| record.name == name || record.id == name)
    }

    /// Creates a token and gives its record and the secret, which is kept nowhere. Call [`Tokens::save`].
    ///
    /// # Errors
    /// When the name is empty, taken, or looks like one that is taken, a capability is unknown, or the system gives no random bytes.
    pub fn create(&mut self, new: NewToken, now_ms: i64) -> Result<(TokenRecord, String), ConfigError> {
        let wrong = |problem: String, fix: &str| Err(ConfigError::new(&self.path, &new.name, problem, fix));
        if let Some(problem) = self.name_problem(&new.name) {
            return wrong(problem, "Choose another name, or use `bailiwick token rotate NAME`.");
        }
        if let Some(unknown) =
            new.capabilities.iter().find(|name| *name != "*" && Capability::parse(name).is_none())
        {
            let names: Vec<&str> = Capability::ALL.iter().map(|it| it.as_str()).collect();
            return wrong(
                format!("there is no capability `{unknown}`"),
                &format!("Use `*` or some of: {}.", names.join(", ")),
            );
        }
        let secret = self.new_secret()?;
        let record = TokenRecord {
            id: id::new_id(),
            name: new.name,
            hash: SecretHash::of(&secret),
            scopes: new.scopes,
            capabilities: new.capabilities,
            created_at: rfc3339(now_ms),
            expires_at: new.expires_at_ms.map(rfc3339),
            owner: new.owner,
            login: None,
        };
        self.records.push(record.clone());
        Ok((record, secret))
    }

    /// Returns what is wrong with a name for a new token.
    pub(super) fn name_problem(&self, name: &str) -> Option<String> {
        let names = self.records.iter().flat_map(|record| [record.name.as_str(), record.id.as_str()]);
        token_names::problem(name, names)
    }

    /// Creates a token: the prefix and 256 bits from the operating system, in hex.
    pub(super) fn new_secret(&self) -> Result<String, ConfigError> {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).map_err(|error| {
            let problem = format!("the system gives no random bytes: {error}");
            ConfigError::new(&self.path, "", problem, "Try again.")
        })?;
        Ok(format!("{PREFIX}{}", hex(&bytes)))
    }

    /// Removes a token by name or id, and gives what it was. Call [`Tokens::save`].
    pub fn revoke(&mut self, name: &str) -> Option<TokenRecord> {
        let place = self.records.iter().position(|record| record.name == name || record.id == name)?;
        Some(self.records.remove(place))
    }

    /// Gives a token a new secret; the old one opens nothing any more. Call [`Tokens::save`].
    ///
    /// # Errors
    /// When there is no such token, it is a login's, or the system gives no random bytes.
    pub fn rotate(&mut self, name: &str, now_ms: i64) -> Result<(TokenRecord, String), ConfigError> {
        let wrong = |problem: String, fix: &str| ConfigError::new(&self.path, "", problem, fix);
        let secret = self.new_secret()?;
        let place = self.records.iter().position(|record| record.name == name || record.id == name);
        let place = place
            .ok_or_else(|| wrong(format!("there is no token `{name}`"), "See `bailiwick token list`."))?;
        if self.records[place].login.is_some() {
            return Err(wrong(
                format!("`{name}` is a login: its client renews it automatically"),
                &format!(
                    "End it with `bailiwick token revoke {}`; the client then asks to log in.",
                    quote(name)
                ),
            ));
        }
        let record = &mut self.records[place];
        record.hash = SecretHash::of(&secret);
        record.created_at = rfc3339(now_ms);
        Ok((record.clone(), secret))
    }

    /// Sets when a token expires, by name or id; `None` for never. Call [`Tokens::save`].
    pub fn set_expiry(&mut self, name: &str, expires_at_ms: Option<i64>) {
        for record in self.records.iter_mut().filter(|record| record.name == name || record.id == name) {
            record.expires_at = expires_at_ms.map(rfc3339);
        }
    }

    /// Writes the tokens: a new file private (0600) that replaces the old one.
    ///
    /// # Errors
    /// When the file cannot be written; the old one is then untouched.
    pub fn save(&mut self) -> Result<(), ConfigError> {
        let file = File { tokens: self.records.clone() };
        let mut text = serde_json::to_vec_pretty(&file).expect("token records have a JSON form");
        text.push(b'\n');
        let folder = self.path.parent().expect("the token file is in a folder");
        create_private_dir(folder).and_then(|()| replace_private_file(&self.path, &text)).map_err(
            |error| {
                ConfigError::new(
                    &self.path,
                    "",
                    format!("the file cannot be written: {error}"),
                    "Check the folder's owner, permissions and free space.",
                )
            },
        )?;
        self.stamp = FileStamp::of(&self.path);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn with_dirs(test: impl FnOnce(&Dirs)) {
        let home = std::env::temp_dir().join(format!("bailiwick-tokens-{}", id::new_id()));
        let dirs = Dirs::below(home.clone());
        test(&dirs);
        bailiwick_platform::fs::remove_tree(&home).expect("removed");
    }

    fn token(name: &str) -> NewToken {
        NewToken {
            name: name.into(),
            scopes: vec!["*".into()],
            capabilities: vec!["*".into()],
            ..NewToken::default()
        }
    }

    #[test]
    fn a_token_opens_until_it_is_rotated_revoked_or_expired() {
        with_dirs(|dirs| {
            let mut tokens = Tokens::load(dirs).expect("no file is no tokens");
            assert!(tokens.verify("", 0).is_none());
            let (_, first) = tokens.create(token("one"), 1_000).expect("made");
            let (_, second) =
                tokens.create(NewToken { expires_at_ms: Some(5_000), ..token("two") }, 1_000).expect("made");
            assert_eq!(first.len(), 4 + 64);
            tokens.save().expect("saved");
            assert!(!tokens.is_stale());
            let mut other = Tokens::load(dirs).expect("read back");
            assert_eq!(other.verify(&first, 4_999).map(|it| it.name.as_str()), Some("one"));
            assert_eq!(other.verify(&second, 4_999).map(|it| it.name.as_str()), Some("two"));
            assert!(other.verify(&second, 5_000).is_none(), "expired");
            assert!(other.verify(&first[..67], 0).is_none());
            let (_, third) = other.rotate("one", 2_000).expect("rotated");
            assert!(other.verify(&first, 0).is_none(), "rotated away");
            assert!(other.verify(&third, 0).is_some());
            other.revoke("one").expect("it was there");
            other.save().expect("saved");
            assert!(tokens.is_stale());
            assert!(Tokens::load(dirs).expect("read").verify(&third, 0).is_none(), "revoked");
        });
    }

    #[test]
    fn the_file_is_private_holds_no_token_and_is_refused_when_others_could_read_it() {
        with_dirs(|dirs| {
            let mut tokens = Tokens::load(dirs).expect("no file is no tokens");
            let (_, secret) = tokens.create(token("one"), 0).expect("made");
            tokens.save().expect("saved");
            let path = Tokens::path(dirs);
            let text = fs::read_to_string(&path).expect("readable");
            assert!(!text.contains(&secret[4..]));
            assert!(Protection::is_private(&path, false));
            Protection::expose(&path).expect("it is ours");
            let error = Tokens::load(dirs).expect_err("refused");
            assert!(error.problem.contains("other users can read"), "{error}");
        });
    }

    #[test]
    fn a_broken_token_file_accepts_nobody_and_quotes_nothing() {
        with_dirs(|dirs| {
            create_private_dir(&dirs.config).expect("made");
            for text in [
                r#"{"tokens":[{"id":"a","secretsecret"#,
                r#"{"tokens":"bwl_secretsecret"}"#,
                r#"{"tokens":[{"id":"a","name":"a","hash":"secretsecret","scopes":[],"capabilities":[],"createdAt":"x"}]}"#,
            ] {
                replace_private_file(&Tokens::path(dirs), text.as_bytes()).expect("written");
                let error = Tokens::load(dirs).expect_err("refused");
                assert!(!error.to_string().contains("secretsecret"), "{error}");
            }
        });
    }
}
