//! `start`: HTTP and the local socket, until Ctrl-C; at a terminal with a view of what comes.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::adapters::auth::KeyRing;
use crate::adapters::http::{ConnectionThreads, HttpSettings, Server, certificate_path};
use crate::adapters::not_served::{not_bound, with_holder};
use crate::adapters::socket::{self, Listener};
use bailiwick_config::PublicUrl;
use bailiwick_contract::Failure;

use super::args::StartArgs;
use super::live::{self, Form};
use super::printer::Printer;
use crate::autostart::job::begin;
use crate::client_settings::connection::url;
use crate::installation::home::Home;
use crate::installation::running::{RunningNote, processes_that_go_on};
use crate::installation::runtime;
use crate::installation::tokens::first_token;
use crate::past_requests::event::Event;
use crate::past_requests::live::LiveView;

/// How long what runs may take to end; with what follows, the process is gone within 2 s.
const STOP_TIMEOUT: Duration = Duration::from_millis(1_600);
/// How long the last words may take: nobody may be reading.
const GOODBYE_TIMEOUT: Duration = Duration::from_millis(150);

/// What is before the owner's token.
const FIRST_TOKEN: &str = "There was no token yet, so this is the owner's. With it an HTTP client may do all that your scopes grant. \
                           It is shown this once, and kept as a hash:";

/// What `start --json` prints once it serves.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StartOutput {
    /// Always true.
    ok: bool,
    /// The URL of the MCP endpoint.
    url: String,
    /// The address that is listened on.
    address: String,
    /// The local socket.
    socket: PathBuf,
    /// The SHA-256 of the certificate, if connections are encrypted.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate_sha256: Option<String>,
    /// The file of the certificate that Bailiwick has made, for clients to trust.
    #[serde(skip_serializing_if = "Option::is_none")]
    certificate: Option<PathBuf>,
    /// The service's process.
    process_id: u32,
    /// The scopes that are open.
    scopes: Vec<String>,
}

/// Serves until the process is asked to stop.
///
/// # Errors
/// When Bailiwick is not set up, another service runs, or the port is taken: nothing is served then.
pub fn run(home: Home, printer: Printer, args: &StartArgs) -> Result<(), Failure> {
    let home = &begin(home, args.background.home.as_deref(), args.background.said.as_deref())?;
    let config = home.config()?;
    let has_tokens = !home.tokens()?.records().is_empty();
    let needs_token = !config.http.allow_loopback_without_token;
    let mut settings = HttpSettings::from_config(&config);
    if let Some(host) = args.host {
        settings.host = host.to_string();
    }
    settings.port = args.port.unwrap_or(settings.port);
    if args.tls {
        settings.tls.get_or_insert_default();
    }
    let is_own = settings.tls.as_ref().is_some_and(|tls| tls.files().is_none());
    let wanted = (settings.host.clone(), settings.port);

    let runtime = runtime::large()?;
    let threads = ConnectionThreads::start()?;
    let served = runtime.block_on(async {
        let asked_to_stop = runtime::asked_to_stop();
        let path = socket::path(&home.dirs);
        let listener = Listener::bind(&path).map_err(|error| not_bound(home, &error))?;
        let service = home.boot()?;
        let keys = Arc::new(KeyRing::open(home.dirs.clone()));
        let bound = Server::bind(Arc::clone(&service), Arc::clone(&keys), settings).await;
        let server = bound.map_err(|failure| with_holder(failure, &wanted.0, wanted.1))?;
        let address = server.address();
        let started = StartOutput {
            ok: true,
            url: url(server.fingerprint().is_some(), &address.ip().to_string(), address.port()),
            address: address.to_string(),
            socket: path,
            certificate_sha256: server.fingerprint().map(str::to_owned),
            certificate: is_own.then(|| certificate_path(&home.dirs)),
            process_id: std::process::id(),
            scopes: config.scopes.iter().map(|scope| scope.id.clone()).collect(),
        };
        let open_to_network = (!address.ip().is_loopback()).then(|| address.to_string());
        let note = RunningNote {
            process_id: started.process_id,
            url: started.url.clone(),
            open_to_network,
            certificate_sha256: started.certificate_sha256.clone(),
        };
        note.leave(&home.dirs);
        let form = form(printer, args);
        if let Some(exposure) = note.exposure() {
            printer.talk(&format!("Warning: {exposure}."));
            if note.certificate_sha256.is_none() {
                printer.talk(&format!("Encrypt it: `{}`.", with_tls(args)));
            }
        }
        let public_url = config.http.public_base_url.as_ref();
        let is_seen = !printer.json && io::stdout().is_terminal();
        let secret = if needs_token && is_seen { first_token(home)? } else { None };
        announce(printer, &started, (has_tokens, needs_token), public_url, secret, form);
        let view = form.map(|form| LiveView::start(home, live::tell(printer, form)));

        let shutdown = CancellationToken::new();
        let over_socket = tokio::spawn(socket::serve(listener, service, keys, shutdown.clone()));
        let over_http = tokio::spawn(server.on_threads(threads.handles()).run(shutdown.clone()));
        asked_to_stop.await;
        shutdown.cancel();
        let all = async {
            let _ = tokio::join!(over_socket, over_http);
        };
        RunningNote::remove(&home.dirs);
        let in_time = tokio::time::timeout(STOP_TIMEOUT, all).await.is_ok();
        goodbye(home, printer, view, in_time);
        Ok(())
    });
    drop(threads);
    runtime.shutdown_timeout(Duration::from_millis(200));
    served
}

/// Returns the command that serves the same over TLS.
fn with_tls(args: &StartArgs) -> String {
    let host = args.host.map_or_else(String::new, |host| format!(" --host {host}"));
    let port = args.port.filter(|port| *port != 0).map_or_else(String::new, |port| format!(" --port {port}"));
    format!("bailiwick serve{host}{port} --tls")
}

/// Returns how requests are shown, if they are.
fn form(printer: Printer, args: &StartArgs) -> Option<Form> {
    match (printer.json, args.log) {
        (true, log) => log.then_some(Form::Json),
        (false, _) if io::stdout().is_terminal() => (!args.quiet).then_some(Form::Terminal),
        (false, log) => log.then_some(Form::Lines),
    }
}

fn announce(
    printer: Printer,
    started: &StartOutput,
    (has_tokens, needs_token): (bool, bool),
    public_url: Option<&PublicUrl>,
    secret: Option<String>,
    form: Option<Form>,
) {
    if printer.json {
        let started = serde_json::to_string(started).expect("it has a JSON form");
        printer.data(&format!("{started}\n"));
        return;
    }
    let open = if started.scopes.is_empty() {
        "no scope yet (`bailiwick setup FOLDER`)".to_owned()
    } else {
        started.scopes.join(", ")
    };
    let socket = started.socket.display();
    printer.text(&format!("Bailiwick serves {}\n  scopes  {open}\n  socket  {socket}\n", started.url));
    if let Some(path) = &started.certificate {
        printer.text(&format!("  made certificate  {}\n", path.display()));
    }
    if let Some(sha256) = &started.certificate_sha256 {
        printer.text(&format!("  SHA-256 of the certificate\n    {sha256}\n"));
    }
    if !needs_token {
        printer.talk("Every program of this computer is allowed in over HTTP without a token, as `http.allowLoopbackWithoutToken` says.");
    } else if let Some(secret) = secret {
        printer.text(&format!("\n{FIRST_TOKEN}\n"));
        printer.data(&format!("  {secret}\n\n"));
    } else if !has_tokens {
        printer.talk(
            "There is no token, so HTTP clients cannot connect. `bailiwick token create NAME` makes one.",
        );
    }
    if let Some(url) = public_url {
        let who = url.reached_by();
        printer.talk(&format!("By {url} {who} can log in: `bailiwick token code` lets one in."));
    }
    printer.talk("`bailiwick client connect` shows how to connect a client. Ctrl-C ends it.");
    if form == Some(Form::Terminal) {
        printer.talk("\nRequests as they come, times in UTC:");
    }
}

/// Says what continues without the service. On a thread of its own: where nobody reads, the process ends all the same.
fn goodbye(home: &Home, printer: Printer, view: Option<LiveView>, in_time: bool) {
    if !in_time && !printer.json {
        say(printer, "What was running was cut off.".to_owned());
    }
    match view {
        Some(view) => view.end(GOODBYE_TIMEOUT),
        None if printer.json => {}
        None => {
            let processes = processes_that_go_on(home);
            let below = if io::stderr().is_terminal() { "\n" } else { "" };
            say(
                printer,
                format!("{below}{}", live::line(&Event::Stopped { requests: 0, processes }, "", None)),
            );
        }
    }
}

fn say(printer: Printer, line: String) {
    let (said, is_said) = channel();
    let body = move || {
        printer.talk(&line);
        let _ = said.send(());
    };
    if std::thread::Builder::new().spawn(body).is_ok() {
        let _ = is_said.recv_timeout(GOODBYE_TIMEOUT);
    }
}
