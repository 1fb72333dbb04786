//! MCP over standard input and output: one client, which is trusted as the local user or a named profile.
//!
//! Nothing but protocol may go to standard output while this runs.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::super::backend::Backend;
use super::stdio_transport::{CloseHook, StdioTransport};
use super::{ClientCallback, Handler};

/// How long requests in the works continue after the client has closed its side.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversationEnd {
    /// The client closed its side; what was in the works has been answered.
    ByClient,
    /// `shutdown` was cancelled.
    ByShutdown,
}

/// Serves the client at standard input and output until it goes away or `shutdown` is cancelled.
/// `on_client` hears what it calls itself.
pub async fn run(
    backend: Backend,
    on_client: Option<ClientCallback>,
    shutdown: CancellationToken,
) -> ConversationEnd {
    let (input, output) = rmcp::transport::io::stdio_pipes();
    Box::pin(serve(backend, on_client, input, output, shutdown)).await
}

/// Serves a client over any pair of byte streams.
pub async fn converse<R, W>(
    backend: Backend,
    input: R,
    output: W,
    shutdown: CancellationToken,
) -> ConversationEnd
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    serve(backend, None, input, output, shutdown).await
}

async fn serve<R, W>(
    backend: Backend,
    on_client: Option<ClientCallback>,
    input: R,
    output: W,
    shutdown: CancellationToken,
) -> ConversationEnd
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    // What is in the works when the client closes its side may be answered, but not for long: clients wait
    // about 2 s for the process to end.
    let stop = shutdown.child_token();
    let backend = Arc::new(backend);
    let handler = Handler::fixed(Arc::clone(&backend), on_client, stop.clone());
    let closing = CloseHook { after: CLOSE_TIMEOUT, stop };
    let transport = StdioTransport::new(handler.clone(), input, output, closing);
    // rmcp cancels the token that it is given when the conversation ends.
    let begun = handler.serve_with_ct(transport, shutdown.child_token()).await;
    let is_cancelled = matches!(begun, Err(ServerInitializeError::Cancelled));
    if let Ok(running) = begun {
        // The end of the conversation is all that there is to know.
        drop(running.waiting().await);
    }
    backend.close().await;
    if is_cancelled || shutdown.is_cancelled() {
        ConversationEnd::ByShutdown
    } else {
        ConversationEnd::ByClient
    }
}
