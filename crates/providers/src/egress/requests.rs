//! The requests of one connection, one after another. Each is judged for itself, whatever the one before it was for.
//!
//! A connection is kept only behind a request that cannot have a body, so that nothing which follows was ever a part of it.

use tokio::net::TcpStream;

use super::exchange::{exchange, send_head};
use super::gate::{Destination, Gate, HostConnection, Refusal};
use super::head::{BufferedConnection, RequestHead};

/// Passes a request on, over the connection that was kept if it leads to the same host. Returns the connection if another
/// request may follow. A refusal means that nothing of an answer has gone to the program.
pub(super) async fn pass_on(
    gate: &Gate,
    client: &mut BufferedConnection<TcpStream>,
    kept: Option<HostConnection>,
    request: &RequestHead,
    (destination, path): (&Destination, &str),
) -> Result<Option<HostConnection>, Refusal> {
    let head = request.encode(destination, path);
    match kept {
        // What has just been connected was judged for this.
        Some(mut host) if !host.is_used && host.destination == *destination => {
            send_head(&mut host, &head).await?;
            return exchange(client, host, request).await;
        }
        Some(mut host) if request.keeps_connection && host.destination == *destination => {
            gate.judge(destination).await?;
            // A host that has ended it meanwhile has done nothing of the request, which may be repeated.
            if send_head(&mut host, &head).await.is_ok() && is_open(&mut host).await {
                return exchange(client, host, request).await;
            }
        }
        Some(_) | None => {}
    }
    let mut host = gate.connect(destination).await?;
    send_head(&mut host, &head).await?;
    exchange(client, host, request).await
}

/// Waits for the answer of a host. Returns whether the connection is still open.
async fn is_open(host: &mut HostConnection) -> bool {
    let patience = host.connection.patience;
    let begun = tokio::time::timeout(patience, host.connection.fill_to(1)).await;
    !matches!(begun, Ok(Ok(false) | Err(_)))
}

/// Waits until another request begins. Returns `false` when none does in time. A host that ends its connection meanwhile, or
/// says what nobody has asked for, is connected to again.
pub(super) async fn begins_another(
    client: &mut BufferedConnection<TcpStream>,
    kept: &mut Option<HostConnection>,
) -> bool {
    let Some(mut host) = kept.take() else { return false };
    let patience = client.patience;
    let waiting = async {
        if !client.bytes.is_empty() {
            return Some(Some(host));
        }
        tokio::select! {
            came = client.fill() => came.unwrap_or(false).then_some(Some(host)),
            _ = host.connection.fill() => client.fill_to(1).await.unwrap_or(false).then_some(None),
        }
    };
    match tokio::time::timeout(patience, waiting).await {
        Ok(Some(host)) => {
            *kept = host;
            true
        }
        Ok(None) | Err(_) => false,
    }
}
