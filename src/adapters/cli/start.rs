//! `start`: HTTP and the local socket, until Ctrl-C.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::adapters::auth::KeyRing;
use crate::adapters::http::{HttpSettings, Server};
use crate::adapters::socket::{self, BindError, Listener};
use crate::contract::{ErrorCode, Failure};

use super::args::StartArgs;
use super::connect::url;
use super::home::Home;
use super::printer::Printer;
use super::running::RunningNote;
use super::runtime;

/// How long what runs may take to end; with what follows, the process is gone within 2 s.
const STOP_TIMEOUT: Duration = Duration::from_millis(1_600);

/// Serves until the process is asked to stop.
///
/// # Errors
/// When Bailiwick is not set up, another service runs, or the port is taken: nothing is served then.
pub fn run(home: &Home, printer: Printer, args: &StartArgs) -> Result<(), Failure> {
    let config = home.config()?;
    let tokens = home.tokens()?;
    let mut settings = HttpSettings::from_config(&config);
    if let Some(host) = args.host {
        settings.host = host.to_string();
    }
    settings.port = args.port.unwrap_or(settings.port);

    let runtime = runtime::large()?;
    let served = runtime.block_on(async {
        let asked_to_stop = runtime::asked_to_stop();
        let path = socket::path(&home.dirs);
        let listener = Listener::bind(&path).map_err(|error| not_bound(&error))?;
        let service = home.boot()?;
        let keys = Arc::new(KeyRing::open(home.dirs.clone()));
        let server = Server::bind(Arc::clone(&service), Arc::clone(&keys), settings).await?;
        let address = server.address();
        let url = url(&address.ip().to_string(), address.port());

        RunningNote { process_id: std::process::id(), url: url.clone() }.leave(&home.dirs);

        let ids: Vec<&str> = config.scopes.iter().map(|scope| scope.id.as_str()).collect();
        if printer.json {
            let started = json!({
                "ok": true, "url": url, "address": address.to_string(), "socket": path,
                "processId": std::process::id(), "scopes": ids,
            });
            printer.data(&format!("{started}\n"));
        } else {
            let open = if ids.is_empty() {
                "no scope yet (`bailiwick setup FOLDER`)".to_owned()
            } else {
                ids.join(", ")
            };
            printer
                .data(&format!("Bailiwick serves {url}\n  scopes  {open}\n  socket  {}\n", path.display()));
            if tokens.records().is_empty() {
                printer.talk(
                    "There is no token: over HTTP nobody is let in. `bailiwick token create NAME` makes one.",
                );
            }
            printer.talk("`bailiwick connect` tells how to connect a client. Ctrl-C ends it.");
        }

        let shutdown = CancellationToken::new();
        let over_socket = tokio::spawn(socket::serve(listener, service, keys, shutdown.clone()));
        let over_http = tokio::spawn(server.run(shutdown.clone()));
        asked_to_stop.await;
        shutdown.cancel();
        let all = async {
            let _ = tokio::join!(over_socket, over_http);
        };
        RunningNote::remove(&home.dirs);
        let in_time = tokio::time::timeout(STOP_TIMEOUT, all).await.is_ok();
        if !printer.json {
            printer.talk(if in_time { "Stopped." } else { "Stopped; what was running was cut off." });
        }
        Ok(())
    });
    runtime.shutdown_timeout(Duration::from_millis(200));
    served
}

fn not_bound(error: &BindError) -> Failure {
    match error {
        BindError::Running => {
            Failure::new(ErrorCode::Conflict, "Bailiwick is running already for this config")
                .hint("`bailiwick status` tells where; end it with Ctrl-C in its terminal.")
                .hint("A second one needs its own BAILIWICK_HOME.")
        }
        BindError::Occupied(_) | BindError::Io(_) => {
            Failure::new(ErrorCode::ProviderUnavailable, error.to_string())
                .hint("Check the folder's owner and permissions.")
        }
    }
}
