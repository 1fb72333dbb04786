//! Hosts that no entry of a scope names, and that its config has the user asked about.

use sha2::{Digest, Sha256};

use bailiwick_contract::{Caller, hex, id, time};
use bailiwick_platform::machine::BootMoment;
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
        let opened_at_ms = time::now_ms();
        let shown: String = format!("{host}:{port}").chars().take(SHOWN_CHARS).collect();
        Ticket {
            version: Ticket::VERSION,
            id: id::new_id(),
            key,
            scope: self.scope.clone(),
            op: self.op.to_owned(),
            effect: self.effect.clone(),
            target: Some(shown.clone()),
            commands: Vec::new(),
            containment: Some(self.containment.clone()),
            fields: vec![format!("command: {}", self.command)],
            capabilities: Vec::new(),
            why: vec![format!("`{shown}` is not among the hosts that scope `{}` allows", self.scope)],
            rules_to_remove: Vec::new(),
            rules_to_add: Vec::new(),
            files_to_open: Vec::new(),
            hosts_to_add: vec![allowing_word(host, port)],
            is_first_use: false,
            has_rule: true,
            caller: self.caller.name.clone(),
            caller_id: self.caller.identity().to_owned(),
            client: self.caller.client.clone(),
            transport: self.caller.transport.as_str().to_owned(),
            session: self.caller.session.clone(),
            operation_id: self.operation_id.clone(),
            client_may_answer: false,
            opened_at_ms,
            expires_at_ms: opened_at_ms + Ticket::LIFE_MS,
            opened: BootMoment::now(),
        }
    }
}

impl AskAboutHosts for HostApprovals {
    fn ask(&self, host: &HostName, port: u16) -> HostAnswer {
        let key = self.key(host, port);
        match self.store.take(&key, self.caller.identity(), self.caller.session.as_deref()) {
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
