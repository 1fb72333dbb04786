//! The ids of one conversation's requests: two requests in flight never share one.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use rmcp::model::RequestId;
use tokio_util::sync::CancellationToken;

/// How many ids of cancelled requests are remembered.
const MAX_CANCELLED: usize = 1_024;

/// The ids that another request must not have now.
#[derive(Debug, Default)]
pub(super) struct RequestIds {
    /// With what cancels the request, where that is not rmcp.
    taken: HashMap<RequestId, Option<CancellationToken>>,
    /// A cancelled request gets no answer, so nothing says when rmcp has forgotten its id.
    cancelled: VecDeque<RequestId>,
}

impl RequestIds {
    /// Takes an id for a request that rmcp answers. Returns whether it was free.
    pub fn take(&mut self, id: &RequestId) -> bool {
        self.take_with(id, None)
    }

    /// Takes an id for a request, and what cancels that. Returns whether it was free.
    pub fn take_with(&mut self, id: &RequestId, gone: Option<CancellationToken>) -> bool {
        match self.taken.entry(id.clone()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(free) => {
                free.insert(gone);
                true
            }
        }
    }

    /// Notes that a request is about to be answered. Returns whether it may be: a client has no use for the answer to
    /// what it cancelled.
    pub fn answered(&mut self, id: &RequestId) -> bool {
        self.taken.remove(id);
        let cancelled = self.cancelled.iter().position(|cancelled| cancelled == id);
        cancelled.and_then(|at| self.cancelled.remove(at)).is_none()
    }

    /// Notes that the client has cancelled a request, and cancels it where that is not done by rmcp.
    pub fn cancelled(&mut self, id: &RequestId) {
        let Some(gone) = self.taken.get(id) else { return };
        if let Some(gone) = gone {
            gone.cancel();
        }
        if self.cancelled.contains(id) {
            return;
        }
        self.cancelled.push_back(id.clone());
        if self.cancelled.len() > MAX_CANCELLED
            && let Some(oldest) = self.cancelled.pop_front()
        {
            self.taken.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_free_again_after_its_answer_and_not_after_a_cancellation() {
        let mut ids = RequestIds::default();
        let (one, text) = (RequestId::Number(1), RequestId::String("1".into()));
        assert!(ids.take(&one) && ids.take(&text), "a number is not its text");
        assert!(!ids.take(&one));
        assert!(ids.answered(&one));
        assert!(ids.take(&one));
        ids.cancelled(&one);
        assert!(!ids.take(&one));
        for n in 0..=i64::try_from(MAX_CANCELLED).expect("small") {
            ids.take(&RequestId::Number(n + 10));
            ids.cancelled(&RequestId::Number(n + 10));
        }
        assert_eq!(ids.taken.len(), MAX_CANCELLED + 1, "only the id of the text is not cancelled");
    }

    #[test]
    fn a_cancelled_request_is_told_and_not_answered() {
        let mut ids = RequestIds::default();
        let (id, gone) = (RequestId::Number(1), CancellationToken::new());
        assert!(ids.take_with(&id, Some(gone.clone())));
        ids.cancelled(&RequestId::Number(2));
        assert!(!gone.is_cancelled());
        ids.cancelled(&id);
        ids.cancelled(&id);
        assert!(gone.is_cancelled() && !ids.take(&id));
        assert!(!ids.answered(&id), "nobody waits for it");
        assert!(ids.take(&id) && ids.answered(&id), "the id is another's then");
    }
}
