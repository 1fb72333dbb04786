//! Where an adapter sends its envelopes: to a service in this process, or to a running one.
//!
//! Must not judge anything: both ways end in [`Service::handle`].

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use bailiwick_contract::{Caller, Envelope, ErrorCode, Failure, Progress, Reply, id};
use bailiwick_engine::service::Service;
use bailiwick_platform::dirs::Dirs;

use super::auth::KeyRing;
use super::socket::{self, ConnectError, Hello};
use crate::scope_setup::offer::Offer;

/// What a client says about itself in one request; it proves nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// What the client calls itself, such as `claude-code 2.1`.
    pub client: Option<String>,
    /// Groups the requests of one connection.
    pub session: Option<String>,
}

/// Makes a service in this process, with the caller that it serves.
pub type Embed = Box<dyn Fn() -> Result<EmbeddedService, Failure> + Send + Sync>;

/// A service in this process.
#[derive(Clone)]
pub struct EmbeddedService {
    /// The service.
    pub service: Arc<Service>,
    /// Who sends the envelopes.
    pub caller: Caller,
    /// The tokens, where the caller was let in by the name of one a while ago.
    pub keys: Option<Arc<KeyRing>>,
}

/// Where envelopes go.
pub enum Backend {
    /// A service in this process.
    Embedded(EmbeddedService),
    /// A running service, through its local socket.
    Remote(Remote),
}

/// A running service, and what is done when it goes away.
pub struct Remote {
    path: PathBuf,
    hello: Hello,
    embed: Embed,
    state: Mutex<State>,
}

#[derive(Clone)]
enum State {
    Linked(Arc<socket::Client>),
    Embedded(EmbeddedService),
}

impl Backend {
    /// Uses the running service if one answers, else makes one in this process.
    ///
    /// # Errors
    /// When the running service refuses the caller, or none can be made.
    pub async fn open(dirs: &Dirs, hello: Hello, embed: Embed) -> Result<Self, Failure> {
        let path = socket::path(dirs);
        match socket::connect(&path, &hello).await {
            Ok(client) => {
                let state = Mutex::new(State::Linked(Arc::new(client)));
                Ok(Self::Remote(Remote { path, hello, embed, state }))
            }
            Err(ConnectError::Refused(failure)) => Err(failure),
            Err(ConnectError::Io(_)) => Ok(Self::Embedded(embed()?.connected())),
        }
    }

    /// Hands in one request and gives the reply.
    pub async fn submit(&self, envelope: Result<Envelope, Failure>, gone: &CancellationToken) -> Reply {
        self.submit_from(&Origin::default(), envelope, gone, None).await
    }

    /// As [`Backend::submit`], with what the client says about itself, and with a board for what the operation
    /// says while it is in the works, if somebody looks at it.
    pub async fn submit_from(
        &self,
        origin: &Origin,
        envelope: Result<Envelope, Failure>,
        gone: &CancellationToken,
        progress: Option<&Progress>,
    ) -> Reply {
        match self {
            Self::Embedded(embedded) => embedded.submit(origin, envelope, gone, progress).await,
            Self::Remote(remote) => remote.submit(origin, envelope, gone, progress).await,
        }
    }

    /// Returns what is open to the caller.
    pub async fn offer(&self) -> Offer {
        match self {
            Self::Embedded(embedded) => embedded.offer().await,
            Self::Remote(remote) => remote.offer().await,
        }
    }

    /// Hands in what was answered in the client to a question of the service about a ticket. Where the service runs in
    /// another process the answer is written from here: by the same user, to the same files.
    ///
    /// # Errors
    /// As [`Service::answer_in_client`].
    pub async fn answer_in_client(&self, ticket: &str, accepted: bool) -> Result<(), Failure> {
        let embedded = match self {
            Self::Embedded(embedded) => embedded.clone(),
            Self::Remote(remote) => (remote.embed)()?,
        };
        embedded.service.answer_in_client(&embedded.caller()?, ticket, accepted).await
    }

    /// Tells the service that the client has gone. To a running one the end of the link says so.
    pub async fn close(&self) {
        match self {
            Self::Embedded(embedded) => embedded.end(),
            Self::Remote(remote) => {
                if let State::Embedded(embedded) = &*remote.state.lock().await {
                    embedded.end();
                }
            }
        }
    }

    /// Returns whether envelopes go to another process.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::Remote(_))
    }
}

impl EmbeddedService {
    /// Creates the client the connection that processes can end with.
    fn connected(self) -> Self {
        let connection = id::new_id();
        self.service.connection_began(&connection);
        Self { caller: Caller { connection: Some(connection), ..self.caller }, ..self }
    }

    fn end(&self) {
        if let Some(connection) = &self.caller.connection {
            self.service.connection_ended(connection);
        }
    }

    /// Returns the caller with what its token opens now.
    fn caller(&self) -> Result<Caller, Failure> {
        match &self.keys {
            Some(keys) => keys.renew(&self.caller),
            None => Ok(self.caller.clone()),
        }
    }

    async fn offer(&self) -> Offer {
        let state = self.service.state_now().await;
        self.caller().map(|caller| Offer::to(&caller, &state)).unwrap_or_default()
    }

    async fn submit(
        &self,
        origin: &Origin,
        envelope: Result<Envelope, Failure>,
        gone: &CancellationToken,
        progress: Option<&Progress>,
    ) -> Reply {
        // Refused as any other request: with a row in the history.
        let (caller, envelope) = match self.caller() {
            Ok(caller) => (caller, envelope),
            Err(failure) => (self.caller.clone(), Err(failure)),
        };
        let caller = Arc::new(Caller {
            client: origin.client.clone().or(caller.client),
            session: origin.session.clone().or(caller.session),
            ..caller
        });
        let progress = progress.cloned().unwrap_or_default();
        self.service.handle_told(caller, envelope, gone, &progress).await.into_reply()
    }
}

impl Remote {
    async fn submit(
        &self,
        origin: &Origin,
        envelope: Result<Envelope, Failure>,
        gone: &CancellationToken,
        progress: Option<&Progress>,
    ) -> Reply {
        let (scope, op) = match &envelope {
            Ok(envelope) => (envelope.scope.clone(), envelope.op.clone()),
            Err(_) => (None, String::new()),
        };
        match self.state().await {
            Ok(State::Linked(client)) => match client.submit_told(origin, &envelope, gone, progress).await {
                Ok(outcome) => outcome,
                Err(failure) => socket::unanswered(scope.as_deref(), &op, &failure),
            },
            Ok(State::Embedded(embedded)) => embedded.submit(origin, envelope, gone, progress).await,
            Err(failure) => socket::unanswered(scope.as_deref(), &op, &failure),
        }
    }

    async fn offer(&self) -> Offer {
        match self.state().await {
            Ok(State::Linked(client)) => client.offer().await.unwrap_or_default(),
            Ok(State::Embedded(embedded)) => embedded.offer().await,
            Err(_) => Offer::default(),
        }
    }

    /// Returns the way that is open now: the link, a new link, or a service in this process.
    async fn state(&self) -> Result<State, Failure> {
        let mut state = self.state.lock().await;
        let State::Linked(client) = &*state else { return Ok(state.clone()) };
        if client.is_alive() {
            return Ok(state.clone());
        }
        *state = match socket::connect(&self.path, &self.hello).await {
            Ok(client) => State::Linked(Arc::new(client)),
            Err(ConnectError::Refused(failure)) => return Err(failure),
            Err(ConnectError::Io(_)) => State::Embedded((self.embed)()?.connected()),
        };
        Ok(state.clone())
    }
}

/// Creates the failure of a request whose service went away before it answered.
pub(super) fn went_away() -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, "the running service went away before it answered")
        .hint("Look with history.last whether the request was carried out, then send it again if it was not.")
}
