//! Dividing what is scarce among callers: nobody gets so much that another gets nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// An amount of something that callers take and give back.
///
/// One caller gets at most three quarters of it, and the last quarter is for those who have next to nothing yet. So
/// several callers who take all they can leave room for further ones.
#[derive(Debug)]
pub struct Shares {
    total: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    of_caller: HashMap<String, usize>,
    waiting: VecDeque<WaitingRequest>,
}

#[derive(Debug)]
struct WaitingRequest {
    caller: String,
    amount: usize,
    granted: oneshot::Sender<Share>,
}

/// What one caller has taken; dropping it gives it back.
#[derive(Debug)]
pub struct Share {
    shares: Arc<Shares>,
    caller: String,
    amount: usize,
}

impl Shares {
    /// Creates shares of a total.
    pub fn new(total: usize) -> Arc<Self> {
        Arc::new(Self { total, state: Mutex::default() })
    }

    /// Takes an amount for a caller if it can be had now.
    pub fn try_take(self: &Arc<Self>, caller: &str, amount: usize) -> Option<Share> {
        self.state().take(self, caller, amount)
    }

    /// Waits until an amount can be had for a caller. Those who wait are served in their order, but nobody waits
    /// behind a caller who has its share already.
    pub async fn take(self: &Arc<Self>, caller: &str, amount: usize) -> Share {
        let granted = {
            let mut state = self.state();
            if let Some(share) = state.take(self, caller, amount) {
                return share;
            }
            let (granted, waiting) = oneshot::channel();
            if state.waiting.len().is_multiple_of(256) {
                state.waiting.retain(|waiting| !waiting.granted.is_closed());
            }
            state.waiting.push_back(WaitingRequest { caller: caller.to_owned(), amount, granted });
            waiting
        };
        granted.await.expect("those who wait are never forgotten")
    }

    /// The most that one caller gets.
    pub const fn largest(total: usize) -> usize {
        total / 4 * 3
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Gives back all but an amount.
    pub fn shrink_to(&mut self, amount: usize) {
        let rest = self.amount.saturating_sub(amount);
        self.amount -= rest;
        let (shares, caller) = (Arc::clone(&self.shares), self.caller.clone());
        drop(Self { shares, caller, amount: rest });
    }
}

impl State {
    fn may_take(&self, total: usize, caller: &str, amount: usize) -> bool {
        let own = self.of_caller.get(caller).copied().unwrap_or(0);
        let left = total.saturating_sub(self.taken + amount);
        let has_next_to_nothing = own == 0 || own + amount <= total / 32;
        self.taken + amount <= total
            && own + amount <= Shares::largest(total)
            && (left >= total / 4 || has_next_to_nothing)
    }

    fn take(&mut self, shares: &Arc<Shares>, caller: &str, amount: usize) -> Option<Share> {
        if !self.may_take(shares.total, caller, amount) {
            return None;
        }
        self.taken += amount;
        *self.of_caller.entry(caller.to_owned()).or_default() += amount;
        Some(Share { shares: Arc::clone(shares), caller: caller.to_owned(), amount })
    }

    /// Grants what can be had to those who wait. Returns what was granted to those who no longer do.
    fn grant(&mut self, shares: &Arc<Shares>) -> Vec<Share> {
        let mut given_up = Vec::new();
        let mut index = 0;
        while index < self.waiting.len() && self.taken < shares.total {
            let (caller, amount) = (&self.waiting[index].caller, self.waiting[index].amount);
            if !self.waiting[index].granted.is_closed() && !self.may_take(shares.total, caller, amount) {
                index += 1;
                continue;
            }
            let Some(waiting) = self.waiting.remove(index) else { break };
            if waiting.granted.is_closed() {
                continue;
            }
            if let Some(share) = self.take(shares, &waiting.caller, waiting.amount)
                && let Err(share) = waiting.granted.send(share)
            {
                given_up.push(share);
            }
        }
        given_up
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let given_up = {
            let mut state = self.shares.state();
            state.taken -= self.amount;
            if let Some(own) = state.of_caller.get_mut(&self.caller) {
                *own -= self.amount;
                if *own == 0 {
                    state.of_caller.remove(&self.caller);
                }
            }
            state.grant(&self.shares)
        };
        // Each gives back in its turn, without the lock.
        drop(given_up);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_all(shares: &Arc<Shares>, caller: &str) -> Vec<Share> {
        std::iter::from_fn(|| shares.try_take(caller, 1)).collect()
    }

    #[test]
    fn nobody_gets_all_and_the_last_quarter_is_for_newcomers() {
        let shares = Shares::new(64);
        let first = take_all(&shares, "first");
        assert_eq!(first.len(), 48);
        let others: Vec<Vec<Share>> = (0..8).map(|n| take_all(&shares, &n.to_string())).collect();
        assert!(others.iter().all(|own| own.len() == 2), "{others:?}");
        assert!(shares.try_take("late", 1).is_none(), "all is taken");
        drop(first);
        assert_eq!(
            take_all(&shares, "late").len(),
            32,
            "three quarters of all stay the bound for all but newcomers"
        );
        drop(others);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn who_waits_is_served_in_order_and_not_held_up_by_those_who_have_their_share() {
        let shares = Shares::new(4);
        let mut held: Vec<Share> = take_all(&shares, "greedy");
        assert_eq!(held.len(), 3);
        let other = shares.try_take("other", 1).expect("the last quarter");
        let wait = |caller: &'static str| {
            let shares = Arc::clone(&shares);
            tokio::spawn(async move { shares.take(caller, 1).await })
        };
        let (greedy, late) = (wait("greedy"), wait("late"));
        tokio::task::yield_now().await;
        drop(other);
        let late = late.await.expect("no panic");
        assert!(!greedy.is_finished(), "it has its share");
        drop(late);
        held.pop();
        drop(greedy.await.expect("no panic"));
    }

    #[tokio::test(flavor = "current_thread")]
    async fn what_is_granted_to_those_who_gave_up_goes_to_the_next() {
        let shares = Shares::new(4);
        let held: Vec<Share> = (0..4).filter_map(|n| shares.try_take(&n.to_string(), 1)).collect();
        assert_eq!(held.len(), 4);
        let wait = |caller: &'static str| {
            let shares = Arc::clone(&shares);
            tokio::spawn(async move { shares.take(caller, 1).await })
        };
        let (gone, next) = (wait("gone"), wait("next"));
        tokio::task::yield_now().await;
        gone.abort();
        assert!(gone.await.is_err());
        drop(held);
        drop(next.await.expect("no panic"));
        let state = shares.state();
        assert_eq!((state.taken, state.of_caller.len(), state.waiting.len()), (0, 0, 0));
    }
}
