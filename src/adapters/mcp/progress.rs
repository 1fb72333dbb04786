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

/// Says of a request that it is in the works: for how long, in seconds, and what it says about itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Notice {
    seconds: f64,
    said: String,
}

impl Notice {
    fn new(elapsed: Duration, progress: &Progress) -> Self {
        let said = progress.said().unwrap_or_else(|| format!("running, {} s", elapsed.as_secs()));
        Self { seconds: (elapsed.as_secs_f64() * 10.0).round() / 10.0, said }
    }

    /// Returns the notification for a transport without rmcp.
    pub fn to_message(&self, token: &Value) -> String {
        let params = json!({"progressToken": token, "progress": self.seconds, "message": self.said});
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}).to_string()
    }

    /// Sends the notification through rmcp. That the client is gone is noticed by the transport.
    pub async fn send(self, token: ProgressToken, peer: &Peer<RoleServer>) {
        let notification = ProgressNotificationParam::new(token, self.seconds).with_message(self.said);
        let _ = peer.notify_progress(notification).await;
    }
}

/// Writes a notification of progress for HTTP.
pub(in super::super) fn progress_message(elapsed: Duration, progress: &Progress, token: &Value) -> String {
    Notice::new(elapsed, progress).to_message(token)
}

/// Waits for the work, and meanwhile shows the client what is on the board.
pub(super) async fn told<T, S: Future>(
    work: impl Future<Output = T>,
    progress: &Progress,
    send: impl Fn(Notice) -> S,
) -> T {
    let began = Instant::now();
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        let mut sending = std::pin::pin!(send(Notice::new(began.elapsed(), progress)));
        tokio::select! {
            done = &mut work => {
                // A client that is gone, or does not read, is not waited for.
                let _ = timeout(LAST_WORD, sending).await;
                return done;
            }
            _ = &mut sending => {}
        }
    }
}
