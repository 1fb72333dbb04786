//! A tunnel to a host. Before anything goes out it is read what the program says in it: TLS and HTTP must name the host.

use std::io;
use std::sync::atomic::Ordering;

use tokio::net::TcpStream;

use bailiwick_policy::command::{HostName, is_usual_port};

use super::gate::{Destination, Gate, HostConnection, Refusal};
use super::head::{BufferedConnection, RequestHead, Target};
use super::hello::{self, ClientHello};
use super::proxy::refuse_over_http;
use super::relay::{counted, relay};
use super::requests::{begins_another, pass_on};
use super::usage::HostCounter;

/// The longest HTTP method that is recognized.
const MAX_METHOD: usize = 16;

/// What is spoken in a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TunnelProtocol {
    Tls,
    Http,
    Other,
}

/// Passes on what is said in a tunnel, once it is known to be for its host.
pub(super) async fn run(
    gate: &Gate,
    mut client: BufferedConnection<TcpStream>,
    mut host: HostConnection,
) -> io::Result<()> {
    let destination = host.destination.clone();
    let refused = match spoken(&mut client, &mut host.connection, &destination).await {
        Ok(TunnelProtocol::Tls) => match greet(&mut client, &mut host).await {
            Ok(()) => return relay(client, host).await,
            Err(refusal) => refusal,
        },
        Ok(TunnelProtocol::Http) => match talk(gate, &mut client, host).await {
            Ok(()) => return Ok(()),
            Err(refusal) => {
                refuse_over_http(&mut client.stream, &refusal).await;
                refusal
            }
        },
        Ok(TunnelProtocol::Other) => return relay(client, host).await,
        Err(refusal) => refusal,
    };
    gate.usage.refuse(&destination, &refused);
    Ok(())
}

/// Finds out what is spoken. At a port that was named for its own sake it may be anything.
async fn spoken(
    client: &mut BufferedConnection<TcpStream>,
    host: &mut BufferedConnection<TcpStream>,
    destination: &Destination,
) -> Result<TunnelProtocol, Refusal> {
    let (is_usual, patience) = (is_usual_port(destination.port), client.patience);
    let finding = async {
        loop {
            if let Some(spoken) = begins(&client.bytes) {
                return Some(spoken);
            }
            tokio::select! {
                came = client.fill() => if !came.unwrap_or(false) { return None },
                // In TLS and HTTP it is never the host that begins.
                came = host.fill(), if !is_usual && client.bytes.is_empty() => {
                    return came.unwrap_or(false).then_some(TunnelProtocol::Other);
                }
            }
        }
    };
    match tokio::time::timeout(patience, finding).await {
        Ok(Some(TunnelProtocol::Other)) if is_usual => Err(Refusal::forbidden(format!(
            "only TLS and HTTP are passed on to the port {} of `{}`",
            destination.port, destination.host
        ))),
        Ok(Some(spoken)) => Ok(spoken),
        Ok(None) => Err(Refusal::malformed("the connection ended before anything was said")),
        Err(_) => Err(Refusal::malformed("nothing was said in time")),
    }
}

/// Returns what a connection that begins so speaks; none while that is open.
fn begins(bytes: &[u8]) -> Option<TunnelProtocol> {
    if hello::is_hello(*bytes.first()?) {
        return Some(TunnelProtocol::Tls);
    }
    let method = bytes.iter().take(MAX_METHOD).position(|byte| !byte.is_ascii_uppercase());
    match method {
        // `PRI * HTTP/2.0` is refused as a request.
        Some(end) if end > 0 && bytes[end] == b' ' => Some(TunnelProtocol::Http),
        Some(_) => Some(TunnelProtocol::Other),
        None if bytes.len() >= MAX_METHOD => Some(TunnelProtocol::Other),
        None => None,
    }
}

/// Checks the greeting of TLS, and the one after it if the host asks for another.
async fn greet(client: &mut BufferedConnection<TcpStream>, host: &mut HostConnection) -> Result<(), Refusal> {
    let HostConnection { connection: host, counter, destination, .. } = host;
    let lost =
        |error: io::Error| Refusal::malformed(&format!("`{destination}` has ended the connection: {error}"));
    let hello = hello::read(client).await?;
    check(&hello, destination, counter)?;
    let hello: Vec<u8> = client.bytes.drain(..hello.length).collect();
    counted(&mut host.stream, &hello, &counter.sent).await.map_err(lost)?;
    let answering = async {
        loop {
            if let Some(again) = hello::asks_again(&host.bytes) {
                return Ok(again);
            }
            if !host.fill().await? {
                return Ok(false);
            }
        }
    };
    let answered = tokio::time::timeout(client.patience, answering).await;
    let again = answered.map_err(|_| Refusal::malformed("the host did not answer in time"))?.map_err(lost)?;
    if again {
        let answer = std::mem::take(&mut host.bytes);
        counted(&mut client.stream, &answer, &counter.received).await.map_err(lost)?;
        let hello = hello::read(client).await?;
        check(&hello, destination, counter)?;
    }
    Ok(())
}

fn check(hello: &ClientHello, destination: &Destination, counter: &HostCounter) -> Result<(), Refusal> {
    if hello.is_encrypted {
        counter.encrypted_hello.store(true, Ordering::Relaxed);
    }
    match (&hello.server_name, &destination.host) {
        (Some(name), host) if HostName::parse(name).as_ref() == Some(host) => Ok(()),
        // An address is no name, so there is none to send.
        (None, HostName::Address(_)) => Ok(()),
        (None, HostName::Name(_)) => {
            Err(Refusal::forbidden(format!("the TLS greeting for `{destination}` names no server")))
        }
        (Some(name), _) => Err(Refusal::forbidden(format!(
            "the TLS greeting for `{destination}` names another server: `{}`",
            name.escape_debug()
        ))),
    }
}

/// Passes requests on that are made in a tunnel, each of which has to be for its host.
async fn talk(
    gate: &Gate,
    client: &mut BufferedConnection<TcpStream>,
    host: HostConnection,
) -> Result<(), Refusal> {
    let destination = host.destination.clone();
    let mut kept = Some(host);
    loop {
        let request = RequestHead::read(client).await?;
        let path = match &request.target {
            Target::Path(path) if request.has_host() => path,
            Target::Whole(named, path) if *named == destination => path,
            Target::Path(_) | Target::Whole(..) | Target::Tunnel(_) => {
                return Err(Refusal::forbidden(format!(
                    "the request in a tunnel to `{destination}` is for no host or another"
                )));
            }
        };
        request.check_host(&destination, Some(80))?;
        kept = pass_on(gate, client, kept, &request, (&destination, path)).await?;
        if !begins_another(client, &mut kept).await {
            return Ok(());
        }
    }
}
