//! Listening, accepting, and ending in time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use bailiwick_contract::{ErrorCode, Failure, id};
use bailiwick_engine::service::Service;

use super::super::auth::{KeyRing, Throttle};
use super::guard::{Guard, Peer};
use super::host::Hosts;
use super::origin::Origins;
use super::places::{BusyBody, Place, Places};
use super::router;
use super::settings::HttpSettings;

/// How long a client may take to send the head of a request, or the next one after an answer.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How many headers a request may have.
const MAX_HEADERS: usize = 100;
/// How much of a head is buffered.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// How long a connection that makes room may take to end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a stopping listener waits for what is in the works.
const STOP_TIMEOUT: Duration = Duration::from_millis(1_500);

/// The listener, bound.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    service: Arc<Service>,
    guard: Guard,
    settings: HttpSettings,
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
            .hint("For the person: make one with `bailiwick token create NAME`, or listen on 127.0.0.1."));
        }
        let listener = TcpListener::bind(&*wanted).await.map_err(|error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("cannot listen on {host}, port {port}: {error}"),
            )
            .hint("Choose another port with --port, or stop the program that has it.")
        })?;
        let address = listener.local_addr().map_err(|error| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("the listener has no address: {error}"))
        })?;
        let hosts = Hosts::compile(&settings.allowed_hosts, address.ip()).map_err(|entry| {
            Failure::invalid("http.allowedHosts", format!("`{entry}` is not of the form name or name:port"))
        })?;
        let guard = Guard {
            hosts,
            origins: Origins::new(&settings.allowed_origins),
            keys,
            throttle: Throttle::default(),
            allow_without_token: settings.allow_loopback_without_token && address.ip().is_loopback(),
        };
        Ok(Self { listener, address, service, guard, settings })
    }

    /// Gives the address that is listened on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` is cancelled; then what is in the works is cancelled, and answered if that
    /// takes no longer than 1.5 s.
    pub async fn run(self, shutdown: CancellationToken) {
        let Self { listener, address, service, guard, settings } = self;
        let router = router::router(&service, guard, &settings, address.ip(), &shutdown);
        let places = Places::new();
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = shutdown.cancelled() => break,
            };
            while connections.try_join_next().is_some() {}
            let Ok((stream, from)) = accepted else {
                // Out of descriptors, as a rule: wait until some connection has ended.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let place = tokio::select! {
                place = places.take(from.ip()) => place,
                () = shutdown.cancelled() => break,
            };
            let Some(place) = place else { continue };
            // Without it an event stream waits 40 ms for the acknowledgement of its head.
            let _ = stream.set_nodelay(true);
            connections.spawn(attend(stream, from, router.clone(), Arc::new(place), shutdown.clone()));
        }
        drop(listener);
        // Connections that take longer are dropped with the set.
        let _ =
            tokio::time::timeout(STOP_TIMEOUT, async { while connections.join_next().await.is_some() {} })
                .await;
    }
}

/// Serves one connection.
async fn attend(
    stream: TcpStream,
    from: SocketAddr,
    router: Router,
    place: Arc<Place>,
    shutdown: CancellationToken,
) {
    let peer = Peer { address: from.ip(), connection: id::new_id().into() };
    let close = place.close.clone();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        let (router, peer, busy) = (router.clone(), peer.clone(), place.busy());
        async move {
            request.extensions_mut().insert(peer);
            let response = router.oneshot(request.map(Body::new)).await;
            response.map(|response| response.map(|body| BusyBody { body, _busy: busy }))
        }
    });
    let mut connection = std::pin::pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .max_headers(MAX_HEADERS)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service)
    );
    // Errors of a connection concern only the other side of it.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = shutdown.cancelled() => {}
        () = close.cancelled() => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, connection).await;
}
