//! The ids of one conversation's requests: two requests in flight never share one.

use std::collections::{HashSet, VecDeque};

use rmcp::model::RequestId;

/// How many ids of cancelled requests are remembered.
const MAX_CANCELLED: usize = 1_024;

/// The ids that another request must not have now.
#[derive(Debug, Default)]
pub(super) struct RequestIds {
    taken: HashSet<RequestId>,
    /// A cancelled request gets no answer, so nothing says when rmcp has forgotten its id.
    cancelled: VecDeque<RequestId>,
}

impl RequestIds {
    /// Takes an id for a request. Returns whether it was free.
    pub fn take(&mut self, id: &RequestId) -> bool {
        self.taken.insert(id.clone())
    }

    /// Notes that a request is answered.
    pub fn answered(&mut self, id: &RequestId) {
        self.taken.remove(id);
        self.cancelled.retain(|cancelled| cancelled != id);
    }

    /// Notes that the client has cancelled a request.
    pub fn cancelled(&mut self, id: &RequestId) {
        if !self.taken.contains(id) || self.cancelled.contains(id) {
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
        ids.answered(&one);
        assert!(ids.take(&one));
        ids.cancelled(&one);
        assert!(!ids.take(&one));
        for n in 0..=i64::try_from(MAX_CANCELLED).expect("small") {
            ids.take(&RequestId::Number(n + 10));
            ids.cancelled(&RequestId::Number(n + 10));
        }
        assert_eq!(ids.taken.len(), MAX_CANCELLED + 1, "only the id of the text is not cancelled");
    }
}
