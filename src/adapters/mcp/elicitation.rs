//! Asking for approval in the client, where it can ask its user and the scope lets an answer there count.
//!
//! Until revision 2025-11-25 the server sends a request of its own; from 2026-07-28 on the call is answered with what is
//! needed, and sent again with the answer. No answer (`cancel`) leaves the ticket to `bailiwick approve`.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use bailiwick_contract::Reply;

/// How long a client may take to answer before its call is answered without.
const ANSWER_LIMIT: Duration = Duration::from_secs(300);
/// The name of the question in a call that is sent again.
const QUESTION: &str = "approve";

/// What a client is asked.
pub(super) struct Elicitation {
    /// The ticket that an answer is for.
    pub ticket: String,
    message: String,
}

/// What was answered: the ticket, and whether it was accepted; `None` where nobody was there.
pub(super) type ClientAnswer = (String, Option<bool>);

/// Returns whether the client of a request can ask its user.
pub(super) fn is_supported(context: &RequestContext<RoleServer>) -> bool {
    context.client_capabilities().is_some_and(|it| can_ask(&it))
}

/// Returns whether a client that can do this can ask its user.
pub(super) fn can_ask(capabilities: &ClientCapabilities) -> bool {
    // Older revisions declare it without its forms.
    capabilities.elicitation.as_ref().is_some_and(|it| it.form.is_some() || it.url.is_none())
}

/// Takes the answer out of a call that is sent again with one.
pub(super) fn take_answer(request: &mut CallToolRequestParams) -> Option<ClientAnswer> {
    let ticket = request.request_state.take()?;
    let answer = request.input_responses.take()?.remove(QUESTION)?;
    let answer: ElicitResult = serde_json::from_value(answer).ok()?;
    Some((ticket, verdict(&answer.action)))
}

fn verdict(action: &ElicitationAction) -> Option<bool> {
    match action {
        ElicitationAction::Accept => Some(true),
        ElicitationAction::Decline => Some(false),
        _ => None,
    }
}

impl Elicitation {
    /// Returns what to ask after this reply; `None` where a client's answer would not count.
    pub fn of(reply: &Reply) -> Option<Self> {
        if reply.ok {
            return None;
        }
        let reply: Value = serde_json::from_str(&reply.text).ok()?;
        let error = &reply["error"];
        let approval = &error["details"]["approval"];
        if error["code"] != "approval_required" || approval["clientMayAnswer"] != true {
            return None;
        }
        let ticket = error["details"]["approvalId"].as_str()?.to_owned();
        let mut message = format!("Bailiwick: {}.", error["message"].as_str()?);
        let lines = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        for line in lines(&approval["commands"]) {
            message.push_str(&format!("\n{line}"));
        }
        for name in ["target", "containment"] {
            message.extend(approval[name].as_str().map(|text| format!("\n{name}: {text}")));
        }
        Some(Self { ticket, message })
    }

    fn request(&self) -> ElicitRequest {
        ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.message.clone(),
            requested_schema: ElicitationSchema::new(BTreeMap::new()),
        })
    }

    /// Returns the answer of a call that needs an answer first. The state names the ticket and opens nothing: a ticket is of
    /// one caller and one request, and is answered once.
    pub fn required(&self) -> InputRequiredResult {
        let requests = BTreeMap::from([(QUESTION.to_owned(), InputRequest::Elicitation(self.request()))]);
        InputRequiredResult::new(Some(requests), Some(self.ticket.clone()))
    }

    /// Asks the client of an older revision. `None` where nobody was there, or the client has gone.
    pub async fn ask(&self, peer: &Peer<RoleServer>, gone: &CancellationToken) -> Option<bool> {
        let options = PeerRequestOptions::with_timeout(ANSWER_LIMIT);
        let asked = async {
            let request = ServerRequest::ElicitRequest(self.request());
            let handle = peer.send_request_with_option(request, options).await.ok()?;
            match handle.await_response().await.ok()? {
                ClientResult::ElicitResult(answer) => verdict(&answer.action),
                _ => None,
            }
        };
        tokio::select! {
            answer = asked => answer,
            () = gone.cancelled() => None,
        }
    }
}
