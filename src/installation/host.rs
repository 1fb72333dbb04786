//! Hosts and web origins as requests and the config name them.
//!
//! The parser is strict on purpose. General authority parsers take `evil.example@127.0.0.1` for `127.0.0.1`.

use std::net::{IpAddr, Ipv6Addr};

/// A host as a request or the config names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// In lower case; IPv6 addresses in their shortest form, without brackets.
    pub name: String,
    /// The port, if one is named.
    pub port: Option<u16>,
}

impl Host {
    /// Reads `name`, `name:port`, `[address]` or `[address]:port`. Nothing else is a host.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, port) = if let Some(rest) = text.strip_prefix('[') {
            let (address, port) = rest.split_once(']')?;
            (address.parse::<Ipv6Addr>().ok()?.to_string(), port)
        } else {
            let at = text.find(':').unwrap_or(text.len());
            let (name, port) = text.split_at(at);
            let plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.');
            if name.is_empty() || name.len() > 253 || !name.bytes().all(plain) {
                return None;
            }
            (name.to_ascii_lowercase(), port)
        };
        let port = match port.strip_prefix(':') {
            None if port.is_empty() => None,
            Some(digits)
                if (1..=5).contains(&digits.len()) && digits.bytes().all(|it| it.is_ascii_digit()) =>
            {
                Some(digits.parse().ok()?)
            }
            _ => return None,
        };
        Some(Self { name, port })
    }

    /// Returns whether it names this computer's loopback interface. `localhost` counts, other names never.
    pub fn is_loopback(&self) -> bool {
        self.name == "localhost" || self.name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
    }
}

/// Returns whether a text can be in `http.allowedHosts`.
pub fn is_host(text: &str) -> bool {
    Host::parse(text).is_some()
}

/// Returns whether a text is an origin as browsers say it: scheme, name, and a port that is not the usual one.
pub fn is_origin(text: &str) -> bool {
    let is_scheme = |it: &str| {
        it.starts_with(|first: char| first.is_ascii_alphabetic())
            && it.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    let parts = text.trim_end_matches('/').split_once("://");
    parts.is_some_and(|(scheme, name)| is_scheme(scheme) && Host::parse(name).is_some())
}
