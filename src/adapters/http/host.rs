//! Reading and judging the `Host` header: the defence against names that are rebound to this computer.

use std::net::IpAddr;

use http::header::HOST;
use http::{HeaderMap, Uri};

use crate::installation::host::Host;

/// Headers by which a proxy or a tunnel says for whom it speaks.
///
/// # Source
/// RFC 7239 for `Forwarded`, RFC 8586 for `CDN-Loop`; the others are what nginx, HAProxy, Akamai, Fly and Amazon send.
const FORWARDED: &[&str] = &[
    "forwarded",
    "via",
    "cdn-loop",
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "fly-client-ip",
    "x-amzn-trace-id",
];
/// How further ones begin: those of most proxies, Cloudflare, Tailscale, ngrok and Envoy.
const FORWARDED_PREFIXES: &[&str] =
    &["x-forwarded", "x-original-", "x-envoy-", "cf-", "tailscale-", "ngrok-"];

/// The hosts under which the service answers.
#[derive(Debug, Clone)]
pub(super) struct Hosts {
    allowed: Vec<Host>,
}

impl Hosts {
    /// Compiles the list: loopback names with any port, the address that is listened on, and the
    /// configured ones. Returns the entry that cannot be read as an error.
    pub fn compile(configured: &[String], bound: IpAddr) -> Result<Self, String> {
        let mut allowed = Vec::new();
        if !bound.is_unspecified() {
            allowed.push(Host { name: bound.to_canonical().to_string(), port: None });
        }
        for entry in configured {
            allowed.push(Host::parse(entry).ok_or_else(|| entry.clone())?);
        }
        Ok(Self { allowed })
    }

    /// Returns whether a request names a host under which the service answers: one `Host` header, and the
    /// same one in the target where that is absolute.
    pub fn accept(&self, headers: &HeaderMap, target: &Uri) -> bool {
        let mut values = headers.get_all(HOST).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return false };
        let Some(host) = value.to_str().ok().and_then(Host::parse) else { return false };
        let same_target = match target.authority() {
            Some(authority) => Host::parse(authority.as_str()).as_ref() == Some(&host),
            None => true,
        };
        same_target && (host.is_loopback() || self.allowed.iter().any(|entry| matches(entry, &host)))
    }

    /// Returns whether an accepted request was sent to this computer by its own name, and by nobody in between. A
    /// request through a tunnel or a proxy comes from loopback too.
    pub fn is_from_here(headers: &HeaderMap) -> bool {
        named(headers).is_some_and(|host| host.is_loopback()) && !Self::is_passed_on(headers)
    }

    /// Returns whether a tunnel or a proxy says that it has passed a request on.
    pub fn is_passed_on(headers: &HeaderMap) -> bool {
        let says_so = |name: &str| {
            FORWARDED.contains(&name) || FORWARDED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        };
        headers.keys().any(|name| says_so(name.as_str()))
    }

    /// Returns whether an accepted request names a host.
    pub fn names(headers: &HeaderMap, entry: &str) -> bool {
        let entry = Host::parse(entry);
        entry.zip(named(headers)).is_some_and(|(entry, host)| matches(&entry, &host))
    }
}

fn named(headers: &HeaderMap) -> Option<Host> {
    headers.get(HOST).and_then(|value| value.to_str().ok()).and_then(Host::parse)
}

/// An entry without a port stands for every port.
fn matches(entry: &Host, host: &Host) -> bool {
    entry.name == host.name && (entry.port.is_none() || entry.port == host.port)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Hosts {
        let configured = ["bw.example".to_owned(), "tunnel.example:8443".to_owned()];
        Hosts::compile(&configured, "127.0.0.1".parse().expect("an address")).expect("valid entries")
    }

    fn accepts(values: &[&str], target: &str) -> bool {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(HOST, value.parse().expect("a header value"));
        }
        hosts().accept(&headers, &target.parse().expect("a target"))
    }

    #[test]
    fn loopback_and_configured_hosts_are_accepted() {
        for host in [
            "localhost",
            "LOCALHOST:3939",
            "127.0.0.1",
            "127.0.0.1:3939",
            "[::1]",
            "[::1]:3939",
            "[0:0:0:0:0:0:0:1]:1",
            "bw.example",
            "bw.example:443",
            "tunnel.example:8443",
        ] {
            assert!(accepts(&[host], "/mcp"), "{host}");
        }
        assert!(accepts(&["localhost:3939"], "http://localhost:3939/mcp"));
    }

    #[test]
    fn foreign_malformed_and_doubled_hosts_are_refused() {
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "tunnel.example",
            "evil.example@127.0.0.1:80",
            "localhost:",
            "localhost:99999",
            "localhost:8o",
            "localhost:1:2",
            "localhost/x",
            "localhost,evil.example",
            " localhost x",
            "[::1",
            "::1",
            "[::1]x",
            "localhost.",
            "0.0.0.0",
            "loc\talhost",
        ] {
            assert!(!accepts(&[host], "/mcp"), "{host}");
        }
        assert!(!accepts(&[], "/mcp"));
        assert!(!accepts(&["localhost", "localhost"], "/mcp"));
        assert!(!accepts(&["localhost"], "http://evil.example/mcp"));
        assert!(!accepts(&["localhost"], "http://user@localhost/mcp"));
    }

    #[test]
    fn what_a_proxy_adds_is_known_and_what_clients_send_is_not_taken_for_it() {
        let is_passed_on = |name: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, http::HeaderValue::from_static("192.0.2.1"));
            Hosts::is_passed_on(&headers)
        };
        for name in [
            "forwarded",
            "via",
            "x-forwarded-for",
            "x-forwarded-server",
            "x-forwarded",
            "x-real-ip",
            "x-client-ip",
            "true-client-ip",
            "cf-connecting-ip",
            "cf-ray",
            "cdn-loop",
            "tailscale-user-login",
            "ngrok-trace-id",
            "x-original-host",
            "x-envoy-external-address",
        ] {
            assert!(is_passed_on(name), "{name}");
        }
        for name in
            ["user-agent", "origin", "x-request-id", "sec-fetch-site", "mcp-protocol-version", "cookie"]
        {
            assert!(!is_passed_on(name), "{name}");
        }
    }

    #[test]
    fn an_entry_that_is_no_host_is_named() {
        let wrong = Hosts::compile(&["https://x".to_owned()], "::1".parse().expect("an address"));
        assert_eq!(wrong.expect_err("not a host"), "https://x");
    }
}
