//! Taking connections, and what becomes of each.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use bailiwick_platform::launch::ProxyPort;

use super::gate::{Egress, Gate, Refusal};
use super::head::{BufferedConnection, RequestHead, Target};
use super::relay::end;
use super::requests::{begins_another, pass_on};
use super::usage::{NetworkUse, Usage};
use super::{socks, tunnel};

/// How many connections a command may have at a time. Further ones wait.
const MAX_CONNECTIONS: usize = 128;
/// How long is waited where no connection can be taken, as there are too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// The proxy of one command. It ends with the command, and when this is dropped; with it all connections.
#[derive(Debug)]
pub struct Proxy {
    usage: Arc<Usage>,
    task: JoinHandle<()>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    /// Starts it for the plan at the other end of a port.
    pub fn start(port: ProxyPort, egress: Egress) -> Self {
        Self::spawn(egress, async move |gate| {
            let Ok(listener) = port.listener().await else { return };
            tokio::select! {
                () = serve(listener, gate) => {}
                () = port.closed() => {}
            }
        })
    }

    /// Starts it at any listener.
    #[cfg(test)]
    pub(super) fn at(listener: TcpListener, egress: Egress) -> Self {
        Self::spawn(egress, async move |gate| serve(listener, gate).await)
    }

    fn spawn<F>(egress: Egress, run: impl FnOnce(Arc<Gate>) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let usage = Arc::new(Usage::default());
        let gate = Arc::new(Gate::new(egress, Arc::clone(&usage)));
        Self { usage, task: tokio::spawn(run(gate)) }
    }

    /// Returns what was reached so far, and what not.
    pub fn usage(&self) -> NetworkUse {
        self.usage.report()
    }
}

async fn serve(listener: TcpListener, gate: Arc<Gate>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => match accepted {
                Ok((stream, _)) => {
                    let gate = Arc::clone(&gate);
                    connections.spawn(async move {
                        // A connection that breaks is the business of its two ends.
                        let _ = answer(&gate, stream).await;
                    });
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn answer(gate: &Gate, stream: TcpStream) -> io::Result<()> {
    let _ = stream.set_nodelay(true);
    let mut client = BufferedConnection::new(stream, gate.patience());
    match tokio::time::timeout(gate.patience(), client.fill_to(1)).await {
        Ok(Ok(true)) => {}
        Ok(_) | Err(_) => return Ok(()),
    }
    if client.bytes[0] == socks::VERSION {
        over_socks(gate, client).await
    } else {
        over_http(gate, client).await
    }
}

async fn over_socks(gate: &Gate, mut client: BufferedConnection<TcpStream>) -> io::Result<()> {
    let read = tokio::time::timeout(gate.patience(), socks::read(&mut client)).await;
    let destination = match read {
        Ok(Ok(destination)) => destination,
        Ok(Err(refusal)) => {
            gate.usage.refuse_text("a SOCKS5 request".to_owned(), &refusal);
            return client.stream.shutdown().await;
        }
        Err(_) => return Ok(()),
    };
    match gate.connect(&destination).await {
        Ok(host) => {
            socks::answer(&mut client, socks::Reply::Connected).await;
            tunnel::run(gate, client, host).await
        }
        Err(refusal) => {
            gate.usage.refuse(&destination, &refusal);
            let reply =
                if refusal.status == 403 { socks::Reply::NotAllowed } else { socks::Reply::Unreachable };
            socks::answer(&mut client, reply).await;
            client.stream.shutdown().await
        }
    }
}

async fn over_http(gate: &Gate, mut client: BufferedConnection<TcpStream>) -> io::Result<()> {
    let mut kept = None;
    loop {
        let request = match RequestHead::read(&mut client).await {
            Ok(request) => request,
            Err(refusal) => {
                gate.usage.refuse_text("an HTTP request".to_owned(), &refusal);
                refuse_over_http(&mut client.stream, &refusal).await;
                return Ok(());
            }
        };
        let (destination, passed) = match &request.target {
            Target::Tunnel(destination) => match gate.connect(destination).await {
                Ok(host) => {
                    drop(kept);
                    client.stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
                    return tunnel::run(gate, client, host).await;
                }
                Err(refusal) => (destination, Err(refusal)),
            },
            Target::Whole(destination, path) => {
                (destination, pass_on(gate, &mut client, kept, &request, (destination, path)).await)
            }
            Target::Path(_) => {
                let refusal = Refusal::malformed("this is a proxy, and the request names no host");
                refuse_over_http(&mut client.stream, &refusal).await;
                return Ok(());
            }
        };
        match passed {
            Ok(host) => kept = host,
            Err(refusal) => {
                gate.usage.refuse(destination, &refusal);
                refuse_over_http(&mut client.stream, &refusal).await;
                return Ok(());
            }
        }
        if !begins_another(&mut client, &mut kept).await {
            return Ok(());
        }
    }
}

/// Answers with a refusal, and ends the connection.
pub(super) async fn refuse_over_http(client: &mut TcpStream, refusal: &Refusal) {
    let reason = match refusal.status {
        403 => "Forbidden",
        502 => "Bad Gateway",
        _ => "Bad Request",
    };
    let text = refusal.text();
    let answer = format!(
        "HTTP/1.1 {} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: \
         close\r\n\r\n{text}",
        refusal.status,
        text.len()
    );
    if client.write_all(answer.as_bytes()).await.is_ok() {
        end(client).await;
    }
}
