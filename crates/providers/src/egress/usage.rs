//! What a command reached, what it did not, and how much went over.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;

use super::gate::{Destination, Refusal};

/// How many hosts are counted each for itself. Further ones count in the sums.
const MAX_HOSTS: usize = 64;

/// What a command reached of the hosts that its scope allows, and what it did not reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NetworkUse {
    /// How many bytes went out.
    pub sent_bytes: u64,
    /// How many bytes came in.
    pub received_bytes: u64,
    /// The hosts that it connected to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostUse>,
    /// What was refused or could not be reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedHost>,
    /// `true` if there were more hosts than are listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// A host that was connected to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HostUse {
    /// `HOST:PORT`.
    pub host: String,
    /// How often.
    pub connections: u64,
    /// How many bytes went there.
    pub sent_bytes: u64,
    /// How many bytes came from there.
    pub received_bytes: u64,
    /// `true` if a TLS greeting had an encrypted part, in which another name could be: only the outer one was compared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub encrypted_hello: bool,
}

/// What was not reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusedHost {
    /// `HOST:PORT`, as far as it could be read.
    pub host: String,
    /// Why.
    pub reason: String,
    /// How often.
    pub times: u64,
    /// The command by which the user allows it, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_by: Option<String>,
    /// The ticket that waits for the user's answer, where the scope asks about hosts: once it is approved, the next try succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
}

/// Counts for one host.
#[derive(Debug, Default)]
pub(super) struct HostCounter {
    connections: AtomicU64,
    pub(super) sent: AtomicU64,
    pub(super) received: AtomicU64,
    pub(super) encrypted_hello: AtomicBool,
}

#[derive(Debug, Default)]
struct UsageNotes {
    hosts: BTreeMap<String, Arc<HostCounter>>,
    /// All further hosts together.
    others: Option<Arc<HostCounter>>,
    refused: BTreeMap<String, RefusedHost>,
    has_more_refused: bool,
}

/// Counts while a command runs.
#[derive(Debug, Default)]
pub(super) struct Usage(Mutex<UsageNotes>);

impl Usage {
    fn notes(&self) -> std::sync::MutexGuard<'_, UsageNotes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn connect(&self, destination: &Destination) -> Arc<HostCounter> {
        let (host, mut noted) = (destination.to_string(), self.notes());
        let counter = if noted.hosts.len() < MAX_HOSTS || noted.hosts.contains_key(&host) {
            noted.hosts.entry(host).or_default()
        } else {
            noted.others.get_or_insert_default()
        };
        counter.connections.fetch_add(1, Ordering::Relaxed);
        Arc::clone(counter)
    }

    pub(super) fn refuse(&self, destination: &Destination, refusal: &Refusal) {
        self.refuse_text(destination.to_string(), refusal);
    }

    /// Notes what has no destination that could be read.
    pub(super) fn refuse_text(&self, host: String, refusal: &Refusal) {
        let mut noted = self.notes();
        if let Some(known) = noted.refused.get_mut(&host) {
            known.times += 1;
            known.reason.clone_from(&refusal.why);
            known.allowed_by.clone_from(&refusal.allow);
            known.approval_id.clone_from(&refusal.ticket);
            return;
        }
        if noted.refused.len() >= MAX_HOSTS {
            noted.has_more_refused = true;
            return;
        }
        let Refusal { why, allow, ticket, .. } = refusal.clone();
        let refused =
            RefusedHost { host: host.clone(), reason: why, times: 1, allowed_by: allow, approval_id: ticket };
        noted.refused.insert(host, refused);
    }

    pub(super) fn report(&self) -> NetworkUse {
        let noted = self.notes();
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let all = || noted.hosts.values().chain(&noted.others);
        NetworkUse {
            sent_bytes: all().map(|it| number(&it.sent)).sum(),
            received_bytes: all().map(|it| number(&it.received)).sum(),
            hosts: noted
                .hosts
                .iter()
                .map(|(host, it)| HostUse {
                    host: host.clone(),
                    connections: number(&it.connections),
                    sent_bytes: number(&it.sent),
                    received_bytes: number(&it.received),
                    encrypted_hello: it.encrypted_hello.load(Ordering::Relaxed),
                })
                .collect(),
            refused: noted.refused.values().cloned().collect(),
            truncated: noted.others.is_some() || noted.has_more_refused,
        }
    }
}

impl NetworkUse {
    /// Returns it in a few words for the history; none if nothing was asked for.
    pub fn summary(&self) -> Option<String> {
        let reached = self
            .hosts
            .iter()
            .map(|it| format!("{} ({} bytes out, {} in)", it.host, it.sent_bytes, it.received_bytes));
        let refused = self.refused.iter().map(|it| it.host.clone());
        let list = |hosts: Vec<String>| match hosts.len() {
            0 => None,
            1..=MAX_SUMMARY => Some(hosts.join(", ")),
            more => Some(format!("{} and {} more", hosts[..MAX_SUMMARY].join(", "), more - MAX_SUMMARY)),
        };
        let reached = list(reached.collect()).map(|hosts| format!("reached {hosts}"));
        let refused = list(refused.collect()).map(|hosts| format!("did not reach {hosts}"));
        let parts: Vec<String> = reached.into_iter().chain(refused).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    /// Returns a sentence for each host that was refused.
    pub fn warnings(&self) -> Vec<String> {
        let sentence = |it: &RefusedHost| match (&it.approval_id, &it.allowed_by) {
            (Some(id), _) => {
                format!(
                    "{}. For the user: `bailiwick approve {id}` answers it; then run it again.",
                    it.reason
                )
            }
            (None, Some(command)) => format!("{}. For the user: `{command}` allows it.", it.reason),
            (None, None) => format!("{}: {}.", it.host, it.reason),
        };
        self.refused.iter().take(MAX_SUMMARY).map(sentence).collect()
    }
}

/// How many hosts a summary names.
const MAX_SUMMARY: usize = 8;
