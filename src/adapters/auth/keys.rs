//! The tokens in force: read again when the file changes, so that a revoked one stops at once.

use std::sync::{PoisonError, RwLock};

use bailiwick_config::Tokens;
use bailiwick_contract::{Caller, ErrorCode, Failure, Transport, time};
use bailiwick_platform::dirs::Dirs;

/// The tokens of an installation, kept up to date.
#[derive(Debug)]
pub struct KeyRing {
    dirs: Dirs,
    /// `None` while the file cannot be read: then nobody is let in.
    tokens: RwLock<Option<Tokens>>,
}

impl KeyRing {
    /// Reads the tokens of an installation. A file that cannot be accepted lets nobody in.
    pub fn open(dirs: Dirs) -> Self {
        let tokens = RwLock::new(Tokens::load(&dirs).ok());
        Self { dirs, tokens }
    }

    /// Tells whether any token is in force.
    pub fn is_empty(&self) -> bool {
        self.with(|tokens| tokens.records().is_empty()).unwrap_or(true)
    }

    /// Finds the caller that presents a token.
    pub fn verify(&self, presented: &str, transport: Transport) -> Option<Caller> {
        self.with(|tokens| tokens.verify(presented, time::now_ms()).map(|record| record.caller(transport)))?
    }

    /// Finds the caller that a token's name stands for, without the token: for the local user, who may
    /// restrict a client to less than everything. An expired token stands for nobody.
    pub fn profile(&self, name: &str, transport: Transport) -> Option<Caller> {
        self.with(|tokens| {
            tokens
                .find(name)
                .filter(|record| !record.is_expired(time::now_ms()))
                .map(|record| record.caller(transport))
        })?
    }

    /// Returns a caller with what its token opens now. The local user stays as it is.
    ///
    /// # Errors
    /// `permission_denied` once the token was revoked or has expired.
    pub fn renew(&self, caller: &Caller) -> Result<Caller, Failure> {
        let Some(id) = &caller.token else { return Ok(caller.clone()) };
        let now = self.with(|tokens| {
            let mut records = tokens.records().iter();
            let record = records.find(|record| record.id == *id && !record.is_expired(time::now_ms()))?;
            Some(record.caller(caller.transport))
        });
        let now = now.flatten().ok_or_else(|| {
            Failure::new(
                ErrorCode::PermissionDenied,
                format!("the token `{}` was revoked or has expired", caller.name),
            )
            .detail("rule", "caller")
            .hint("For the person: `bailiwick token list` shows the tokens, `bailiwick token create` makes one.")
        })?;
        let Caller { client, session, connection, .. } = caller.clone();
        Ok(Caller { client, session, connection, ..now })
    }

    fn with<T>(&self, read: impl FnOnce(&Tokens) -> T) -> Option<T> {
        let current = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(tokens) = current.as_ref()
            && !tokens.is_stale()
        {
            return Some(read(tokens));
        }
        drop(current);
        let mut tokens = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        *tokens = Tokens::load(&self.dirs).ok();
        tokens.as_ref().map(read)
    }
}
