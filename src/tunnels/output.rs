//! What `tunnel …` prints with `--json`.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::{Authentication, Config};
use bailiwick_contract::Capability;

use crate::installation::text::one_line;
use crate::public_urls::hop::Hop;

/// What would be open, or is.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TunnelOutput {
    /// Always true.
    pub ok: bool,
    /// Whether the config was changed.
    pub written: bool,
    /// The URL of the MCP endpoint for clients elsewhere; null where there is none, or not yet.
    pub url: Option<String>,
    /// Where the tunnel or proxy forwards it to; null where the port is chosen when it starts.
    pub forward_to: Option<String>,
    /// The program that would be started, with its words; empty where there is none.
    pub command: Vec<String>,
    /// What you could allow a client at most.
    pub scopes: Vec<ReachableScope>,
}

/// A scope that clients could use.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReachableScope {
    /// The scope's id.
    pub id: String,
    /// What it grants.
    pub capabilities: Vec<Capability>,
}

impl TunnelOutput {
    /// Returns what the scopes of a config would allow.
    pub fn new(config: &Config) -> Self {
        let scopes = config.scopes.iter().map(|scope| ReachableScope {
            id: scope.id.clone(),
            capabilities: Capability::ALL.iter().copied().filter(|it| scope.grants(*it)).collect(),
        });
        Self {
            ok: true,
            written: false,
            url: None,
            forward_to: None,
            command: Vec::new(),
            scopes: scopes.collect(),
        }
    }

    /// Says it for a person, below what would serve it.
    pub fn described(&self, head: &str) -> String {
        let mut text = format!("{head}\n");
        text.push_str(if self.scopes.is_empty() {
            "No scope is open yet.\n"
        } else {
            "You could allow at most:\n"
        });
        for scope in &self.scopes {
            let all: Vec<String> = scope.capabilities.iter().map(ToString::to_string).collect();
            let all = if all.is_empty() { "nothing".to_owned() } else { all.join(" ") };
            text.push_str(&format!("  {}: {all}\n", one_line(&scope.id)));
        }
        text
    }
}

/// What happens to a tunnel while it runs: one line each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum TunnelEvent {
    /// It leads here from now on.
    Open {
        /// The URL of the MCP endpoint; null where the tunnel has none.
        url: Option<String>,
        /// Where the program forwards it to.
        forward_to: String,
        /// How a client gets in.
        authentication: Authentication,
    },
    /// A round trip has come back to this computer.
    Reachable,
    /// A round trip has failed.
    Unreachable {
        /// The hop that fails.
        hop: Hop,
        /// What was seen.
        saw: String,
        /// The smallest change that helps.
        fix: Option<String>,
    },
    /// The program has ended, or was ended: nothing is served.
    Ended {
        /// Why.
        why: String,
        /// When it is started again, in milliseconds.
        again_in_ms: u64,
    },
    /// The command ends: nothing is served any more.
    Closed,
}
