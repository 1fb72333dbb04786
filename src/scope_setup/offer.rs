//! What is open to a caller: which tools to list, and which scopes to name.
//!
//! Only a courtesy to clients: the policy judges every request again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_contract::{Caller, Capability, Effect, ScopeNeed, ScopeType};
use bailiwick_engine::registry::{Entry, Registry};
use bailiwick_engine::service::ServiceState;
use bailiwick_policy::{CapabilityStatus, Grants, Scope, Scopes};

/// What a caller can do, as far as listings go.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Offer {
    /// The ids of the scopes that the caller may name.
    pub scopes: Vec<String>,
    /// Whether some operation with an effect is open to the caller in some scope.
    pub effects: bool,
    /// Whether the caller may read the history of some scope.
    pub history: bool,
    /// The ids of the scopes whose kept pictures are open to the caller.
    #[serde(default)]
    pub captures: Vec<String>,
    /// Whether the caller may look at a project as a whole.
    #[serde(default)]
    pub overview: bool,
    /// Whether the caller may have Codex work in some scope.
    #[serde(default)]
    pub codex: bool,
}

impl Offer {
    /// Finds out what is open to a caller.
    pub fn to(caller: &Caller, state: &ServiceState) -> Self {
        Self::of(caller, &state.scopes, &state.facts.registry)
    }

    /// As [`Offer::to`], without a service.
    pub fn of(caller: &Caller, scopes: &Scopes, registry: &Registry) -> Self {
        let scopes: Vec<&Scope> = scopes.open_to(caller).map(AsRef::as_ref).collect();
        let opened = |entry: &Entry| {
            scopes.iter().any(|scope| standing(caller, scope, entry) != CapabilityStatus::Denied)
        };
        let effects = registry.operations().filter(|entry| !entry.spec.effect.is_read_only()).any(opened);
        Self {
            scopes: scopes.iter().map(|scope| scope.id().to_owned()).collect(),
            effects,
            history: scopes.iter().any(|scope| may(caller, scope, Capability::HistoryRead)),
            captures: scopes
                .iter()
                .filter(|scope| scope.scope_type() == ScopeType::Computer)
                .filter(|scope| may(caller, scope, Capability::ScreenCapture))
                .map(|scope| scope.id().to_owned())
                .collect(),
            overview: registry.entry("code.context").is_some_and(opened),
            codex: registry.entry("codex.run").is_some_and(opened),
        }
    }
}

fn may(caller: &Caller, scope: &Scope, capability: Capability) -> bool {
    Grants::of(caller, Some(scope)).level(capability) != CapabilityStatus::Denied
}

/// Returns how a scope stands to an operation for a caller: the least of what its groups of capabilities get.
pub fn standing(caller: &Caller, scope: &Scope, entry: &Entry) -> CapabilityStatus {
    let fits = match entry.spec.scope {
        ScopeNeed::Optional => true,
        ScopeNeed::In(types) => types.contains(&scope.scope_type()),
    };
    if !fits || !entry.spec.supports_platform(std::env::consts::OS) {
        return CapabilityStatus::Denied;
    }
    let grants = Grants::of(caller, Some(scope));
    let of_group =
        |group: &&[Capability]| grants.best_of(group).map_or(CapabilityStatus::Denied, |(_, level)| level);
    let groups: Vec<CapabilityStatus> = entry.spec.capabilities.iter().map(of_group).collect();
    let least = [CapabilityStatus::Denied, CapabilityStatus::Ask].into_iter().find(|it| groups.contains(it));
    least.unwrap_or(CapabilityStatus::Granted)
}

/// An operation, and where it is open.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OperationOutput {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// What it does to the computer.
    pub effect: Effect,
    /// The capabilities that it needs: one of each group.
    pub needs: Vec<Vec<&'static str>>,
    /// The scopes in which the client can use it.
    pub open: Vec<String>,
    /// The scopes that set it to `ask`: each request needs approval.
    pub ask: Vec<String>,
}

/// An MCP tool.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolOutput {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Whether the client is told that it changes nothing.
    #[serde(rename = "readOnly")]
    pub read_only: bool,
}

/// `tools`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolsOutput {
    /// Always true.
    pub ok: bool,
    /// Who is asked about: `local`, or the name of a token.
    pub caller: String,
    /// The scopes that the client may name.
    pub scopes: Vec<String>,
    /// The MCP tools that are listed to it.
    pub tools: Vec<ToolOutput>,
    /// The operations; those that are open nowhere only with `--all`.
    pub operations: Vec<OperationOutput>,
}

/// Returns the operations that a caller can use, in one scope or in all; with `all` also those that are open nowhere.
pub fn operations(
    only: Option<&str>,
    all: bool,
    caller: &Caller,
    scopes: &Scopes,
    registry: &Registry,
) -> Vec<OperationOutput> {
    let is_asked = |scope: &&Scope| only.is_none_or(|id| id == scope.id());
    let named: Vec<&Scope> = scopes.open_to(caller).map(AsRef::as_ref).filter(is_asked).collect();
    let mut found = Vec::new();
    for entry in registry.operations() {
        let (mut open, mut ask) = (Vec::new(), Vec::new());
        for scope in &named {
            match standing(caller, scope, entry) {
                CapabilityStatus::Granted => open.push(scope.id().to_owned()),
                CapabilityStatus::Ask => ask.push(scope.id().to_owned()),
                CapabilityStatus::Denied => {}
            }
        }
        if open.is_empty() && ask.is_empty() && !all {
            continue;
        }
        let names = entry.spec.capabilities.iter();
        found.push(OperationOutput {
            name: entry.spec.name,
            summary: entry.spec.summary,
            effect: entry.spec.effect,
            needs: names.map(|group| group.iter().map(|it| it.as_str()).collect()).collect(),
            open,
            ask,
        });
    }
    found
}
