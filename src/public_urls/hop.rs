//! The hops between a client and this computer.

use schemars::JsonSchema;
use serde::Serialize;

use crate::installation::steps::StepState;
use bailiwick_providers::http_client::{NetworkError, NetworkHop};

/// A hop, in the order in which a client passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Hop {
    /// The name has an address.
    Dns,
    /// Something listens there.
    Connect,
    /// The connection is encrypted, with a certificate that this computer trusts.
    Tls,
    /// Bailiwick answers, by way of the tunnel.
    Health,
    /// A request without a token is refused, and the refusal names the metadata.
    Challenge,
    /// The metadata of the endpoint (RFC 9728).
    ResourceMetadata,
    /// The metadata of the logins (RFC 8414).
    ServerMetadata,
    /// A client registers.
    Registration,
    /// The MCP handshake, with a token.
    Initialize,
    /// The list of tools.
    ToolsList,
    /// A call.
    Call,
}

impl Hop {
    /// Returns its name for a line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dns => "DNS",
            Self::Connect => "connection",
            Self::Tls => "TLS",
            Self::Health => "health",
            Self::Challenge => "refusal without a token",
            Self::ResourceMetadata => "metadata of the endpoint",
            Self::ServerMetadata => "metadata of the login",
            Self::Registration => "registration",
            Self::Initialize => "initialize",
            Self::ToolsList => "tools/list",
            Self::Call => "first call",
        }
    }
}

/// How a hop went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HopReport {
    /// The hop.
    pub hop: Hop,
    /// How it went.
    pub state: StepState,
    /// What was seen.
    pub saw: String,
    /// The smallest change that helps; null where nothing has to change.
    pub fix: Option<String>,
}

impl HopReport {
    /// Creates the report of a hop that was passed.
    pub fn ok(hop: Hop, saw: impl Into<String>) -> Self {
        Self { hop, state: StepState::Ok, saw: saw.into(), fix: None }
    }

    /// Creates the report of a hop that was not tried.
    pub fn skipped(hop: Hop, why: impl Into<String>) -> Self {
        Self { hop, state: StepState::Skipped, saw: why.into(), fix: None }
    }

    /// Creates the report of a hop that fails.
    pub fn failed(hop: Hop, saw: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { hop, state: StepState::Failed, saw: saw.into(), fix: Some(fix.into()) }
    }

    /// Creates the reports of a request that got no answer: the hops before the one that fails were passed.
    pub fn of_network(
        host: &str,
        is_https: bool,
        is_name: bool,
        result: Result<(), &NetworkError>,
    ) -> Vec<Self> {
        let failed_at = result.err().map(|error| error.hop);
        let mut reports = Vec::new();
        if is_name && failed_at != Some(NetworkHop::Dns) {
            reports.push(Self::ok(Hop::Dns, format!("{host} has an address")));
        }
        if failed_at.is_none_or(|hop| hop > NetworkHop::Connect) {
            reports.push(Self::ok(Hop::Connect, "something listens there"));
        }
        if is_https && failed_at.is_none_or(|hop| hop > NetworkHop::Tls) {
            reports.push(Self::ok(Hop::Tls, "the certificate is valid"));
        }
        if let Err(NetworkError { hop, problem }) = result {
            let (hop, fix) = match hop {
                NetworkHop::Dns => {
                    (Hop::Dns, "Check the name. A new one can take a minute until it is known everywhere.")
                }
                NetworkHop::Connect => {
                    (Hop::Connect, "Start the tunnel or proxy at that address, or correct the port.")
                }
                NetworkHop::Tls => (
                    Hop::Tls,
                    "Give the tunnel or proxy a certificate that is valid for this name and publicly trusted.",
                ),
                NetworkHop::Http => (Hop::Health, "Let the tunnel or proxy forward HTTP to Bailiwick."),
            };
            reports.push(Self::failed(hop, problem.clone(), fix));
        }
        reports
    }
}

/// Returns the hop that fails, if one does.
pub fn first_failure(reports: &[HopReport]) -> Option<&HopReport> {
    reports.iter().find(|report| report.state == StepState::Failed)
}
