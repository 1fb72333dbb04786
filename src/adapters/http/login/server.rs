//! The server of logins: what its routes share.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use http::header::USER_AGENT;
use tokio::task::spawn_blocking;

use bailiwick_config::{ConfigError, KeyRing, PublicUrl, TokenRecord, Tokens};
use bailiwick_contract::{Caller, ErrorCode, Failure, Transport};
use bailiwick_engine::service::Service;

use super::super::super::auth::Refusals;
use super::super::guard::{MAX_CLIENT_CHARS, Peer};
use super::codes::Codes;
use super::form::MAX_FORM_BYTES;
use super::{authorize, metadata, token};
use crate::client_registrations::signer::Signer;

/// Lets clients log in under a public URL.
pub struct LoginServer {
    /// The issuer.
    pub url: PublicUrl,
    pub keys: Arc<KeyRing>,
    pub service: Arc<Service>,
    pub refusals: Arc<Refusals>,
    pub signer: Signer,
    pub codes: Codes,
}

/// What answers the routes of a login. None of them needs a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginEndpoint {
    /// The metadata of the protected resource.
    Resource,
    /// The metadata of the authorization server.
    Issuer,
    /// A client registers.
    Register,
    /// A client sends a browser to the owner's page.
    Ask,
    /// The page is answered.
    Answer,
    /// A client exchanges a code, or renews its tokens.
    Exchange,
    /// A client ends its login.
    Revoke,
}

/// Who sent a request that needs no token.
pub struct Asker {
    /// The address; through a tunnel it is the tunnel's.
    pub address: Option<IpAddr>,
    caller: Caller,
}

impl Asker {
    /// Reads it of a request.
    pub fn of(request: &Request) -> Self {
        let peer = request.extensions().get::<Peer>();
        let agent = request.headers().get(USER_AGENT).and_then(|it| it.to_str().ok());
        let client =
            agent.map(|name| name.chars().filter(|it| !it.is_control()).take(MAX_CLIENT_CHARS).collect());
        let session = peer.map(|peer| peer.id.to_string());
        let caller = Caller { client, session, ..Caller::unknown(Transport::Http) };
        Self { address: peer.map(|peer| peer.address), caller }
    }
}

impl LoginServer {
    /// Prepares logins under a URL.
    ///
    /// # Errors
    /// When the key for signed texts cannot be read or made.
    pub fn open(
        url: PublicUrl,
        keys: Arc<KeyRing>,
        service: Arc<Service>,
        refusals: Arc<Refusals>,
    ) -> Result<Self, ConfigError> {
        let signer = Signer::open(&service.facts().dirs)?;
        Ok(Self { url, keys, service, refusals, signer, codes: Codes::default() })
    }

    /// Returns whether a client asks for this service.
    pub fn is_resource(&self, text: &str) -> bool {
        text.trim_end_matches('/') == self.url.resource()
    }

    /// Changes the tokens, off the runtime's threads.
    ///
    /// # Errors
    /// As [`KeyRing::edit`].
    pub async fn edit<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Tokens) -> Result<T, ConfigError> + Send + 'static,
    ) -> Result<T, ConfigError> {
        let keys = Arc::clone(&self.keys);
        spawn_blocking(move || keys.edit(change)).await.expect("changing tokens does not panic")
    }

    /// Changes the login that has a token, off the runtime's threads. `None` where none has it.
    ///
    /// # Errors
    /// As [`KeyRing::edit`].
    pub async fn edit_login<T: Send + 'static>(
        &self,
        presented: String,
        change: impl FnOnce(&mut Tokens, &str) -> Result<T, ConfigError> + Send + 'static,
    ) -> Result<Option<T>, ConfigError> {
        let keys = Arc::clone(&self.keys);
        let edit = move || keys.edit_login(&presented, |tokens| change(tokens, &presented));
        spawn_blocking(edit).await.expect("changing tokens does not panic")
    }

    /// Records why a login is refused, and answers without saying why.
    pub async fn refuse(&self, asker: &Asker, code: &str, reason: &str) -> Response {
        self.record_refusal(asker, reason).await;
        token::wrong(code, "it opens nothing here, or not any more: log in again")
    }

    /// Records why a login is refused.
    pub async fn record_refusal(&self, asker: &Asker, reason: &str) {
        self.refusals.record(&self.service, &asker.caller, asker.address, reason).await;
    }

    /// Records that a client has logged in.
    pub async fn record_login(&self, asker: &Asker, record: &TokenRecord) {
        let caller =
            Caller { name: record.name.clone(), token: Some(record.id.clone()), ..asker.caller.clone() };
        let source = asker.address.map_or_else(String::new, |address| address.to_string());
        self.service.record_login(&caller, &source).await;
    }

    /// Returns the failure that stops a listener.
    pub fn failure(error: &ConfigError) -> Failure {
        Failure::new(ErrorCode::ProviderUnavailable, format!("clients could not log in: {}", error.problem))
            .hint(error.fix.clone())
    }
}

impl LoginEndpoint {
    /// Returns what answers a route.
    pub fn route(self, server: Arc<LoginServer>) -> MethodRouter {
        async fn resource(State(server): State<Arc<LoginServer>>) -> Response {
            metadata::resource(&server.url)
        }
        async fn issuer(State(server): State<Arc<LoginServer>>) -> Response {
            metadata::server(&server.url)
        }
        let answer = match self {
            Self::Resource => get(resource),
            Self::Issuer => get(issuer),
            Self::Register => post(token::register),
            Self::Ask => get(authorize::ask),
            Self::Answer => post(authorize::answer),
            Self::Exchange => post(token::exchange),
            Self::Revoke => post(token::revoke),
        };
        answer.layer(DefaultBodyLimit::max(MAX_FORM_BYTES)).with_state(server)
    }
}
