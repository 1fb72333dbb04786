//! What the listener is told.

use bailiwick_config::{Config, PublicUrl, TlsConfig};

/// The largest request body: 4 MiB.
pub const MAX_BODY_BYTES: usize = 4 << 20;

/// How many bytes the bodies of all requests in flight have at most: further requests wait.
/// A body is there several times while it is parsed and judged.
pub(super) const MAX_BODIES_BYTES: usize = 24 << 20;
/// From this size on, work with a body must not keep other connections waiting.
pub(super) const LARGE_BODY_BYTES: usize = 128 << 10;
/// How many requests are served at the same time; further ones wait.
pub(super) const MAX_REQUESTS: usize = 320;

/// Where to listen and what to accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSettings {
    /// The address or name to listen on.
    pub host: String,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// `Host` values that are accepted beyond loopback names, as `name` or `name:port`.
    pub allowed_hosts: Vec<String>,
    /// `Origin` values that are accepted beyond loopback ones, as `scheme://name[:port]`.
    pub allowed_origins: Vec<String>,
    /// Serve callers without a token, if bound to loopback.
    pub allow_loopback_without_token: bool,
    /// The URL at which clients elsewhere reach the service and log in, if there is one.
    pub public_url: Option<PublicUrl>,
    /// Whether a tunnel is all that connects: every request counts as public, whatever it says of itself.
    pub public_only: bool,
    /// Encrypt the connections, with this certificate.
    pub tls: Option<TlsConfig>,
}

impl HttpSettings {
    /// Takes the settings from a config.
    pub fn from_config(config: &Config) -> Self {
        Self {
            host: config.host.clone(),
            port: config.port,
            allowed_hosts: config.http.allowed_hosts.clone(),
            allowed_origins: config.http.allowed_origins.clone(),
            allow_loopback_without_token: config.http.allow_loopback_without_token,
            public_url: config.http.public_base_url.clone(),
            public_only: false,
            tls: config.http.tls.clone(),
        }
    }
}
