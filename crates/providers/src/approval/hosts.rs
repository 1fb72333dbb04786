//! Hosts that no entry of a scope names, and that its config has the user asked about.

use sha2::{Digest, Sha256};

use bailiwick_contract::{Caller, hex};
use bailiwick_policy::command::{HostName, allowing_word};

use super::store::{ApprovalError, Approvals};
use super::ticket::{ApprovalTerm, Ticket};
use crate::egress::{AskAboutHosts, HostAnswer};

/// How many characters of a host are shown.
const SHOWN_CHARS: usize = 253;

/// Asks about hosts for one command of a caller.
#[derive(Debug)]
pub struct HostApprovals {
    /// Where tickets are.
    pub store: Approvals,
    /// Whose command it is.
    pub caller: Caller,
    /// The scope.
    pub scope: String,
    /// The operation.
    pub op: &'static str,
    /// What kind of effect it has.
    pub effect: String,
    /// The id of the request in the history.
    pub operation_id: String,
    /// The command, without secrets.
    pub command: String,
    /// What contains it.
    pub containment: String,
}

impl HostApprovals {
    fn key(&self, host: &HostName, port: u16) -> String {
        let mut hash = Sha256::new();
        for text in ["host", self.caller.identity(), &self.scope, &host.to_string(), &port.to_string()] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hex(&hash.finalize())
    }

    fn ticket(&self, key: String, host: &HostName, port: u16) -> Ticket {
        let shown: String = format!("{host}:{port}").chars().take(SHOWN_CHARS).collect();
        Ticket {
            scope: self.scope.clone(),
            op: self.op.to_owned(),
            effect: self.effect.clone(),
            target: Some(shown.clone()),
            containment: Some(self.containment.clone()),
            fields: vec![format!("command: {}", self.command)],
            why: vec![format!("`{shown}` is not among the hosts that scope `{}` allows", self.scope)],
            hosts_to_add: vec![allowing_word(host, port)],
            has_rule: true,
            ..Ticket::new(&self.caller, self.operation_id.clone(), key)
        }
    }
}

impl AskAboutHosts for HostApprovals {
    fn ask(&self, host: &HostName, port: u16) -> HostAnswer {
        let key = self.key(host, port);
        match self.store.take(&key, self.caller.identity(), self.caller.client_session()) {
            // What a client has approved does not open the network.
            Ok(Some(decision)) if !decision.is_of_client => {
                return HostAnswer::Approved {
                    is_for_command: decision.approved == Some(ApprovalTerm::Once),
                };
            }
            Ok(_) => {}
            Err(error) => return HostAnswer::Unavailable(error.to_string()),
        }
        if self.store.refusal(&key).is_some() {
            return HostAnswer::Refused;
        }
        match self.store.open(&self.ticket(key, host, port)) {
            Ok(ticket) => HostAnswer::Waiting(ticket.id),
            Err(
                error @ (ApprovalError::TooMany
                | ApprovalError::TooLarge
                | ApprovalError::Gone
                | ApprovalError::Io(_)),
            ) => HostAnswer::Unavailable(error.to_string()),
        }
    }
}
