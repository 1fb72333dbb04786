//! Listening, accepting, and ending in time.

use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use bailiwick_config::PublicUrl;
use bailiwick_contract::{ErrorCode, Failure, id};
use bailiwick_engine::service::{Service, Shares};

use super::super::auth::{KeyRing, Refusals, Throttle};
use super::body::{Answer, SharedUse};
use super::client_steps::StepLog;
use super::connections::{Connection, ConnectionSlot, Connections};
use super::guard::{Guard, Peer};
use super::host::Hosts;
use super::login::LoginServer;
use super::origin::Origins;
use super::router;
use super::settings::{HttpSettings, MAX_BODIES_BYTES, MAX_REQUESTS};
use super::stream::NotedStream;
use super::threads::ConnectionHandles;
use super::tls::Tls;
use crate::installation::host::Host;

/// How many headers a request may have.
const MAX_HEADERS: usize = 100;
/// How much of a head is buffered.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// How often it is checked whether a connection's time is over.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long a stopping listener waits for what is in the works.
const STOP_TIMEOUT: Duration = Duration::from_millis(1_500);

/// The listener, bound.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    service: Arc<Service>,
    guard: Guard,
    settings: HttpSettings,
    tls: Option<Tls>,
    threads: ConnectionHandles,
}

/// Listens and serves until `shutdown` is cancelled.
///
/// # Errors
/// As [`Server::bind`].
pub async fn serve(
    service: Arc<Service>,
    keys: Arc<KeyRing>,
    settings: HttpSettings,
    shutdown: CancellationToken,
) -> Result<(), Failure> {
    Server::bind(service, keys, settings).await?.run(shutdown).await;
    Ok(())
}

impl Server {
    /// Binds the listener. What would expose the computer is refused here.
    ///
    /// # Errors
    /// `permission_denied` for an address beyond loopback without any token, `invalid_request` for an
    /// address or an allowed host that cannot be read, `provider_unavailable` if the port is taken.
    pub async fn bind(
        service: Arc<Service>,
        keys: Arc<KeyRing>,
        settings: HttpSettings,
    ) -> Result<Self, Failure> {
        let (host, port) = (settings.host.trim_start_matches('[').trim_end_matches(']'), settings.port);
        let unreadable = |_| {
            Failure::invalid("host", format!("`{host}` is no address of this computer"))
                .hint("Use 127.0.0.1, ::1 or localhost.")
        };
        let wanted: Vec<SocketAddr> = lookup_host((host, port)).await.map_err(unreadable)?.collect();
        let is_loopback = !wanted.is_empty() && wanted.iter().all(|it| it.ip().is_loopback());
        if !is_loopback && keys.is_empty() {
            return Err(Failure::denied(
                "token-needed",
                format!("`{host}` can be reached from other computers, and there is no token"),
            )
            .hint("For the user: make one with `bailiwick token create NAME`, or listen on 127.0.0.1."));
        }
        let tls = match &settings.tls {
            Some(config) => {
                Some(Tls::open(config, &service.facts().dirs, &certificate_names(&settings, &wanted))?)
            }
            None => None,
        };
        let listener = TcpListener::bind(&*wanted).await.map_err(|error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("cannot listen on {host}, port {port}: {error}"),
            )
            .hint("Choose another port with --port, or stop the program that has it.")
        })?;
        Ok(Self { tls, ..Self::on(listener, service, keys, settings)? })
    }

    /// Takes a listener that is bound, as [`Server::bind`] does, without TLS. To be called on a runtime.
    ///
    /// # Errors
    /// As [`Server::bind`].
    pub fn on(
        listener: TcpListener,
        service: Arc<Service>,
        keys: Arc<KeyRing>,
        settings: HttpSettings,
    ) -> Result<Self, Failure> {
        let address = listener.local_addr().map_err(|error| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("the listener has no address: {error}"))
        })?;
        let mut allowed_hosts = settings.allowed_hosts.clone();
        allowed_hosts.extend(settings.public_url.as_ref().map(|url| url.host().to_owned()));
        let hosts = Hosts::compile(&allowed_hosts, address.ip()).map_err(|entry| {
            Failure::invalid("http.allowedHosts", format!("`{entry}` is not of the form name or name:port"))
        })?;
        let refusals = Arc::<Refusals>::default();
        let login = match settings.public_url.clone() {
            Some(url) => Some(
                LoginServer::open(url, Arc::clone(&keys), Arc::clone(&service), Arc::clone(&refusals))
                    .map_err(|error| LoginServer::failure(&error))?,
            ),
            None => None,
        };
        let guard = Guard {
            hosts,
            origins: Origins::new(
                &settings.allowed_origins,
                settings.public_url.as_ref().map(PublicUrl::origin),
            ),
            keys,
            throttle: Throttle::default(),
            refusals,
            login: login.map(Arc::new),
            public_only: settings.public_only,
            steps: StepLog::new(&service.facts().dirs),
            service: Arc::clone(&service),
            // A tunnel that hides where a request comes from would admit everybody.
            allow_without_token: settings.allow_loopback_without_token
                && address.ip().is_loopback()
                && settings.public_url.is_none()
                && !settings.public_only,
            runtime: Handle::current(),
            requests: Shares::new(MAX_REQUESTS),
            bodies: Shares::new(MAX_BODIES_BYTES),
        };
        Ok(Self {
            listener,
            address,
            service,
            guard,
            settings,
            tls: None,
            threads: ConnectionHandles::default(),
        })
    }

    /// Serves the connections on these threads.
    #[must_use]
    pub fn on_threads(self, threads: ConnectionHandles) -> Self {
        Self { threads, ..self }
    }

    /// Returns the address that is listened on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the SHA-256 of the certificate, if connections are encrypted.
    pub fn fingerprint(&self) -> Option<&str> {
        self.tls.as_ref().map(Tls::fingerprint)
    }

    /// Serves until `shutdown` is cancelled; then what is in the works is cancelled, and answered if that
    /// takes no longer than 1.5 s.
    pub async fn run(self, shutdown: CancellationToken) {
        let Self { listener, address, service, guard, settings, tls, threads } = self;
        let router = router::router(&service, guard, &settings, address.ip(), &shutdown);
        accept(listener, router, tls, threads, shutdown).await;
    }
}

/// Serves all that connect until `shutdown` is cancelled, as [`Server::run`] says.
pub(super) async fn accept(
    listener: TcpListener,
    router: Router,
    tls: Option<Tls>,
    threads: ConnectionHandles,
    shutdown: CancellationToken,
) {
    let open = Arc::<Connections>::default();
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        while connections.try_join_next().is_some() {}
        let Ok((stream, from)) = accepted else {
            // Out of descriptors, as a rule: make room, and wait until it is there.
            open.drop_one();
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Some(place) = open.take(from.ip()) else { continue };
        // Without it an event stream waits 40 ms for the acknowledgement of its head.
        let _ = stream.set_nodelay(true);
        let (tls, router, shutdown) = (tls.clone(), router.clone(), shutdown.clone());
        threads.spawn(&mut connections, stream, move |stream| {
            attend(stream, from, tls, router, place, shutdown)
        });
    }
    drop(listener);
    // Connections that take longer are dropped with the set.
    let _ =
        tokio::time::timeout(STOP_TIMEOUT, async { while connections.join_next().await.is_some() {} }).await;
}

/// Returns the names for which a certificate is made: all those by which the service can be asked.
fn certificate_names(settings: &HttpSettings, wanted: &[SocketAddr]) -> Vec<String> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    names.extend(
        wanted.iter().filter(|it| !it.ip().is_unspecified()).map(|it| it.ip().to_canonical().to_string()),
    );
    let public_host = settings.public_url.as_ref().map(PublicUrl::host);
    let hosts = settings.allowed_hosts.iter().map(String::as_str).chain(public_host);
    names.extend(hosts.filter_map(Host::parse).map(|host| host.name));
    names.sort_unstable();
    names.dedup();
    names
}

/// Serves one connection.
async fn attend(
    stream: TcpStream,
    from: SocketAddr,
    tls: Option<Tls>,
    router: Router,
    place: ConnectionSlot,
    shutdown: CancellationToken,
) {
    let connection = Arc::clone(&place.connection);
    let peer = Peer { address: from.ip(), id: id::new_id().into(), connection: Arc::clone(&connection) };
    let stream = NotedStream { stream, connection: Arc::clone(&connection) };
    let Some(tls) = tls else { return exchange(stream, peer, router, &shutdown).await };
    // The handshake may take as long as a head.
    if let Some(Some(stream)) = in_time(&connection, &shutdown, pin!(tls.accept(stream))).await {
        exchange(stream, peer, router, &shutdown).await;
    }
}

/// Waits for a part of a connection, unless its time is over, or it is dropped or shut down.
async fn in_time<F: Future>(
    connection: &Connection,
    shutdown: &CancellationToken,
    mut part: Pin<&mut F>,
) -> Option<F::Output> {
    loop {
        tokio::select! {
            done = part.as_mut() => return Some(done),
            () = shutdown.cancelled() => return None,
            () = connection.dropped.cancelled() => return None,
            () = tokio::time::sleep(CHECK_INTERVAL) => if connection.is_overdue() {
                return None;
            }
        }
    }
}

/// Answers the requests of one connection.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    router: Router,
    shutdown: &CancellationToken,
) {
    let connection = Arc::clone(&peer.connection);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        let (router, work) = (router.clone(), peer.connection.work());
        let peer = peer.clone();
        async move {
            // Requests that come one after the other on a connection take turns with other connections.
            let turn = peer.connection.wait();
            tokio::task::yield_now().await;
            drop(turn);
            request.extensions_mut().insert(peer);
            let response = router.oneshot(request.map(Body::new)).await;
            response.map(|mut response| {
                let taken = response.extensions_mut().remove::<SharedUse>();
                response.map(|body| Answer { body, _work: work, _taken: taken })
            })
        }
    });
    let mut serving = pin!(
        http1::Builder::new()
            // `Connection::is_overdue` says when a head, or the next one, has not come in time.
            .header_read_timeout(None)
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
    );
    // Errors of a connection concern only the other side of it.
    let ended = in_time(&connection, shutdown, serving.as_mut()).await;
    if ended.is_none() && shutdown.is_cancelled() {
        serving.as_mut().graceful_shutdown();
        // The listener drops what takes longer.
        let _ = serving.await;
    }
}
