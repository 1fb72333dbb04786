//! A service at a port of its own, to which a tunnel's program forwards a URL.
//!
//! Whatever arrives at that port is public, whatever it says of itself: it serves the MCP endpoint and the login alone.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use bailiwick_config::{Authentication, Config, Exposure, PublicUrl, Reachability, TunnelLock};
use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_engine::service::Service;
use bailiwick_platform::fs::{Secrecy, read_own_file};

use super::auth::KeyRing;
use super::http::{HttpSettings, Server};
use crate::installation::home::Home;
use crate::installation::runtime;
use crate::public_urls::check::UrlCheck;
use crate::public_urls::hop::{Hop, HopReport, first_failure};
use crate::tunnels::output::TunnelEvent;
use crate::tunnels::program::{TunnelProgram, health_file};
use crate::tunnels::supervisor::{ProgramEvent, ProgramStart, Supervisor, Timing};
use bailiwick_providers::http_client::{HttpClient, HttpRequest, HttpUrl};

/// How long each part of a round trip may take.
const TRIP_TIME: Duration = Duration::from_secs(10);
/// The pause between round trips while the URL is not reachable.
const SOON: Duration = Duration::from_secs(1);
/// The pause between round trips while it is.
const LATER: Duration = Duration::from_secs(30);
/// How long what runs may take to end.
const STOP_TIMEOUT: Duration = Duration::from_millis(1_600);

/// Reports what happens, or why nothing is served.
pub type TellTunnel = Box<dyn Fn(Result<&TunnelEvent, &Failure>)>;

/// A tunnel that is being served.
pub struct PublicService<'t> {
    home: &'t Home,
    tell: TellTunnel,
    program: &'t TunnelProgram,
    lock: TunnelLock,
    note: Exposure,
    listener: std::net::TcpListener,
    service: Arc<Service>,
    keys: Arc<KeyRing>,
    settings: HttpSettings,
    serving: Option<(CancellationToken, JoinHandle<()>)>,
    trips: JoinSet<Vec<HopReport>>,
    next_trip: Instant,
}

impl<'t> PublicService<'t> {
    /// Binds a port, and starts a service for it in this process.
    ///
    /// # Errors
    /// When there is no port, or the service cannot be started.
    pub fn open(
        home: &'t Home,
        tell: TellTunnel,
        program: &'t TunnelProgram,
        lock: TunnelLock,
        config: &Config,
    ) -> Result<Self, Failure> {
        let failed =
            |error: std::io::Error| Failure::new(ErrorCode::ProviderUnavailable, format!("no port: {error}"));
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let authentication = if program.has_url() { Authentication::Login } else { Authentication::Token };
        Ok(Self {
            home,
            tell,
            program,
            lock,
            note: Exposure {
                by: program.word().to_owned(),
                url: None,
                authentication,
                reachability: Reachability::Unchecked,
                checked_at: None,
                problem: None,
                process_id: Some(std::process::id()),
            },
            listener,
            service: home.boot()?,
            keys: Arc::new(KeyRing::open(home.dirs.clone())),
            settings: HttpSettings {
                allow_loopback_without_token: false,
                allowed_hosts: Vec::new(),
                allowed_origins: Vec::new(),
                public_only: true,
                // The program on this computer forwards to it, and has the encryption towards clients.
                tls: None,
                ..HttpSettings::from_config(config)
            },
            serving: None,
            trips: JoinSet::new(),
            next_trip: Instant::now(),
        })
    }

    /// Returns the port.
    ///
    /// # Errors
    /// `provider_unavailable`.
    pub fn port(&self) -> Result<u16, Failure> {
        let address = self.listener.local_addr().map_err(|error| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("the listener has no address: {error}"))
        })?;
        Ok(address.port())
    }

    /// Starts the program, and serves until the process is asked to stop.
    pub async fn serve(mut self, start: ProgramStart) {
        let asked_to_stop = runtime::asked_to_stop();
        tokio::pin!(asked_to_stop);
        self.leave();
        let mut supervisor = Supervisor::start(self.program.clone(), start, Timing::default());
        loop {
            let is_due = self.serving.is_some() && self.trips.is_empty();
            tokio::select! {
                () = &mut asked_to_stop => break,
                event = supervisor.next() => match event {
                    Some(ProgramEvent::Started) if self.program.has_url() => {}
                    Some(ProgramEvent::Started) => self.begin(None).await,
                    Some(ProgramEvent::Url(url)) => self.begin(Some(url)).await,
                    Some(ProgramEvent::Ended { why, again_in }) => self.ended(why, again_in).await,
                    None => break,
                },
                Some(hops) = self.trips.join_next() => self.judge(hops.unwrap_or_default()),
                () = tokio::time::sleep_until(self.next_trip), if is_due => self.travel(),
            }
        }
        self.trips.abort_all();
        let ends = async {
            tokio::join!(supervisor.stop(), Self::close(self.serving.take()));
        };
        let _ = tokio::time::timeout(STOP_TIMEOUT, ends).await;
        self.say(&TunnelEvent::Closed);
    }

    /// Serves under a URL from now on, or without one.
    async fn begin(&mut self, url: Option<PublicUrl>) {
        self.end_serving().await;
        let settings = HttpSettings { public_url: url.clone(), ..self.settings.clone() };
        let server = self
            .listener
            .try_clone()
            .and_then(tokio::net::TcpListener::from_std)
            .map_err(|error| Failure::new(ErrorCode::ProviderUnavailable, error.to_string()))
            .and_then(|it| Server::on(it, Arc::clone(&self.service), Arc::clone(&self.keys), settings));
        let server = match server {
            Ok(server) => server,
            Err(failure) => return (self.tell)(Err(&failure)),
        };
        let forward_to = format!("http://{}", server.address());
        let shutdown = CancellationToken::new();
        self.serving = Some((shutdown.clone(), tokio::spawn(server.run(shutdown))));
        self.note.url = url.as_ref().map(PublicUrl::resource);
        self.note.reachability = Reachability::Unchecked;
        self.note.problem = None;
        self.leave();
        self.next_trip = Instant::now();
        let authentication = self.note.authentication;
        self.say(&TunnelEvent::Open { url: self.note.url.clone(), forward_to, authentication });
    }

    async fn ended(&mut self, why: String, again_in: Duration) {
        self.end_serving().await;
        self.note.url = None;
        self.note.reachability = Reachability::Unreachable;
        self.note.problem = Some(format!("{}: {why}", self.program.name()));
        self.leave();
        let again_in_ms = u64::try_from(again_in.as_millis()).unwrap_or(u64::MAX);
        self.say(&TunnelEvent::Ended { why, again_in_ms });
    }

    async fn end_serving(&mut self) {
        self.trips = JoinSet::new();
        Self::close(self.serving.take()).await;
    }

    async fn close(serving: Option<(CancellationToken, JoinHandle<()>)>) {
        if let Some((shutdown, task)) = serving {
            shutdown.cancel();
            // It bounds its own end.
            let _ = task.await;
        }
    }

    /// Begins a round trip.
    fn travel(&mut self) {
        let dirs = self.home.dirs.clone();
        match self.note.url.as_deref().map(HttpUrl::parse) {
            Some(Ok(url)) => {
                self.trips.spawn(async move {
                    let mut hops = Vec::new();
                    let mut report = |hop| hops.push(hop);
                    UrlCheck::new(&url, &mut report).within(TRIP_TIME).round_trip(&dirs).await;
                    hops
                });
            }
            _ => {
                let file = health_file(&dirs.runtime);
                self.trips.spawn(async move { vec![ready(&file).await] });
            }
        }
    }

    fn judge(&mut self, hops: Vec<HopReport>) {
        if hops.is_empty() {
            return;
        }
        self.note.checked_at = Some(rfc3339(now_ms()));
        let before = (self.note.reachability, self.note.problem.take());
        match first_failure(&hops) {
            None => {
                self.next_trip = Instant::now() + LATER;
                self.note.reachability = Reachability::Reachable;
                if before.0 != Reachability::Reachable {
                    self.say(&TunnelEvent::Reachable);
                }
            }
            Some(HopReport { hop, saw, fix, .. }) => {
                self.next_trip = Instant::now() + SOON;
                self.note.reachability = Reachability::Unreachable;
                let problem = format!("{}: {saw}", hop.name());
                if before.1.as_ref() != Some(&problem) {
                    let event = TunnelEvent::Unreachable { hop: *hop, saw: saw.clone(), fix: fix.clone() };
                    self.say(&event);
                }
                self.note.problem = Some(problem);
            }
        }
        self.leave();
    }

    /// Leaves the note. Nothing depends on it but what others show.
    fn leave(&self) {
        let _ = self.lock.leave(&self.note);
    }

    fn say(&self, event: &TunnelEvent) {
        (self.tell)(Ok(event));
    }
}

/// Asks OpenAI's program whether it is ready, at the place that it wrote down.
async fn ready(file: &std::path::Path) -> HopReport {
    let fix = "See what `tunnel-client doctor` says.";
    let place = read_own_file(file, Secrecy::Guarded, 1_024).ok();
    let place = place.and_then(|(text, _)| HttpUrl::parse(String::from_utf8_lossy(&text).trim()).ok());
    let Some(place) = place.filter(HttpUrl::is_loopback) else {
        return HopReport::failed(Hop::Health, "tunnel-client does not say yet how it is", fix);
    };
    let place = place.with_path("/readyz");
    match HttpClient::new(TRIP_TIME).send(HttpRequest::get(&place)).await {
        Ok(reply) if reply.status == 200 => HopReport::ok(Hop::Health, "tunnel-client is ready"),
        Ok(reply) => HopReport::failed(Hop::Health, format!("tunnel-client answers {}", reply.status), fix),
        Err(error) => HopReport::failed(Hop::Health, format!("tunnel-client: {}", error.problem), fix),
    }
}
