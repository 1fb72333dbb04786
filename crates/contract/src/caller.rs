//! Callers: who sends an envelope, after an adapter has authenticated them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Capability;

/// The way by which an envelope arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// MCP over standard input and output.
    Stdio,
    /// MCP over streamable HTTP.
    Http,
    /// The JSON API.
    JsonApi,
    /// The local socket, by something other than the MCP adapter or the CLI.
    Socket,
    /// The command line.
    Cli,
}

impl Transport {
    /// Returns the name that the history stores.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::JsonApi => "json_api",
            Self::Socket => "socket",
            Self::Cli => "cli",
        }
    }
}

/// The scopes that a caller may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScopeGrant {
    /// Every configured scope.
    All,
    /// These scope ids only.
    Only(BTreeSet<String>),
}

impl ScopeGrant {
    /// Returns whether the caller may name this scope.
    pub fn allows(&self, scope_id: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.contains(scope_id),
        }
    }
}

/// The capabilities that a caller may use, of those that the scope grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CapabilityGrant {
    /// Whatever the scope grants.
    All,
    /// These only.
    Only(BTreeSet<Capability>),
}

impl CapabilityGrant {
    /// Returns whether the caller may use this capability.
    pub fn allows(&self, capability: Capability) -> bool {
        match self {
            Self::All => true,
            Self::Only(set) => set.contains(&capability),
        }
    }
}

/// An authenticated sender of envelopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The name of the token or profile, as the user gave it; `local` for the local user.
    pub name: String,
    /// The id of the token, which no other token gets; `None` for the local user.
    pub token: Option<String>,
    /// How the envelope arrived.
    pub transport: Transport,
    /// Which scopes the caller may name.
    pub scopes: ScopeGrant,
    /// Which capabilities the caller may use.
    pub capabilities: CapabilityGrant,
    /// What the client calls itself (`claude-code 2.1`), where it says so. Not proof of anything.
    pub client: Option<String>,
    /// Groups the requests of one connection in the history; made by the adapter.
    pub session: Option<String>,
    /// The connection by which the envelope arrived, where the adapter shows the service of its end.
    pub connection: Option<String>,
}

impl Caller {
    /// Creates the caller that stands for the user at this computer: every scope, every capability.
    pub fn local(transport: Transport) -> Self {
        Self {
            name: "local".to_owned(),
            token: None,
            transport,
            scopes: ScopeGrant::All,
            capabilities: CapabilityGrant::All,
            client: None,
            session: None,
            connection: None,
        }
    }

    /// Returns the session of the client, where its requests share one: over HTTP a client has many connections, and elsewhere
    /// each command is one.
    pub fn client_session(&self) -> Option<&str> {
        self.session.as_deref().filter(|_| self.transport == Transport::Stdio)
    }

    /// Creates the caller that stands for somebody who is refused.
    pub fn unknown(transport: Transport) -> Self {
        Self {
            name: "(unknown)".to_owned(),
            scopes: ScopeGrant::Only(BTreeSet::new()),
            capabilities: CapabilityGrant::Only(BTreeSet::new()),
            ..Self::local(transport)
        }
    }

    /// Returns what this caller's things belong to: the token's id, since a name can be given again.
    pub fn identity(&self) -> &str {
        self.token.as_deref().unwrap_or(&self.name)
    }
}
