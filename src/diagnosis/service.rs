//! The service: whether one runs, answers, and is this version; else whether one could start.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use bailiwick_config::{Config, Reachability};
use bailiwick_platform::fs::modes::FileTypeExt;

use super::finding::Findings;
use super::repair::Repair;
use crate::installation::home::Home;
use crate::installation::running::{RunningNote, count_waiting, is_running, socket_path};
use crate::public_urls::exposures::tried;
use crate::public_urls::pinned::pinned;

/// Asks the running service what it is, or says in words why it does not answer.
pub type AskService = fn(&Home) -> Result<Value, String>;

/// How long the service may take to answer.
pub const TIME: Duration = Duration::from_secs(1);
/// How long a round trip through a public URL may take.
const TRIP_TIME: Duration = Duration::from_secs(5);

/// Looks at the service.
pub fn look(home: &Home, config: Option<&Config>, ask: AskService, found: &mut Findings) {
    found.group("Service");
    let path = socket_path(&home.dirs);
    if is_running(home) {
        running(home, ask, found);
    } else {
        left_behind(&path, found);
        left_behind(&RunningNote::path(&home.dirs), found);
        if let Some(config) = config {
            port(config, found);
        }
    }
    if let Some(config) = config {
        exposures(home, config, found);
    }
    let waiting = count_waiting(home);
    if waiting > 0 {
        found.warn(
            "waiting",
            if waiting == 1 {
                "1 question waits for you".to_owned()
            } else {
                format!("{waiting} questions wait for you")
            },
            "Run `bailiwick approve`.",
        );
    }
}

/// The URLs for clients elsewhere.
fn exposures(home: &Home, config: &Config, found: &mut Findings) {
    for tried in tried(home, config, TRIP_TIME) {
        if tried.exposure.reachability == Reachability::Reachable {
            found.ok("public-url", tried.says());
        } else {
            let fix = tried.fix.as_deref().unwrap_or("`bailiwick client check URL` shows each hop.");
            found.warn("public-url", tried.says(), fix);
        }
    }
}

fn running(home: &Home, ask: AskService, found: &mut Findings) {
    let note = RunningNote::read(&home.dirs);
    let who = note.as_ref().map_or_else(String::new, |note| format!(" (process {})", note.process_id));
    let restart = "End it (Ctrl-C in its terminal, or `kill` its process), and run `bailiwick serve` again.";
    match ask(home) {
        Err(why) => {
            found.fail("service-answers", format!("a service runs{who} but does not answer: {why}"), restart);
        }
        Ok(info) => {
            let version = info["service"]["version"].as_str().unwrap_or("?");
            if version == env!("CARGO_PKG_VERSION") {
                found.ok(
                    "service-answers",
                    format!("the service answers at its socket{who}, version {version}"),
                );
            } else {
                found.warn(
                    "service-version",
                    format!(
                        "the service that runs{who} is version {version}, this is {}",
                        env!("CARGO_PKG_VERSION")
                    ),
                    restart,
                );
            }
        }
    }
    let Some(note) = note else { return };
    if is_replaced(note.process_id) {
        found.warn(
            "service-program",
            format!("the program of the running service{who} was replaced or removed"),
            restart,
        );
    }
    match note.exposure() {
        Some(exposure) if note.certificate_sha256.is_some() => found.ok("service-network", exposure),
        Some(exposure) => {
            found.warn(
                "service-network",
                exposure,
                "Encrypt it with `bailiwick serve --tls`, or start it on 127.0.0.1 behind a tunnel or proxy with TLS.",
            );
        }
        None => {}
    }
    match healthy(&note.url, note.certificate_sha256.as_deref()) {
        Ok(()) => found.ok("http", format!("{} answers", note.url)),
        Err(why) => {
            found.fail("http", format!("{} does not answer: {why}", note.url), restart);
        }
    }
}

/// Returns whether the program of a process is not there any more.
fn is_replaced(process_id: u32) -> bool {
    fs::read_link(format!("/proc/{process_id}/exe"))
        .is_ok_and(|program| program.to_string_lossy().ends_with(" (deleted)"))
}

fn ask_health(mut stream: impl Read + Write, request: &str) -> io::Result<String> {
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.take(4_096).read_to_string(&mut answer)?;
    Ok(answer)
}

/// Asks over HTTP whether the service is well.
///
/// # Errors
/// In words: why it is not.
pub fn healthy(url: &str, certificate_sha256: Option<&str>) -> Result<(), String> {
    let scheme = if certificate_sha256.is_some() { "https://" } else { "http://" };
    let address = url.strip_prefix(scheme).and_then(|rest| rest.split('/').next()).ok_or("its URL is odd")?;
    let said = |error: io::Error| error.to_string();
    let to = address.to_socket_addrs().map_err(said)?.next().ok_or("its address is odd")?;
    let stream = TcpStream::connect_timeout(&to, TIME).map_err(said)?;
    stream.set_read_timeout(Some(TIME)).map_err(said)?;
    stream.set_write_timeout(Some(TIME)).map_err(said)?;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let answer = match certificate_sha256 {
        Some(sha256) => {
            let stream = pinned(stream, &to.ip().to_string(), sha256).map_err(said)?;
            ask_health(stream, &request).map_err(said)?
        }
        None => ask_health(stream, &request).map_err(said)?,
    };
    match answer.lines().next() {
        Some(line) if line.starts_with("HTTP/1.1 200") => Ok(()),
        line => Err(format!("it says `{}`", line.unwrap_or_default())),
    }
}

/// What a service left that did not end in order. Only what Bailiwick itself makes there is removed.
fn left_behind(path: &Path, found: &mut Findings) {
    let Ok(facts) = fs::symlink_metadata(path) else { return };
    if facts.file_type().is_socket() || facts.is_file() && path.extension().is_some_and(|it| it == "json") {
        found
            .warn(
                "left-behind",
                format!("{} was left by a service that did not end in order", path.display()),
                "Remove it.",
            )
            .repaired_by(Repair::Remove { path: path.to_owned() });
    } else {
        found.fail(
            "socket-place",
            format!("{} is not a socket: no service can start", path.display()),
            "Move it away.",
        );
    }
}

/// Whether a service could listen.
fn port(config: &Config, found: &mut Findings) {
    let place = (config.host.as_str(), config.port);
    match TcpListener::bind(place) {
        Ok(_) => {
            found.ok(
                "service",
                format!(
                    "none runs; port {} is free (`bailiwick serve`; stdio clients need none)",
                    config.port
                ),
            );
        }
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let free = (config.port.saturating_add(1)..=config.port.saturating_add(50))
                .find(|port| TcpListener::bind((config.host.as_str(), *port)).is_ok());
            let other = free.map_or_else(String::new, |port| {
                format!(", or set `port` to {port}, which is free, and connect the clients again")
            });
            found.fail(
                "port",
                format!(
                    "another program listens at {}, port {}: `bailiwick serve` would fail",
                    config.host, config.port
                ),
                format!("End that program{other}."),
            );
        }
        Err(error) => {
            found.fail(
                "port",
                format!("{}, port {}: {error}", config.host, config.port),
                "Set `host` to 127.0.0.1 and `port` to 3939.",
            );
        }
    }
}
