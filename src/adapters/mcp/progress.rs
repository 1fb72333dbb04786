//! Progress notifications: telling a client that its request is alive, and how far it is.
//!
//! Only for requests that carry a progress token, and one a second: what the operation says about itself, or that it
//! runs. The number is the time since the request came, in seconds: it always grows.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use bailiwick_contract::Progress;

/// The time between two notifications.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long an answer waits for a notification that is on its way, so that none comes after the answer.
const LAST_WORD: Duration = Duration::from_millis(250);

/// Returns what is told after a while: for how long it runs, and what it says about itself.
fn told_after(elapsed: Duration, progress: &Progress) -> (f64, String) {
    let said = progress.said().unwrap_or_else(|| format!("running, {} s", elapsed.as_secs()));
    ((elapsed.as_secs_f64() * 10.0).round() / 10.0, said)
}

/// Writes a notification of progress for a transport without rmcp.
pub(in super::super) fn progress_message(elapsed: Duration, progress: &Progress, token: &Value) -> String {
    let (seconds, said) = told_after(elapsed, progress);
    let params = json!({"progressToken": token, "progress": seconds, "message": said});
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).to_string()
}

/// Waits for the work, and meanwhile shows the client what is on the board.
pub(super) async fn told<T>(
    work: impl Future<Output = T>,
    progress: &Progress,
    token: ProgressToken,
    peer: &Peer<RoleServer>,
) -> T {
    let began = Instant::now();
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        let (seconds, said) = told_after(began.elapsed(), progress);
        let notification = ProgressNotificationParam::new(token.clone(), seconds).with_message(said);
        let mut sending = std::pin::pin!(peer.notify_progress(notification));
        tokio::select! {
            done = &mut work => {
                // A client that is gone, or does not read, is not waited for.
                let _ = timeout(LAST_WORD, sending).await;
                return done;
            }
            // That the client is gone is noticed by the transport.
            _ = &mut sending => {}
        }
    }
}
