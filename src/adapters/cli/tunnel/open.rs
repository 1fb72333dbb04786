//! `tunnel cloudflare`, `tailscale` and `openai`: serve on a port of its own, and have a program forward a URL to it, until
//! Ctrl-C.
//!
//! Whatever arrives at that port is public, whatever it says of itself: it serves the MCP endpoint and the login alone.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::adapters::auth::KeyRing;
use crate::adapters::http::{HttpSettings, Server};
use crate::public_urls::http_client::{HttpClient, HttpRequest, HttpUrl};
use bailiwick_config::{Authentication, Config, Exposure, PublicUrl, Reachability, TunnelLock};
use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{ErrorCode, Failure, Transport};
use bailiwick_engine::service::Service;
use bailiwick_platform::fs::{Secrecy, create_private_dir, read_own_file, replace_private_file};

use super::super::args::ConfirmArgs;
use super::super::ask;
use super::super::client::on_path;
use super::super::home::Home;
use super::super::printer::{Printer, Report, one_line};
use super::super::runtime;
use super::keeper;
use super::output::{TunnelEvent, TunnelOutput, refuse_without_token};
use super::program::{AUTHORIZATION, TunnelProgram, empty_config, health_file};
use super::supervisor::{ProgramEvent, ProgramStart, Supervisor, Timing};
use crate::installation::tokens::rights;
use crate::public_urls::check::UrlCheck;
use crate::public_urls::hop::{Hop, HopReport, first_failure};

/// How long each part of a round trip may take.
const TRIP_TIME: Duration = Duration::from_secs(10);
/// The pause between round trips while the URL is not reachable.
const SOON: Duration = Duration::from_secs(1);
/// The pause between round trips while it is.
const LATER: Duration = Duration::from_secs(30);
/// How long what runs may take to end.
const STOP_TIMEOUT: Duration = Duration::from_millis(1_600);

/// Opens a tunnel, and serves until the process is asked to stop.
///
/// # Errors
/// When nothing may be exposed, the program is missing, or another tunnel runs: nothing is served then.
pub fn run(
    home: &Home,
    printer: Printer,
    program: TunnelProgram,
    confirm: &ConfirmArgs,
) -> Result<Option<Report>, Failure> {
    let config = home.config()?;
    refuse_without_token(&config)?;
    let folder = home.dirs.runtime.clone();
    let mut output = TunnelOutput::new(&config);
    let words = program.words("PORT", &folder);
    output.command = std::iter::once(program.name().to_owned())
        .chain(words.iter().map(|word| word.to_string_lossy().into_owned()))
        .collect();
    let token = if program.has_url() || confirm.dry_run { None } else { Some(token(home)?) };
    let shown = output.described(&head(&program, token.as_ref()));
    if confirm.dry_run {
        let text = format!("{shown}It would run:\n  {}\nNothing was done.\n", output.command.join(" "));
        return Ok(Some(Report::of(text, &output)));
    }
    let Some(file) = on_path(program.name()) else {
        return Err(Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("there is no `{}` on the search path", program.name()),
        )
        .hint(format!("Install it from {}, then run this again.", program.home_page())));
    };
    if !confirm.yes {
        if !ask::is_possible(printer) {
            return Err(Failure::invalid(
                "--yes",
                "this opens your computer to others, and there is nobody to ask",
            )
            .hint("See what would be open with --dry-run, then run it with --yes."));
        }
        printer.talk(shown.trim_end());
        if !ask::yes(printer, "Open it?")? {
            return Ok(Some(Report::of("Nothing was opened.\n", &output)));
        }
    }
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::ProviderUnavailable, format!("{}: {error}", folder.display()))
    };
    let Some(lock) = TunnelLock::take(&home.dirs).map_err(failed)? else {
        let process = TunnelLock::exposure(&home.dirs).and_then(|tunnel| tunnel.process_id);
        let process = process.map_or_else(String::new, |id| format!(", as process {id}"));
        return Err(Failure::new(
            ErrorCode::Conflict,
            format!("a tunnel of this installation runs already{process}"),
        )
        .hint("End it with Ctrl-C in its terminal."));
    };
    create_private_dir(&folder)
        .and_then(|()| replace_private_file(&empty_config(&folder), b""))
        .and_then(|()| replace_private_file(&health_file(&folder), b""))
        .map_err(failed)?;
    let start = |port: u16| ProgramStart {
        file: file.clone(),
        words: program.words(&port.to_string(), &folder),
        set: token.iter().map(|token| (AUTHORIZATION, format!("Bearer {}", token.secret))).collect(),
        command: keeper::command,
    };
    let runtime = runtime::large()?;
    let served = runtime.block_on(async {
        let tunnel = Tunnel::open(home, printer, &program, lock, &config)?;
        let start = start(tunnel.port()?);
        tunnel.serve(start).await;
        Ok(())
    });
    runtime.shutdown_timeout(Duration::from_millis(200));
    served.map(|()| None)
}

/// A token that OpenAI's program adds to requests.
struct AddedToken {
    name: String,
    rights: String,
    secret: String,
}

/// Reads the token that a tunnel without logins needs.
fn token(home: &Home) -> Result<AddedToken, Failure> {
    let refused = |problem: &str| {
        Failure::denied("token-needed", problem)
            .hint("Make one for the tunnel: `bailiwick token create openai --scope ID`.")
            .hint("Then set it: `export BAILIWICK_TOKEN=...`.")
    };
    let secret = std::env::var("BAILIWICK_TOKEN").ok().filter(|secret| !secret.is_empty());
    let secret = secret.ok_or_else(|| {
        refused("this tunnel has no login, so it needs a token, and the variable BAILIWICK_TOKEN holds none")
    })?;
    let caller = KeyRing::open(home.dirs.clone()).verify(&secret, Transport::Http, None)?;
    let id = caller.and_then(|caller| caller.token);
    let tokens = home.tokens()?;
    let record = tokens.records().iter().find(|record| Some(&record.id) == id.as_ref());
    let record =
        record.ok_or_else(|| refused("the token in the variable BAILIWICK_TOKEN opens nothing here"))?;
    Ok(AddedToken { name: record.name.clone(), rights: rights(record), secret })
}

fn head(program: &TunnelProgram, token: Option<&AddedToken>) -> String {
    let name = program.name();
    match (program, token) {
        (TunnelProgram::OpenAi { .. }, Some(token)) => format!(
            "`{name}` would reach the MCP endpoint, and nothing else.\nWhoever may use the tunnel in your organization at \
             OpenAI gets the rights of the token `{}`: {}.",
            one_line(&token.name),
            token.rights
        ),
        (TunnelProgram::OpenAi { .. }, None) => format!(
            "`{name}` would reach the MCP endpoint, and nothing else.\nWhoever may use the tunnel in your organization at \
             OpenAI gets the rights of the token in BAILIWICK_TOKEN."
        ),
        (TunnelProgram::Cloudflare | TunnelProgram::Tailscale, _) => format!(
            "`{name}` would serve the MCP endpoint and the page for logins to everybody, and nothing else.\n\
             Nobody gets in without a token, or a login that you allow there with a code of `bailiwick token code`."
        ),
    }
}

/// A tunnel that is being served.
struct Tunnel<'t> {
    home: &'t Home,
    printer: Printer,
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

impl<'t> Tunnel<'t> {
    /// Binds a port, and starts a service for it in this process.
    fn open(
        home: &'t Home,
        printer: Printer,
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
            printer,
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

    fn port(&self) -> Result<u16, Failure> {
        let address = self.listener.local_addr().map_err(|error| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("the listener has no address: {error}"))
        })?;
        Ok(address.port())
    }

    async fn serve(mut self, start: ProgramStart) {
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
        self.say(&TunnelEvent::Closed, "The tunnel is closed.");
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
            Err(failure) => return self.printer.talk(&format!("Not served: {}.", failure.message)),
        };
        let forward_to = format!("http://{}", server.address());
        let shutdown = CancellationToken::new();
        self.serving = Some((shutdown.clone(), tokio::spawn(server.run(shutdown))));
        self.note.url = url.as_ref().map(PublicUrl::resource);
        self.note.reachability = Reachability::Unchecked;
        self.note.problem = None;
        self.leave();
        self.next_trip = Instant::now();
        let text = match &url {
            Some(url) => format!(
                "The MCP endpoint for clients elsewhere is {}.\nIn another terminal: `bailiwick client connect chatgpt`, or \
                 `bailiwick client connect claude`. `bailiwick token code` lets one in.",
                url.resource()
            ),
            None => "The tunnel's program runs. In ChatGPT, choose the connection `Tunnel`, and this tunnel."
                .to_owned(),
        };
        let authentication = self.note.authentication;
        self.say(&TunnelEvent::Open { url: self.note.url.clone(), forward_to, authentication }, &text);
    }

    async fn ended(&mut self, why: String, again_in: Duration) {
        self.end_serving().await;
        self.note.url = None;
        self.note.reachability = Reachability::Unreachable;
        self.note.problem = Some(format!("{}: {why}", self.program.name()));
        self.leave();
        let again_in_ms = u64::try_from(again_in.as_millis()).unwrap_or(u64::MAX);
        let text = format!(
            "{}: {why}. It is started again in {:.1} s.",
            self.program.name(),
            again_in.as_secs_f64()
        );
        self.say(&TunnelEvent::Ended { why, again_in_ms }, &text);
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
                    self.say(&TunnelEvent::Reachable, "A round trip has come back: it is reachable.");
                }
            }
            Some(HopReport { hop, saw, fix, .. }) => {
                self.next_trip = Instant::now() + SOON;
                self.note.reachability = Reachability::Unreachable;
                let problem = format!("{}: {saw}", hop.name());
                if before.1.as_ref() != Some(&problem) {
                    let event = TunnelEvent::Unreachable { hop: *hop, saw: saw.clone(), fix: fix.clone() };
                    self.say(&event, &format!("Not reachable yet. {}", one_line(&problem)));
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

    fn say(&self, event: &TunnelEvent, text: &str) {
        if self.printer.json {
            let line = serde_json::to_string(event).expect("an event has a JSON form");
            self.printer.data(&format!("{line}\n"));
        } else {
            self.printer.text(&format!("{text}\n"));
        }
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
