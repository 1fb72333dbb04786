//! The tokens in force: read again when the file changes, so that a revoked one stops at once.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use bailiwick_contract::{Caller, ErrorCode, Failure, Transport, time};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::FileStamp;

use super::{ConfigError, Login, SecretHash, TokenRecord, Tokens, edit_lock};

/// After what time a file that could not be read is read again although it looks the same.
const RETRY: Duration = Duration::from_secs(1);

/// The tokens of an installation, kept up to date.
#[derive(Debug)]
pub struct KeyRing {
    dirs: Dirs,
    read: RwLock<ReadTokens>,
}

/// What was read at the last change of the file.
#[derive(Debug)]
struct ReadTokens {
    stamp: Option<FileStamp>,
    at: Instant,
    /// An error while the file cannot be read: then no token is accepted.
    tokens: Result<Tokens, ConfigError>,
}

impl ReadTokens {
    fn now(dirs: &Dirs) -> Self {
        // Looked at first: what changes meanwhile is read again.
        let stamp = FileStamp::of(&Tokens::path(dirs));
        Self { stamp, at: Instant::now(), tokens: Tokens::load(dirs) }
    }

    fn is_stale(&self, dirs: &Dirs) -> bool {
        FileStamp::of(&Tokens::path(dirs)) != self.stamp || self.tokens.is_err() && self.at.elapsed() >= RETRY
    }
}

/// The sign that the tokens in memory are those of the file, as it was a moment ago: one look serves every question about one
/// request.
#[derive(Debug, Clone, Copy)]
pub struct TokensLook(());

/// A token as it was when a request that came with it began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenLease {
    id: String,
    name: String,
    /// The hash of the secret, where the request came with the secret.
    hash: Option<SecretHash>,
}

impl KeyRing {
    /// Reads the tokens of an installation. From a file that cannot be read, no token is accepted.
    pub fn open(dirs: Dirs) -> Self {
        let read = RwLock::new(ReadTokens::now(&dirs));
        Self { dirs, read }
    }

    /// Looks whether the file has changed since it was read, by one `stat`. `None` if so: then the next question reads it, and
    /// asynchronous threads have [`KeyRing::refresh`] called by one that may block.
    pub fn look(&self) -> Option<TokensLook> {
        (!self.current().is_stale(&self.dirs)).then_some(TokensLook(()))
    }

    /// Reads the tokens if the file has changed.
    pub fn refresh(&self) -> TokensLook {
        self.look().unwrap_or_else(|| {
            let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have been here first.
            if read.is_stale(&self.dirs) {
                *read = ReadTokens::now(&self.dirs);
            }
            TokensLook(())
        })
    }

    /// Returns whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.with(|tokens| tokens.records().is_empty()).unwrap_or(true)
    }

    /// Returns the caller that presents a token. The access token of a login opens only the URL that it was made for,
    /// `audience`; `None` where there is no such URL.
    ///
    /// # Errors
    /// `provider_unavailable` while the tokens cannot be read: nothing is known of the token then.
    pub fn verify(
        &self,
        _: TokensLook,
        presented: &str,
        transport: Transport,
        audience: Option<&str>,
    ) -> Result<Option<Caller>, Failure> {
        self.known(|tokens| {
            let record = tokens.verify(presented, time::now_ms())?;
            let is_for = |login: &Login| audience == Some(login.resource.as_str());
            record.login.as_ref().is_none_or(is_for).then(|| record.caller(transport))
        })
    }

    /// Returns whether a token is the owner's.
    pub fn is_owner(&self, presented: &str) -> bool {
        let is_owner = |tokens: &Tokens| tokens.verify(presented, time::now_ms()).is_some_and(|it| it.owner);
        self.with(is_owner).unwrap_or(false)
    }

    /// Changes the tokens, one process at a time. Blocks while another one does.
    ///
    /// # Errors
    /// Those of `change`; `provider_unavailable` where the file cannot be read or written. Nothing is changed then.
    pub fn edit<T>(
        &self,
        change: impl FnOnce(&mut Tokens) -> Result<T, ConfigError>,
    ) -> Result<T, ConfigError> {
        let _lock = edit_lock(&self.dirs)?;
        let mut tokens = Tokens::load(&self.dirs)?;
        let made = change(&mut tokens)?;
        tokens.save()?;
        Ok(made)
    }

    /// Changes the login that has a token, as [`KeyRing::edit`] does. `None` where none has it: what strangers present writes
    /// nothing, and waits for nobody who writes.
    ///
    /// # Errors
    /// As [`KeyRing::edit`].
    pub fn edit_login<T>(
        &self,
        presented: &str,
        change: impl FnOnce(&mut Tokens) -> Result<T, ConfigError>,
    ) -> Result<Option<T>, ConfigError> {
        // While the tokens cannot be read, the change says why.
        let is_known = self.with(|tokens| tokens.is_of_login(presented)).unwrap_or(true);
        if is_known { self.edit(change).map(Some) } else { Ok(None) }
    }

    /// Says for the history why a token opens nothing, and whose it is, if that is known.
    pub fn why_refused(&self, presented: &str) -> (Option<String>, String) {
        match self.with(|tokens| tokens.expired(presented).map(str::to_owned)).ok().flatten() {
            Some(name) => {
                let reason = format!("the token `{name}` has expired");
                (Some(name), reason)
            }
            None => (None, "no token has this value: it is wrong, or was revoked or rotated".to_owned()),
        }
    }

    /// Finds the caller that a token's name stands for, without the token: for the local user, who may
    /// restrict a client to less than everything. An expired token stands for nobody.
    ///
    /// # Errors
    /// As [`KeyRing::verify`].
    pub fn profile(&self, name: &str, transport: Transport) -> Result<Option<Caller>, Failure> {
        self.with(|tokens| {
            tokens
                .find(name)
                .filter(|record| !record.is_expired(time::now_ms()))
                .map(|record| record.caller(transport))
        })
    }

    /// Returns a caller with what its token opens now. The local user stays as it is.
    ///
    /// # Errors
    /// `permission_denied` once the token was revoked or has expired; as [`KeyRing::verify`].
    pub fn renew(&self, caller: &Caller) -> Result<Caller, Failure> {
        let Some(id) = &caller.token else { return Ok(caller.clone()) };
        let now = self.with(|tokens| record(tokens, id).map(|record| record.caller(caller.transport)))?;
        let now = now.ok_or_else(|| ended(&caller.name))?;
        let Caller { client, session, connection, .. } = caller.clone();
        Ok(Caller { client, session, connection, ..now })
    }

    /// Takes note of a caller's token. `None` for the local user.
    pub fn lease(&self, caller: &Caller) -> Option<TokenLease> {
        let id = caller.token.clone()?;
        // The others come with a name alone: a new secret is nothing to them. That of a login changes every hour.
        let presents_secret = matches!(caller.transport, Transport::Http | Transport::JsonApi);
        let hash = self.with(|tokens| {
            record(tokens, &id).filter(|record| record.login.is_none()).map(|record| record.hash)
        });
        Some(TokenLease {
            id,
            name: caller.name.clone(),
            hash: hash.ok().flatten().filter(|_| presents_secret),
        })
    }

    /// Checks that a token still is what it was. While the file cannot be read, nothing is known against it.
    ///
    /// # Errors
    /// `permission_denied` once it was revoked, has expired, or has another secret.
    pub fn check(&self, lease: &TokenLease) -> Result<(), Failure> {
        let is_valid = self.with(|tokens| {
            let hash = record(tokens, &lease.id).map(|record| record.hash);
            hash.is_some_and(|now| lease.hash.is_none_or(|then| then == now))
        });
        if is_valid.unwrap_or(true) { Ok(()) } else { Err(ended(&lease.name)) }
    }

    fn with<T>(&self, read: impl FnOnce(&Tokens) -> T) -> Result<T, Failure> {
        self.refresh();
        self.known(read)
    }

    fn known<T>(&self, read: impl FnOnce(&Tokens) -> T) -> Result<T, Failure> {
        self.current().tokens.as_ref().map(read).map_err(ConfigError::for_client)
    }

    fn current(&self) -> RwLockReadGuard<'_, ReadTokens> {
        self.read.read().unwrap_or_else(PoisonError::into_inner)
    }
}

fn record<'a>(tokens: &'a Tokens, id: &str) -> Option<&'a TokenRecord> {
    tokens.records().iter().find(|record| record.id == id && !record.is_expired(time::now_ms()))
}

/// Creates the failure for a token that opens nothing any more.
fn ended(name: &str) -> Failure {
    Failure::new(ErrorCode::PermissionDenied, format!("the token `{name}` was revoked or has expired"))
        .detail("rule", "caller")
        .hint("For the user: `bailiwick token list` shows the tokens, `bailiwick token create` makes one.")
}
