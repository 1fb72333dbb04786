//! Requests counted by the way that they came.

use bailiwick_contract::Failure;
use bailiwick_contract::time::rfc3339;
use bailiwick_history::{Filter, State};

use super::find::{COUNTED, read};
use super::output::WayOutput;
use crate::installation::home::Home;

/// How many requests came in each way.
pub struct CountedRoutes {
    /// The ways with the moments of the first and the last request, the latest first.
    pub routes: Vec<(WayOutput, i64, i64)>,
    /// How many requests were counted.
    pub seen: usize,
    /// Where to continue.
    pub next: Option<String>,
}

/// Operations that came the same way.
struct CallRoute {
    first_ms: i64,
    last_ms: i64,
    operations: u64,
    failed: u64,
}

/// Counts requests by session, or by who connects in which way; at most `limit` ways.
///
/// # Errors
/// `provider_unavailable` when the store cannot be read.
pub fn counted(
    home: &Home,
    filter: Filter,
    by_session: bool,
    limit: usize,
) -> Result<CountedRoutes, Failure> {
    let mut filter = Filter { limit: 1_000, ..filter };
    let mut ways: Vec<([String; 4], CallRoute)> = Vec::new();
    let mut seen = 0;
    let next = loop {
        let page = read(home, &filter)?;
        seen += page.entries.len();
        for entry in page.entries.iter().filter(|entry| entry.state != State::Notice) {
            let session = if by_session { entry.session.clone().unwrap_or_default() } else { String::new() };
            let key = [
                session,
                entry.caller.clone(),
                entry.client.clone().unwrap_or_default(),
                entry.transport.clone(),
            ];
            let place = ways.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
                let way = CallRoute { first_ms: entry.at_ms, last_ms: entry.at_ms, operations: 0, failed: 0 };
                ways.push((key, way));
                ways.len() - 1
            });
            let way = &mut ways[place].1;
            way.first_ms = way.first_ms.min(entry.at_ms);
            way.last_ms = way.last_ms.max(entry.at_ms);
            way.operations += 1;
            way.failed += u64::from(entry.code.is_some());
        }
        if page.next.is_none() || seen >= COUNTED {
            break page.next;
        }
        filter.cursor = page.next;
    };
    ways.sort_by_key(|(_, way)| std::cmp::Reverse(way.last_ms));
    ways.truncate(limit);
    let named = |text: String| Some(text).filter(|text| !text.is_empty());
    let routes = ways.into_iter().map(|([session, caller, client, transport], way)| {
        let output = WayOutput {
            session: named(session),
            caller,
            client: named(client),
            transport,
            first: rfc3339(way.first_ms),
            last: rfc3339(way.last_ms),
            operations: way.operations,
            failed: way.failed,
        };
        (output, way.first_ms, way.last_ms)
    });
    Ok(CountedRoutes { routes: routes.collect(), seen, next })
}
