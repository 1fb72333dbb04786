//! By which URLs clients elsewhere reach this computer, each tried now: `status`, `doctor` and its proof ask here.

use std::time::Duration;

use bailiwick_config::{Authentication, Config, Exposure, PublicUrl, Reachability, TunnelLock};
use bailiwick_contract::time::{now_ms, rfc3339};
use bailiwick_contract::{ErrorCode, Failure};

use super::check::UrlCheck;
use super::hop::{HopReport, first_failure};
use crate::installation::home::Home;
use crate::installation::runtime;
use crate::installation::text::one_line;
use bailiwick_providers::http_client::HttpUrl;

/// A URL that was tried.
pub struct TriedExposure {
    /// The URL, with what was seen.
    pub exposure: Exposure,
    /// What helps where it is not reachable.
    pub fix: Option<String>,
}

impl TriedExposure {
    /// Returns what it is, and whether it leads here.
    pub fn says(&self) -> String {
        let Exposure { by, url, reachability, problem, .. } = &self.exposure;
        let url = url.as_deref().map_or_else(|| format!("the tunnel of {by}"), one_line);
        let by = match by.as_str() {
            "manual" => "",
            _ if self.exposure.url.is_none() => "",
            other => &format!(", by {other}"),
        };
        let authentication = match self.exposure.authentication {
            Authentication::Login => "clients log in or have a token",
            Authentication::Token => "it adds a token",
        };
        let state = match (reachability, problem) {
            (Reachability::Reachable, _) => "a round trip came back".to_owned(),
            (Reachability::Unchecked, _) => "not tried".to_owned(),
            (Reachability::Unreachable, Some(problem)) => format!("not reachable: {}", one_line(problem)),
            (Reachability::Unreachable, None) => "not reachable".to_owned(),
        };
        format!("{url}{by} ({authentication}): {state}")
    }
}

/// Tries every URL that there is, one after the other.
pub fn tried(home: &Home, config: &Config, time: Duration) -> Vec<TriedExposure> {
    let all = Exposure::all(config, &home.dirs);
    if all.is_empty() {
        return Vec::new();
    }
    let not_tried = |exposure: &Exposure| TriedExposure { exposure: exposure.clone(), fix: None };
    let Ok(runtime) = runtime::small() else { return all.iter().map(not_tried).collect() };
    let tried = runtime.block_on(async {
        let mut tried = Vec::new();
        for exposure in &all {
            tried.push(one(home, exposure.clone(), time).await);
        }
        tried
    });
    runtime.shutdown_background();
    tried
}

async fn one(home: &Home, mut exposure: Exposure, time: Duration) -> TriedExposure {
    // A tunnel without a URL is asked by its own process, whose note says what it saw.
    let Some(Ok(url)) = exposure.url.as_deref().map(HttpUrl::parse) else {
        return TriedExposure { exposure, fix: None };
    };
    let mut hops = Vec::new();
    let mut report = |hop: HopReport| hops.push(hop);
    let trip = UrlCheck::new(&url, &mut report).within(time).round_trip(&home.dirs);
    let is_whole = tokio::time::timeout(time, trip).await.is_ok();
    exposure.checked_at = Some(rfc3339(now_ms()));
    let (reachability, problem, fix) = match first_failure(&hops) {
        Some(hop) => {
            (Reachability::Unreachable, Some(format!("{}: {}", hop.hop.name(), hop.saw)), hop.fix.clone())
        }
        None if is_whole => (Reachability::Reachable, None, None),
        None => {
            let problem = format!("the round trip was not back within {} s", time.as_secs());
            (Reachability::Unreachable, Some(problem), None)
        }
    };
    (exposure.reachability, exposure.problem) = (reachability, problem);
    TriedExposure { exposure, fix }
}

/// Finds the URL by which a client elsewhere connects; `local` is the one for clients on this computer.
///
/// # Errors
/// `provider_unavailable` where there is none.
pub fn public_url(
    home: &Home,
    local: &str,
    config: &Config,
    client: &str,
    is_chatgpt: bool,
) -> Result<PublicUrl, Failure> {
    Exposure::public_url(config, &home.dirs).filter(PublicUrl::is_https).ok_or_else(|| {
        let by_tunnel = TunnelLock::exposure(&home.dirs).is_some_and(|tunnel| tunnel.by == "openai");
        if by_tunnel && is_chatgpt {
            return Failure::new(
                ErrorCode::ProviderUnavailable,
                "ChatGPT reaches this computer by OpenAI's tunnel, which has no URL to enter",
            )
            .hint(
                "In ChatGPT, create an app with the connection `Tunnel`, this tunnel, and no authentication.",
            );
        }
        let local = local.trim_end_matches("/mcp");
        Failure::new(
            ErrorCode::ProviderUnavailable,
            format!("{} connects from the computers of its maker, and this one has no public URL", client),
        )
        .hint("Have one forwarded: `bailiwick tunnel cloudflare`, or `bailiwick tunnel tailscale`.")
        .hint(format!("Or forward one to {local} yourself, then run `bailiwick tunnel manual URL` with it."))
    })
}
