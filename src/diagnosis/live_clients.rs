//! Which clients are served at the moment: over stdio by their processes, over HTTP by their last requests.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_contract::Transport;
use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_history::{Entry, Filter};

use crate::installation::home::Home;
use crate::installation::stdio_session::{StdioClient, stdio_clients};

/// How long ago the last request over HTTP may be, where no connection says that a client is there.
pub const RECENT_MINUTES: i64 = 10;
/// How many pages of the history are looked through.
const PAGES: usize = 5;
/// How many rows a page has.
const PAGE_ROWS: usize = 200;

/// A client that has sent requests over HTTP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpClient {
    /// What it calls itself; absent where it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The name of its token; `local` without one.
    pub caller: String,
    /// When its last request came, in RFC 3339.
    pub last_request_at: String,
}

/// The clients that are served.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LiveClients {
    /// Those over stdio.
    pub stdio: Vec<StdioClient>,
    /// Those over HTTP that the running service has answered within the last 10 minutes, the latest first.
    pub http: Vec<HttpClient>,
}

impl LiveClients {
    /// Looks who is served. Without a running service nobody is served over HTTP.
    pub fn look(home: &Home, is_running: bool) -> Self {
        Self {
            stdio: stdio_clients(&home.dirs),
            http: if is_running { http_clients(home) } else { Vec::new() },
        }
    }
}

fn http_clients(home: &Home) -> Vec<HttpClient> {
    let mut filter =
        Filter { since_ms: Some(now_ms() - RECENT_MINUTES * 60_000), limit: PAGE_ROWS, ..Filter::default() };
    let mut latest: BTreeMap<(String, Option<String>), i64> = BTreeMap::new();
    for _ in 0..PAGES {
        // What is wrong with the history is said on its own.
        let Ok(page) = bailiwick_history::query(&home.dirs.state, &filter) else { break };
        for entry in page.entries.iter().filter(|entry| is_of_client(entry)) {
            let at = latest.entry((entry.caller.clone(), entry.client.clone())).or_insert(entry.at_ms);
            *at = (*at).max(entry.at_ms);
        }
        match page.next {
            Some(next) => filter.cursor = Some(next),
            None => break,
        }
    }
    let mut latest: Vec<_> = latest.into_iter().collect();
    latest.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
    latest
        .into_iter()
        .map(|((caller, client), at)| HttpClient { client, caller, last_request_at: rfc3339(at) })
        .collect()
}

/// Returns whether a request came over HTTP from somebody who was let in.
fn is_of_client(entry: &Entry) -> bool {
    let is_http = [Transport::Http, Transport::JsonApi].iter().any(|it| it.as_str() == entry.transport);
    is_http && entry.op != LOGIN
}

/// What the history calls a refused login.
const LOGIN: &str = "login";
