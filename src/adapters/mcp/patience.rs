//! How long clients wait for the answer of a call before they give up.

use std::time::Duration;

/// How long most clients wait at least, with time for the way: the first of them give up after 60 seconds.
const USUAL: Duration = Duration::from_secs(50);

/// Clients that wait for longer or shorter, by what they call themselves, in seconds.
///
/// # Source
/// The clients' own code as of November 2026.
const CLIENTS: &[(&str, u64)] = &[
    // What the SDK for Python calls itself for all that is built with it. openai-agents leaves it at that, and gives up
    // after 5 seconds, with or without notifications of progress.
    ("mcp", 4),
    // The same over HTTP, where it says nothing but the name of its library.
    ("python-httpx", 4),
    ("python-httpx2", 4),
    ("claude-code", 600),
    ("gemini-cli-mcp-client", 600),
    // It starts over with each notification of progress.
    ("opencode", 600),
];

/// Returns how long a client waits, by its name with or without a version.
pub(super) fn of(client: Option<&str>) -> Duration {
    let name = client.and_then(|it| it.split([' ', '/']).next()).unwrap_or_default();
    let known = CLIENTS.iter().find(|(known, _)| *known == name);
    known.map_or(USUAL, |(_, seconds)| Duration::from_secs(*seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_its_name_alone() {
        for (client, seconds) in [
            (Some("mcp 0.1.0"), 4),
            (Some("python-httpx/0.28.1"), 4),
            (Some("mcp-use 1.7"), 50),
            (Some("claude-code 2.1.330"), 600),
            (Some("opencode"), 600),
            (Some(""), 50),
            (None, 50),
        ] {
            assert_eq!(of(client), Duration::from_secs(seconds), "{client:?}");
        }
    }
}
