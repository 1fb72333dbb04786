//! The URL at which clients elsewhere reach the service.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// An origin: `https://NAME[:PORT]`, or `http://` with a loopback name for use on this computer alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicUrl {
    origin: String,
}

impl PublicUrl {
    /// Returns the URL without a slash at its end: the issuer of logins.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the URL of the MCP endpoint, for which tokens are made.
    pub fn resource(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// Returns the host as a `Host` header has it: `name` or `name:port`.
    pub fn host(&self) -> &str {
        self.origin.split_once("://").map_or("", |(_, host)| host)
    }

    /// Returns who can come by it.
    pub fn reached_by(&self) -> &'static str {
        if self.is_https() { "clients elsewhere" } else { "programs of this computer" }
    }

    /// Returns whether it is reached over TLS.
    pub fn is_https(&self) -> bool {
        self.origin.starts_with("https://")
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)
    }
}

impl From<PublicUrl> for String {
    fn from(url: PublicUrl) -> Self {
        url.origin
    }
}

impl TryFrom<String> for PublicUrl {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("{why}; a URL such as `https://bw.example` was expected"));
        let lower = text.trim_end_matches('/').to_ascii_lowercase();
        let Some((scheme, host)) = lower.split_once("://") else { return wrong("it has no scheme") };
        if host.contains(['/', '?', '#']) {
            return wrong("it has a path: the service needs a name of its own");
        }
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
            _ => (host, None),
        };
        if port
            .is_some_and(|port| port.parse::<u16>().is_err() || !port.bytes().all(|it| it.is_ascii_digit()))
        {
            return wrong("its port is no number from 0 to 65535");
        }
        let bare = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let is_name = !name.is_empty()
            && name.len() <= 253
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.'));
        let address = bare.unwrap_or(name).parse::<IpAddr>().ok();
        if !is_name && (bare.is_none() || address.is_none()) {
            return wrong("its host is no name");
        }
        let is_loopback = name == "localhost" || address.is_some_and(|it| it.is_loopback());
        match scheme {
            "https" => Ok(Self { origin: lower }),
            "http" if is_loopback => Ok(Self { origin: lower }),
            "http" => wrong("it is not encrypted"),
            _ => wrong("its scheme is not https"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PublicUrl, String> {
        PublicUrl::try_from(text.to_owned())
    }

    #[test]
    fn origins_with_tls_and_loopback_ones_are_public_urls() {
        for (text, origin, host) in [
            ("https://bw.example", "https://bw.example", "bw.example"),
            ("https://BW.example:8443/", "https://bw.example:8443", "bw.example:8443"),
            ("http://127.0.0.1:3939", "http://127.0.0.1:3939", "127.0.0.1:3939"),
            ("http://[::1]:3939", "http://[::1]:3939", "[::1]:3939"),
            ("http://localhost:1", "http://localhost:1", "localhost:1"),
        ] {
            let url = read(text).expect(text);
            assert_eq!((url.origin(), url.host()), (origin, host));
            assert_eq!(url.resource(), format!("{origin}/mcp"));
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for text in [
            "",
            "bw.example",
            "http://bw.example",
            "http://192.168.0.1",
            "http://localhost.evil.example",
            "ftp://bw.example",
            "https://",
            "https://bw.example/path",
            "https://bw.example?x",
            "https://me@bw.example",
            "https://bw.example:99999",
            "https://bw.example:",
            "https://bw example",
            "https://[bw.example]",
            "https://::1",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
